"""What is wrong with a model before anybody is advised by it: small changes that decide, and rewards nobody would advise.

Found by asking the model about some people, for the review of a space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Bools, Frame, Ints
from reap.space import vocabulary
from reap.space.feature import Feature

#: People and values looked at, and how far a score jumps at a cliff.
_PEOPLE, _PLACES, _JUMP = 40, 50, 0.3
#: What hardly anybody feels, as a share of the span and of what one has, and how many refused people are enough to speak of most.
SLIGHT, _OWN, _FEWEST = 0.02, 0.05, 5
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


class People:
    """Some people of a table, and what a model says of them where one of their numbers is another.

    Parameters
    ----------
    table : DataFrame
    scores : callable
        From a frame to scores (n,).
    """

    def __init__(self, table: Frame, scores: Callable[[Frame], Array]) -> None:
        some = np.random.default_rng(0).choice(len(table), min(_PEOPLE, len(table)), replace=False)
        self.table, self.scores, self.rows = table, scores, table.iloc[np.sort(some)]

    @cached_property
    def refused(self) -> People:
        """Others of the table, all of them refused."""
        some = np.random.default_rng(1).permutation(len(self.table))[: 25 * _PEOPLE]
        rows = self.table.iloc[np.sort(some)]
        return People(rows[self.scores(rows) <= 0.5], self.scores)

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


@dataclass(frozen=True)
class FoundCliff:
    """A number at which a change too small to notice decides: what to say of it, and about whom of the people."""

    text: str
    who: frozenset[int]


def cliffs(feature: Feature, people: People) -> FoundCliff | None:
    """Return where a change of a number that is too small to notice flips the decision by a wide jump; None: nowhere."""
    least = feature.notice or feature.step
    if not feature.is_action or not feature.is_number or least is None:
        return None
    if feature.notice is None and least > SLIGHT * feature.scale:  # one step is felt
        return None
    who, low, high, before, after = _steepest(feature, least, people)
    if not len(who):
        return None
    worst, share = int(np.argmax(np.abs(after - before))), len(np.unique(who)) / len(people.rows)
    text = (
        f"{feature.label} is a cliff of the model: from {feature.show(low[worst], unit=False)} to "
        f"{feature.show(high[worst])} a score goes from {before[worst]:.2f} to {after[worst]:.2f} ({share:.0%} of "
        "the people looked at have such a place); mend the model, or do not let it be advised."
    )
    return FoundCliff(text, frozenset(who.tolist()))


def rewarded(feature: Feature, people: People) -> str | None:
    """Return what to say of a number that the model rewards the wrong way, such as a lower income; None where it does not."""
    sense = vocabulary.sense(feature)
    if sense is None or not feature.is_action or not feature.is_number:
        return None
    own = people.rows[feature.name].to_numpy(dtype=float)
    step = feature.step or 0.0
    far = max(round(_PART * feature.scale / step) * step if step else _PART * feature.scale, step)
    low, high = feature.range or (-np.inf, np.inf)
    wrong = np.clip(own - far if sense == "up" else own + far, low, high)
    who = np.flatnonzero(np.isfinite(own) & (wrong != own))
    gain = people.score(feature, who, wrong[who]) - people.today[who]
    better, worse = int((gain > _MOVED).sum()), int((gain < -_MOVED).sum())
    if better <= worse or better < _MANY * len(people.rows):
        return None
    less, falls = ("less", "falls") if sense == "up" else ("more", "rises")
    return (
        f"{feature.label}: the model rewards {less} of it. Where it {falls} by {feature.show(far)}, the score rises for {better} "
        f"of {len(who)} people looked at and falls for {worse}: find out why, and say direction = "
        f'"{sense}" so that nobody is advised that.'
    )


def hanging(features: Iterable[Feature], people: People) -> str | None:
    """Return what to say where for most refused people a change too small to feel, of one number, brings a yes; None else."""
    refused = people.refused
    if len(refused.rows) < _FEWEST:
        return None
    yes, example = np.zeros(len(refused.rows), dtype=bool), ""
    for feature in features:
        if not feature.is_action or not feature.is_number:
            continue
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
        return None
    return (
        f"For {int(yes.sum())} of {len(yes)} refused people looked at, a change of one number that hardly anybody feels brings a "
        f"yes ({example}): their plans will be as slight. Train a smoother model, or ask for a margin: "
        "Recourse(…, margin=0.05)."
    )


def _slight(feature: Feature, own: Array) -> Array:
    """Return the largest change of a number, in whole steps, that people who have so much (n,) hardly feel, (n,); 0: none."""
    felt = np.clip(_OWN * np.abs(own), SLIGHT / 4 * feature.scale, SLIGHT * feature.scale)
    felt = np.where(np.isnan(own), 0.0, felt) if feature.notice is None else np.full(len(own), feature.notice)
    return np.asarray(np.floor(felt / feature.step + 1e-9) * feature.step if feature.step else felt)


def _steepest(feature: Feature, least: float, people: People) -> tuple[Any, ...]:
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
            middle = (
                np.maximum(np.floor(middle / feature.step), np.floor(low[wide] / feature.step) + 1)
                * feature.step
            )
        there = people.score(feature, who[wide], middle)
        below = np.abs(there - before[wide]) >= np.abs(after[wide] - there)
        high[wide[below]], after[wide[below]] = middle[below], there[below]
        low[wide[~below]], before[wide[~below]] = middle[~below], there[~below]
    kept = steep(before, after)
    return who[kept], low[kept], high[kept], before[kept], after[kept]
