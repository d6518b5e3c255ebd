"""What every engine answers, and gets for that: a checked subject, a session, a table of recommendations.

An engine answers ``fit``, ``plans``, ``robust`` and ``candidates``; it gets ``elicit``, ``recommend`` and ``reasons`` for that.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import pandas as pd

from reap import effort
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import Belief
from reap.belief.learned_prior import LearnedPriorLike
from reap.effort import Efforts
from reap.plan import Plan
from reap.questions import Strategy
from reap.recourse import holding
from reap.recourse.acceptance import Acceptance
from reap.recourse.fingerprint import fingerprint
from reap.recourse.generator import Generator
from reap.recourse.reasons import Reason, reasons
from reap.recourse.relaxation import advice, relaxations
from reap.recourse.table import plan_all, table
from reap.space import Limits
from reap.space.inputs import as_frame, as_given

if TYPE_CHECKING:
    from reap.elicitation import Elicitation

#: Accepted rows kept of the table given to ``fit``.
ROWS = 5_000


class Engine(Generator):
    """A recourse generator that can be asked for plans under many matrices.

    Subclasses set ``model, space, target, threshold, random_state`` in ``__init__`` (and nothing else there); those that also
    take ``output, unit`` speak in points and other scores, those with ``durability, refits, models, margin`` make plans that
    hold. All of these are read by ``_accept``.
    """

    def elicit(
        self,
        x: Any,
        *,
        questions: int = 5,
        options: int = 2,
        preset: Literal["bayes", "reap"] = "bayes",
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        limits: Limits | None = None,
        prior: LearnedPriorLike | None = None,
        warm_up: bool = False,
        held_out: bool = False,
        minds: bool = True,
        random_state: int | None = None,
    ) -> Elicitation:
        """Start a session with one person; see ``reap.Elicitation`` for what can be set.

        Begin with ``session.screen(…)``: what the person could change at all (``session.changeable``) and how hard it is.
        """
        # the one import against the order of layers, named in pyproject.toml
        from reap.elicitation import Elicitation

        return Elicitation(
            self,
            x,
            questions=questions,
            options=options,
            preset=preset,
            belief=belief,
            strategy=strategy,
            limits=limits,
            prior=prior,
            warm_up=warm_up,
            held_out=held_out,
            minds=minds,
            random_state=self.random_state if random_state is None else random_state,
        )

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells this fitted engine from another: kind, settings, and a hash of the model's scores."""
        self._check_fitted()
        return fingerprint(self)

    def relaxations(self, x: Any, limits: Limits) -> list[tuple[str, ...]]:
        """Return the sets of limits, each of which would have to go for a plan to exist, by their names.

        Where single limits suffice, these; else the smallest set found. Empty where the limits are not to blame.
        """
        A = effort.identity(self.space.dimension)[None]
        return relaxations(limits, lambda fewer: self.plans(x, A, fewer)[0].status == "ok")

    def advised(self, plan: Plan, x: Any, limits: Limits) -> Plan:
        """Return a plan that could not be made, with a sentence on the limits that would have to go; any other as it is."""
        if plan.status in ("ok", "already_accepted") or not limits:
            return plan
        said = advice(self.space, self.relaxations(x, limits))
        return plan.with_(note=" ".join(filter(None, (plan.note, said))))

    def edge(self) -> Self:
        """Return the same fitted engine for which today's model alone decides: its plans ask for less and may not hold."""
        made = copy.copy(self)
        made.acceptance_ = Acceptance(self.classifier_)
        return made

    def priced(self, plan: Plan, x: Any, matrix: Array, limits: Limits | None = None) -> Plan:
        """Return a plan with what holding asks for: its effort against that of the plan today's model alone accepts."""
        return holding.priced(self, plan, x, matrix, limits)

    def easier(self, plan: Plan, x: Any, matrix: Array, limits: Limits | None = None) -> Plan | None:
        """Return the plan that today's model alone accepts, said as one that may not hold.

        None where nothing must hold, or where it is not notably easier than the ``plan`` that holds. Where none was found that
        holds, it is all there is.
        """
        return holding.easier(self, plan, x, matrix, limits)

    def reasons(self, x: Any, n: int = 4) -> list[Reason]:
        """Return the principal reasons of a refusal, most important first: the factors that the model really scored.

        A reason is a factor in which the person differs from the typical accepted person, ordered by how much the score
        gains where it alone is typical; see ``reap.recourse.reasons``. Also what nobody can change is a reason.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        n : int
            Reasons at most.

        Returns
        -------
        list of Reason
            Empty where the person is accepted.
        """
        self._check_fitted()
        return reasons(self.classifier_, self.space.vector(x), self.typical_, n)

    def recommend(
        self,
        X: Frame,
        *,
        matrix: Array | Efforts | None = None,
        limits: Limits | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Frame:
        """Return a plan for every row, without questions: one frame, same index and dtypes.

        Parameters
        ----------
        X : DataFrame
            Of pandas, polars or pyarrow; the result is of the same library.
        matrix : (d, d), or Efforts of one person, optional
            The effort assumed for everybody; the identity by default.
        n_jobs : int, optional
            Processes, as in joblib.
        verbose : bool
            Show a progress bar.

        Returns
        -------
        DataFrame
            The target's columns, then ``recourse_valid, recourse_effort, recourse_status, recourse_changes,
            recourse_months``. A row without a plan repeats the subject's own values.
        """
        self._check_fitted()
        given, X = X, as_frame(X)
        if not isinstance(X, pd.DataFrame) or len(X) == 0:
            raise InputError("give the subjects as a DataFrame with at least one row")
        A = self._efforts(effort.identity(self.space.dimension) if matrix is None else matrix)[:1]
        self.space.encode(X)  # bad rows are refused before any work is done
        plans = plan_all(self, X, A, limits, n_jobs, verbose)
        return as_given(self.table(X, plans), given)

    def plan_each(self, X: Frame, A: Array | Efforts, limits: Limits | None = None) -> list[Plan | Exception]:
        """Return the plan of everybody in a frame for one matrix (d, d), or the error that it ended in."""
        self._check_fitted()
        found = list[Plan | Exception]()
        for i in range(len(X)):
            try:
                found.append(self.plans(X.iloc[[i]], A, limits)[0])
            except Exception as error:  # somebody else's plan does not depend on it
                found.append(error)
        return found

    def table(self, X: Frame, plans: Sequence[Plan]) -> Frame:
        """Return plans as the frame that ``recommend`` returns, with the index and dtypes of ``X``."""
        return table(self.space, X, plans)
