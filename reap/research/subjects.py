"""Simulated people, who know their own effort and answer questions about it as a person would.

>>> person = random(3, 0, lapse=0.1)  # like the people of the paper, with every tenth answer a guess
>>> person.answer([[0.1, 0.0, 0.0], [2.0, 2.0, 2.0]])
0
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from reap import effort
from reap._errors import InputError
from reap._typing import Array, Seed
from reap.belief.answers import as_moves
from reap.belief.prior import Population
from reap.research import costs
from reap.research.person import Person

__all__ = ["L1", "Curved", "Mahalanobis", "Person", "from_lqr", "from_scm", "random"]


@dataclass(eq=False)
class Mahalanobis(Person):
    """A person with effort `ΔᵀAΔ` of a whole change Δ, and the sum of it over the moves of a path (`reap.effort`).

    Parameters
    ----------
    matrix : (d, d) array
        A, symmetric and positive semidefinite.
    lapse, noise, epsilon, random_state
        As in `Person`.

    Examples
    --------
    >>> person = Mahalanobis([[1.0, 0.0], [0.0, 4.0]])
    >>> person.effort([[1.0, 0.0], [0.0, 1.0]]), person.answer([[0.0, 1.0], [1.0, 0.0]])
    (5.0, 1)
    """

    matrix: Array = field(kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.matrix = costs.semidefinite("the effort matrix", self.matrix)

    def effort(self, moves: Array) -> float:
        """Return the effort of a whole change `(d,)`, or of the moves `(s, d)` of a path."""
        return effort.of_moves(self.matrix, _moves(moves, len(self.matrix)))

    @classmethod
    def from_lqr(
        cls,
        Q: Array,
        R: Array,
        *,
        lapse: float = 0.0,
        noise: float | None = None,
        epsilon: float = 0.0,
        random_state: Seed = 0,
    ) -> Self:
        """Return a person who moves by steps u, at effort `uᵀRu` each, while being z away takes `zᵀQz` at every step.

        The least effort of the way is `zᵀAz` with `Q = A(R+A)⁻¹A`; A is divided by its largest eigenvalue. Q and R are
        (d, d), positive semidefinite and positive definite.

        Examples
        --------
        >>> Mahalanobis.from_lqr([[4.0, 0.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]]).matrix.tolist()
        [[1.0, 0.0], [0.0, 0.0]]
        """
        return cls(costs.lqr(Q, R), lapse=lapse, noise=noise, epsilon=epsilon, random_state=random_state)

    @classmethod
    def from_scm(
        cls,
        W: Array,
        D: Array,
        *,
        lapse: float = 0.0,
        noise: float | None = None,
        epsilon: float = 0.0,
        random_state: Seed = 0,
    ) -> Self:
        """Return a person whose changes bring others with them: deviations follow `δ = Wδ + e`, `e ~ N(0, D)`.

        `W[i, j]` is the effect of column j on column i; D are the variances (d,), or the covariance (d, d), of changes made
        on purpose. An unlikely deviation is a hard one: `A = (I−W)ᵀD⁻¹(I−W)`, the precision of δ, divided by its largest
        eigenvalue.

        Examples
        --------
        >>> person = Mahalanobis.from_scm([[0.0, 0.0], [1.0, 0.0]], [1.0, 1.0])  # the first column pulls the second
        >>> person.effort([1.0, 1.0]) < person.effort([1.0, 0.0])
        True
        """
        return cls(costs.scm(W, D), lapse=lapse, noise=noise, epsilon=epsilon, random_state=random_state)

    @classmethod
    def random(
        cls,
        dimension: int,
        rng: Seed,
        *,
        kind: str = "gaussian",
        lapse: float = 0.0,
        noise: float | None = None,
        epsilon: float = 0.0,
    ) -> Self:
        """Return a person drawn at random, with an effort matrix of largest eigenvalue 1; answers have a stream of their own.

        Kinds: "gaussian", the paper's: `A ∝ GGᵀ`, G `(d, d)` standard normal; "uniform": G uniform on (0, 1); "rank-one": G
        one column of absolute normals; "diagonal": uniform on (0, 1); "lqr": `from_lqr` with Q and R−I drawn as the paper's;
        "scm": `from_scm`, each earlier column of a random order acting on each later one with chance ½ and normal strength,
        variances uniform on (½, 1½).

        Examples
        --------
        >>> A = Mahalanobis.random(4, 0, kind="scm").matrix
        >>> A.shape, round(float(np.linalg.eigvalsh(A)[-1]), 9)
        ((4, 4), 1.0)
        """
        rng = np.random.default_rng(rng)
        answers = rng.spawn(1)[0]
        A = costs.draw(dimension, rng, kind)
        return cls(A, lapse=lapse, noise=noise, epsilon=epsilon, random_state=answers)


@dataclass(eq=False)
class L1(Person):
    """A person with effort `Σ w·|v|` over the moves v: twice as far is twice as hard.

    Parameters
    ----------
    weights : (d,) array, optional
        Effort of a unit of each column; all 1 by default.
    lapse, noise, epsilon, random_state
        As in `Person`.

    Examples
    --------
    >>> L1().effort([[1.0, -2.0], [0.0, 1.0]]), L1([1.0, 10.0]).answer([[1.0, 1.0], [5.0, 0.0]])
    (4.0, 1)
    """

    weights: Array | None = field(default=None, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            self.weights = np.asarray(self.weights, dtype=float)
            if self.weights.ndim != 1 or not ((self.weights >= 0) & np.isfinite(self.weights)).all():
                raise InputError(
                    "the weights must be a vector of finite numbers of at least 0, one for each column."
                )

    def effort(self, moves: Array) -> float:
        """Return `Σ w·|v|` over the moves `(d,)` or `(s, d)`."""
        weights = np.ones(np.shape(moves)[-1:]) if self.weights is None else self.weights
        return float((np.abs(_moves(moves, len(weights))) @ weights).sum())


@dataclass(eq=False)
class Curved(Person):
    """A person with effort `Σ w|Δ|^{2p}` of a whole change Δ: p = 1 counts squares, p = ½ amounts; columns add up.

    Parameters
    ----------
    weights : (d,) array
        w, at least 0.
    power : float
        p.
    lapse, noise, epsilon, random_state
        As in `Person`.

    Examples
    --------
    >>> Curved([1.0, 4.0], 0.5).effort([[0.5, 0.0], [0.0, -0.25]])
    1.5
    """

    weights: Array = field(kw_only=False)
    power: float = field(default=1.0, kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights = np.asarray(self.weights, dtype=float)
        if self.weights.ndim != 1 or not ((self.weights >= 0) & np.isfinite(self.weights)).all():
            raise InputError("the weights must be a vector of finite numbers of at least 0, one a column.")
        if not 0 < self.power < np.inf:
            raise InputError(f"power is {self.power}; it must be a positive, finite number.")

    def effort(self, moves: Array) -> float:
        """Return the effort of a whole change `(d,)`, or of the moves `(s, d)` of a path."""
        change = _moves(moves, len(self.weights)).sum(axis=0)
        return float(self.weights @ np.abs(change) ** (2 * self.power))

    @classmethod
    def as_people_answered(cls, dimension: int, rng: Seed) -> Self:
        """Return a person drawn as people were who answered in studies (`reap.research.choices`, the choosing halves).

        Weights, curvature, sharpness and lapse are those of the default belief, of people who weigh columns one by one.

        Examples
        --------
        >>> person = Curved.as_people_answered(3, 0)
        >>> len(person.weights), person.power in (0.5, 0.75, 1.0), person.lapse in (0.02, 0.1, 0.3)
        (3, True, True)
        """
        rng = np.random.default_rng(rng)
        answers = rng.spawn(1)[0]
        population = replace(Population.default(dimension), interaction=np.eye(3)[0])
        drawn = {name: values[0] for name, values in population.draw(1, rng).items()}
        weights, kappa = np.exp(drawn["latents"][:-1]), float(np.exp(drawn["latents"][-1]))
        lapse = float(drawn["lapses"])
        return cls(
            weights / weights.max(), float(drawn["powers"]), lapse=lapse, noise=kappa, random_state=answers
        )


#: The same, as functions of the module.
from_lqr = Mahalanobis.from_lqr
from_scm = Mahalanobis.from_scm
random = Mahalanobis.random


def _moves(moves: Array, dimension: int) -> Array:
    """Return moves as `(s, d)`, checked; a plan without steps is one, of no effort."""
    return as_moves(moves, dimension) if np.size(moves) else np.empty((0, dimension))
