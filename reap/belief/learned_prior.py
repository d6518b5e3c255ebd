"""A prior that past sessions taught: what a file of ``reap learn`` says, and nothing about any single person.

People of a population find the same things hard. The file has the mean and the covariance of the logarithms of their weights of
columns and of their sharpness, how common each curvature, lapse and interaction is, how often a change is welcome, how many mind
the number of changes, and waiting, and how much; counts; and figures of how well all that predicted people who were held out.

A prior only weighs. A share ``PLAIN`` of its people are those of whom nothing is known, so no plan is ruled out that was possible
before, and what is learnt keeps within bounds.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array
from reap.belief.prior import Population

_FORMAT = Format(
    "prior", "reap.prior", 3, "a file that `reap learn` wrote", "; learn it again with `reap learn`"
)
#: Digits after the point in the file; the object has the same, so that a prior and its file are one.
_DIGITS = 6
#: Share of people who are as nothing had been learnt.
PLAIN = 0.05
#: Bound of the mean logarithm of a weight: no column counts more than a hundred times, or less than a hundredth of, the usual.
WIDEST = math.log(100.0)

#: Whether anything was learnt.
Learnt: TypeAlias = Literal["nothing", "weights"]
#: Arrays of a prior and the length of their axes: k columns, k + 1 latents, three kinds, e columns beside.
_SHAPES = {
    "mean": "l",
    "covariance": "ll",
    "powers": "3",
    "lapses": "3",
    "interaction": "3",
    "welcome": "k",
    "minded": "e",
    "heavy": "e",
}


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
    learnt : {"nothing", "weights"}
        Whether people who were held out were predicted better than by default. If not, the default stays.
    mean, covariance : (k + 1,), (k + 1, k + 1) arrays
        Of the logarithms of weights of columns, then of the sharpness.
    powers, lapses, interaction : (3,) arrays
        Shares of curvatures, lapses and interactions, as in ``reap.belief.prior``.
    welcome : (k,) array
        How often a change of each column is welcome.
    minded, heavy : (e,) arrays
        Shares of people who mind the number of changes, then waiting, and the mean logarithm of what it counts for them.
    people, answers : int
        How many taught it.
    guessing : float
        Share of them whose answers look as if they had not looked; they taught next to nothing.
    fingerprint : str
        Hash of what was learnt from: the same sessions have the same.
    figures : mapping of str to number
        How well held-out people were predicted, by the default and by what was learnt.

    Examples
    --------
    >>> prior = LearnedPrior.default("digest", 3, (0, 2), ("amount", "duration"), people=30, answers=150)
    >>> LearnedPrior.from_json(prior.to_json()).hash == prior.hash, prior.learnt
    (True, 'nothing')
    """

    space: str
    dimension: int
    columns: tuple[int, ...]
    names: tuple[str, ...]
    learnt: Learnt
    mean: Array
    covariance: Array
    powers: Array
    lapses: Array
    interaction: Array
    welcome: Array
    minded: Array
    heavy: Array
    people: int
    answers: int
    guessing: float = 0.0
    fingerprint: str = ""
    figures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        k = len(self.columns)
        sizes = {"l": k + 1, "3": 3, "k": k, "e": np.size(self.minded)}
        for name, axes in _SHAPES.items():
            array = np.round(np.asarray(getattr(self, name), dtype=float), _DIGITS) + 0.0
            if array.shape != tuple(sizes[axis] for axis in axes) or not np.isfinite(array).all():
                raise InputError(
                    f"the prior's {name} has shape {array.shape}; it needs finite numbers for {k} columns"
                )
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        rounded = {key: round(float(value), _DIGITS) for key, value in sorted(self.figures.items())}
        object.__setattr__(self, "figures", MappingProxyType(rounded))
        object.__setattr__(self, "guessing", round(float(self.guessing), _DIGITS))
        self._check()

    def _check(self) -> None:
        if not isinstance(self.dimension, int) or isinstance(self.dimension, bool):
            raise InputError(f"the prior has {self.dimension!r} encoded columns; expected a whole number")
        # never a set of all columns: a file may say that there are 10³⁰
        inside = all(isinstance(at, int) and 0 <= at < self.dimension for at in self.columns)
        if len(self.names) != len(self.columns) or not inside or len(set(self.columns)) != len(self.columns):
            raise InputError(f"the prior names columns that its {self.dimension} encoded columns do not have")
        if self.learnt not in ("nothing", "weights"):
            raise InputError(
                f"the prior says that {self.learnt!r} was learnt; expected 'nothing' or 'weights'"
            )
        if np.abs(self.mean).max(initial=0.0) > WIDEST + 1e-6:
            raise InputError("the prior has a mean weight above 100 or below 1/100; it would rule plans out")
        C = self.covariance
        if not np.array_equal(C, C.T) or np.linalg.eigvalsh(C)[0] <= 0 or np.diag(C).max() > WIDEST**2:
            raise InputError("the prior's covariance must be symmetric, positive definite and within bounds")
        shares = np.concatenate([self.powers, self.lapses, self.interaction, self.welcome, self.minded])
        whole = [float(each.sum()) for each in (self.powers, self.lapses, self.interaction)]
        if not ((shares >= 0) & (shares <= 1)).all() or np.abs(np.array(whole) - 1).max() > 1e-3:
            raise InputError("the prior's shares must be from 0 to 1, and those of kinds of people of sum 1")
        if np.abs(self.heavy).max(initial=0.0) > WIDEST:
            raise InputError("the prior has a weight above 100 or below 1/100 beside the changes")

    @classmethod
    def of(cls, population: Population, learnt: Learnt, **about: Any) -> Self:
        """Return the prior that a population is, of the space that ``about`` describes."""
        same = ("powers", "lapses", "interaction", "welcome", "minded", "heavy")
        said = {name: getattr(population, name) for name in same}
        C = population.root @ population.root.T
        return cls(learnt=learnt, mean=population.mean, covariance=(C + C.T) / 2, **said, **about)

    @classmethod
    def default(
        cls, space: str, dimension: int, columns: tuple[int, ...], names: tuple[str, ...], **about: Any
    ) -> Self:
        """Return the prior of a space from which nothing was learnt."""
        where = {"space": space, "dimension": dimension, "columns": columns, "names": names}
        return cls.of(Population.default(len(columns)), "nothing", **where, **about)

    @cached_property
    def population(self) -> Population:
        """The people it speaks of."""
        root: Array = np.asarray(np.linalg.cholesky(self.covariance), dtype=float)
        kinds = (self.powers, self.lapses, self.interaction)
        return Population(self.mean, root, 1.0, *kinds, self.welcome, self.minded, self.heavy)

    @cached_property
    def hash(self) -> str:
        """The name of this prior: sha256 of all it says."""
        return hashlib.sha256(_compact(self._said()).encode()).hexdigest()

    def fits(self, space: str) -> None:
        """Refuse an action space, by its digest, other than the one it was learnt in."""
        if space != self.space:
            raise InputError(
                "the prior was learnt with another action space; learn one from sessions with this space: reap learn"
            )

    def __repr__(self) -> str:
        return f"LearnedPrior({self.learnt!r}, people={self.people}, hash={self.hash[:12]!r})"

    # files -------------------------------------------------------------------------------------------

    def _said(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def to_json(self) -> str:
        """Return the file, a field a line: the same prior, the same bytes."""
        data = {**_FORMAT.head, **self._said(), "hash": self.hash}
        lines = (f"  {json.dumps(key)}: {_compact(value)}" for key, value in data.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Undo ``to_json``, or say why the text is refused."""
        data = _FORMAT.load(text)
        _FORMAT.check(data)
        try:
            said = {each.name: data[each.name] for each in fields(cls)}
            said |= {name: tuple(said[name]) for name in ("columns", "names")}
            with np.errstate(all="ignore"):
                prior = cls(**said)
            changed = prior.hash != data.get("hash")
        except InputError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"the prior is damaged: {error}; learn it again with `reap learn`") from None
        if changed:
            raise InputError("the prior was changed after it was learnt; learn it again with `reap learn`")
        return prior

    def save(self, path: str | Path) -> None:
        """Write the file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> Self:
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


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """Return an array or a mapping that cannot be changed as JSON has it."""
    return value.tolist() if isinstance(value, np.ndarray) else dict(value)
