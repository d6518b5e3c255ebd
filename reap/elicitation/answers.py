"""An answer as a belief takes it in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.belief import Belief
from reap.elicitation.minds import extended

_WORDS = {"left": 0, "right": 1}
B = TypeVar("B", bound=Belief)


@dataclass(frozen=True, eq=False)
class Answer:
    """The moves that were compared, the preferred ones first, or all about the same.

    Parameters
    ----------
    moves : tuple of arrays (s, d)
    same : bool
    beside : (k, e) array, optional
        The columns beside the moves, for beliefs that learn what people mind besides (``minds``).
    """

    moves: tuple[Array, ...]
    same: bool = False
    beside: Array | None = None

    @classmethod
    def to(cls, moves: Sequence[Array], choice: int | str, beside: Array | None = None) -> Answer:
        """Return the answer that chose one of several moves, or called them all the same."""
        if isinstance(choice, str):
            return cls(tuple(moves), True, beside)
        order = [choice, *(i for i in range(len(moves)) if i != choice)]
        return cls(tuple(moves[i] for i in order), False, None if beside is None else beside[order])

    def teach(self, belief: Belief) -> None:
        """Let a belief learn from it."""
        moves = list(self.moves)
        if self.beside is not None and belief.dimension > np.shape(moves[0])[-1]:
            moves = extended(moves, self.beside)
        if self.same:
            belief.update_same(moves)
        else:
            belief.update(moves[0], moves[1:])


def teach(belief: B, answers: Iterable[Answer]) -> B:
    """Return the belief after it learned from all answers."""
    for answer in answers:
        answer.teach(belief)
    return belief


def read_choice(choice: int | str, count: int) -> int | str:
    """Return an answer to a question of ``count`` options as an index or one of the words; say what is allowed otherwise.

    Examples
    --------
    >>> read_choice("right", 2), read_choice("C", 4), read_choice("Same", 2)
    (1, 2, 'same')
    """
    if isinstance(choice, str):
        text = choice.strip().lower()
        if text in ("same", "neither", "skip"):
            return text
        if text in _WORDS and count == 2:
            return _WORDS[text]
        if len(text) == 1 and 0 <= ord(text) - ord("a") < count:
            return ord(text) - ord("a")
    elif not isinstance(choice, bool) and 0 <= int(choice) < count:
        return int(choice)
    letters = ", ".join(chr(ord("A") + i) for i in range(count))
    raise InputError(
        f'the answer {choice!r} is not one of {letters}, 0 to {count - 1}, "same", "neither", "skip"'
    )
