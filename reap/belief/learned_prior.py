"""A prior that past sessions taught: what a file of ``reap learn`` says, and nothing about any single person.

People of a population find the same things hard. Answers do not depend on the size of an effort matrix, so the population is a
change of coordinates: `A = RᵀBR`, B from the mixture "people", `R = diag(e^{θ/2})(I + K)`. θ are the scales of the columns, K
(symmetric, zero diagonal) the directions in which columns go together. With them: how common each family and each kind of
answering is, how many people mind the number of changes, and waiting, and how much. The file has these numbers, counts, and
figures of how well they predicted people who were held out.

A prior only weighs. A share ``PLAIN`` of its people are those of the default mixture, and scales are bounded, so no matrix,
and no plan, is ruled out that was possible before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.belief import prior_files

#: Digits after the point in the file; the object has the same, so that a prior and its file are one.
_DIGITS = 6
#: Share of people who are as the default mixture says, whatever was learnt.
PLAIN = 0.05
#: Bounds of θ: no column can count more than a hundred times, or less than a hundredth of, what it does by default.
WIDEST = math.log(100.0)
#: Bound of the entries of K.
STEEPEST = 0.9
#: Bounds of μ: a typical weight of a column beside is worth at least a tenth, at most ten, of a typical change.
HEAVIEST = math.log(10.0)

#: What was learnt: nothing (the default stays as it is), scales of columns, or scales and directions.
Learnt: TypeAlias = Literal["nothing", "scales", "directions"]


@dataclass(frozen=True, eq=False)
class LearnedPrior:
    """What people were like in past sessions with one action space; ``Posterior`` and ``elicit`` take it as ``prior``.

    Parameters
    ----------
    space : str
        Digest of the action space.
    dimension : int
        Encoded columns d of the space.
    columns : tuple of int
        The k columns that can move.
    names : tuple of str
        What these columns are called.
    learnt : {"nothing", "scales", "directions"}
    scales, scales_sd : (k,) arrays
        θ, and its standard deviation.
    directions, directions_sd : (k, k) arrays
        K, and the standard deviation of its entries.
    families : mapping of name to share
    kinds, kinds_sd : tuples of float
        Shares of careful, middling and careless people, and their standard deviations.
    guessing, guessing_sd : float
        Share of past people who named options without looking; they taught next to nothing.
    minders, minders_sd : tuples of float
        Shares of people who mind the number of changes, then waiting; empty where the default stays.
    weights, weights_sd : tuples of float
        μ: what these count for such people, as the logarithm of a multiple of a typical change.
    people, answers : int
        How many taught it.
    fingerprint : str
        Hash of what was learnt from: the same sessions have the same.
    figures : mapping of str to number
        How well held-out people were predicted, by the default and by what was learnt.

    Examples
    --------
    >>> prior = LearnedPrior.default("digest", 3, (0, 2), ("amount", "duration"), people=30, answers=150)
    >>> LearnedPrior.from_json(prior.to_json()).hash == prior.hash, prior.root.tolist()
    (True, [[1.0, 0.0], [0.0, 1.0]])
    """

    space: str
    dimension: int
    columns: tuple[int, ...]
    names: tuple[str, ...]
    learnt: Learnt
    scales: Array
    scales_sd: Array
    directions: Array
    directions_sd: Array
    families: Mapping[str, float]
    kinds: tuple[float, ...]
    people: int
    answers: int
    kinds_sd: tuple[float, ...] = ()
    guessing: float = 0.0
    guessing_sd: float = 0.0
    minders: tuple[float, ...] = ()
    minders_sd: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    weights_sd: tuple[float, ...] = ()
    fingerprint: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        k = len(self.columns)
        for name, shape in _SHAPES.items():
            array = np.round(np.asarray(getattr(self, name), dtype=float), _DIGITS) + 0.0
            if array.shape != (k,) * shape or not np.isfinite(array).all():
                raise InputError(
                    f"the prior's {name} have shape {array.shape}; they need finite numbers for {k} columns"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        for name in ("families", "figures"):
            rounded = {
                key: round(float(value), _DIGITS) for key, value in sorted(getattr(self, name).items())
            }
            object.__setattr__(self, name, MappingProxyType(rounded))
        for name in prior_files.TUPLES:
            object.__setattr__(
                self, name, tuple(round(float(value), _DIGITS) for value in getattr(self, name))
            )
        for name in ("guessing", "guessing_sd"):
            object.__setattr__(self, name, round(float(getattr(self, name)), _DIGITS))
        self._check()

    def _check(self) -> None:
        if not isinstance(self.dimension, int) or isinstance(self.dimension, bool):
            raise InputError(f"the prior has {self.dimension!r} encoded columns; expected a whole number")
        # never a set of all columns: a file may say that there are 10³⁰
        inside = all(isinstance(at, int) and 0 <= at < self.dimension for at in self.columns)
        if len(self.names) != len(self.columns) or not inside or len(set(self.columns)) != len(self.columns):
            raise InputError(f"the prior names columns that its {self.dimension} encoded columns do not have")
        if np.abs(self.scales).max(initial=0.0) > WIDEST + 1e-6:
            raise InputError("the prior has a scale above 100 or below 1/100; it would rule plans out")
        K = self.directions
        if not np.array_equal(K, K.T) or np.diag(K).any() or np.abs(K).max(initial=0.0) > STEEPEST + 1e-6:
            raise InputError(
                f"the prior's directions must be symmetric, zero on the diagonal and at most {STEEPEST}"
            )
        shares = [*self.families.values(), *self.kinds]
        if not self.families or not self.kinds or min(shares) < 0 or not max(self.families.values()) > 0:
            raise InputError("the prior's shares of families and kinds of people must be 0 or more")
        if len(self.minders) != len(self.weights) or not all(0 < share < 1 for share in self.minders):
            raise InputError(
                "the prior must have shares above 0 and below 1, and weights, of the same columns beside the changes"
            )
        if not all(abs(weight) <= HEAVIEST + 1e-6 for weight in self.weights):
            raise InputError("the prior has a weight above 10 or below 1/10 beside the changes")

    @classmethod
    def default(
        cls, space: str, dimension: int, columns: tuple[int, ...], names: tuple[str, ...], **about: Any
    ) -> LearnedPrior:
        """Return the prior of a space from which nothing was learnt: everybody as the mixture "people" says."""
        from reap.belief.answers import people
        from reap.belief.families import PEOPLE

        k = len(columns)
        flat, square = np.zeros(k), np.zeros((k, k))
        kinds = tuple(people().share.tolist())
        return cls(
            space,
            dimension,
            columns,
            names,
            "nothing",
            flat,
            flat,
            square,
            square,
            dict(PEOPLE),
            kinds,
            **about,
        )

    @cached_property
    def root(self) -> Array:
        """`R = diag(e^{θ/2})(I + K)` (k, k)."""
        root: Array = np.exp(self.scales / 2)[:, None] * (np.eye(len(self.scales)) + self.directions)
        return root

    @cached_property
    def hash(self) -> str:
        """The name of this prior: sha256 of all it says."""
        return prior_files.digest(self)

    def fits(self, space: str) -> None:
        """Refuse an action space, by its digest, other than the one it was learnt in."""
        if space != self.space:
            raise InputError(
                "the prior was learnt with another action space; learn one from sessions with this space: reap learn"
            )

    def __repr__(self) -> str:
        return f"LearnedPrior({self.learnt!r}, people={self.people}, hash={self.hash[:12]!r})"

    # files -------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the file: the same prior, the same bytes."""
        return prior_files.write(self)

    @classmethod
    def from_json(cls, text: str) -> LearnedPrior:
        """Undo ``to_json``, or say why the text is refused."""
        return prior_files.read(cls, text)

    def save(self, path: str | Path) -> None:
        """Write the file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> LearnedPrior:
        """Read the file of a prior."""
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InputError(f"{path} is not a prior; expected a file that `reap learn` wrote") from None
        except FileNotFoundError:
            raise InputError(f"there is no file {str(path)!r}; `reap learn` writes a prior") from None


#: A prior, or the file it is in.
LearnedPriorLike: TypeAlias = LearnedPrior | str | Path


def learned_prior(given: LearnedPriorLike) -> LearnedPrior:
    """Return a learnt prior, read where a file is named."""
    return given if isinstance(given, LearnedPrior) else LearnedPrior.load(given)


#: Arrays of a prior, each with its number of axes.
_SHAPES = {"scales": 1, "scales_sd": 1, "directions": 2, "directions_sd": 2}
