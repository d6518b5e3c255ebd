"""De Toni et al., "Personalized algorithmic recourse with preference elicitation" (2022): PEAR.

``Cost`` is linear in its weights before it is cut off at 0; ``Session`` learns the weights by particles, two rows a question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import SimpleNamespace
from typing import Any, Literal, Self

import numpy as np
from scipy.special import logsumexp

from reap import effort
from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import PathBaseline
from reap.space import ActionSpace, Limits

Estimate = Literal["best", "mean"]
#: The prior: a mixture of Gaussians with identity covariance and means from this cube.
_COMPONENTS, _REACH = 6, 50.0
#: Particles, how many of the best are averaged, and moves after each answer.
_PARTICLES, _BEST, _SWEEPS = 100, 25, 60
#: An edge costs at least this.
_LEAST = 1e-6
_LATE = (
    "NumberOfTime30-59DaysPastDueNotWorse",
    "NumberOfTime60-89DaysPastDueNotWorse",
    "NumberOfTimes90DaysLate",
)
_LOANS = ("NumberOfOpenCreditLinesAndLoans", "NumberRealEstateLoansOrLines")
_WORK = ("occupation", "education-num", "relationship")
#: Which features act on which, parent -> children, by data set: from the authors' appendix.
DAGS: dict[str, dict[str, tuple[str, ...]]] = {
    "adult": {
        "age": ("workclass", "education-num", "relationship", "occupation"),
        **dict.fromkeys(("race", "native-country", "sex"), _WORK),
        "relationship": ("marital-status",),
        "education-num": ("workclass",),
        "workclass": ("occupation", "hours-per-week", "capital-gain"),
        "hours-per-week": ("occupation",),
        "capital-gain": ("capital-loss",),
    },
    "gmc": {
        "age": ("MonthlyIncome", "DebtRatio", "NumberOfDependents", *_LOANS),
        "MonthlyIncome": (*_LOANS, "RevolvingUtilizationOfUnsecuredLines"),
        "RevolvingUtilizationOfUnsecuredLines": _LATE,
        **dict.fromkeys(_LOANS, (*_LATE, "DebtRatio")),
    },
}


@dataclass(eq=False, repr=False, kw_only=True)
class PEAR(PathBaseline):
    """Recourse with a session of its own: weights of a cost on features are learnt from choices between two rows.

    ``session`` starts one; ``plans`` answers for somebody who was asked nothing, at the prior mean. The graph is that of
    ``GraphRecourse``, weighed with PEAR's cost. Effort matrices do not enter.

    Parameters
    ----------
    model, space, target, threshold, constraints, random_state
        As in ``Baseline``.
    n_neighbors, max_neighbors : int
        As in ``GraphRecourse``.
    dag : mapping, optional
        Which features act on which, parent to children; none by default. ``DAGS`` has the authors' own.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"income": np.arange(10, 60) * 100, "debts": np.arange(50) % 6})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = PEAR(model, reap.ActionSpace.from_frame(X), dag={"income": ["debts"]}).fit(X)
    >>> session = engine.session(pd.Series({"income": 2000, "debts": 2}))
    >>> question = session.ask()
    >>> session.answer(0)
    >>> session.recommend().valid
    True
    """

    dag: Mapping[str, Sequence[str]] | None = None

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row with its nearest ones, and draw the prior's means."""
        self.cost_ = Cost(self.space, self.dag or {})
        rng = np.random.default_rng(self.random_state)
        self.means_ = rng.uniform(-_REACH, _REACH, (_COMPONENTS, self.cost_.size))
        return super().fit(X, y)

    def session(self, x: Any, *, estimate: Estimate = "best") -> Session:
        """Start PEAR's own session with one person; it plans with the mean of the 25 "best" particles, or with that of all."""
        return Session(self, x, estimate)

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        return self.planned(subject.space.decode(subject.z[None]), self.means_.mean(axis=0), limits)

    def planned(self, x: Any, weights: Array, limits: Limits | None = None) -> Plan:
        """Return the cheapest path under weights (size,); the note says which share of its edges costs nothing."""

        def cost(before: Array, after: Array) -> Array:
            costs = self.cost_.of(self.cost_.terms(before, after), weights[None])[0]
            return np.asarray(np.maximum(costs, _LEAST))

        plan = self.graph_.path(x, cost, limits)
        if plan.status != "ok":
            return plan
        clipped = float((cost(plan.path[:-1], plan.path[1:]) <= _LEAST).mean())
        note = f"{plan.note} {clipped:.0%} of the steps cost nothing.".strip()
        return plan.with_(effort=float(effort.size(plan.moves).sum()), note=note)


