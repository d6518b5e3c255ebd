"""A session as lines of the table of answers that a batch reads; see ``preferences``."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.batch.preferences import COLUMNS, WISHES, Stages
from reap.elicitation import Elicitation
from reap.plan import Plan


def answers_of(session: Elicitation, row_id: Any) -> Frame:
    """Return a session's answers and wishes as lines of the table that ``run(…, preferences=…)`` reads.

    Parameters
    ----------
    session : Elicitation
    row_id : the subject's id in the table that will be run

    Examples
    --------
    >>> import reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> engine = reap.Recourse(model, data.space).fit(data.X)
    >>> rejected = data.X[model.predict(data.X) == 0]
    >>> session = engine.elicit(rejected.iloc[0], questions=2)
    >>> session.constrain("employment", difficulty=5)
    >>> while session.ask():
    ...     session.answer("left")
    >>> table = answers_of(session, row_id=17)
    >>> table[["row_id", "round", "answer"]].to_dict("list"), table["difficulties"][0]
    ({'row_id': [17, 17], 'round': [0, 1], 'answer': ['0', '0']}, '{"employment": 5}')
    """
    here = session.space.values(session.here)
    wishes = {
        "limits": _text(session.limits.to_dict()),
        "difficulties": _text(session.difficulties),
    }
    minded = session.belief.dimension > session.space.dimension
    # none yet: no plan was looked for
    scales = {"scales": json.dumps(session.scales or []) if minded else None}
    lines = []
    for k, (question, choice) in enumerate(session.history):
        then = session.space.values(question.options[0].path[0])
        options = _text([_stages(plan) for plan in question.options])
        line = {"row_id": row_id, "round": k, "options": options, "answer": str(choice)}
        parts = {"parts": None if question.whole else "true"}
        lines.append(line | wishes | scales | parts | {"start": _text(_differing(then, here))})
    if not lines and any(wishes.values()):
        lines = [{"row_id": row_id, "round": 0, "answer": "skip"} | wishes | scales]
    return pd.DataFrame(lines, columns=[*COLUMNS, *WISHES])


def _text(data: Any) -> str | None:
    return json.dumps(data, ensure_ascii=False) if data else None


def _stages(plan: Plan) -> dict[str, Any] | Stages:
    """Return a plan as the table has it: its end, or each stage of a path whose effort counts along it."""
    start, *stages = (plan.space.values(z) for z in (plan.path if plan.along else plan.path[[0, -1]]))
    shown = [_differing(stage, start) for stage in stages]
    return shown if plan.along else shown[0]


def _differing(row: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value != other[name]}
