"""PEAR's own session: particles on the weights of its cost, two rows a question."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import logsumexp

from reap import effort
from reap._errors import InputError
from reap._typing import Array
from reap.plan import Plan
from reap.space import Limits

if TYPE_CHECKING:
    from reap.research.baselines.pear import PEAR

Estimate = Literal["best", "mean"]
#: Particles, how many of the best are averaged, and moves after each answer.
_PARTICLES, _BEST, _SWEEPS = 100, 25, 60


class Session:
    """One session of PEAR: a prior on the weights, two rows a question, particles moved by an ensemble sampler.

    After an answer, particles are weighed by its likelihood (``effective`` is their effective number), resampled, and
    moved by stretch moves, which keep the posterior exactly.
    """

    def __init__(self, engine: PEAR, x: Any, limits: Limits | None, estimate: Estimate) -> None:
        self.engine, self.limits, self.estimate = engine, limits, estimate
        self.z = engine.space.vector(x)
        self.x = engine.space.decode(self.z[None])
        self.options = engine.candidates(self.x, limits)
        rows = self.options.targets
        self.terms = engine.cost_.terms(np.repeat(self.z[None], len(rows), axis=0), rows) if len(rows) else []
        self.rng = np.random.default_rng([engine.random_state, 1])
        part = self.rng.integers(len(engine.means_), size=_PARTICLES)
        self.particles = engine.means_[part] + self.rng.standard_normal((_PARTICLES, engine.cost_.size))
        self.answers: list[tuple[int, int]] = []
        self.asked: set[frozenset[int]] = set()
        self.pair: tuple[int, int] | None = None
        self.effective: list[float] = []
        self.sharpness = self._sharpness() if len(rows) > 1 else 1.0

    def _sharpness(self) -> float:
        """The slope at which the median difference under the prior is answered rightly with probability 0.9."""
        pairs = self.rng.integers(len(self.options), size=(2, 500))
        costs = self._costs(self.particles)
        median = float(np.median(np.abs(costs[:, pairs[0]] - costs[:, pairs[1]])))
        return float(np.log(9.0) / max(median, 1e-9))

    def _costs(self, weights: Array) -> Array:
        return self.engine.cost_.of(self.terms, weights)

    def ask(self) -> Any:
        """Return the question: two rows that minimise ``E_w[min cost]``, found greedily; None where none is left."""
        if self.pair is None and len(self.options) > 1:
            costs = self._costs(self.particles)
            first = int(costs.mean(axis=0).argmin())
            for one in (first, *self.rng.permutation(len(self.options))[:5].tolist()):
                order = np.argsort(np.minimum(costs, costs[:, [one]]).mean(axis=0), kind="stable")
                fresh = [
                    int(j) for j in order[:50] if j != one and frozenset((one, int(j))) not in self.asked
                ]
                if fresh:
                    self.pair = (one, fresh[0])
                    break
        if self.pair is None:
            return None
        return SimpleNamespace(options=[self.options[i] for i in self.pair])

    def answer(self, choice: int | str) -> None:
        """Say which of the two rows is easier: 0 or 1; "same" tells nothing."""
        if self.pair is None:
            raise InputError("there is no question to answer; call ask() first")
        if choice not in (0, 1, "same"):
            raise InputError(f'the answer {choice!r} is not 0, 1 or "same"')
        pair, self.pair = self.pair, None
        self.asked.add(frozenset(pair))
        if choice != "same":
            chosen = int(choice)
            self.answers.append((pair[chosen], pair[1 - chosen]))
            self._learn()

    def _learn(self) -> None:
        last = self._likelihood(self.particles, self.answers[-1:])
        weights = np.exp(last - logsumexp(last))
        self.effective.append(float(1 / np.sum(weights**2)))
        self.particles = self.particles[self.rng.choice(_PARTICLES, _PARTICLES, p=weights)]
        # all different
        self.particles = self.particles + 1e-3 * self.rng.standard_normal(self.particles.shape)
        density = self._density(self.particles)
        half = _PARTICLES // 2
        for sweep in range(2 * _SWEEPS):
            mine = np.arange(half) + (sweep % 2) * half
            self._stretch(mine, np.setdiff1d(np.arange(_PARTICLES), mine), density)

    def _stretch(self, mine: Any, others: Any, density: Array) -> None:
        """Goodman and Weare's stretch move of one half of the ensemble along lines through the other half."""
        size = self.particles.shape[1]
        stretch = (self.rng.random(len(mine)) + 1) ** 2 / 2  # from ½ to 2, density ∝ 1/√z
        partner = self.particles[self.rng.choice(others, len(mine))]
        proposed = partner + stretch[:, None] * (self.particles[mine] - partner)
        fresh = self._density(proposed)
        accept = np.log(self.rng.random(len(mine))) < (size - 1) * np.log(stretch) + fresh - density[mine]
        self.particles[mine[accept]], density[mine[accept]] = proposed[accept], fresh[accept]

    def _density(self, weights: Array) -> Array:
        gaps = ((weights[:, None] - self.engine.means_) ** 2).sum(axis=-1)
        return np.asarray(logsumexp(-gaps / 2, axis=1) + self._likelihood(weights, self.answers))

    def _likelihood(self, weights: Array, answers: Sequence[tuple[int, int]]) -> Array:
        """Return the log-likelihood (m,) of answers, logistic in the difference of costs."""
        chosen, other = (list(side) for side in zip(*answers, strict=True))
        terms = [part[chosen + other] for part in self.terms]
        costs = self.engine.cost_.of(terms, weights)
        gap = self.sharpness * (costs[:, len(chosen) :] - costs[:, : len(chosen)])
        return np.asarray(-np.logaddexp(0.0, -gap).sum(axis=1))

    def weights(self) -> Array:
        """Return the estimate (size,): the prior mean before any answer."""
        if not self.answers:
            return np.asarray(self.engine.means_.mean(axis=0))
        best = self.particles
        if self.estimate == "best":
            best = best[np.argsort(-self._density(best), kind="stable")[:_BEST]]
        return np.asarray(best.mean(axis=0))

    def recommend(self) -> Plan:
        """Return the cheapest path at the estimate."""
        if len(self.options) == 0:
            return self.engine.plans(self.x, effort.identity(self.engine.space.dimension), self.limits)[0]
        return self.engine.planned(self.x, self.weights(), self.limits)
