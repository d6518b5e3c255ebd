"""Populations of simulated people who share something, or nothing, and the cheap sessions from which a prior is learnt.

A person's matrix is `W = GᵀG` with G normal `(2k, k)`, over the k columns that can move, then what the population shares: column
scales `e^{σz}` (``scales``), a common correlation (``directions``), one of two sets of scales (``clusters``), or nothing but the
paper's own draw (``none``). Sessions are held over a fixed pool of plans, with the questions and the belief of a real session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from reap import effort
from reap._errors import unknown
from reap._typing import Array, Ints, Seed
from reap.belief import Posterior, Sampled
from reap.belief.answers import KINDS as ANSWERING
from reap.belief.answers import by_kinds, chances
from reap.belief.learning import Comparison
from reap.elicitation.pool import noticed
from reap.questions import Decision
from reap.research import costs

KINDS = ("scales", "directions", "clusters", "none")
#: Share of answers that are slips: the other option is named.
SLIP = 0.05


@dataclass(frozen=True, eq=False)
class SimulatedPopulation:
    """People of one kind, over k columns; what they share is drawn once, from the seed.

    Examples
    --------
    >>> crowd = SimulatedPopulation("scales", 3, seed=0)
    >>> A = crowd.draw(np.random.default_rng(0))
    >>> A.shape, round(float(np.trace(A)), 9)
    ((3, 3), 3.0)
    """

    kind: str
    columns: int
    seed: int
    _scales: Array = field(init=False, repr=False)
    _factor: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise unknown("kind of population", self.kind, KINDS)
        rng, k = np.random.default_rng([self.seed, KINDS.index(self.kind)]), self.columns
        object.__setattr__(self, "_scales", np.exp(rng.standard_normal((2, k))))
        common = rng.standard_normal((3, k)) * (rng.random((3, k)) < 0.6)
        M = 0.3 * np.eye(k) + common.T @ common
        size = np.sqrt(np.diag(M))
        object.__setattr__(self, "_factor", np.linalg.cholesky(M / (size[:, None] * size)))

    def draw(self, rng: np.random.Generator) -> Array:
        """Return the matrix `(k, k)` of one person, of trace k."""
        k = self.columns
        if self.kind == "none":
            A = costs.draw(k, rng, "gaussian")
        else:
            G = rng.standard_normal((2 * k, k))
            A = G.T @ G
            if self.kind == "directions":
                A = self._factor @ A @ self._factor.T  # turned towards the common directions; no effort
            else:
                of = int(rng.integers(2)) if self.kind == "clusters" else 0
                A = A * np.sqrt(self._scales[of][:, None] * self._scales[of])
        result: Array = A * (k / np.trace(A))
        return result


class Drawn:
    """A belief on matrices `(n, k, k)` that were drawn once from a prior, and are weighed by the answers.

    Drawn from the population itself it is the best that any prior could do. For a few answers it is as good as a sampler that
    moves, in a tenth of the time.
    """

    def __init__(self, matrices: Array) -> None:
        self._flat = matrices.reshape(len(matrices), -1)
        self.dimension = matrices.shape[1]
        self._logs = np.zeros((len(matrices), len(ANSWERING)))

    @property
    def weights(self) -> Array:
        """How well each matrix fits the answers `(n,)`; the sum is 1."""
        each = np.logaddexp.reduce(self._logs, axis=1)
        weights = np.exp(each - each.max())
        return np.asarray(weights / weights.sum())

    def update(self, chosen: Array, others: Array | Sequence[Array]) -> None:
        """Learn that one option was preferred to another."""
        efforts = self.efforts(np.stack([np.ravel(chosen), np.ravel(np.asarray(others))]))
        told = [chances(efforts, efforts, *map(np.asarray, kind))[:, 0] for kind in ANSWERING]
        self._logs = self._logs + np.log(told).T

    def update_same(self, options: Sequence[Array]) -> None:
        """Learn nothing: these people always have a preference."""

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return the efforts `(n, m)` of changes `(m, k)`."""
        grams = effort.grams(np.asarray(options)).reshape(len(options), -1)
        return np.asarray(np.maximum(self._flat @ grams.T, 1e-12))

    def expected(self, options: Sequence[Array] | Array) -> Array:
        """Return the expected efforts `(m,)` of changes `(m, k)`."""
        return np.asarray(self.weights @ self.efforts(options))

    def estimate(self) -> Array:
        """Return the expected matrix `(k, k)`."""
        return np.asarray((self.weights @ self._flat).reshape(self.dimension, self.dimension))

    def sample(self, n: int, random_state: Seed | None = None) -> Array:
        """Draw n matrices (n, k, k) by their weights."""
        picked = np.random.default_rng(random_state).choice(len(self._flat), n, p=self.weights)
        return self._flat[picked].reshape(n, self.dimension, self.dimension)

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely each option of questions is to be chosen, (s, q, k) from efforts (s, q, k): alike for everybody."""
        return by_kinds(efforts, ANSWERING if slips else [(kappa, 0.0) for kappa, _ in ANSWERING])

    def copy(self) -> Self:
        """Return an independent copy."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        return other


