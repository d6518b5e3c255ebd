"""What people answered in sessions, as a table: one line an answer, found again by the id of the row.

The columns are in docs/scale.md, with an example of each. Limits and difficulties on any line hold for the person. A line
with nothing but these has no options and "skip" for an answer.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._formats import parse
from reap._typing import Array, Frame
from reap.elicitation import Bayes, Elicitation, Question
from reap.elicitation.events import Shown
from reap.elicitation.learned import check_level
from reap.elicitation.pool import minded
from reap.elicitation.question import read_choice
from reap.plan import Plan
from reap.recourse import Engine
from reap.space import ActionSpace, Limits

COLUMNS = ("row_id", "round", "options", "answer")
#: Columns of JSON that may be empty but for the options, each with an example.
_EXAMPLES = {
    "options": '[{"duration": 24}, {"amount": 2000}]',
    "limits": '{"fixed": ["job"], "at_most": {"amount": 4000}}',
    "difficulties": '{"employment": 5}',
    "start": '{"duration": 36}',
    "parts": "true, where parts of plans were compared",
    "scales": "[0.5, 12.0]",
}
WISHES = tuple(_EXAMPLES)[1:]
_SILENT = ("skip", "neither")
Stages = list[dict[str, Any]]


class Given(NamedTuple):
    """One answer: the plans shown, each as its stages in units, the choice, where the person stood, whether they were parts."""

    options: list[Stages]
    choice: int | str
    start: dict[str, Any]
    parts: bool = False


@dataclass
class Answers:
    """One person's answers and wishes: how hard they called features, 1 to 5, and the scales of their own session."""

    given: list[Given] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)
    difficulties: dict[str, int] = field(default_factory=dict)
    scales: list[float] | None = None

    @property
    def told(self) -> int:
        """Number of answers that say something about effort: an option, or "same"."""
        return sum(one.choice not in _SILENT for one in self.given)

    def session(self, engine: Engine, x: Any, limits: Limits) -> Elicitation:
        """Return the session of somebody who stands at x and said all this: it believes what the person's own session does."""
        session = Elicitation(
            engine,
            x,
            limits=limits.merge(self.limits),
            preset=Bayes(scales=self.scales or None, minds=self.scales is not None),
            random_state=engine.random_state,
        )
        for name, level in self.difficulties.items():
            session.constrain(name, difficulty=level)
        for number, one in enumerate(self.given, 1):
            plans = tuple(_plan(engine, session.here, one.start, stages) for stages in one.options)
            whole = not one.parts and all(plan.valid for plan in plans)
            question = Question(f"line-{number}", number, plans, whole=whole)
            session.apply(Shown(question=question).event())
            session.answer(one.choice)
        return session


def _plan(engine: Engine, z0: Array, start: dict[str, Any], stages: Stages) -> Plan:
    """Return a plan that was shown to somebody who stood at z0, apart from what has changed since."""
    space = engine.space
    values = space.values(z0) | start
    path = np.stack([space.vector(space.encoding.row(values | stage)) for stage in ({}, *stages)])
    scores = engine.classifier_.score(path)
    return Plan(space, path, scores, scale=engine.classifier_.scale, along=len(stages) > 1)


def answers_of(session: Elicitation, row_id: Any) -> Frame:
    """Return a session's answers and wishes as lines of the table that ``run(…, preferences=…)`` reads.

    ``row_id`` is the subject's id in the table that will be run.

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
    wishes = {"limits": _text(session.limits.to_dict()), "difficulties": _text(session.difficulties)}
    minded = session.belief.dimension > session.space.dimension
    sizes = session.pool.sizes  # none yet: no plan was looked for
    scales = {"scales": json.dumps([] if sizes is None else sizes.tolist()) if minded else None}
    lines = [
        {
            "row_id": row_id,
            "round": k,
            "options": _text([_stages(plan) for plan in question.options]),
            "answer": str(choice),
            "parts": None if question.whole else "true",
            "start": _text(_differing(session.space.values(question.options[0].path[0]), here)),
        }
        | wishes
        | scales
        for k, (question, choice, _impossible) in enumerate(session.history)
    ]
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
    if lacking := [name for name in COLUMNS if name not in table.columns]:
        raise InputError(
            f"the answers lack the column {lacking[0]!r}; needed are {', '.join(COLUMNS)}, and {', '.join(WISHES)} "
            "where there are any"
        )
    people: dict[str, Answers] = {}
    for line, said in table.sort_values("round", kind="stable").iterrows():
        person = people.setdefault(key(said["row_id"]), Answers())
        try:
            _take(person, said.dropna().to_dict(), space)
        except InputError as error:
            raise InputError(f"line {line} of the answers (row {said['row_id']}): {error}") from None
    return people


def _read_file(path: Path) -> Frame:
    if not path.exists():
        raise InputError(f"there is no file of answers {str(path)!r}")
    try:
        if path.name.lower().endswith((".csv", ".csv.gz")):
            return pd.read_csv(path, dtype=dict.fromkeys(("row_id", "answer", *_EXAMPLES), str))
        return pd.read_parquet(path)
    except (ValueError, OSError) as error:  # pandas, pyarrow and codecs have errors of these kinds
        raise InputError(f"{str(path)!r} cannot be read as a table of answers: {error}") from None


def _take(person: Answers, said: dict[str, Any], space: ActionSpace) -> None:
    """Add one line to what a person said."""
    limits, levels, start = (_json(said, name, dict) for name in ("limits", "difficulties", "start"))
    for name in (*levels, *start):
        space.feature(name)
    if str(said.get("answer")) not in _SILENT or "options" in said:
        plans = _plans(said, space)
        answer = key(said.get("answer"))
        choice = read_choice(int(answer) if answer.isdigit() else answer, len(plans))
        person.given.append(Given(plans, choice, start, bool(_json(said, "parts", bool))))
    for name in limits:
        if name not in Limits.__dataclass_fields__:
            raise unknown("kind of limit", name, Limits.__dataclass_fields__)
    person.limits = person.limits.merge(space.limits(**limits))
    for level in levels.values():
        check_level(level)
    person.difficulties |= levels
    if "scales" in said:
        given, count = _json(said, "scales", list), minded(space)
        sizes = [float(size) for size in given if isinstance(size, int | float) and 0 <= size < math.inf]
        if len(sizes) < len(given) or len(sizes) not in (0, count):
            raise InputError(f"scales must be {count} numbers of at least 0; given was {said['scales']!r}")
        person.scales = sizes


def _json(said: dict[str, Any], name: str, wanted: type) -> Any:
    """Return what a column of JSON says; nothing where it is empty."""
    if name not in said:
        return wanted()
    text = str(said[name])
    try:
        data = parse(text.lower() if wanted is bool else text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, wanted):
        raise InputError(f"{name} must be JSON such as {_EXAMPLES[name]}; given was {text[:200]!r}")
    return data


def _plans(said: dict[str, Any], space: ActionSpace) -> list[Stages]:
    plans = _json(said, "options", list)
    if len(plans) < 2:
        raise InputError(f"an answer compares at least 2 options; given were {len(plans)}")
    listed = [[plan] if isinstance(plan, dict) else plan for plan in plans]
    for plan in listed:
        if not isinstance(plan, list) or not plan or not all(isinstance(stage, dict) for stage in plan):
            raise InputError(
                f"a plan is a mapping of features to values, or a list of such stages; given was {plan!r}"
            )
        for name in (name for stage in plan for name in stage):
            space.feature(name)
    return listed
