"""What a worker does: plans for a chunk of rows, with a reason for every row that has none."""

from __future__ import annotations

import contextlib
import ctypes
import json
import pickle
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import joblib
import numpy as np
import pandas as pd

from reap import __version__
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.batch.preferences import Answers
from reap.plan import Plan
from reap.recourse.engine import table
from reap.space import Limits

#: Statuses of rows for which no engine was asked to the end; all others are those of ``reap.Plan``.
INVALID, FAILED = "invalid_row", "failed"


@dataclass(frozen=True)
class Failure:
    """A row without an answer, and why."""

    status: str
    reason: str


@dataclass(frozen=True)
class Planner:
    """A fitted engine and what holds for every row; called with a chunk, it returns the table of plans.

    Parameters
    ----------
    engine : Engine, fitted
    matrix : (d, d)
        The effort matrix assumed for those who were not asked.
    limits : Limits, optional
        What nobody can do.

    Examples
    --------
    >>> import numpy as np, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> engine = reap.Recourse(model, data.space).fit(data.X)
    >>> table = Planner(engine, np.eye(data.space.dimension))(data.X.iloc[:3], {})
    >>> table["recourse_status"].isin(["ok", "already_accepted"]).all()
    np.True_
    """

    engine: Any
    matrix: Array
    limits: Limits | None = None

    def __call__(
        self, rows: Frame, answers: Mapping[int, Answers], unread: Mapping[int, str] | None = None
    ) -> Frame:
        """Return one line a row: the target's columns and the ``recourse_`` columns, index kept.

        Parameters
        ----------
        rows : DataFrame (n, features), in units
        answers : what the person in row i (0 … n − 1) answered, for those who were asked
        unread : why row i could not be read, for those who could not
        """
        found = self._found(rows, answers, unread or {})
        frame = self._targets(rows, found)
        frame[f"recourse_{self.engine.classifier_.scale.output}"] = [_or_nan(o, "score") for o in found]
        frame["recourse_durability"] = [_or_nan(o, "durability") for o in found]
        frame["recourse_cliffs"] = ["" if isinstance(o, Failure) else _cliffs(o) for o in found]
        frame["recourse_reason"] = [o.reason if isinstance(o, Failure) else o.note for o in found]
        frame["recourse_answers"] = [answers[i].told if i in answers else 0 for i in range(len(rows))]
        paths = np.empty(len(rows), dtype=object)
        paths[:] = [None if isinstance(o, Failure) else o.path.flatten() for o in found]
        frame["recourse_path"] = paths
        return frame

    def _found(
        self, rows: Frame, answers: Mapping[int, Answers], unread: Mapping[int, str]
    ) -> list[Plan | Failure]:
        """Return what was found for every row; those whom nobody asked are handed over together."""
        found: dict[int, Plan | Failure] = {i: Failure(INVALID, why) for i, why in unread.items()}
        plain = [i for i in range(len(rows)) if i not in found and i not in answers]
        together = self.engine.plan_each(rows.iloc[plain], self.matrix, self.limits) if plain else []
        for i, one in zip(plain, together, strict=True):
            found[i] = one if isinstance(one, Plan) else _failure(one)
        return [
            found[i] if i in found else self._one(rows.iloc[i : i + 1], answers.get(i))
            for i in range(len(rows))
        ]

    def _one(self, row: Frame, answers: Answers | None) -> Plan | Failure:
        try:
            return self._asked(row, answers) if answers else self._plan(row, self.matrix, self.limits)
        except Exception as error:  # one row must not end a run of a million
            return _failure(error)

    def _plan(self, row: Frame, A: Array, limits: Limits | None) -> Plan:
        plan: Plan = self.engine.plans(row, A[None], limits)[0]
        return plan

    def _asked(self, row: Frame, answers: Answers) -> Plan:
        """Return what a session with these answers would recommend."""
        limits = self.limits or Limits()
        if not answers.told and not answers.difficulties:
            return self._plan(row, self.matrix, limits.merge(answers.limits))
        self.engine.space.vector(row)  # a row that cannot be read is not the answers' fault
        try:
            session = answers.session(self.engine, row, limits)
        except InputError as error:
            raise InputError(f"the answers do not fit the row: {error}") from None
        return session.recommend()

    def _targets(self, rows: Frame, found: list[Plan | Failure]) -> Frame:
        """Return the table that ``recommend`` would; a row that failed repeats its own values."""
        planned = np.array([isinstance(o, Plan) for o in found], dtype=bool)
        tables = []
        if planned.any():
            tables.append(table(self.engine.space, rows[planned], [o for o in found if isinstance(o, Plan)]))
        if not planned.all():
            own = rows[~planned].copy()
            own["recourse_valid"], own["recourse_effort"] = False, np.nan
            own["recourse_status"] = [o.status for o in found if isinstance(o, Failure)]
            own["recourse_changes"], own["recourse_months"] = 0, 0
            tables.append(own)
        if len(tables) == 1:
            return tables[0]
        order = np.argsort(np.concatenate([np.flatnonzero(planned), np.flatnonzero(~planned)]))
        return pd.concat([tables[0], tables[1][tables[0].columns]]).iloc[order]


def _failure(error: Exception) -> Failure:
    if isinstance(error, InputError):
        return Failure(INVALID, str(error))
    return Failure(FAILED, f"{type(error).__name__}: {error}")


def _cliffs(plan: Plan) -> str:
    """Return the cliffs that a plan stands on, as JSON; empty where there are none."""
    return json.dumps([asdict(cliff) for cliff in plan.cliffs], ensure_ascii=False) if plan.cliffs else ""


def _or_nan(found: Plan | Failure, name: str) -> float:
    value = None if isinstance(found, Failure) else getattr(found, name)
    return np.nan if value is None else float(value)


# in worker processes ---------------------------------------------------------------------------------


@dataclass
class _Worker:
    """The planners this process was sent, once each, and a lock: engines keep caches that threads must not share."""

    planners: dict[str, Planner] = field(default_factory=dict)
    lock: Any = field(default_factory=threading.Lock)


_here = _Worker()


def pack(thing: Any) -> bytes:
    """Return anything as bytes; also what was defined in a script or on the spot, which plain pickle refuses."""
    return pickle.dumps(joblib.wrap_non_picklable_objects(thing, keep_wrapper=False))


def install(token: str, version: str, payload: bytes) -> None:
    """Keep a planner in this process, by the token of its run; linear algebra runs in one thread from now on."""
    import threadpoolctl  # type: ignore[import-untyped]

    if version != __version__:
        raise InputError(
            f"the worker has reap {__version__}, this run needs {version}; install the same release"
        )
    threadpoolctl.threadpool_limits(1)
    _here.planners[token] = pickle.loads(payload)


def uninstall(token: str) -> None:
    """Forget a planner."""
    _here.planners.pop(token, None)


def work(token: str, rows: Frame, answers: Mapping[int, Answers], unread: Mapping[int, str]) -> Frame:
    """Run the planner of a run on one chunk."""
    with _here.lock:
        table = _here.planners[token](rows, answers, unread)
    _give_back()
    return table


def _give_back() -> None:
    """Hand freed memory back to the system, where it lets us: one hard row must not set the size of a worker for good."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
