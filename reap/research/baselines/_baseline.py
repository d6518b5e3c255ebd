"""What the baselines share: they do not listen to the person, so one plan answers for every cost matrix."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.plan import Plan
from reap.recourse.engine import Candidates, Engine, Objective, Subject
from reap.recourse.robust.worst_case import check_robust, one_step, refusal
from reap.space import ActionSpace, Limits


def free(space: ActionSpace) -> ActionSpace:
    """Return the space with the same vectors in which anything may become anything: the paper's setting.

    Examples
    --------
    >>> from reap.space import ActionSpace, Feature
    >>> space = ActionSpace([Feature("age", "integer", range=(18, 80), direction="up")])
    >>> bool(free(space).allows(space.vector({"age": 40}), space.vector({"age": 30}))[0])
    True
    """
    features = [
        replace(
            f,
            kind="numeric" if f.kind == "integer" else f.kind,
            actionable=True,
            direction="any",
            bounds=None,
            step=None,
            derived=None,
            forbidden=(),
        )
        for f in space.features
    ]
    return ActionSpace(features, title=space.title)


def priced(plan: Plan, matrices: Array) -> list[Plan]:
    """Return one plan for each cost matrix (b, d, d): the same, at what it costs under each."""
    if plan.status != "ok":
        return [plan] * len(matrices)
    V = plan.moves
    return [plan.with_(cost=float(max(np.einsum("si,ij,sj->", V, A, V), 0.0))) for A in matrices]


class Baseline(Engine):
    """A generator that gives one plan a subject; subclasses answer ``_plan`` and, in ``fit``, set ``classifier_``."""

    constraints: bool

    @abstractmethod
    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        """Return the plan of somebody whom the model rejects."""

    def _subject(self, x: Any, limits: Limits | None = None) -> Subject:
        subject = super()._subject(x, limits)
        if self.constraints or subject.accepted:
            return subject
        space = free(self.space).tighten(limits)
        return replace(subject, space=space, obstacle=space.obstacle(subject.z))

    def plans(self, x: Any, matrices: Array, limits: Limits | None = None) -> list[Plan]:
        """Return the subject's plan once for each cost matrix (b, d, d), at its cost under it.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        matrices : (b, d, d) or (d, d)
        limits : Limits, optional
            What this person cannot or will not do.
        """
        subject = self._subject(x, limits)
        matrices = self._matrices(matrices)
        return priced(subject.verdict or self._plan(subject, limits), matrices)

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the subject's plan at its worst-case cost; the confidence set does not change it."""
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        plan = subject.verdict or self._plan(subject, limits)
        return (
            plan.with_(cost=confidence_set.worst_case_plan(plan.moves).cost) if plan.status == "ok" else plan
        )


class OneStep(Baseline):
    """A baseline that looks for a row; it keeps the accepted rows of other people as candidates."""

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model and keep the rows of other people.

        Parameters
        ----------
        X : DataFrame
        y : ignored
        """
        self.classifier_ = self._wrap()
        self.rows_ = np.unique(self.space.encode(X), axis=0)
        self.accepted_ = self.classifier_.accepts(self.rows_)
        return self

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return what the subject would become as each accepted row, where that is accepted: nearest first."""
        subject = self._subject(x, limits)
        none = Candidates(subject, np.empty((0, self.space.dimension)), np.empty(0))
        if subject.verdict is not None or not self.accepted_.any():
            return none
        rows = np.unique(self._legal(self.rows_[self.accepted_], subject), axis=0)
        rows = rows[subject.space.allows(subject.z, rows)]
        scores = self.classifier_.probability(rows) if len(rows) else np.empty(0)
        rows, scores = rows[scores > self.threshold], scores[scores > self.threshold]
        order = np.argsort((zero_missing(rows - subject.z) ** 2).sum(axis=1), kind="stable")
        return Candidates(subject, rows[order], scores[order])

    def _legal(self, rows: Array, subject: Subject) -> Array:
        """Return the nearest legal rows; in the paper's setting any point of the unit box is one."""
        return subject.space.project(rows, subject.z) if self.constraints else np.clip(rows, 0.0, 1.0)

    def _first(self, rows: Array, subject: Subject) -> Plan | None:
        """Return the plan to the first of rows (n, d) that, made legal, the model accepts; None where none is."""
        rows = self._legal(rows, subject)
        _, place = np.unique(np.nan_to_num(rows, nan=-1.0), axis=0, return_index=True)
        rows = rows[np.sort(place)]
        scores = self.classifier_.probability(rows)
        good = scores > self.threshold
        if self.constraints:
            good &= subject.space.allows(subject.z, rows)
        if not good.any():
            return None
        i = int(np.argmax(good))
        move = zero_missing(rows[i] - subject.z)
        return one_step(subject, rows[i], float(scores[i]), float(move @ move))

    def _none(self, subject: Subject, note: str) -> Plan:
        return refusal(subject, "none_found", note)


def above(name: str, value: float, least: float, strict: bool = False) -> None:
    """Refuse a parameter that is too small, in one sentence."""
    if not (value > least if strict else value >= least):
        raise InputError(
            f"{name} is {value!r}; give a number {'above' if strict else 'of at least'} {least:g}"
        )