class Cost:
    """``C(set f to v | s, w) = max(0, w_ff·|Δ_f| + Σ_{p parent of f} w_pf·s_p)``, summed over the changed features.

    Features are changed in a topological order of the graph, so a parent is read as it is after the change. A number is
    its encoded value, a category the index of its level scaled to [0, 1]; a change of category is 1. ``dag`` goes from parent
    to children, by name.

    Examples
    --------
    >>> from reap.space import Feature
    >>> space = ActionSpace([Feature("age", range=(0, 1)), Feature("pay", range=(0, 1))])
    >>> cost = Cost(space, {"age": ["pay"]})
    >>> cost.size  # w_age, w_pay, w_age→pay
    3
    >>> terms = cost.terms(np.array([[0.0, 0.0]]), np.array([[0.5, 0.25]]))
    >>> cost.of(terms, np.array([[1.0, 2.0, 4.0], [1.0, 2.0, -4.0]]))
    array([[3. ],
           [0.5]])
    """

    def __init__(self, space: ActionSpace, dag: Mapping[str, Sequence[str]]) -> None:
        self.space = space
        names = [f.name for f in space.features]
        for name in [*dag, *(child for children in dag.values() for child in children)]:
            if name not in names:
                raise unknown("feature", name, names)
        parents = [[names.index(p) for p, children in dag.items() if name in children] for name in names]
        try:
            tuple(TopologicalSorter(dict(enumerate(parents))).static_order())
        except CycleError:
            raise InputError("the features act on each other in a circle; give a graph without one") from None
        self.parents = parents
        begin = len(names) + np.cumsum([0, *(len(p) for p in parents)])
        #: Places of each feature's weights: its own, then one for each parent.
        self.places = [np.r_[i, begin[i] : begin[i + 1]].astype(np.intp) for i in range(len(names))]
        self.size = int(begin[-1])

    def values(self, Z: Array) -> Array:
        """Return vectors (n, d) as one number a feature, (n, F)."""
        out = np.zeros((len(Z), len(self.space.features)))
        for i, feature in enumerate(self.space.features):
            block = zero_missing(Z[:, self.space.slices[feature.name]])
            wide = block.shape[1] > 1
            out[:, i] = block.argmax(axis=1) / (block.shape[1] - 1) if wide else block[:, 0]
        return out

    def terms(self, before: Array, after: Array) -> list[Array]:
        """Return what is multiplied by each feature's weights, (n, 1 + parents); zeros where it does not change."""
        old, new = self.values(before), self.values(after)
        terms = []
        for i, feature in enumerate(self.space.features):
            size = np.abs(new[:, i] - old[:, i])
            changed = size > 1e-12
            if self.space.slices[feature.name].stop - self.space.slices[feature.name].start > 1:
                size = changed.astype(float)
            terms.append(np.column_stack([size, new[:, self.parents[i]]]) * changed[:, None])
        return terms

    def of(self, terms: list[Array], weights: Array) -> Array:
        """Return the costs (m, n) under m weights (m, size)."""
        total = np.zeros((len(weights), len(terms[0])))
        for part, places in zip(terms, self.places, strict=True):
            total += np.maximum(weights[:, places] @ part.T, 0.0)
        return total


class Session:
    """One session of PEAR: a prior on the weights, two rows a question, particles moved by an ensemble sampler.

    After an answer, particles are weighed by its likelihood, resampled, and moved by stretch moves, which keep the
    posterior exactly.
    """

    def __init__(self, engine: PEAR, x: Any, estimate: Estimate) -> None:
        self.engine, self.estimate = engine, estimate
        self.z = engine.space.vector(x)
        self.x = engine.space.decode(self.z[None])
        self.options = engine.candidates(self.x)
        rows = self.options.targets
        self.terms = engine.cost_.terms(np.repeat(self.z[None], len(rows), axis=0), rows) if len(rows) else []
        self.rng = np.random.default_rng([engine.random_state, 1])
        part = self.rng.integers(len(engine.means_), size=_PARTICLES)
        self.particles = engine.means_[part] + self.rng.standard_normal((_PARTICLES, engine.cost_.size))
        self.answers: list[tuple[int, int]] = []
        self.asked: set[frozenset[int]] = set()
        self.pair: tuple[int, int] | None = None
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
            return self.engine.plans(self.x, effort.identity(self.engine.space.dimension))[0]
        return self.engine.planned(self.x, self.weights())
