"""Plans on the decision boundary: the row of least effort that the model accepts, over legal rows."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit

from reap._arrays import zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.plan import Plan, Status
from reap.recourse._boundary import Boundary
from reap.recourse._boundary_robust import robust
from reap.recourse._boundary_terrain import Terrain
from reap.recourse._efforts import efforts, unique_rows
from reap.recourse._engine import Candidates, Engine, Objective, Subject
from reap.recourse._one_step import check_robust, lifted, one_step, refusal
from reap.recourse.algorithm1 import Algorithm1, Loss
from reap.space import ActionSpace, Limits

Method = Literal["boundary", "algorithm1"]
#: Subjects whose pool is kept: a dialogue asks for plans of the same person again and again.
_KEPT = 128
#: Accepted rows kept of the table given to ``fit``.
_ROWS = 5_000


class GradientRecourse(Engine):
    """One-step plans: least effort ``δᵀAδ`` subject to acceptance, over legal rows.

    ``method="boundary"`` enumerates category combinations, walks along the decision boundary with the numbers, rounds to
    what can be shown and searches around it; every row is scored as it is shown. Models without a gradient
    are searched row by row. ``method="algorithm1"`` is the paper's Algorithm 1.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float
        Rows with a probability above it are accepted.
    method : {"boundary", "algorithm1"}
    loss, learning_rate, weight, max_iterations, stop_early
        Of Algorithm 1: the loss, α, λ, T, and whether to stop at the first accepted point.
    constraints : bool
        False, for Algorithm 1: the paper's setting, any point of the unit box, nothing rounded.
    random_state : int
    time_limit : float, optional
        Seconds a call may take; then the best plan so far is given.
    verbose : bool

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X, units={"income": "EUR"})
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, X["income"] > 1000 * X["debts"] + 1000)
    >>> engine = reap.GradientRecourse(model, space, target=True).fit(X)
    >>> plan = engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0]
    >>> plan.status, plan.valid
    ('ok', True)
    """

    def __init__(
        self,
        model: Any,
        space: ActionSpace,
        *,
        target: Any = 1,
        threshold: float = 0.5,
        method: Method = "boundary",
        loss: Loss = "quadratic",
        learning_rate: float = 0.01,
        weight: float = 1.0,
        max_iterations: int = 1000,
        stop_early: bool = False,
        constraints: bool = True,
        random_state: int = 0,
        time_limit: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.space = space
        self.target = target
        self.threshold = threshold
        self.method = method
        self.loss = loss
        self.learning_rate = learning_rate
        self.weight = weight
        self.max_iterations = max_iterations
        self.stop_early = stop_early
        self.constraints = constraints
        self.random_state = random_state
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Keep the accepted rows, from which a subject's pool is made.

        Parameters
        ----------
        X : DataFrame
            Rows of other people, usually those the model was trained on.
        y : ignored
        """
        self._check()
        self.classifier_ = self._wrap()
        if self.method == "algorithm1":
            self.classifier_.gradient(
                zero_missing(self.space.encode(X.iloc[:1]))
            )  # says now that there is none
        rows = self.space.encode(X)
        rows = rows[self.classifier_.accepts(rows)]
        rows = rows[unique_rows(rows)] if len(rows) else rows
        if len(rows) > _ROWS:
            rows = rows[
                np.sort(np.random.default_rng(self.random_state).choice(len(rows), _ROWS, replace=False))
            ]
        self.rows_ = rows
        self._boundaries: OrderedDict[Any, Boundary] = OrderedDict()
        self._lock = threading.RLock()
        if self.verbose:
            print(f"{len(rows):,} accepted rows kept of {len(X):,}")
        return self

    def _check(self) -> None:
        for name, allowed in (("method", ("boundary", "algorithm1")), ("loss", ("quadratic", "hinge"))):
            if getattr(self, name) not in allowed:
                raise unknown(name, getattr(self, name), allowed)
        for name in ("learning_rate", "time_limit"):
            value = getattr(self, name)
            if not (value is None and name == "time_limit") and not value > 0:
                raise InputError(f"{name} is {value!r}; give a number above 0")
        if not self.weight >= 0:
            raise InputError(f"weight is {self.weight!r}; give a number of at least 0")
        if isinstance(self.max_iterations, bool) or not self.max_iterations >= 1:
            raise InputError(f"max_iterations is {self.max_iterations!r}; give a whole number of at least 1")
        if not self.constraints and self.method != "algorithm1":
            raise InputError(
                "constraints=False is for method='algorithm1'; the boundary method only knows legal rows"
            )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_boundaries", None)
        state.pop("_lock", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._boundaries = OrderedDict()
        self._lock = threading.RLock()

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array, limits: Limits | None = None) -> list[Plan]:
        """Return the cheapest plan for each cost matrix.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        matrices : (b, d, d) or (d, d)
            Positive semidefinite.
        limits : Limits, optional
            What this person cannot or will not do.

        Returns
        -------
        list of Plan, b of them
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        matrices = self._definite(self._matrices(matrices))
        if subject.verdict is not None or len(matrices) == 0:
            return [subject.verdict] * len(matrices) if subject.verdict is not None else []
        if self.method == "algorithm1":
            return self._algorithm1(subject, lambda which, _: matrices[which], len(matrices), deadline)
        with self._lock:
            boundary = self._boundary(subject, limits, deadline)
            best = boundary.solve(matrices)
            if not best.found.all():
                return [self._nothing(subject, boundary, limits)] * len(matrices)
            return self._finish(subject, boundary, best.rows, best.costs)

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort over a confidence set is least; its cost is that effort.

        A plan of one step has one deviation, so both objectives mean the same here.
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        if subject.verdict is not None:
            return subject.verdict
        if self.method == "algorithm1":
            plan = self._algorithm1(
                subject, lambda _, moves: confidence_set.worst_case_plan(moves[0]).matrix[None], 1, deadline
            )[0]
            return plan.with_(cost=confidence_set.worst_case_plan(plan.moves[0]).cost) if plan.valid else plan
        with self._lock:
            boundary = self._boundary(subject, limits, deadline)
            found = robust(boundary, confidence_set)
            if found is None:
                return self._nothing(subject, boundary, limits)
            return self._finish(subject, boundary, found[0][None], np.array([found[1]]))[0]

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted legal rows of the subject's pool as one-step plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates(subject, np.empty((0, self.space.dimension)), np.empty(0))
        with self._lock:
            boundary = self._boundary(subject, limits, self._deadline())
            rows = boundary.pool.rows
            order = np.argsort((boundary.terrain.moves(rows) ** 2).sum(axis=1), kind="stable")
            return Candidates(subject, rows[order], expit(boundary.pool.logits[order]))

    # how ---------------------------------------------------------------------------------------------

    def _deadline(self) -> float:
        return np.inf if self.time_limit is None else time.monotonic() + self.time_limit

    @staticmethod
    def _definite(matrices: Array) -> Array:
        matrices = (matrices + matrices.transpose(0, 2, 1)) / 2
        size = np.trace(matrices, axis1=1, axis2=2)
        try:
            ridge = (1e-7 * np.abs(size) + 1e-12)[:, None, None] * np.eye(matrices.shape[1])
            np.linalg.cholesky(matrices + ridge)
        except np.linalg.LinAlgError:
            raise InputError(
                "a cost matrix is not positive semidefinite; efforts would be negative"
            ) from None
        return matrices

    def _boundary(self, subject: Subject, limits: Limits | None, deadline: float) -> Boundary:
        """Return what all questions about one subject share, made on first use."""
        key = subject.z.tobytes(), repr(limits or None)
        kept = self._boundaries.pop(key, None)
        if kept is None:
            terrain = Terrain(subject.space, self.classifier_, subject.z, deadline)
            kept = Boundary(terrain, self.rows_, np.random.default_rng(self.random_state))
        kept.terrain.deadline = deadline
        self._boundaries[key] = kept
        while len(self._boundaries) > _KEPT:
            self._boundaries.popitem(last=False)
        return kept

    def _finish(self, subject: Subject, boundary: Boundary, rows: Array, costs: Array) -> list[Plan]:
        """Return rows as plans, judged once more exactly as they are shown."""
        rows = subject.space.project(rows, subject.z, exact=False)
        scores = self.classifier_.probability(rows)
        fine = (scores > self.threshold) & subject.space.allows(subject.z, rows)
        said = []
        if not boundary.terrain.smooth and not boundary.pool.complete:
            said.append(
                "The model has no gradient: rows were searched one by one, and an easier plan may exist."
            )
        if boundary.terrain.late:
            said.append("The search was stopped at its time limit; an easier plan may exist.")
        return [
            one_step(subject, row, score, cost, " ".join(said))
            if good
            else self._nothing(subject, boundary, None)
            for row, score, cost, good in zip(rows, scores, costs, fine, strict=True)
        ]

    def _nothing(self, subject: Subject, boundary: Boundary, limits: Limits | None) -> Plan:
        """Return the honest refusal: proven or not, how close it came, which limit is in the way."""
        terrain = boundary.terrain
        status: Status = (
            "infeasible" if boundary.pool.complete else "time_limit" if terrain.late else "none_found"
        )
        if not np.isfinite(terrain.closest):
            return refusal(subject, status, "No legal row could be tried.")
        said = "Of all rows there are" if boundary.pool.complete else "Of the rows tried"
        note = (
            f"{said}, the best scores {terrain.probability:.2f}; more than {self.threshold:.2f} is needed. "
            f"{lifted(limits, lambda fewer: self._possible(subject, fewer, terrain.deadline))}"
        )
        return refusal(subject, status, note.strip())

    def _possible(self, subject: Subject, limits: Limits, deadline: float) -> bool:
        """Return whether a plan is found within other limits."""
        space = self.space.tighten(limits)
        if space.obstacle(subject.z) is not None or time.monotonic() > deadline:
            return False
        terrain = Terrain(space, self.classifier_, subject.z, deadline)
        boundary = Boundary(terrain, self.rows_, np.random.default_rng(self.random_state))
        return bool(boundary.solve(np.eye(space.dimension)[None]).found.all())

    def _algorithm1(self, subject: Subject, matrix: Any, count: int, deadline: float) -> list[Plan]:
        """Return what Algorithm 1 ends at, brought to a legal row and scored there."""

        def project(Z: Array) -> Array:
            return subject.space.relax(Z, subject.z) if self.constraints else np.clip(Z, 0.0, 1.0)

        descent = Algorithm1(
            self.classifier_,
            project,
            self.loss,
            self.learning_rate,
            self.weight,
            self.max_iterations,
            self.stop_early,
        )
        points, weights = descent.run(subject.z, matrix, count, deadline)
        rows = subject.space.project(points, subject.z) if self.constraints else points
        scores = self.classifier_.probability(rows)
        late = time.monotonic() > deadline
        plans = []
        for i, (row, score) in enumerate(zip(rows, scores, strict=True)):
            if score > self.threshold:
                move = zero_missing(row - subject.z)
                A = matrix(np.array([i]), move[None])
                note = f"λ = {weights[i]:g}." if weights[i] != self.weight else ""
                plans.append(one_step(subject, row, score, float(efforts(A, move[None])[0, 0]), note))
            else:
                note = f"Algorithm 1 ended at a row that scores {score:.2f}; more than {self.threshold:.2f} is needed."
                plans.append(refusal(subject, "time_limit" if late else "none_found", note))
        return plans
