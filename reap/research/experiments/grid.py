"""One cell of the comparisons beyond the paper: some subjects × matrices, all methods, all numbers of answers.

All methods plan with the same engine, ``Recourse``, and are scored by the effort of the whole change: what differs is what is
asked and what is made of the answers.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Frame
from reap.belief import ConfidenceSet, solve_centers
from reap.questions import SimilarCost
from reap.recourse import Engine
from reap.research.experiments.oracle import oracles
from reap.research.experiments.people import MINDING, READING, Place, person
from reap.research.experiments.scope import Bench, make_bench
from reap.research.experiments.sessions import Center, Outcome, RowSession, hold, hold_together
from reap.research.subjects import Person

#: The methods compared. The paper's: its centre, and the objective of a session with it; None: our default, or nothing asked.
METHODS: dict[str, tuple[Center, str] | None] = {
    "nothing asked": None,
    "published, worst case": ("published", "worst-case"),
    "published, centre": ("published", "expected"),
    "true centre": ("chebyshev", "expected"),
    "ours": None,
}

Key = tuple[int, int]


@dataclass(frozen=True)
class Cell:
    """Some subjects × people of one kind, and what each method recommends to them after some answers.

    The paper's methods ask about the engine's candidates, all people in step, so that the centres of a round are
    solved together and the engine is asked once a subject; plans are those of ``Elicitation(preset="reap")``. Their
    seconds are a share of the batch's.
    """

    made: Bench
    engine: Engine
    people: str
    lapse: float
    options: int
    answers: list[int]
    subjects: range
    matrices: int
    seed: int
    _asked: dict[str, tuple[dict[Key, list[ConfidenceSet]], float]] = field(default_factory=dict)
    _places: dict[int, Place] = field(default_factory=dict)

    def x(self, i: int) -> Frame:
        """Return a subject's row."""
        return self.made.subjects.iloc[[i]]

    def person(self, i: int, k: int, lapse: float | None = None) -> Person:
        """Return the k-th person in the place of the i-th subject.

        Nobody stands in two places: with the same few people in the place of every subject, one effort matrix decided a table.
        """
        share, number = self.lapse if lapse is None else lapse, self.number(i, k)
        # A place takes a search, and only some kinds of people look where they stand.
        place = self.place(i) if self.people in (*MINDING, *READING) else None
        return person(
            self.people, self.made.dimension, number, self.seed, lapse=share, subject=i, place=place
        )

    def number(self, i: int, k: int) -> int:
        """Return which of all people of a kind the k-th in the place of the i-th subject is."""
        return i * self.matrices + k

    def place(self, i: int) -> Place:
        """Return where the i-th subject stands, with the change of the plan for everybody."""
        if i not in self._places:
            plan = self.engine.plans(self.x(i), effort.identity(self.made.dimension))[0]
            start = self.made.space.vector(self.x(i))
            self._places[i] = Place(self.made.space, start, effort.changes(plan.path[-1], start))
        return self._places[i]

    def outcomes(self, method: str) -> dict[Key, list[Outcome]]:
        """Return what a method recommends to the k-th person in the place of the i-th subject, by (i, k)."""
        if method == "nothing asked":
            return self._nothing()
        published = METHODS[method]
        if published is not None:
            center, objective = published
            return (self._robust if objective == "worst-case" else self._at_center)(center)
        how: dict[str, Any] = {"at": self.answers, "seed": self.seed, "options": self.options}
        return {(i, k): hold(self.engine, self.x(i), self.person(i, k), **how) for i, k in self._everybody}

    @property
    def _everybody(self) -> list[Key]:
        return [(i, k) for i in self.subjects for k in range(self.matrices)]

    def _nothing(self) -> dict[Key, list[Outcome]]:
        found = {}
        for i in self.subjects:
            begin = time.process_time()
            plan = self.engine.plans(self.x(i), effort.identity(self.made.dimension))[0]
            seconds = time.process_time() - begin
            found[i] = [Outcome(t, plan, seconds) for t in self.answers]
        return {(i, k): found[i] for i, k in self._everybody}

    def sets(self, center: Center) -> tuple[dict[Key, list[ConfidenceSet]], float]:
        """Return the confidence sets after 0, 1, … answers, and the seconds of one session."""
        if center not in self._asked:
            begin = time.process_time()
            rows = {i: self.engine.candidates(self.x(i)).moves for i in self.subjects}
            strategy = SimilarCost(options=self.options)
            begun = {(i, k): RowSession(rows[i], self.person(i, k), strategy) for i, k in self._everybody}
            held = hold_together(begun, self.answers[-1], center=center, seed=self.seed)
            self._asked[center] = held, (time.process_time() - begin) / len(begun)
        return self._asked[center]

    def _at_center(self, center: Center) -> dict[Key, list[Outcome]]:
        sets, share = self.sets(center)
        found = {}
        for i in self.subjects:
            asked = [(k, t) for k in range(self.matrices) for t in self.answers]
            begin = time.process_time()
            centers = np.stack([sets[i, k][t].center(center).matrix for k, t in asked])
            plans = dict(zip(asked, self.engine.plans(self.x(i), centers), strict=True))
            seconds = share + (time.process_time() - begin) / len(asked)
            for k in range(self.matrices):
                found[i, k] = [Outcome(t, plans[k, t], seconds) for t in self.answers]
        return found

    def _robust(self, center: Center) -> dict[Key, list[Outcome]]:
        sets, share = self.sets(center)
        # Robust plans take longest, so they are asked for where the tables show them.
        at = sorted({0, min(5, self.answers[-1]), self.answers[-1]})
        for form in ("chebyshev", "analytic"):  # the engine begins at them
            solve_centers([each[t] for each in sets.values() for t in at], form)
        found: dict[Key, list[Outcome]] = {key: [] for key in self._everybody}
        for i, k in self._everybody:
            for t in at:
                begin = time.process_time()
                known = t == 0 and k > 0  # nobody has said anything: everybody's plan is the first one's
                plan = found[i, 0][0].plan if known else self.engine.robust(self.x(i), sets[i, k][t])
                found[i, k].append(Outcome(t, plan, share + time.process_time() - begin))
        return found


