"""What a careful lender would question in a space before anybody gets advice from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reap._errors import InputError
from reap._typing import Array, Frame
from reap.space import vocabulary
from reap.space.feature import Feature
from reap.space.inputs import as_frame
from reap.space.model_flaws import People, cliffs, hanging, rewarded, scores_of
from reap.space.related import relations

if TYPE_CHECKING:
    from reap.space.readable import Readable

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
        "direction", "sense", "protected", "fixed", "clock", "pace", "scale", "constant", "bounds", "follows", "cliff" or
        "reward".
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


def review(space: Readable, model: Any = None, X: Frame | None = None) -> list[Finding]:
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
    if X is not None:
        X = as_frame(X)
        table = space.decode(space.encode(X[[c for c in space.table_columns if c in X.columns]]))
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

    if (tail := vocabulary.long_tail(feature)) is not None:
        yield ask("scale", tail, note=True)
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


def _related(space: Readable, table: Frame) -> Iterator[Finding]:
    """Yield columns that follow from others and are not derived: a plan would change one and leave the other."""
    numbers = [f for f in space.features if f.is_number and f.derived is None and f.clock is None]
    by_name = {feature.name: feature for feature in numbers}
    for relation in relations(table, list(by_name)):
        own = by_name[relation.name]
        if not any(by_name[name].is_action for name in (own.name, *relation.others)):
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


def _of_model(space: Readable, scores: Callable[[Frame], Array], table: Frame) -> Iterator[Finding]:
    """Yield where a small change decides, and where the model rewards what nobody would advise."""
    people = People(table, scores)
    stand, count = set[int](), 0
    for feature in space.features:
        if (cliff := cliffs(feature, people)) is not None:
            stand, count = stand | cliff.who, count + 1
            yield Finding(feature.name, "cliff", cliff.text)
        if (text := rewarded(feature, people)) is not None:
            yield Finding(feature.name, "reward", text)
    if (text := hanging(space.features, people)) is not None:
        yield Finding("", "cliff", text)
    if count > 1 and 2 * len(stand) > len(people.rows):
        yield Finding(
            "",
            "cliff",
            f"The model is a cliff for {len(stand)} of {len(people.rows)} people looked at: a change too small to notice "
            "decides about them; train a smoother one, or declare coarser steps.",
        )
