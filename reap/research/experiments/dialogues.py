"""Beyond the paper: what people are shown. Rows, dominated options, repeats, and plans recommended right after they were refused.

The checks look at what is printed and at where plans lead, and use nothing of the rules that choose questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.elicitation import Elicitation, Question
from reap.plan import Plan
from reap.research.experiments.grid import Cell
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench
from reap.research.experiments.sessions import rows_of
from reap.research.subjects import Person
from reap.space import ActionSpace

TITLE = "What people are shown in a session (the data set's own action space, 2 options, at most 5 answers)"
DATASETS = ("synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc")
NEEDS = ("dialogues",)
#: Sessions a data set at least.
RUNS = 400
#: Share of questions with at most 3 rows at least, and the median of rows at most.
FEW, MEDIAN = 0.95, 2


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    return [
        {**cell, "people": "gaussian", "questions": scope.questions(5)}
        for cell in scope.cells(DATASETS, 100, 1, own=True, runs=RUNS)
    ]


def run(
    out: Path, *, people: str, questions: int, subjects: tuple[int, int], matrices: int, **bench: Any
) -> Frame:
    """Return one row a session."""
    made, seed = make_bench(out, **bench), bench["seed"]
    engine = made.engine("recourse")
    cell = Cell(made, engine, people, 0.0, 2, [0], range(*subjects), matrices, seed)
    lines = []
    for i in cell.subjects:
        for k in range(matrices):
            session = engine.elicit(cell.x(i), questions=questions, random_state=seed)
            lines.append({"subject": i, "matrix": k, **shown(session, cell.person(i, k))})
    return pd.DataFrame(lines).assign(dataset=made.name)


def shown(session: Elicitation, someone: Person) -> dict[str, Any]:
    """Hold a session and return what was shown in it: numbers of questions, and of each fault."""
    asked: list[tuple[Question, int | str]] = []
    most: list[int] = []
    while (question := session.ask()) is not None:
        most.append(session.progress.most)
        choice = someone.answer(question)
        asked.append((question, choice))
        session.answer(choice)
    texts = [printed(question) for question, _ in asked]
    rows = [rows_of(question) for question, _ in asked]
    return {
        "questions": len(asked),
        "few": sum(n <= 3 for n in rows),
        "rows": float(np.median(rows)) if rows else np.nan,
        "dominated": sum(dominated(session.space, question.options) for question, _ in asked),
        "repeats": len(texts) - len(set(texts)),
        "beaten": int(beaten(session.recommend(), asked)),
        "unannounced": sum(len(asked) - i > most[i] for i in range(len(asked))),
    }


def printed(question: Question) -> frozenset[tuple[tuple[str, str], ...]]:
    """Return what differs between the options as it is read, whichever stands first."""
    rows = [(d.label, d.values) for d in question.differences]
    return frozenset(
        tuple((label, values[i]) for label, values in rows) for i in range(len(question.options))
    )


def dominated(space: ActionSpace, options: Sequence[Plan]) -> bool:
    """Return whether an option asks for all that another asks for, and more."""
    changes = [_asked(space, plan) for plan in options]
    for i, less in enumerate(changes):
        for j, more in enumerate(changes):
            if i != j and all(name in more and _no_further(step, more[name]) for name, step in less.items()):
                return True
    return False


def _asked(space: ActionSpace, plan: Plan) -> dict[str, Array]:
    """Return what a plan asks of a person to change, by feature."""
    change = plan.path[-1] - plan.path[0]
    found = {change_.feature: change[space.slices[change_.feature]] for change_ in plan.changes}
    return {name: step for name, step in found.items() if np.abs(step).max() > 1e-9}


def _no_further(one: Array, other: Array) -> bool:
    """Return whether a change goes the same way as another and not beyond it."""
    return bool(((one * other >= 0) & (np.abs(one) <= np.abs(other) + 1e-9)).all())


def beaten(plan: Plan, asked: Sequence[tuple[Question, int | str]]) -> bool:
    """Return whether a plan was refused in favour of another by the last answer.

    A part of a plan leads to no yes: a plan may take more effort than a part of another, and less than all of it.
    """
    if not asked:
        return False
    question, choice = asked[-1]
    ends = [option.path[-1].tobytes() for option in question.options]
    end = plan.path[-1].tobytes()
    return question.whole and isinstance(choice, int) and end in ends and ends[choice] != end


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return one line a data set."""
    lines = []
    for dataset, part in runs["dialogues"].groupby("dataset", sort=False):
        questions = int(part["questions"].sum())
        few = part["few"].sum() / questions if questions else np.nan
        lines.append(
            {
                "data": dataset,
                "sessions": len(part),
                "without a question": f"{(part['questions'] == 0).mean():.2f}",
                "questions": questions,
                "at most 3 rows": f"{few:.1%}".replace("%", " %"),
                "median rows": f"{part['rows'].median():g}",
                "dominated": int(part["dominated"].sum()),
                "repeats": int(part["repeats"].sum()),
                "beaten plans": int(part["beaten"].sum()),
                "unannounced": int(part["unannounced"].sum()),
                "met": "yes" if _met(part) else "no",
            }
        )
    said = [
        "A question that reads like one before it is a repeat. A beaten plan is one that was recommended right after the person "
        "had refused it in favour of another.",
        "The design asks for at most 3 rows in 95 % of questions (median 2), and for no dominated option, repeat or beaten plan.",
    ]
    return [Result(TITLE, pd.DataFrame(lines), "beyond the paper", said)]


def _met(part: Frame) -> bool:
    """Return whether a data set's sessions meet what the design asks for."""
    few = part["few"].sum() >= FEW * part["questions"].sum()
    return bool(
        few
        and not part["rows"].median() > MEDIAN
        and not part[["dominated", "repeats", "beaten"]].any(axis=None)
    )
