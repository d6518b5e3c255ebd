"""The paper's second generator: Algorithm 1, projected gradient descent on loss plus effort.

``x ← Π(x − α(∇l(f(x), 1) + 2λA*(x − x0)))``, where A* is one fixed matrix or the worst case at x (Danskin).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np

from reap import effort
from reap._arrays import some_rows, unique_rows, zero_missing
from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Frame, Ints
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.plan import Plan
from reap.recourse.engine import ROWS, Candidates, Engine, Objective, Subject, check_robust
from reap.recourse.fitting import typical
from reap.recourse.polish import LadderSteps, accepted_around, exchange
from reap.recourse.problem import Problem
from reap.space import Limits

Method = Literal["algorithm1"]
Loss = Literal["quadratic", "hinge"]
#: The loss aims this far above the threshold: a score of exactly the threshold is no acceptance.
_ABOVE = 1e-3
#: How much λ falls where the last point is not accepted; the paper's appendix B.
_LESS = 0.05
#: Lengths of steps on a ladder from a refused row to an accepted one near it.
_STEPS = 9
#: Rounds of such steps, at most.
_CLIMBS = 20
#: Accepted rows from which steps of less effort are taken: the easiest.
_STARTS = 8


@dataclass(eq=False, repr=False)
class GradientRecourse(Engine):
    """The paper's gradient plans: ``x ← Π(x − α(∇l(f(x), 1) + 2λA(x − x0)))``, then the nearest legal row.

    With ``constraints=False`` as published, for its tables. It hardly sees the effort where it stops at the first accepted
    point; ``reap.Recourse`` finds the row of least effort that the model accepts. The end of the descent lies so close to
    the boundary that the nearest legal row is often refused: then the plan is the easiest accepted row found near it, and
    its note says so.

    Parameters
    ----------
    model, space, target, threshold, output, unit, durability, margin, random_state, time_limit
        As of every ``Engine``; the model has a gradient. After the time limit where the descent stands counts.
    method : {"algorithm1"}
    loss, learning_rate, weight, max_iterations, stop_early
        The loss, α, λ, T, and whether to stop at the first accepted point, as the authors' scripts do.
    constraints : bool
        False: the paper's setting, any point of the unit box, nothing rounded.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X, features={"income": {"unit": "EUR"}})
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, X["income"] > 1000 * X["debts"] + 1000)
    >>> engine = reap.GradientRecourse(model, space, target=True).fit(X)
    >>> plan = engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0]
    >>> plan.status, plan.valid
    ('ok', True)
    """

    _: KW_ONLY
    method: Method = "algorithm1"
    loss: Loss = "quadratic"
    learning_rate: float = 0.01
    weight: float = 1.0
    max_iterations: int = 1000
    stop_early: bool = False
    constraints: bool = True

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

    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return where Algorithm 1 ends for each matrix (b, d, d) or (d, d), or for each of some efforts.

        It descends along the matrices. What else efforts say, a curvature or what a change asks beside its size, has no
        gradient where nothing has changed yet: it counts in the plan's effort alone.
        """
        subject = self._subject(x, limits)
        people = self._efforts(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(people)
        plans = self._run(subject, lambda which, moves: people.matrices[which], len(people))
        if people.square:
            return plans
        return [
            plan.with_(effort=float(subject.efforts(people[k : k + 1], plan.path[-1:])[0, 0]))
            if plan.valid
            else plan
            for k, plan in enumerate(plans)
        ]

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
        return Candidates.nearest_first(subject, rows, self.classifier_)

    # how ---------------------------------------------------------------------------------------------

    def _run(self, subject: Subject, matrix: Any, count: int) -> list[Plan]:
        """Return what Algorithm 1 ends at, brought to a legal row and scored there.

        ``matrix(which, moves)`` gives the matrices (k, d, d) of the problems ``which`` (k,) at moves (k, d).
        """
        deadline = self._deadline()

        def project(Z: Array) -> Array:
            return subject.space.legal.relax(Z, subject.z) if self.constraints else np.clip(Z, 0.0, 1.0)

        careful, legal = self.acceptance_.classifier, subject.space.legal
        slopes = legal.slopes(subject.z) if len(legal.derived.moved) else None
        descent = _Descent(self, project, subject.z, matrix, deadline, slopes)
        points, weights = descent.run(count)
        rows = subject.space.project(points, subject.z) if self.constraints else points
        scores, fine = self.classifier_.score(rows), careful.accepts(rows)
        late = time.monotonic() > deadline
        notes = [f"λ = {weight:g}." if weight != self.weight else "" for weight in weights]
        if self.constraints and not fine.all() and not late:
            problem = Problem(subject.space, careful, subject.z, deadline=deadline)
            for i in np.flatnonzero(~fine).tolist():
                A = matrix(np.array([i]), legal.moves(rows[[i]], subject.z))[0]
                near = _accepted_near(problem, Efforts.of(A[None]), rows[i])
                if near is None or not careful.accepts(near[None])[0]:
                    continue
                said = "At legal values the end of Algorithm 1 scores {}; this plan is the easiest accepted one found near it."
                notes[i] = " ".join(filter(None, (notes[i], said.format(subject.scale.number(scores[i])))))
                rows[i], scores[i], fine[i] = near, self.classifier_.score(near[None])[0], True
            late = problem.late
        plans = []
        for i, (row, score) in enumerate(zip(rows, scores, strict=True)):
            if fine[i]:
                change = legal.moves(row, subject.z)[0]
                A = matrix(np.array([i]), change[None])[0]
                plans.append(subject.plan_to(row, score, effort.of_moves(A, change), notes[i]))
            else:
                scale = subject.scale
                note = (
                    f"Algorithm 1 ended at a row that scores {scale.number(score)}; {scale.needed} is needed."
                )
                if scale.enough(score):
                    note = self.acceptance_.short(rows[[i]])
                plans.append(subject.refused("time_limit" if late else "none_found", note))
        return self.acceptance_.told(plans)


@dataclass(frozen=True)
class _Descent:
    """Algorithm 1 for some matrices at once, each from the subject's own row.

    Parameters
    ----------
    engine : GradientRecourse
        Its settings, and who accepts.
    project : callable
        The projection on the feasible set, of points (b, d).
    z0 : (d,)
    matrix : callable
        Gives the matrices (k, d, d) of the problems ``which`` (k,) at moves (k, d).
    deadline : float
    slopes : (d, d), optional
        By how much each column moves where another one does, by effects: the model scores where that leads.
    """

    engine: GradientRecourse
    project: Callable[[Array], Array]
    z0: Array
    matrix: Callable[[Ints, Array], Array]
    deadline: float
    slopes: Array | None

    def run(self, count: int) -> tuple[Array, Array]:
        """Return where the last points (count, d) lead, and the largest λ, in steps of 0.05, at which each is accepted."""
        level, todo = float(self.engine.weight), np.arange(count)
        weights = np.full(count, level)
        points = self._descend(todo, level)
        todo = todo[~self._accepts(points)]
        if level > 0 and len(todo):
            # what is not reached without any pull back is not reached with some: no need to try every λ
            points[todo], weights[todo] = self._descend(todo, 0.0), 0.0
            todo = todo[self._accepts(points[todo])]
            while len(todo) and (level := round(level - _LESS, 10)) > 0 and time.monotonic() <= self.deadline:
                tried = self._descend(todo, level)
                fine = self._accepts(tried)
                points[todo[fine]], weights[todo[fine]] = tried[fine], level
                todo = todo[~fine]
        return self._led(points), weights

    def _descend(self, which: Ints, weight: float) -> Array:
        Z = np.repeat(self.z0[None], len(which), axis=0)
        moving = np.arange(len(which))
        for _ in range(self.engine.max_iterations):
            if len(moving) == 0 or time.monotonic() > self.deadline:
                break
            slope = self._loss_slope(Z[moving])
            if weight:
                moves = zero_missing(Z[moving] - self.z0)
                pull = (self.matrix(which[moving], moves) @ moves[:, :, None])[:, :, 0]
                slope = slope + 2 * weight * pull
            Z[moving] = self.project(Z[moving] - self.engine.learning_rate * slope)
            if self.engine.stop_early:
                moving = moving[~self._accepts(Z[moving])]
        return Z

    def _loss_slope(self, Z: Array) -> Array:
        """Return ∇l(f(x), 1), (k, d); ``∇f = f (1 − f) ∇logit``."""
        classifier, there = self.engine.acceptance_.classifier, self._led(Z)
        f, slope = classifier.probability(there), classifier.gradient(there)
        goal = classifier.threshold + _ABOVE * (1 - classifier.threshold)
        outer = 2 * (f - goal) if self.engine.loss == "quadratic" else -(f < goal).astype(float)
        slope = slope if self.slopes is None else slope @ self.slopes
        return (outer * f * (1 - f))[:, None] * zero_missing(slope)

    def _accepts(self, Z: Array) -> Bools:
        return self.engine.acceptance_.classifier.accepts(self._led(Z))

    def _led(self, Z: Array) -> Array:
        """Return where points (n, d) of what the person does lead."""
        return Z if self.slopes is None else np.asarray(self.z0 + (Z - self.z0) @ self.slopes.T)


# near the end of a descent -----------------------------------------------------------------------------------


def _accepted_near(problem: Problem, person: Efforts, row: Array) -> Array | None:
    """Return an accepted legal row (d,) near a legal one (d,) that is refused, of little effort for one person.

    Climb until rows are accepted, and from the easiest of these take steps of less effort. None where no step helps, or time
    is up.
    """
    if len(problem.own) == 0:
        return None
    person, steps = person.within(problem.moving), LadderSteps(problem, _STEPS)
    done = problem.space.legal.done(row, problem.z0)
    here = np.array([one.nearest(done[:, one.columns])[0] for one in problem.ladders], dtype=np.intp)
    found = accepted_around(problem, steps, here, _CLIMBS)
    if len(found) == 0:
        return None
    # the refused row itself too: a small step and another that makes up for it may ask for far less than one that is enough
    starts = np.concatenate(
        [here[None], found[np.argsort(problem.ask(person, found)[0], kind="stable")[:_STARTS]]]
    )
    ends = exchange(
        problem, steps, person, np.zeros(len(starts), dtype=np.intp), starts, problem.judge(starts), wide=True
    )
    ends = ends[problem.judge(ends) >= problem.goal]
    best = ends[problem.ask(person, ends).argmin(axis=1)]
    return np.asarray(problem.then(problem.rows(best))[0])