def run(
    out: Path,
    *,
    people: str,
    lapse: float,
    options: int,
    methods: list[str],
    answers: list[int],
    subjects: tuple[int, int],
    matrices: int,
    **bench: Any,
) -> Frame:
    """Return one row a subject, matrix, method and number of answers, with the effort and the oracle's."""
    made, seed = make_bench(out, **bench), bench["seed"]
    engine = made.engine("recourse")
    cell = Cell(made, engine, people, lapse, options, answers, range(*subjects), matrices, seed)
    found = {method: cell.outcomes(method) for method in methods}
    rows: list[dict[str, Any]] = []
    for i in cell.subjects:
        persons = [cell.person(i, k, lapse=0.0) for k in range(matrices)]
        for k, best in enumerate(oracles(engine, cell.x(i), persons)):
            runs = [
                _row(method, each, persons[k], made) for method in methods for each in found[method][i, k]
            ]
            oracle = min([run["effort"] for run in runs if run["found"]] + [best])
            # by their number: another table has others in the place of the same subject
            rows += [{**run, "subject": i, "matrix": cell.number(i, k), "oracle": oracle} for run in runs]
    setting = {"people": people, "lapse": lapse, "options": options}
    return pd.DataFrame(rows).assign(dataset=made.name, own=made.own, **setting)


def _row(method: str, outcome: Outcome, someone: Person, made: Bench) -> dict[str, Any]:
    plan, sure = outcome.plan, outcome.plan.confidence
    truth = made.judge(plan)
    return {
        "method": method,
        "answers": outcome.answers,
        "effort": someone.effort(plan.moves) if truth["found"] else np.nan,
        "within": sure.within if sure is not None else np.nan,
        "seconds": outcome.seconds,
        **truth,
    }