@dataclass(frozen=True, eq=False)
class Course:
    """One simulated session.

    Parameters
    ----------
    answers : tuple of Comparison
    efforts : (T+1,) array
        The person's effort of the plan recommended after 0 … T answers.
    best : float
        The least effort of any plan of the pool.
    """

    answers: tuple[Comparison, ...]
    efforts: Array
    best: float


def hold(
    pool: Array,
    matrix: Array,
    belief: Sampled,
    rng: np.random.Generator,
    *,
    answers: int = 5,
    answering: Callable[[], int] | None = None,
) -> Course:
    """Hold a session over a pool of plans: changes `(n, k)`.

    Parameters
    ----------
    answering : callable, optional
        For people who do not answer by effort: returns the option, 0 or 1, that they name.
    """
    true = effort.of_change(matrix, pool)
    strategy = Decision()
    asked: list[tuple[int, ...]] = []
    said: list[Comparison] = []
    recommended: list[float] = []
    for step in range(answers + 1):
        recommended.append(float(true[int(np.argmin(belief.weights @ belief.efforts(pool)))]))
        if step == answers:
            break
        choice = strategy.choose(pool, belief, asked=asked, random_state=rng) if len(pool) > 1 else None
        if choice is None:
            recommended += recommended[-1:] * (answers - step)
            break
        pair = [int(i) for i in rng.permutation(choice.options)]
        asked.append(tuple(sorted(pair)))
        first = int(np.argmin(true[pair])) if answering is None else answering()
        if answering is None and rng.random() < SLIP:
            first = 1 - first
        chosen, other = pool[pair[first]], pool[pair[1 - first]]
        said.append(Comparison((chosen[None], other[None]), place=first))
        belief.update(chosen, other)
    return Course(tuple(said), np.array(recommended), float(true.min()))


def distinct(pool: Array, least: Array) -> Array:
    """Return the plans `(m, k)` of a pool that a person can tell apart, the first of each kind."""
    kept: list[Array] = []
    for row in pool:
        if all((np.abs(row - other) >= least).any() for other in kept):
            kept.append(row)
    return np.array(kept).reshape(-1, pool.shape[1])


def pools(engine: Any, subjects: Any, samples: int, most: int, seed: int) -> list[Array]:
    """Return for each subject the changes `(n, k)` of the plans that an engine finds for people drawn at random."""
    space = engine.space
    columns = np.array(space.legal.movable)
    found = []
    for i in range(len(subjects)):
        drawn = Posterior(space.dimension, columns=columns, random_state=seed + i).sample(samples)
        plans = [plan for plan in engine.plans(subjects.iloc[[i]], drawn.matrices) if plan.status == "ok"]
        moves = np.array([effort.changes(plan.path[-1], plan.path[0]) for plan in plans])
        if len(moves):
            pool = distinct(np.unique(moves, axis=0), noticed(space, plans[0].path[0]))[:most, columns]
            if len(pool) > 1:
                found.append(pool)
    return found
