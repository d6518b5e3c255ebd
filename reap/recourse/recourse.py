"""The default engine: plans of few actions, of least effort, that the model accepts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from reap._arrays import some_rows
from reap._errors import InputError, whole
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.models.classifier import Remembered
from reap.models.trees import read
from reap.plan import Plan
from reap.recourse.chance import Chances
from reap.recourse.engine import ROWS, TOGETHER, Candidates, Engine, Objective, Subject, check_robust
from reap.recourse.fitting import prototypes, typical
from reap.recourse.making import PlanDraft, PlanMaker
from reap.recourse.robust import least_worst_case
from reap.recourse.search import Searches
from reap.space import Limits
from reap.space.encoding import as_frame

#: What ``_forget`` makes; it is not written to files.
_MADE = ("_search", "_judge", "_remembered", "_chances")


@dataclass(eq=False, repr=False)
class Recourse(Engine):
    """Plans for people: at most three actions where such a plan exists, of least effort ``ΔᵀAΔ`` of the whole change.

    One search for every model, from scores of rows alone (``reap.recourse.search``); trees also say which values they tell apart.
    Every plan is irreducible: no action can be left out, no number taken back a step.

    Parameters
    ----------
    model, space, target, threshold, output, unit, durability, margin, random_state, time_limit
        As of every ``Engine``.
    max_changes : int, optional
        Actions of a plan at most; more only where no such plan is found, and the plan says so. None: any number.
    anonymity : int, optional
        Rows of other people are where some plans begin. Give k where a plan must not show anything of a single person:
        rows are then replaced by averages of at least k of them. This hides records, it does not protect against
        somebody who asks for plans many times.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X, features={"income": {"unit": "EUR"}})
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, X["income"] > 1000 * X["debts"] + 1000)
    >>> engine = reap.Recourse(model, space, target=True).fit(X)
    >>> plan = engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0]
    >>> plan.status, plan.valid
    ('ok', True)
    """

    _: KW_ONLY
    max_changes: int | None = 3
    anonymity: int | None = None

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Keep accepted rows of other people, from which some plans begin.

        Parameters
        ----------
        X : DataFrame
            Rows of other people, usually those the model was trained on.
        y : (n,), optional
            Their labels, to retrain the model with; needed where ``durability`` is asked for.
        """
        self._check()
        careful = self._accept(X, y).classifier
        rows = self.space.encode(X)
        if self.anonymity is not None:
            rows = prototypes(self.space, rows, self.anonymity)
        rows = rows[careful.accepts(rows)]
        self.typical_ = typical(self.classifier_, rows)
        self.rows_ = some_rows(rows, ROWS, self.random_state)
        self._read = read(careful, self.space, X)
        exact = self.acceptance_.exact
        self._read_today = self._read if exact else read(self.classifier_, self.space, X)
        self._forget()
        return self

    def _check(self) -> None:
        for name in ("max_changes", "anonymity"):
            whole(name, getattr(self, name))
        self._deadline()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in _MADE}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "classifier_"):
            self._forget()

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the plan of least effort for each matrix, or for each of some efforts.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        matrices : (b, d, d) or (d, d), or Efforts
        limits : Limits, optional
            What this person cannot or will not do.

        Returns
        -------
        list of Plan, b of them
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        people = self._efforts(matrices)
        if len(people) == 0:
            return []
        return self._judge.plans([self._draft(subject, people, limits, deadline)])[0]

    def holding(self, share: float) -> Self:
        """Return the same fitted engine for which this share of the model's possible updates must accept a plan, too.

        For 0 today's model alone decides: such plans ask for least, and may not hold.
        """
        made = super().holding(share)
        if made.acceptance_.exact and self.acceptance_.exact:  # the same rows: nothing is searched twice
            made._search, made._judge.search = self._search, self._search
        return made

    def plan_each(self, X: Frame, A: Array | Efforts, limits: Limits | None = None) -> list[Plan | Exception]:
        """Return the plan of everybody in a frame for one matrix (d, d), or the error that it ended in.

        People are encoded, scored and judged together; their plans are those of ``plans``.
        """
        if type(self).plans is not Recourse.plans:  # who overrides that wants it called
            return super().plan_each(X, A, limits)
        self._check_fitted()
        try:
            codes = self.space.encoding.codes(as_frame(X))
            subjects = self._scored(self.space.encoding.vectors(codes), limits, codes)
        except InputError:  # one of them cannot be read: each by itself, to say which and why
            return super().plan_each(X, A, limits)
        people, out = self._efforts(A), list[Plan | Exception]()
        for begin in range(0, len(subjects), TOGETHER):
            found = list[PlanDraft | list[Plan] | Exception]()
            for subject in subjects[begin : begin + TOGETHER]:
                try:
                    found.append(self._draft(subject, people, limits, self._deadline()))
                except Exception as error:  # somebody else's plan does not depend on it
                    found.append(error)
            plans = iter(self._judge.plans([one for one in found if not isinstance(one, Exception)]))
            out += [one if isinstance(one, Exception) else next(plans)[0] for one in found]
        return out

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort over a confidence set is least; its effort is that one.

        A plan has one whole change, so both objectives mean the same here.
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        if subject.verdict is not None:
            return subject.verdict
        with self._search.of(subject, limits, deadline) as found:
            if len(found) == 0:
                return self._judge.nothing(subject, found, found.problem.late)
            row, worst = least_worst_case(found, confidence_set)
            return self._judge.plans([PlanDraft(subject, found, row[None], np.array([worst]))])[0][0]

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted legal rows known for the subject, as plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates.none(subject)
        with self._search.of(subject, limits, self._deadline()) as found:
            rows = found.problem.then(found.rows)
            rows = rows[self.acceptance_.classifier.accepts(rows)] if len(rows) else rows
            return Candidates.nearest_first(subject, rows, self.classifier_)

    # how ---------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Begin anew, with the settings of today: nobody's targets are known."""
        read, quick, edges = self._read_today if self.acceptance_.exact else self._read, None, None
        if read is not None:
            quick, edges = read.classifier, read.edges
        for_people = self.acceptance_.for_people
        self._search = Searches(
            self.acceptance_.classifier, self.max_changes, quick, edges, self.rows_, for_people
        )
        self._remembered = Remembered(self.classifier_)
        self._judge = PlanMaker(self._remembered, self.acceptance_, self._search)
        by_chance = self.acceptance_.by_chance
        self._chances = Chances(self.acceptance_, self.max_changes, self.rows_) if by_chance else None

    def _scores(self, Z: Array) -> Array:
        return self._remembered.score(Z)

    def _draft(
        self, subject: Subject, people: Efforts, limits: Limits | None, deadline: float
    ) -> PlanDraft | list[Plan]:
        """Return the rows of least effort for each of b people, or the plans of somebody who needs none or can have none."""
        if subject.verdict is not None:
            return [subject.verdict] * len(people)
        with self._search.of(subject, limits, deadline) as found:
            if len(found) == 0:
                return PlanDraft(subject, found, found.rows, np.zeros(len(people)))
            if self._chances is None:
                return PlanDraft(subject, found, *found.least(people))
            return PlanDraft(subject, found, *self._chances.least(subject, limits, people, found, deadline))
