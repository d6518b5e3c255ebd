"""De Toni et al., "Personalized algorithmic recourse with preference elicitation" (2022): PEAR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, Self

import numpy as np
from scipy.special import logsumexp

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse.engine import Candidates, Subject
from reap.recourse.graph import GraphRecourse
from reap.research.baselines._baseline import Baseline, free
from reap.research.baselines._paths import cheapest
from reap.research.baselines._pear_cost import Cost
from reap.space import ActionSpace, Limits

Estimate = Literal["best", "mean"]
#: The prior: a mixture of Gaussians with identity covariance and means from this cube.
_COMPONENTS, _REACH = 6, 50.0
#: Particles, how many of the best are averaged, and moves after each answer.
_PARTICLES, _BEST, _SWEEPS = 100, 25, 60
#: An edge costs at least this.
_LEAST = 1e-6


class PEAR(Baseline):
    """Recourse with its own dialogue: weights of a cost on features are learnt from choices between two rows.

    ``converse`` holds the dialogue; ``plans`` answers for somebody who was asked nothing, at the prior mean. The graph
    is ours, weighed with PEAR's cost. Cost matrices do not enter.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    dag : mapping, optional
        Which features act on which, parent to children; none by default. ``DAGS`` has the authors' own.
    target : hashable
        Label of the favourable class.
    threshold : float
        Rows with a probability above it are accepted.
    n_neighbors, max_neighbors : int
        As in ``GraphRecourse``.
    constraints : bool
        False: the paper's setting, anything may become anything.
    random_state : int

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = PEAR(model, space, dag={"income": ["debts"]}).fit(X)
    >>> talk = engine.converse(pd.Series({"income": 2000, "debts": 2}))
    >>> question = talk.ask()
    >>> talk.answer(0)
    >>> talk.recommend().valid
    True
    """

    def __init__(
        self,
        model: Any,
        space: ActionSpace,
        *,
        dag: Mapping[str, Sequence[str]] | None = None,
        target: Any = 1,
        threshold: float = 0.5,
        n_neighbors: int = 10,
        max_neighbors: int = 160,
        constraints: bool = True,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.space = space
        self.dag = dag
        self.target = target
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.max_neighbors = max_neighbors
        self.constraints = constraints
        self.random_state = random_state

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row with its nearest ones, and draw the prior's means.

        Parameters
        ----------
        X : DataFrame
        y : ignored
        """
        self.classifier_ = self._wrap()
        self.graph_ = GraphRecourse(
            self.model,
            self.space if self.constraints else free(self.space),
            target=self.target,
            threshold=self.threshold,
            n_neighbors=self.n_neighbors,
            max_neighbors=self.max_neighbors,
            tidy=False,
            random_state=self.random_state,
        ).fit(X)
        self.cost_ = Cost(self.space, self.dag or {})
        rng = np.random.default_rng(self.random_state)
        self.means_ = rng.uniform(-_REACH, _REACH, (_COMPONENTS, self.cost_.size))
        return self

    def converse(self, x: Any, *, limits: Limits | None = None, estimate: Estimate = "best") -> Talk:
        """Start PEAR's own dialogue with one person.

        Parameters
        ----------
        x : Series or one-row DataFrame
        limits : Limits, optional
        estimate : {"best", "mean"}
            The weights to plan with: the mean of the 25 likeliest particles, or of all of them.
        """
        if estimate not in ("best", "mean"):
            raise unknown("estimate", estimate, ("best", "mean"))
        return Talk(self, x, limits, estimate)

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows the subject could become, as one-step plans, nearest first."""
        return self.graph_.candidates(x, limits)

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        return self.planned(self.space.decode(subject.z[None]), self.means_.mean(axis=0), limits)

    def planned(self, x: Any, weights: Array, limits: Limits | None = None) -> Plan:
        """Return the cheapest path under weights (size,); the note says which share of its edges costs nothing."""

        def cost(before: Array, after: Array) -> Array:
            return np.asarray(
                np.maximum(self.cost_.of(self.cost_.terms(before, after), weights[None])[0], _LEAST)
            )

        plan = cheapest(self.graph_, x, cost, limits)
        if plan.status != "ok":
            return plan
        clipped = float((cost(plan.path[:-1], plan.path[1:]) <= _LEAST).mean())
        V = plan.moves
        return plan.with_(
            cost=float(np.sum(V * V)), note=f"{plan.note} {clipped:.0%} of the steps cost nothing.".strip()
        )


class Talk:
    """One dialogue of PEAR: a prior on the weights, two rows a question, particles moved by an ensemble sampler.

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
        part = self.rng.integers(_COMPONENTS, size=_PARTICLES)
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
        self.particles = self.particles + 1e-3 * self.rng.standard_normal(
            self.particles.shape
        )  # all different
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
            return self.engine.plans(self.x, np.eye(self.engine.space.dimension), self.limits)[0]
        return self.engine.planned(self.x, self.weights(), self.limits)
