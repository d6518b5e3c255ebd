"""What a worker does: plans for a chunk of rows, with a reason for every row that has none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Array, Frame
from reap.batch.answers import Answers
from reap.plan import Plan
from reap.recourse.engine import table
from reap.space import Limits


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
    >>> table = Planner(engine, np.eye(data.space.dimension))(data.X.iloc[:3], {}, {})
    >>> table["recourse_status"].isin(["ok", "already_accepted"]).all()
    np.True_
    """

    engine: Any
    matrix: Array
    limits: Limits | None = None

    def __call__(self, rows: Frame, answers: Mapping[int, Answers], unread: Mapping[int, str]) -> Frame:
        """Return one line a row: the target's columns and the ``recourse_`` columns, index kept.

        Parameters
        ----------
        rows : DataFrame (n, features), in units
        answers : what the person in row i (0 … n − 1) answered, for those who were asked
        unread : why row i could not be read, for those who could not
        """
        found: dict[int, Plan | Exception] = {i: InputError(why) for i, why in unread.items()}
        found |= {i: self._asked(rows.iloc[[i]], said) for i, said in answers.items() if i not in found}
        plain = [i for i in range(len(rows)) if i not in found]
        if plain:  # those whom nobody asked are handed over together
            found |= zip(
                plain, self.engine.plan_each(rows.iloc[plain], self.matrix, self.limits), strict=True
            )
        told = [answers[i].told if i in answers else 0 for i in range(len(rows))]
        return self._table(rows, [found[i] for i in range(len(rows))], told)

    def _asked(self, row: Frame, answers: Answers) -> Plan | Exception:
        """Return what a session with these answers would recommend."""
        limits = self.limits or Limits()
        try:
            if not answers.told and not answers.difficulties:
                plan: Plan = self.engine.plans(row, self.matrix[None], limits.merge(answers.limits))[0]
                return plan
            self.engine.space.vector(row)  # a row that cannot be read is not the answers' fault
            try:
                session = answers.session(self.engine, row, limits)
            except InputError as error:
                return InputError(f"the answers do not fit the row: {error}")
            return session.recommend()
        except Exception as error:  # one row must not end a run of a million
            return error

    def _table(self, rows: Frame, found: list[Plan | Exception], told: list[int]) -> Frame:
        """Return what ``recommend`` would, and more; a row that failed repeats its own values."""
        plans = {i: one for i, one in enumerate(found) if isinstance(one, Plan)}
        failed = {i: _failure(one) for i, one in enumerate(found) if isinstance(one, Exception)}
        tables = [table(self.engine.space, rows.iloc[[*plans]], [*plans.values()])] if plans else []
        if failed:
            own = rows.iloc[[*failed]].assign(recourse_valid=False, recourse_effort=np.nan)
            own["recourse_status"] = [status for status, _ in failed.values()]
            tables.append(own.assign(recourse_changes=0, recourse_months=0))
        frame = tables[0]
        if len(tables) > 1:
            frame = pd.concat([frame, tables[1][frame.columns]]).iloc[np.argsort([*plans, *failed])]
        output = self.engine.classifier_.scale.output
        names = (
            "recourse_durability",
            "recourse_cliffs",
            "recourse_reason",
            "recourse_answers",
            "recourse_path",
        )
        lines = [_known(one, answered) for one, answered in zip(found, told, strict=True)]
        for name, values in zip((f"recourse_{output}", *names), zip(*lines, strict=True), strict=True):
            frame[name] = list(values)
        return frame


def _known(found: Plan | Exception, answered: int) -> tuple[float, float, str, str, int, Array | None]:
    """Return score, durability, cliffs, reason, answers and path of what was found for a row."""
    if isinstance(found, Exception):
        return np.nan, np.nan, "", _failure(found)[1], answered, None
    durability = np.nan if found.durability is None else found.durability
    cliffs = json.dumps([asdict(cliff) for cliff in found.cliffs], ensure_ascii=False) if found.cliffs else ""
    return found.score, durability, cliffs, found.note, answered, found.path.flatten()


def _failure(error: Exception) -> tuple[str, str]:
    """Return the status and the reason of a row that could not be read, or that the engine broke on."""
    if isinstance(error, InputError):
        return "invalid_row", str(error)
    return "failed", f"{type(error).__name__}: {error}"
