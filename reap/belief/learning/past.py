"""The answers of many people as arrays: rows of moves, options made of rows, answers made of options, people made of answers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from reap._typing import Array, Ints

#: Of people who always name the option in one place, the share of answers that are as if at random.
_STRAY = 0.05
#: Answers of one person that count, the first ones: nobody teaches more than others, and fixed matrices stay enough.
MOST = 10


class Comparison(NamedTuple):
    """One answer: the moves `(s, k)` of each option, the chosen one first; or all were called the same.

    ``beside`` `(options, e)`: the columns beside the moves, such as the number of changes; None where they are not known.
    ``place``: where the chosen one stood, from 0; None where that is not known.
    """

    moves: tuple[Array, ...]
    same: bool = False
    beside: Array | None = None
    place: int | None = None

    @property
    def digest(self) -> str:
        """A hash of what was compared and said."""
        arrays = [*self.moves] if self.beside is None else [*self.moves, self.beside]
        parts = [np.ascontiguousarray(np.round(array, 9) + 0.0).tobytes() for array in arrays]
        place = b"" if self.place is None else str(self.place).encode()
        return hashlib.sha256(b"|".join([bytes([self.same]), *parts, place])).hexdigest()


@dataclass(frozen=True, eq=False)
class Past:
    """Who answered what, people in an order that does not depend on how they were listed.

    Parameters
    ----------
    people : tuple of tuple of Comparison
        The answers of each of n people, at least one each.
    dimension : int
        Columns k of the moves.
    extra : int
        Columns e beside them.

    Examples
    --------
    >>> short, long = np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]])
    >>> past = Past.of([[Comparison((short, long))], [Comparison((long, short)), Comparison((short, long), True)]], 2)
    >>> len(past), past.answers, past.rows.shape
    (2, 3, (6, 2))
    """

    people: tuple[tuple[Comparison, ...], ...]
    dimension: int
    extra: int = 0

    @classmethod
    def of(cls, people: Sequence[Sequence[Comparison]], dimension: int, extra: int = 0) -> Past:
        """Return the answers of those who gave any."""
        said = [tuple(answers[:MOST]) for answers in people if answers]
        return cls(tuple(sorted(said, key=_name)), dimension, extra)

    def __len__(self) -> int:
        return len(self.people)

    def take(self, positions: Sequence[int] | Ints) -> Past:
        """Return the answers of some of the people."""
        return Past(tuple(self.people[i] for i in positions), self.dimension, self.extra)

    def parts(self, size: int) -> list[Past]:
        """Return the answers in parts, each of a given number of people, for arrays that fit a cache."""
        return [self.take(range(i, min(i + size, len(self)))) for i in range(0, len(self), size)]

    @property
    def fingerprint(self) -> str:
        """A hash of all that was said; one answer more or less is another."""
        return hashlib.sha256("\n".join(map(_name, self.people)).encode()).hexdigest()

    @cached_property
    def _answers(self) -> list[Comparison]:
        return [answer for person in self.people for answer in person]

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return len(self._answers)

    @cached_property
    def person(self) -> Ints:
        """Whose each answer is `(a,)`."""
        return np.repeat(np.arange(len(self)), [len(answers) for answers in self.people])

    @cached_property
    def first(self) -> Ints:
        """The first answer of each person `(n,)`."""
        return np.searchsorted(self.person, np.arange(len(self)))

    @cached_property
    def rows(self) -> Array:
        """Every move of every option, one below the other `(r, k)`."""
        return np.concatenate([move for answer in self._answers for move in answer.moves])

    @cached_property
    def beside(self) -> Array:
        """The columns beside the moves of each option `(o, e)`; 0 where they are not known."""
        unknown = [np.zeros((len(answer.moves), self.extra)) for answer in self._answers]
        given = [
            none if answer.beside is None else np.asarray(answer.beside, dtype=float)
            for answer, none in zip(self._answers, unknown, strict=True)
        ]
        return np.concatenate(given)

    @cached_property
    def guessed(self) -> Array:
        """Log-likelihood `(n, 2)` of each person's answers if they did not look: at random, or always the same place.

        The first is `Σ −log k`. The second is a mean over places; where options stand is random, so it fits nobody who looks
        better than chance, and somebody who always says "left" at once.
        """
        at_random = (-float(sum(np.log(len(answer.moves)) for answer in person)) for person in self.people)
        return np.array([[each, _by_place(who)] for each, who in zip(at_random, self.people, strict=True)])

    @cached_property
    def option(self) -> Ints:
        """Of which option each row is `(r,)`."""
        lengths = [len(move) for answer in self._answers for move in answer.moves]
        return np.repeat(np.arange(len(lengths)), lengths)

    @cached_property
    def option_starts(self) -> Ints:
        """The first row of each option `(o,)`."""
        return np.searchsorted(self.option, np.arange(self.option[-1] + 1))

    @cached_property
    def option_first(self) -> Ints:
        """The first option of each person `(n,)`."""
        counts = [sum(len(answer.moves) for answer in person) for person in self.people]
        return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)

    @cached_property
    def row_starts(self) -> Ints:
        """The first row of each person `(n,)`."""
        counts = [sum(len(move) for answer in person for move in answer.moves) for person in self.people]
        return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)

    @cached_property
    def groups(self) -> dict[tuple[bool, int], tuple[Ints, Ints]]:
        """Answers of one shape together: (same, number of options) to their positions `(m,)` and options `(m, number)`."""
        begins = np.cumsum([0] + [len(answer.moves) for answer in self._answers])
        found: dict[tuple[bool, int], list[int]] = {}
        for i, answer in enumerate(self._answers):
            found.setdefault((answer.same, len(answer.moves)), []).append(i)
        return {
            (same, count): (np.array(at), begins[at][:, None] + np.arange(count))
            for (same, count), at in found.items()
        }


def _by_place(answers: Sequence[Comparison]) -> float:
    """Return the log-likelihood of answers that name one place throughout, whichever; what is not known counts as a guess.

    Examples
    --------
    >>> options = (np.ones((1, 1)), np.ones((1, 1)))
    >>> left, right = (Comparison(options, place=place) for place in (0, 1))
    >>> round(_by_place([left] * 5), 2), round(_by_place([left, right] * 2), 2)
    (-0.82, -7.43)
    """
    places = max(len(answer.moves) for answer in answers)
    each = np.zeros(places)
    for answer in answers:
        count = len(answer.moves)
        named = np.full(places, 1 / count)
        if not answer.same and answer.place is not None:
            named = _STRAY / count + (1 - _STRAY) * (np.arange(places) == answer.place)
        each += np.log(named)
    return float(np.logaddexp.reduce(each) - np.log(places))


def _name(answers: Sequence[Comparison]) -> str:
    """Return a person's answers as one hash; it says nothing about where they stand in a list."""
    return hashlib.sha256("".join(answer.digest for answer in answers).encode()).hexdigest()
