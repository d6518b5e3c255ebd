"""The paper's second generator to the letter: Algorithm 1, projected gradient descent on loss plus effort."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from reap import effort
from reap._arrays import some_rows, unique_rows, zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.plan import Plan
from reap.recourse.algorithm1 import Algorithm1, Loss
from reap.recourse.engine import ROWS, Engine
from reap.recourse.reasons import typical
from reap.recourse.robust.worst_case import Objective, check_robust
from reap.recourse.subject import Candidates, Subject
from reap.scores import Output, Threshold
from reap.space import ActionSpace, Limits

Method = Literal["algorithm1"]


@dataclass(eq=False, repr=False)
class GradientRecourse(Engine):
    """The paper's gradient plans: ``x ← Π(x − α(∇l(f(x), 1) + 2λA(x − x0)))``, then the nearest legal row.

    Kept as published, for its tables. It hardly sees the effort where it stops at the first accepted point;
    ``reap.Recourse`` finds the row of least effort that the model accepts.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        With a gradient. See ``reap.models.wrap``.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float, or (low, high)
        Rows with a score above it are accepted; see ``reap.models.wrap``.
    output, unit
        As of ``Recourse``: a model that returns points, margins or another score, and their unit.
    durability, refits, models, margin, n_jobs
        As of ``Recourse``: what else must accept a plan beside today's model. By default nothing.
    method : {"algorithm1"}
    loss, learning_rate, weight, max_iterations, stop_early
        The loss, α, λ, T, and whether to stop at the first accepted point, as the authors' scripts do.
    constraints : bool
        False: the paper's setting, any point of the unit box, nothing rounded.
    random_state : int
    time_limit : float, optional
        Seconds a call may take; then where it stands counts.
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

    model: Any
    space: ActionSpace
    _: KW_ONLY
    target: Any = 1
    threshold: Threshold = 0.5
    output: Output = "probability"
    unit: str = ""
    method: Method = "algorithm1"
    loss: Loss = "quadratic"
    learning_rate: float = 0.01
    weight: float = 1.0
    max_iterations: int = 1000
    stop_early: bool = False
    constraints: bool = True
    durability: float = 0.0
    refits: int | None = None
    models: Sequence[Any] | None = None
    margin: float = 0.0
    n_jobs: int | None = None
    random_state: int = 0
    time_limit: float | None = None
    verbose: bool = False

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Keep the accepted rows, which are what ``candidates`` offers.

        Parameters
        ----------
        X : DataFrame
            Rows of other people, usually those the model was trained on.
        y : (n,), optional
            Their labels; needed where ``durability`` is asked for without ``models``.
        """
        self._check()
        careful = self._accept(X, y).classifier
        rows = self.space.encode(X)
        self.classifier_.gradient(zero_missing(rows[:1]))  # says now that there is none
        rows = rows[careful.accepts(rows)]
        self.typical_ = typical(self.classifier_, rows)
        self.rows_ = some_rows(rows, ROWS, self.random_state)
        if self.verbose:
            print(f"{len(self.rows_):,} accepted rows kept of {len(X):,}")
        return self

    def _check(self) -> None:
        for name, allowed in (("method", ("algorithm1",)), ("loss", ("quadratic", "hinge"))):
            if getattr(self, name) not in allowed:
                raise unknown(name, getattr(self, name), allowed)
        if not self.learning_rate > 0:
            raise InputError(f"learning_rate is {self.learning_rate!r}; give a number above 0")
        if not self.weight >= 0:
            raise InputError(f"weight is {self.weight!r}; give a number of at least 0")
        if isinstance(self.max_iterations, bool) or not self.max_iterations >= 1:
            raise InputError(f"max_iterations is {self.max_iterations!r}; give a whole number of at least 1")
        self._deadline()

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array, limits: Limits | None = None) -> list[Plan]:
        """Return where Algorithm 1 ends for each matrix (b, d, d) or (d, d)."""
        subject = self._subject(x, limits)
        matrices = self._matrices(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(matrices)
        return self._run(subject, lambda which, moves: matrices[which], len(matrices))

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return where Algorithm 1 ends with the worst matrix of a confidence set at every step (Danskin).

        A plan has one whole change, so both objectives mean the same here.
        """
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        if subject.verdict is not None:
            return subject.verdict

        def worst(which: Any, moves: Array) -> Array:
            return confidence_set.worst_case_plan(moves[0]).matrix[None]

        plan = self._run(subject, worst, 1)[0]
        return plan.with_(effort=confidence_set.worst_case_plan(plan.moves[0]).cost) if plan.valid else plan

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows that the subject could become, as plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None or len(self.rows_) == 0:
            return Candidates.none(subject)
        rows = subject.space.project(self.rows_, subject.z)
        rows = rows[unique_rows(rows)]
        fine = self.acceptance_.classifier.accepts(rows) & subject.space.allows(subject.z, rows)
        rows = rows[fine]
        scores = self.classifier_.score(rows) if len(rows) else np.empty(0)
        return Candidates.nearest_first(subject, rows, scores)

    # how ---------------------------------------------------------------------------------------------

    def _run(self, subject: Subject, matrix: Any, count: int) -> list[Plan]:
        """Return what Algorithm 1 ends at, brought to a legal row and scored there.

        ``matrix(which, moves)`` gives the matrices (k, d, d) of the problems ``which`` (k,) at moves (k, d).
        """
        deadline = self._deadline()

        def project(Z: Array) -> Array:
            return subject.space.relax(Z, subject.z) if self.constraints else np.clip(Z, 0.0, 1.0)

        careful = self.acceptance_.classifier
        descent = Algorithm1(
            careful,
            project,
            self.loss,
            self.learning_rate,
            self.weight,
            self.max_iterations,
            self.stop_early,
        )
        points, weights = descent.run(subject.z, matrix, count, deadline)
        rows = subject.space.project(points, subject.z) if self.constraints else points
        scores, fine = self.classifier_.score(rows), careful.accepts(rows)
        late = time.monotonic() > deadline
        plans = []
        for i, (row, score) in enumerate(zip(rows, scores, strict=True)):
            if fine[i]:
                change = effort.changes(row, subject.z)
                A = matrix(np.array([i]), change[None])[0]
                note = f"λ = {weights[i]:g}." if weights[i] != self.weight else ""
                plans.append(subject.plan_to(row, score, effort.of_moves(A, change), note))
            else:
                scale = subject.scale
                note = (
                    f"Algorithm 1 ended at a row that scores {scale.number(score)}; {scale.needed} is needed."
                )
                if scale.enough(score):
                    note = self.acceptance_.short(rows[[i]])
                plans.append(subject.refused("time_limit" if late else "none_found", note))
        return self.acceptance_.told(plans)
