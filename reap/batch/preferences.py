"""What people answered in sessions, as a table: one line an answer, found again by the id of the row.

=========  ===========================================================================================
column     what it holds
=========  ===========================================================================================
row_id     the subject: the row's number in the input (from 0), or its value in the column named as id
round      the order of the answers of one person, any numbers that sort
options    the plans shown, as JSON: a list of plans; a plan is a list of steps; a step is a mapping of
           the features that differ from the subject's row to their values after it, in units
answer     the position of the plan that is easiest (0 for the first), or "same", "skip", "neither"
limits     optional, JSON: what the person cannot do, as in ``ActionSpace.limits``
=========  ===========================================================================================

"skip" and "neither" say nothing about effort and are passed over. Limits on any line hold for the person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import Posterior
from reap.elicitation.answers import Answer
from reap.space import ActionSpace, Limits

COLUMNS = ("row_id", "round", "options", "answer")
_SILENT = ("skip", "neither")
Steps = list[dict[str, Any]]


@dataclass
class Answers:
    """One person's answers and limits.

    Parameters
    ----------
    given : list of (options, choice)
        Plans as lists of steps in units, and the index of the easiest or "same".
    limits : Limits
    """

    given: list[tuple[list[Steps], int | str]] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)

    def moves(self, space: ActionSpace, z0: Array) -> list[tuple[list[Array], int | str]]:
        """Return the answers with every plan as moves (s, d) from the subject's row."""
        return [([_moves(space, z0, plan) for plan in options], choice) for options, choice in self.given]

    def belief(self, space: ActionSpace, z0: Array, seed: int) -> Posterior:
        """Return what the answers say about the person."""
        belief = Posterior(space.dimension, columns=space.movable, random_state=seed)
        for options, choice in self.moves(space, z0):
            Answer.to(options, choice).teach(belief)
        return belief


def _moves(space: ActionSpace, z0: Array, plan: Steps) -> Array:
    values = space.values(z0)
    after = [space.vector(_columns(space, values | step)) for step in plan]
    return np.nan_to_num(np.diff(np.stack([z0, *after]), axis=0))


def _columns(space: ActionSpace, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by feature as values by column of the user's table (a one-hot group has several)."""
    row: dict[str, Any] = {}
    for feature in space.features:
        value = values[feature.name]
        if feature.columns:
            row |= {c: float(v == value) for c, v in zip(feature.columns, feature.levels, strict=True)}
        else:
            row[feature.name] = value
    return row


def key(row_id: Any) -> str:
    """Return an id in the form in which ids of two tables are compared: 7, 7.0 and "7" are one."""
    if isinstance(row_id, float | np.floating) and float(row_id).is_integer():
        row_id = int(row_id)
    return str(row_id)


def read(source: Frame | str | Path | None, space: ActionSpace) -> dict[str, Answers]:
    """Return the answers of every person by id; says in which line something is wrong."""
    if source is None:
        return {}
    table = source if isinstance(source, pd.DataFrame) else _read_file(Path(source))
    for name in COLUMNS:
        if name not in table.columns:
            raise InputError(
                f"the answers lack the column {name!r}; needed are {', '.join(COLUMNS)}, and limits where there are any"
            )
    people: dict[str, Answers] = {}
    table = table.sort_values("round", kind="stable")
    limits = table["limits"] if "limits" in table.columns else [None] * len(table)
    lines = zip(table.index, table["row_id"], table["options"], table["answer"], limits, strict=True)
    for line, row_id, options, answer, limit in lines:
        person = people.setdefault(key(row_id), Answers())
        try:
            if str(answer) not in _SILENT:
                plans = _plans(options, space)
                person.given.append((plans, _choice(answer, len(plans))))
            if limit is not None and not pd.isna(limit):
                person.limits = person.limits.merge(space.limits(**_limits(limit)))
        except InputError as error:
            raise InputError(f"line {line} of the answers (row {row_id}): {error}") from None
    return people


def _read_file(path: Path) -> Frame:
    if not path.exists():
        raise InputError(f"there is no file of answers {str(path)!r}")
    if path.name.lower().endswith((".csv", ".csv.gz")):
        return pd.read_csv(path, dtype={"row_id": str, "answer": str, "options": str, "limits": str})
    return pd.read_parquet(path)


def _json(text: Any, what: str, wanted: type) -> Any:
    try:
        data = json.loads(text)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be JSON; {text!r} is not ({error})") from None
    if not isinstance(data, wanted):
        raise InputError(f"{what} must be a JSON {wanted.__name__}; given was {text!r}")
    return data


def _plans(text: Any, space: ActionSpace) -> list[Steps]:
    plans = _json(text, "options", list)
    if len(plans) < 2:
        raise InputError(f"an answer compares at least 2 options; given were {len(plans)}")
    listed = [[plan] if isinstance(plan, dict) else plan for plan in plans]
    for plan in listed:
        if not isinstance(plan, list) or not plan or not all(isinstance(step, dict) for step in plan):
            raise InputError(
                f"a plan is a list of steps, each a mapping of features to values; given was {plan!r}"
            )
        for name in (name for step in plan for name in step):
            space.feature(name)
    return listed


def _choice(answer: Any, count: int) -> int | str:
    text = key(answer).strip().lower()
    if text == "same":
        return text
    text = {"left": "0", "right": "1"}.get(text, text)
    if not text.isdigit() or int(text) >= count:
        raise InputError(
            f'the answer {answer!r} is not 0 to {count - 1}, "same", "skip" or "neither"; options are counted from 0'
        )
    return int(text)


def _limits(text: Any) -> dict[str, Any]:
    allowed = ("fixed", "at_least", "at_most", "exclude", "max_changes")
    data: dict[str, Any] = _json(text, "limits", dict)
    for name in data:
        if name not in allowed:
            raise unknown("kind of limit", name, allowed)
    return data


def answers_of(session: Any, row_id: Any) -> Frame:
    """Return a session's answers as lines of the table that ``run(…, preferences=…)`` reads.

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
    >>> engine = reap.GraphRecourse(model, data.space).fit(data.X)
    >>> rejected = data.X[model.predict(data.X) == 0]
    >>> session = engine.elicit(rejected.iloc[0], questions=2)
    >>> while session.ask():
    ...     session.answer("left")
    >>> answers_of(session, row_id=17)[["row_id", "round", "answer"]].to_dict("list")
    {'row_id': [17, 17], 'round': [0, 1], 'answer': ['0', '0']}
    """
    limits = json.dumps(session.limits.to_dict()) if session.limits else None
    lines = [
        {
            "row_id": row_id,
            "round": k,
            "options": json.dumps([_steps(plan) for plan in question.options], ensure_ascii=False),
            "answer": str(choice),
            "limits": limits,
        }
        for k, (question, choice) in enumerate(session.history)
    ]
    return pd.DataFrame(lines, columns=[*COLUMNS, "limits"])


def _steps(plan: Any) -> Steps:
    rows = [plan.space.values(z) for z in plan.path]
    start = rows[0]
    return [{name: value for name, value in row.items() if value != start[name]} for row in rows[1:]]
