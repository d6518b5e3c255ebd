"""What every belief about a person's effort matrix answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias

from reap._typing import Array

#: One option: ``(d,)`` for one step, ``(s, d)`` for a plan of s steps.
Moves: TypeAlias = Array
#: The options that were not chosen: one, or a list of them.
Others: TypeAlias = Array | Sequence[Array]


@dataclass(frozen=True)
class Answer:
    """One answer: "preferred" (the first option, over each of the others) or "same", and the options' moves."""

    kind: Literal["preferred", "same"]
    options: tuple[Array, ...]


class Belief(Protocol):
    """What the answers so far say about the effort matrix ``A`` (d, d).

    Strategies and engines ask a belief these questions only, so a new one plugs in by answering them.
    """

    @property
    def dimension(self) -> int:
        """Number of encoded columns d."""
        ...

    def update(self, chosen: Moves, others: Others) -> None:
        """Learn that `chosen` asks no more effort than each of `others`."""
        ...

    def update_same(self, options: Sequence[Moves]) -> None:
        """Learn that the options ask about the same effort."""
        ...

    def estimate(self) -> Array:
        """One matrix (d, d) to plan with."""
        ...

    def copy(self) -> Self:
        """Return an independent copy."""
        ...
