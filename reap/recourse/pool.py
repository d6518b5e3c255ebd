"""Any other generator: its counterfactuals are the pool that plans are chosen from."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from cachetools import LRUCache

from reap import effort
from reap._arrays import unique_rows
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.plan import Plan
from reap.recourse.acceptance import Durability
from reap.recourse.engine import Candidates, Engine, Objective, Subject, check_robust
from reap.recourse.fitting import typical
from reap.recourse.robust import WorstCase
from reap.scores import Output, Threshold
from reap.space import ActionSpace, Limits
from reap.words import counted

#: Subjects whose counterfactuals are kept for the rest of a session.
_KEPT = 32


class PoolRecourse(Engine):
    """Makes the counterfactuals of another generator answer to a person's preferences.

    The generator is asked once for each subject. Its rows are checked against the action space and scored by the model,
    whatever it says about them; the plan for a matrix is the one of least effort among those that pass.

    Parameters
    ----------
    generate : callable or DataFrame
        From the subject as a one-row frame to a frame of counterfactual rows (other columns, such as the outcome, are
        ignored); or such a frame for everybody.
    model, space, target, threshold, output, unit, durability, margin, random_state
        As of every ``Engine``.
    repair : bool
        Move a row that breaks the action space to the nearest one that does not, and score that. False: drop it.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"income": [1000, 2000, 3000, 4000], "debts": [3, 2, 1, 0]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = lambda rows: 1 / (1 + np.exp(2 - rows["income"] / 1000 + rows["debts"]))
    >>> diverse = lambda x: pd.DataFrame({"income": [3000, 4000, 2000], "debts": [0, 1, 2]})
    >>> engine = reap.PoolRecourse(diverse, model, space).fit(X)
    >>> cheap_debts = engine.plans(X.iloc[0], np.diag([1.0, 0.1]))[0]
    >>> cheap_debts.target.to_dict()
    {'income': 3000, 'debts': 0}
    """

    def __init__(
        self,
        generate: Callable[[Frame], Frame] | Frame,
        model: Any,
        space: ActionSpace,
        *,
        repair: bool = True,
        target: Any = 1,
        threshold: Threshold = 0.5,
        output: Output = "probability",
        unit: str = "",
        durability: float | Literal["chance"] | Durability = 0.0,
        margin: float = 0.0,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            model,
            space,
            target=target,
            threshold=threshold,
            output=output,
            unit=unit,
            durability=durability,
            margin=margin,
            random_state=random_state,
        )
        self.generate, self.repair = generate, repair

    def fit(self, X: Frame | None = None, y: Any = None) -> Self:
        """Check the model, the generator and the table; of rows it keeps only who is typically accepted.

        Parameters
        ----------
        X : DataFrame, optional
        y : (n,), optional
            Their labels; needed where ``durability`` is asked for without ``models``.
        """
        if not callable(self.generate) and not isinstance(self.generate, pd.DataFrame):
            raise InputError(
                f"generate is {type(self.generate).__name__}; give a function from a one-row frame to a frame of "
                "counterfactual rows, or such a frame"
            )
        self._accept(X, y)
        if X is not None:
            Z = self.space.encode(X)
            self.typical_ = typical(self.classifier_, Z[self.classifier_.accepts(Z)])
        self._forget()
        return self

    def _forget(self) -> None:
        self._made: LRUCache[bytes, Array] = LRUCache(_KEPT)
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in ("_made", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._forget()

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the generator's row of least effort for each matrix (b, d, d), or for each of some efforts."""
        subject = self._subject(x, limits)
        people = self._efforts(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(people)
        rows, scores = self._pool(subject)
        if len(rows) == 0:
            return [self._nothing(subject)] * len(people)
        efforts = subject.efforts(people, rows)
        return self.acceptance_.told(
            [
                subject.plan_to(rows[i], scores[i], each[i])
                for i, each in zip(efforts.argmin(axis=1), efforts, strict=True)
            ]
        )

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the row of least worst-case effort; for one step both objectives mean the same."""
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        if subject.verdict is not None:
            return subject.verdict
        rows, scores = self._pool(subject)
        if len(rows) == 0:
            return self._nothing(subject)
        moves = subject.space.legal.moves(rows, subject.z)
        place, worst = WorstCase(confidence_set).least(moves, most=len(rows))
        return self.acceptance_.told([subject.plan_to(rows[place], scores[place], worst)])[0]

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the legal and accepted rows of the generator as one-step plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates.none(subject)
        return Candidates(subject, *self._pool(subject))

    # how ---------------------------------------------------------------------------------------------

    def _pool(self, subject: Subject) -> tuple[Array, Array]:
        """Return the legal and accepted rows (N, d) and their scores (N,), nearest first."""
        rows = self._generated(subject)
        if len(rows) == 0:
            return rows, np.empty(0)
        legal = subject.space.allows(subject.z, rows)
        if self.repair:
            rows = rows.copy()
            rows[~legal] = subject.space.project(rows[~legal], subject.z)
            legal[:] = True
        rows = rows[legal]
        rows = rows[unique_rows(rows)] if len(rows) else rows
        rows = rows[self.acceptance_.classifier.accepts(rows)] if len(rows) else rows
        scores = self.classifier_.score(rows) if len(rows) else np.empty(0)
        order = np.argsort(effort.size(subject.space.legal.moves(rows, subject.z)), kind="stable")
        return rows[order], scores[order]

    def _generated(self, subject: Subject) -> Array:
        """Return the generator's rows for a subject, as vectors; asked once."""
        with self._lock:
            key = subject.z.tobytes()
            if key not in self._made:
                given = self.generate
                if callable(given):
                    given = given(self.space.decode(subject.z[None]))
                self._made[key] = self._vectors(given)
            return self._made[key]

    def _vectors(self, given: Any) -> Array:
        if given is not None and not isinstance(given, pd.DataFrame):
            raise InputError(
                f"the generator returned {type(given).__name__}; it must return a pandas DataFrame"
            )
        if given is None or len(given) == 0:
            return np.empty((0, self.space.dimension))
        return self.space.encode(given[[c for c in self.space.encoding.table if c in given.columns]])

    def _nothing(self, subject: Subject) -> Plan:
        count = len(self._generated(subject))
        said = "The generator gave no row."
        if count:
            said = f"The generator gave {counted(count, 'row')}, none of them both legal and accepted."
        return subject.refused("none_found", said)
