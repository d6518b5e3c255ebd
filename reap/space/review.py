"""What a careful lender would question in a space before anybody gets advice from it.

The words of the features show some of it, the rows some (columns that repeat others, or follow from them by arithmetic), and
asking a model about some people the rest: small changes that decide, and rewards nobody would advise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Frame, Ints
from reap.space.encoding import as_frame
from reap.space.feature import Feature, yes_no
from reap.space.rules import Expression
from reap.space.table import happened, large, long_tail, passing, protected, relations, sense

if TYPE_CHECKING:
    from reap.space.space import ActionSpace

#: A column with one value in this share of the rows teaches a model next to nothing.
_CONSTANT = 0.995


@dataclass(frozen=True)
class Finding:
    """One thing to think about.

    Parameters
    ----------
    feature : str
        Its name; empty where it is about the whole space.
    about : str
        "direction", "sense", "protected", "large", "fixed", "clock", "pace", "scale", "constant", "bounds", "follows", "effect",
        "cliff" or "reward".
    text : str
        The question, and what to do about it.
    note : bool
        Whether it is only worth knowing: a space passes its review with notes.
    """

    feature: str
    about: str
    text: str
    note: bool = False

    def __str__(self) -> str:
        return self.text


def review(space: ActionSpace, model: Any = None, X: Frame | None = None) -> list[Finding]:
    """Return findings, feature by feature in the space's order, then those about the whole space.

    Parameters
    ----------
    space : ActionSpace
    model : estimator with ``predict_proba``, or a function from a frame to scores in [0, 1], optional
        To look for cliffs, and for what it rewards that nobody would advise; needs ``X``.
    X : DataFrame, optional
        The table: shows columns that hardly vary or follow from others, and rows outside the bounds.

    Examples
    --------
    >>> from reap.space import ActionSpace
    >>> debt, age = Feature("debt", range=(0, 9), label="Debt"), Feature("age", range=(18, 80), label="Age")
    >>> for finding in review(ActionSpace([debt, age])):
    ...     print(finding)
    Debt may rise, which looks like bad advice: say direction = "down", or actionable = false.
    Age looks like a protected trait and may be advised: say clock = "years" if it goes by itself, else actionable = false.
    No feature has a pace, so no plan can say how long it takes: give each action a pace, or when = "application".
    """
    if model is not None and X is None:
        raise InputError("a model is reviewed on rows; give X= as well")
    found = [finding for feature in space.features for finding in _words(feature, space.timed)]
    found += [finding for feature in space.features if feature.effect for finding in _effects(space, feature)]
    if X is not None:
        X = as_frame(X)
        table = space.decode(space.encode(X[[c for c in space.encoding.table if c in X.columns]]))
        found += [finding for feature in space.features for finding in _values(feature, table)]
        found += _related(space, table)
        if model is not None:
            found += _of_model(space, scores_of(model), table)
    order = {name: i for i, name in enumerate(space.names)}
    found.sort(key=lambda finding: order.get(finding.feature, len(order)))
    if not space.timed:
        found.append(
            Finding(
                "",
                "pace",
                "No feature has a pace, so no plan can say how long it takes: give each action a pace, or "
                'when = "application".',
                note=True,
            )
        )
    return found


# what the words show ----------------------------------------------------------------------------------


def _words(feature: Feature, timed: bool) -> Iterator[Finding]:
    def ask(about: str, text: str, note: bool = False) -> Finding:
        return Finding(feature.name, about, f"{feature.label} {text}", note)

    if (tail := long_tail(feature)) is not None:
        yield ask("scale", tail, note=True)
    if not feature.is_action:
        return
    if protected(feature):
        fix = 'say clock = "years" if it goes by itself, else actionable = false.'
        yield ask("protected", f"looks like a protected trait and may be advised: {fix}")
        return
    if happened(feature):
        yield ask("fixed", "looks like something nobody can change: say actionable = false, or rename it.")
    if large(feature) and feature.advice == "usual":
        fix = 'say advice = "never", unless you mean it.'
        yield ask(
            "large",
            f"looks like a large decision of life (home, family, work, study, health): {fix}",
            note=True,
        )
    if passing(feature):
        yield ask("clock", 'looks like it goes by itself: say clock = "months" or "years".')
    makes_sense, way = sense(feature), feature.direction
    if makes_sense is not None and way != makes_sense:
        wrong = "rise" if makes_sense == "down" else "fall"
        yield ask(
            "sense",
            f'may {wrong}, which looks like bad advice: say direction = "{makes_sense}", or actionable = false.',
        )
    elif way == "any" and not (feature.kind == "categorical" and feature.forbidden):
        if feature.kind == "categorical":
            text = (
                'may go from any level to any other: forbid what makes no sense, or say direction = "both".'
            )
        else:
            text = 'may rise and fall: say direction = "up" or "down", or "both" if either makes sense.'
        yield ask("direction", text)
    if timed and feature.pace is None and feature.when is None:
        yield ask("pace", 'takes no time: give it a pace, or when = "application".')


def _effects(space: ActionSpace, feature: Feature) -> Iterator[Finding]:
    """Yield what moves a feature along, by an example for each cause."""
    formula, parts = Expression(feature.moved_by or ""), []
    middle = {name: _middle(space.feature(name)) for name in formula.names}
    now: dict[Any, Any] = middle | dict.fromkeys(formula.levels, 0.0)
    for key in (*formula.names, *formula.levels):
        cause = space.feature(str(key[0] if isinstance(key, tuple) else key))
        much = 1.0 if isinstance(key, tuple) else float(f"{cause.scale / 10:.1g}")
        moved = float(formula(now | {key: now[key] + much}) - formula(now))
        if not np.isfinite(moved) or moved == 0:
            continue
        done = f"rises by {cause.show(much)}" if cause.is_number else f"rises by {much:g}"
        done = f"becomes {yes_no(key[1])}" if isinstance(key, tuple) else done
        also = "up" if moved > 0 else "down"
        parts.append(f"by {feature.show(abs(moved))} {also} if {cause.label} {done}")
    if parts:
        text = f"{feature.label} moves along with others: {', '.join(parts)}. Is it they that move it, and by so much?"
        yield Finding(feature.name, "effect", text, note=True)


def _middle(feature: Feature) -> float:
    """Return a value in the middle of what was seen, of a feature with numbers."""
    return float(np.mean(feature.range or [float(level) for level in feature.levels]))


# what the rows show -----------------------------------------------------------------------------------


def _values(feature: Feature, table: Frame) -> Iterator[Finding]:
    if feature.columns:
        return
    known = table[feature.name].dropna()
    if feature.bounds is not None:
        outside = int((~known.between(*feature.bounds)).sum())
        if outside:
            yield Finding(
                feature.name,
                "bounds",
                f"{feature.label} lies outside its bounds in {outside:,} of {len(known):,} rows, and those people would be "
                "refused: widen the bounds.",
            )
    if not feature.is_action or not len(known):
        return
    share = float(known.value_counts(normalize=True).iloc[0])
    if share >= _CONSTANT:
        yield Finding(
            feature.name,
            "constant",
            f"{feature.label} is the same in {share:.1%} of the rows: a model can hardly know what a change of it "
            "does; say actionable = false, or drop it.",
        )


def _related(space: ActionSpace, table: Frame) -> Iterator[Finding]:
    """Yield columns that follow from others and do not say so: a plan would change one and leave the other."""
    numbers = [f for f in space.features if f.is_number and f.derived is None and f.clock is None]
    by_name = {feature.name: feature for feature in numbers}
    for relation in relations(table, list(by_name)):
        own = by_name[relation.name]
        if not any(by_name[name].is_action for name in (own.name, *relation.others)):
            continue
        said = [Expression(one.moved_by).names if one.moved_by else () for one in by_name.values()]
        pair = {own.name, *relation.others}
        if any(pair & {name} and pair & set(of) for name, of in zip(by_name, said, strict=True)):
            continue
        others = " and ".join(by_name[name].label for name in relation.others)
        if relation.formula:
            text = (
                f"{own.label} follows from {others} in {relation.share:.0%} of the rows, and a plan would change one "
                f'without the other: say derived = "{relation.formula}".'
            )
        else:
            text = (
                f"{own.label} moves with {others} (correlation {relation.share:.2f}): check that one can change without "
                "the other; else fix one of them, or say derived."
            )
        yield Finding(own.name, "follows", text, note=not relation.formula)


# what the model shows ---------------------------------------------------------------------------------


def _of_model(space: ActionSpace, scores: Callable[[Frame], Array], table: Frame) -> Iterator[Finding]:
    """Yield where a small change decides, and where the model rewards what nobody would advise."""
    people, numbers = Sample(table, scores), [f for f in space.features if f.is_action and f.is_number]
    stand, count = set[int](), 0
    for feature in numbers:
        text, who = _cliff(feature, people)
        if text:
            stand, count = stand | who, count + 1
            yield Finding(feature.name, "cliff", text)
        if text := _rewarded(feature, people):
            yield Finding(feature.name, "reward", text)
    if text := _slight_yes(numbers, people):
        yield Finding("", "cliff", text)
    if count > 1 and 2 * len(stand) > len(people.rows):
        yield Finding(
            "",
            "cliff",
            f"The model is a cliff for {len(stand)} of {len(people.rows)} people looked at: a change too small to notice "
            "decides about them; train a smoother one, or declare coarser steps.",
        )


# asking a model about some people ---------------------------------------------------------------------

#: People and values looked at, and how far a score jumps at a cliff.
_PEOPLE, _PLACES, _JUMP = 40, 50, 0.3
#: What hardly anybody feels, as a share of the span and of what one has, and how many refused people are enough to speak of most.
_SLIGHT, _OWN, _FEWEST = 0.02, 0.05, 5
#: A reward is looked for over this share of the span; a score must move by so much to count, for so many people.
_PART, _MOVED, _MANY = 0.1, 0.01, 0.25


def scores_of(model: Any) -> Callable[[Frame], Array]:
    """Return a function from a frame to scores (n,)."""
    ask = getattr(model, "predict_proba", model)
    if not callable(ask):
        raise InputError(
            f"the model is {model!r}; give one with predict_proba, or a function from a frame to scores"
        )

    def scores(rows: Frame) -> Array:
        try:
            given = np.asarray(ask(rows), dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"the model gave no scores for rows of the table: {error}") from None
        given = given[:, -1] if given.ndim == 2 else given
        if given.shape != (len(rows),):
            raise InputError(
                f"the model gave shape {given.shape} for {len(rows)} rows; one score a row is needed"
            )
        return given

    return scores


class Sample:
    """Some people of a table, and what a model says of them where one of their numbers is another."""

    def __init__(self, table: Frame, scores: Callable[[Frame], Array]) -> None:
        some = np.random.default_rng(0).choice(len(table), min(_PEOPLE, len(table)), replace=False)
        self.table, self.scores, self.rows = table, scores, table.iloc[np.sort(some)]

    @cached_property
    def refused(self) -> Sample:
        """Others of the table, all of them refused."""
        some = np.random.default_rng(1).permutation(len(self.table))[: 25 * _PEOPLE]
        rows = self.table.iloc[np.sort(some)]
        return Sample(rows[self.scores(rows) <= 0.5], self.scores)

    @cached_property
    def today(self) -> Array:
        """The scores (n,) of everybody as they are."""
        return self.scores(self.rows)

    def score(self, feature: Feature, who: Ints, value: Array) -> Array:
        """Return the scores (k,) of people, by their places (k,), with values (k,) of one number."""
        if len(who) == 0:
            return np.empty(0)
        rows = self.rows.iloc[who].reset_index(drop=True)
        rows[feature.name] = value if feature.kind == "numeric" else np.rint(value).astype(np.int64)
        return self.scores(rows)


def _cliff(feature: Feature, people: Sample) -> tuple[str, set[int]]:
    """Return where a change of a number that is too small to notice flips the decision by a wide jump, and for whom."""
    least = feature.notice or feature.step
    if least is None or (feature.notice is None and least > _SLIGHT * feature.scale):  # one step is felt
        return "", set()
    who, low, high, before, after = _steepest(feature, least, people)
    if not len(who):
        return "", set()
    worst, share = int(np.argmax(np.abs(after - before))), len(np.unique(who)) / len(people.rows)
    text = (
        f"{feature.label} is a cliff of the model: from {feature.show(low[worst], unit=False)} to "
        f"{feature.show(high[worst])} a score goes from {before[worst]:.2f} to {after[worst]:.2f} ({share:.0%} of "
        "the people looked at have such a place); mend the model, or do not let it be advised."
    )
    return text, set(who.tolist())


def _rewarded(feature: Feature, people: Sample) -> str:
    """Return what to say of a number that the model rewards the wrong way, such as a lower income; "" where it does not."""
    way = sense(feature)
    if way is None:
        return ""
    own = people.rows[feature.name].to_numpy(dtype=float)
    step = feature.step or 0.0
    far = max(round(_PART * feature.scale / step) * step if step else _PART * feature.scale, step)
    low, high = feature.range or (-np.inf, np.inf)
    wrong = np.clip(own - far if way == "up" else own + far, low, high)
    who = np.flatnonzero(np.isfinite(own) & (wrong != own))
    gain = people.score(feature, who, wrong[who]) - people.today[who]
    better, worse = int((gain > _MOVED).sum()), int((gain < -_MOVED).sum())
    if better <= worse or better < _MANY * len(people.rows):
        return ""
    less, falls = ("less", "falls") if way == "up" else ("more", "rises")
    return (
        f"{feature.label}: the model rewards {less} of it. Where it {falls} by {feature.show(far)}, the score rises for {better} "
        f"of {len(who)} people looked at and falls for {worse}: find out why, and say direction = "
        f'"{way}" so that nobody is advised that.'
    )


def _slight_yes(numbers: Iterable[Feature], people: Sample) -> str:
    """Return what to say where for most refused people a change too small to feel, of one number, brings a yes; "" else."""
    refused = people.refused
    if len(refused.rows) < _FEWEST:
        return ""
    yes, example = np.zeros(len(refused.rows), dtype=bool), ""
    for feature in numbers:
        own = refused.rows[feature.name].to_numpy(dtype=float)
        far = _slight(feature, own)
        low, high = feature.range or (-np.inf, np.inf)
        for value in (own + far, own - far):
            who = np.flatnonzero(np.isfinite(value) & (far > 0) & (value >= low) & (value <= high))
            accepted = who[refused.score(feature, who, value[who]) > 0.5]
            if len(accepted) and not example:
                before, after = (feature.show(side[accepted[0]]) for side in (own, value))
                example = f"{feature.label} from {before} to {after}"
            yes[accepted] = True
    if 2 * yes.sum() <= len(yes):
        return ""
    return (
        f"For {int(yes.sum())} of {len(yes)} refused people looked at, a change of one number that hardly anybody feels brings a "
        f"yes ({example}): their plans will be as slight. Train a smoother model, or ask for a margin: "
        "Recourse(…, margin=0.05)."
    )


def _slight(feature: Feature, own: Array) -> Array:
    """Return the largest change of a number, in whole steps, that people who have so much (n,) hardly feel, (n,); 0: none."""
    felt = np.clip(_OWN * np.abs(own), _SLIGHT / 4 * feature.scale, _SLIGHT * feature.scale)
    felt = np.where(np.isnan(own), 0.0, felt) if feature.notice is None else np.full(len(own), feature.notice)
    return np.asarray(np.floor(felt / feature.step + 1e-9) * feature.step if feature.step else felt)


def _steepest(feature: Feature, least: float, people: Sample) -> tuple[Any, ...]:
    """Return the cliffs of one number, (k,) each: person, lower and upper value, scores at both.

    Scores at up to 50 values that occur show between which two of them a decision flips by a wide jump; halving, always
    towards the wider jump, narrows that to what is too small to notice, or the jump dissolves on the way.
    """

    def steep(before: Array, after: Array) -> Bools:
        return np.asarray((np.abs(after - before) >= _JUMP) & ((before > 0.5) != (after > 0.5)))

    values = np.unique(people.table[feature.name].dropna().to_numpy(dtype=float))
    values = values[np.linspace(0, len(values) - 1, min(_PLACES, len(values))).round().astype(int)]
    count = len(people.rows)
    scored = people.score(feature, np.repeat(np.arange(count), len(values)), np.tile(values, count))
    scored = scored.reshape(count, -1)
    who, place = np.nonzero(steep(scored[:, :-1], scored[:, 1:]))
    low, high = values[place], values[place + 1]
    before, after = scored[who, place], scored[who, place + 1]
    while (wide := np.flatnonzero((high - low > least * 1.000001) & steep(before, after))).size:
        middle = (low[wide] + high[wide]) / 2
        if feature.step is not None:
            steps = np.maximum(np.floor(middle / feature.step), np.floor(low[wide] / feature.step) + 1)
            middle = steps * feature.step
        there = people.score(feature, who[wide], middle)
        below = np.abs(there - before[wide]) >= np.abs(after[wide] - there)
        high[wide[below]], after[wide[below]] = middle[below], there[below]
        low[wide[~below]], before[wide[~below]] = middle[~below], there[~below]
    kept = steep(before, after)
    return who[kept], low[kept], high[kept], before[kept], after[kept]
