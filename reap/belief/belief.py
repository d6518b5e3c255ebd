"""What every belief about a person's effort matrix answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, runtime_checkable

from reap._typing import Array, Ints, Seed
from reap.effort import Efforts

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


@runtime_checkable
class Sampled(Belief, Protocol):
    """A belief made of n people who may be the one who answers, some more likely than others, such as `reap.Posterior`.

    Whoever asks such a belief weighs what single people say by ``weights``, and never takes a plain mean.
    """

    @property
    def weights(self) -> Array:
        """How likely the person is each of the n people, (n,), of sum 1."""
        ...

    def sample(self, n: int, random_state: Seed | None = None) -> Efforts | Array:
        """Draw people by their weights: `Efforts`, or the matrices (n, d, d) of people who differ in nothing else."""
        ...

    def efforts(self, options: Sequence[Moves] | Array) -> Array:
        """Return what each of m options asks of each of the n people, (n, m)."""
        ...

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely each person is to choose each option of q questions with k options, (s, q, k), of sum 1 over k.

        Parameters
        ----------
        efforts : (s, q, k) array
            What the options ask of each of s people.
        people : (s,) positions, optional
            Which of the n people they are; by default all of them, in their order.
        slips : bool
            Whether answers by mistake are counted; without them every answer is meant as it is given.
        """
        ...
