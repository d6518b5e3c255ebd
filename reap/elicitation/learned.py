"""How hard changes of single features are: what a person says, and what an effort matrix says, on one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.belief.prior import DIFFICULTIES
from reap.language import N_, _
from reap.space import ActionSpace, Feature
from reap.space.words import lowered

#: How likely it must be that somebody minds the number of changes, or waiting, for us to say so.
MINDED = 0.8
#: What each level is called, in English; ``_`` says it in the language in use.
WORDS = {
    1: N_("very easy"),
    2: N_("easy"),
    3: N_("neither easy nor hard"),
    4: N_("hard"),
    5: N_("very hard"),
}
#: What each level multiplies the effort of a feature by; 1 is the average of a person's features.
FACTORS = dict(enumerate(DIFFICULTIES.values(), start=1))


def check_level(level: int) -> None:
    """Refuse a level that there is not."""
    if level not in FACTORS:
        raise InputError(f"difficulty is {level!r}; give a level from 1 (very easy) to 5 (very hard)")


def level_of(factor: float) -> int:
    """Return the level whose factor is nearest, by ratio.

    Examples
    --------
    >>> [level_of(factor) for factor in (0.01, 0.5, 1.3, 2.0, 40.0)]
    [1, 2, 3, 4, 5]
    """
    apart = np.abs(np.log(list(FACTORS.values())) - np.log(max(factor, 1e-12)))
    return int(np.argmin(apart)) + 1


def movable(space: ActionSpace, z: Array) -> list[Feature]:
    """Return the actions that are open to somebody who stands at z (d,), in the order of the table.

    None where limits leave some feature no value: then nothing is legal, whatever else changes, and a plan says why.
    """
    try:
        lower, upper = space.legal.box(z)
    except InputError:
        return []

    def is_open(feature: Feature) -> bool:
        columns = space.slices[feature.name]
        if feature.kind == "categorical":
            return bool(upper[columns].sum() > 1)
        return bool(upper[columns] > lower[columns] + 1e-12)

    return [feature for feature in space.features if feature.is_action and is_open(feature)]


@dataclass(frozen=True)
class Difficulty:
    """How hard a change of one feature is for the person: its effort as a factor of the average over their features."""

    feature: str
    label: str
    factor: float

    @property
    def level(self) -> int:
        """1 very easy to 5 very hard."""
        return level_of(self.factor)

    @property
    def words(self) -> str:
        """The level in words."""
        return WORDS[self.level]


@dataclass(frozen=True)
class Learned:
    """Which changes are hard for the person, hardest first.

    ``changes``, ``waiting``: whether the answers say that they mind the number of changes, or the time.
    """

    difficulties: tuple[Difficulty, ...]
    changes: bool = False
    waiting: bool = False

    def __str__(self) -> str:
        """Only what sets the person apart: a change of average effort says nothing."""
        hard = [lowered(d.label) for d in self.difficulties if d.level > 3]
        easy = [lowered(d.label) for d in reversed(self.difficulties) if d.level < 3]
        lines = [f"Hard for you: {', '.join(hard)}."] if hard else []
        lines += [f"Easy for you: {', '.join(easy)}."] if easy else []
        lines += [_("You would rather change few things, even if each is harder.")] if self.changes else []
        lines += [_("You would rather not wait long.")] if self.waiting else []
        return "\n".join(lines) or "Nothing yet sets you apart from other people."


def learned(space: ActionSpace, A: Array, z0: Array, minded: Array) -> Learned:
    """Return what an effort matrix (d, d) says about the features that a subject can change.

    The difficulty of a feature is the mean of its diagonal entries, relative to the mean over features: the effort
    of crossing its whole range alone.

    ``minded``: how likely it is that the number of changes matters, then the time, as far as they were asked about.
    """
    told = [bool(chance >= MINDED) for chance in minded]
    free = movable(space, z0)
    raw = np.array([np.diag(A)[space.slices[f.name]].mean() for f in free])
    levels = raw / max(raw.mean(), 1e-300) if free else raw
    order = np.argsort(-levels, kind="stable")
    return Learned(tuple(Difficulty(free[i].name, free[i].label, float(levels[i])) for i in order), *told)
