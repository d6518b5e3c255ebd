"""Beyond the paper: the old default, the new one and the paper's session, at equal answers and at equal rows read.

A question of nine rows is not one question of two. So each method is also shown at the last answer before the person has
read a given number of rows, the features in which the options of a question differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Frame
from reap.elicitation import Bayes, Paper
from reap.research.experiments.excess import RATIO
from reap.research.experiments.grid import Cell
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.oracle import oracles
from reap.research.experiments.results import Result, between, percent
from reap.research.experiments.scope import Scope, make_bench
from reap.research.experiments.sessions import hold
from reap.research.experiments.targets import against_targets, beside, tally, targets

TITLE = "Excess over the oracle at equal answers, and at equal rows read (the data set's own action space, 2 options)"
DATASETS = ("german", "student", "heloc")
NEEDS = ("reading",)
#: Who reads everything, whose care falls with every row, and who sees two rows; ``factors`` has all kinds of people.
KINDS = ("gaussian", "tiring", "narrow")
#: Rows read at which the methods are compared.
ROWS = (10, 20)


def methods() -> dict[str, dict[str, Any]]:
    """Return how each method holds a session: as before, with any number of rows; our default; the paper's centre."""
    return {
        "any number of rows": {"preset": Bayes(rows=None, minds=False)},
        "ours": {},
        "the paper's": {"preset": Paper(objective="expected")},
    }


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    kinds = KINDS[1:2] if scope.quick else KINDS
    return [
        {**cell, "people": people, "answers": scope.questions(10)}
        for cell in scope.cells(DATASETS, 25, 1, own=True, runs=100)
        for people in kinds
    ]


def run(
    out: Path, *, people: str, answers: int, subjects: tuple[int, int], matrices: int, **bench: Any
) -> Frame:
    """Return one row a subject, matrix, method and number of answers, with the rows read until then."""
    made, seed = make_bench(out, **bench), bench["seed"]
    engine, at = made.engine("recourse"), list(range(answers + 1))
    cell = Cell(made, engine, people, 0.0, 2, at, range(*subjects), matrices, seed)
    lines: list[dict[str, Any]] = []
    for i in cell.subjects:
        persons = [cell.person(i, k) for k in range(matrices)]
        for k, best in enumerate(oracles(engine, cell.x(i), persons)):
            runs: list[dict[str, Any]] = []
            for method, how in methods().items():
                for each in hold(engine, cell.x(i), cell.person(i, k), at=at, seed=seed, **how):
                    found = each.plan.status == "ok"
                    asks = persons[k].effort(each.plan.moves) if found else np.nan
                    said: dict[str, Any] = {"method": method, "answers": each.answers, "rows": each.rows}
                    sure = each.plan.confidence
                    said["within"] = np.nan if sure is None else sure.within
                    runs.append({**said, "effort": asks, "found": found, "seconds": each.seconds})
            oracle = min([line["effort"] for line in runs if line["found"]] + [best])
            lines += [{**line, "subject": i, "matrix": k, "oracle": oracle} for line in runs]
    setting = {"people": people, "lapse": 0.0, "options": 2}
    return pd.DataFrame(lines).assign(dataset=made.name, own=made.own, **setting)


def after_rows(runs: Frame, rows: int) -> Frame:
    """Return of each run the last recommendation before more than so many rows were read.

    Examples
    --------
    >>> one = pd.DataFrame({"subject": 0, "matrix": 0, "rows": [0, 3, 6, 9], "answers": [0, 1, 2, 3]})
    >>> after_rows(one, 7)["answers"].tolist()
    [2]
    """
    within = runs[runs["rows"] <= rows].sort_values("answers", kind="stable")
    return within.groupby(["subject", "matrix"], as_index=False).tail(1)


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return the excess after 5 and 10 answers and after 10 and 20 rows, a line a data set, kind and method."""
    frame = same_oracle(runs["reading"])
    last = int(frame["answers"].max())
    lines, said = [], []
    for (dataset, people, method), part in frame.groupby(["dataset", "people", "method"], sort=False):
        line: dict[str, Any] = {"data": dataset, "people": people, "method": method}
        found = {t: excess(part[part["answers"] == t]) for t in sorted({min(5, last), last})}
        line |= {f"after {t} answers": between(each) for t, each in found.items()}
        for rows in ROWS:
            line[f"after {rows} rows"] = between(excess(after_rows(part, rows)))
        read = part[part["answers"] == last]["rows"]
        ends = part[part["answers"] == last]
        first = found[min(5, last)]
        line |= {"median, p90 (5)": f"{percent(first['median'])}, {percent(first['p90'])}"}
        asked = targets(str(people), 0.0, 2) if method == "ours" else {}
        lines.append({**line, **beside(found, asked), "rows read": f"{read.mean():.1f}", "runs": len(ends)})
        if method == "ours":
            said += against_targets(part, f"{dataset}, {people} people, 2 options", asked)
    return [
        Result(
            TITLE,
            pd.DataFrame(lines),
            "beyond the paper",
            [RATIO, *_tired(frame), *_stated(frame), *tally(said)],
        )
    ]


def _tired(frame: Frame) -> list[str]:
    """Return whether our default beats the one with any number of rows, with people whose care falls with every row."""
    last, said = int(frame["answers"].max()), []
    tired = frame[frame["people"] == "tiring"]
    for t in sorted({min(5, last), last}):
        at = tired[tired["answers"] == t]
        at = at.assign(subject=at["dataset"] + at["subject"].astype(str))
        ours, old = (excess(at[at["method"] == name]) for name in ("ours", "any number of rows"))
        if ours["runs"]:
            word = "beats" if ours["excess"] < old["excess"] else "does not beat"
            said.append(
                f"With people whose care falls with rows ours {word} the default without a cap after {t} answers: "
                f"{between(ours)} against {between(old)}, all data sets."
            )
    return said


def _stated(frame: Frame) -> list[str]:
    """Return, for each kind of people, what our default stated and what came true."""
    ours = frame[(frame["method"] == "ours") & frame["within"].notna() & frame["found"]]
    said = []
    for people, part in ours.groupby("people", sort=False):
        came = (part["effort"] <= 1.05 * part["oracle"] + 1e-12).mean()
        sessions = len(part[["dataset", "subject", "matrix"]].drop_duplicates())
        said.append(
            f"{str(people).capitalize()} people: within 5 % of the best, stated {part['within'].mean():.2f}, "
            f"observed {came:.2f}, over {sessions:,} sessions and all numbers of answers."
        )
    return said
