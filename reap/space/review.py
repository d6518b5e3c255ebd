"""What a careful lender would question in a space before anybody gets advice from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Frame, Ints
from reap.space import vocabulary
from reap.space.feature import Feature
from reap.space.inputs import as_frame

if TYPE_CHECKING:
    from reap.space.action_space import ActionSpace

#: Range and span may differ by this much before one extreme row is worth a word.
_TENFOLD = 10
#: A column with one value in this share of the rows teaches a model next to nothing.
_CONSTANT = 0.995
#: People and values looked at for cliffs, and how far a score jumps at one.
_PEOPLE, _PLACES, _JUMP = 40, 50, 0.3


@dataclass(frozen=True)
class Finding:
    """One thing to think about.

    Parameters
    ----------
    feature : str
        Its name; empty where it is about the whole space.
    about : str
        "direction", "sense", "protected", "fixed", "clock", "pace", "scale", "constant", "bounds" or "cliff".
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
        To look for cliffs; needs ``X``.
    X : DataFrame, optional
        The table: shows columns that hardly vary, and rows outside the bounds.

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
    if X is not None:
        table = space.decode(space.encode(_columns(space, as_frame(X))))
        found += [finding for feature in space.features for finding in _values(feature, table)]
        if model is not None:
            found += _cliffs(space, _scores(model), table)
    order = {name: i for i, name in enumerate(space.names)}
    found.sort(key=lambda finding: order[finding.feature])
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


def _columns(space: ActionSpace, X: Frame) -> Frame:
    wanted = [c for f in space.features for c in (f.columns or (f.name,)) if c in X.columns]
    return X[wanted]


# what the words show ----------------------------------------------------------------------------------


def _words(feature: Feature, timed: bool) -> Iterator[Finding]:
    def ask(about: str, text: str, note: bool = False) -> Finding:
        return Finding(feature.name, about, f"{feature.label} {text}", note)

    low, high = feature.range or (0.0, 1.0)
    if feature.is_number and high - low >= _TENFOLD * feature.scale:
        seen = f"{feature.show(low, unit=False)} to {feature.show(high)}"
        yield ask(
            "scale",
            f"was seen from {seen}, more than ten times its span of {feature.scale:g}: a few extreme rows; check them.",
            note=True,
        )
    if not feature.is_action:
        return
    if vocabulary.protected(feature):
        fix = 'say clock = "years" if it goes by itself, else actionable = false.'
        yield ask("protected", f"looks like a protected trait and may be advised: {fix}")
        return
    if vocabulary.happened(feature):
        yield ask("fixed", "looks like something nobody can change: say actionable = false, or rename it.")
    if vocabulary.passing(feature):
        yield ask("clock", 'looks like it goes by itself: say clock = "months" or "years".')
    makes_sense, way = vocabulary.sense(feature), feature.direction
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


# what the model shows ---------------------------------------------------------------------------------


def _scores(model: Any) -> Callable[[Frame], Array]:
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


def _cliffs(space: ActionSpace, scores: Callable[[Frame], Array], table: Frame) -> list[Finding]:
    """Find numbers at which a change too small to notice flips the decision by a wide jump of the score."""
    rng = np.random.default_rng(0)
    people = table.iloc[np.sort(rng.choice(len(table), min(_PEOPLE, len(table)), replace=False))]
    found = []
    for feature in space.features:
        least = feature.notice or feature.step
        if not feature.is_action or not feature.is_number or least is None:
            continue
        who, low, high, before, after = _steepest(feature, least, scores, people, table)
        if not len(who):
            continue
        worst = int(np.argmax(np.abs(after - before)))
        share = len(np.unique(who)) / len(people)
        found.append(
            Finding(
                feature.name,
                "cliff",
                f"{feature.label} is a cliff of the model: from {feature.show(low[worst], unit=False)} to "
                f"{feature.show(high[worst])} a score goes from {before[worst]:.2f} to {after[worst]:.2f} ({share:.0%} of "
                "the people looked at have such a place); mend the model, or do not let it be advised.",
            )
        )
    return found


def _steepest(
    feature: Feature, least: float, scores: Callable[[Frame], Array], people: Frame, table: Frame
) -> tuple[Any, ...]:
    """Return the cliffs of one number, (k,) each: person, lower and upper value, scores at both.

    Scores at up to 50 values that occur show between which two of them a decision flips by a wide jump; halving, always
    towards the wider jump, narrows that to what is too small to notice, or the jump dissolves on the way.
    """

    def score(who: Ints, value: Array) -> Array:
        rows = people.iloc[who].reset_index(drop=True)
        rows[feature.name] = value if feature.kind == "numeric" else np.rint(value).astype(np.int64)
        return scores(rows)

    def steep(before: Array, after: Array) -> Bools:
        return np.asarray((np.abs(after - before) >= _JUMP) & ((before > 0.5) != (after > 0.5)))

    values = np.unique(table[feature.name].dropna().to_numpy(dtype=float))
    values = values[np.linspace(0, len(values) - 1, min(_PLACES, len(values))).round().astype(int)]
    everybody = np.arange(len(people))
    scored = score(np.repeat(everybody, len(values)), np.tile(values, len(people))).reshape(len(people), -1)
    who, place = np.nonzero(steep(scored[:, :-1], scored[:, 1:]))
    low, high = values[place], values[place + 1]
    before, after = scored[who, place], scored[who, place + 1]
    while (wide := np.flatnonzero((high - low > least * 1.000001) & steep(before, after))).size:
        middle = (low[wide] + high[wide]) / 2
        if feature.step is not None:
            middle = (
                np.maximum(np.floor(middle / feature.step), np.floor(low[wide] / feature.step) + 1)
                * feature.step
            )
        there = score(who[wide], middle)
        below = np.abs(there - before[wide]) >= np.abs(after[wide] - there)
        high[wide[below]], after[wide[below]] = middle[below], there[below]
        low[wide[~below]], before[wide[~below]] = middle[~below], there[~below]
    kept = steep(before, after)
    return who[kept], low[kept], high[kept], before[kept], after[kept]
