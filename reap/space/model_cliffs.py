"""Where a model is a cliff: a change too small to notice flips its decision. Found by asking it, for the review of a space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Frame, Ints
from reap.space.feature import Feature

#: People and values looked at, and how far a score jumps at a cliff.
_PEOPLE, _PLACES, _JUMP = 40, 50, 0.3


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


def cliffs(
    features: Iterable[Feature], scores: Callable[[Frame], Array], table: Frame
) -> Iterator[tuple[Feature, str]]:
    """Yield the numbers at which a change too small to notice flips the decision by a wide jump, with what to say of them."""
    rng = np.random.default_rng(0)
    people = table.iloc[np.sort(rng.choice(len(table), min(_PEOPLE, len(table)), replace=False))]
    for feature in features:
        least = feature.notice or feature.step
        if not feature.is_action or not feature.is_number or least is None:
            continue
        who, low, high, before, after = _steepest(feature, least, scores, people, table)
        if not len(who):
            continue
        worst = int(np.argmax(np.abs(after - before)))
        share = len(np.unique(who)) / len(people)
        yield (
            feature,
            f"{feature.label} is a cliff of the model: from {feature.show(low[worst], unit=False)} to "
            f"{feature.show(high[worst])} a score goes from {before[worst]:.2f} to {after[worst]:.2f} ({share:.0%} of "
            "the people looked at have such a place); mend the model, or do not let it be advised.",
        )


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
