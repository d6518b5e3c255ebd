"""One cell of the comparisons beyond the paper: some subjects × matrices, all methods, all numbers of answers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.belief import ConfidenceSet, solve_centers
from reap.questions import SimilarCost
from reap.research.baselines._paths import cheapest
from reap.research.experiments.dialogues import Center, Heard, Talk, hold, hold_together
from reap.research.experiments.people import person
from reap.research.experiments.scope import Bench, make_bench
from reap.research.subjects import L1, Mahalanobis, Subject

#: The methods compared, as settings of a session; None asks nothing.
METHODS: dict[str, dict[str, Any] | None] = {
    "nothing asked": None,
    "published, worst case": {"preset": "reap", "center": "published", "objective": "worst-case"},
    "published, centre": {"preset": "reap", "center": "published", "objective": "expected"},
    "true centre": {"preset": "reap", "center": "chebyshev", "objective": "expected"},
    "ours": {"preset": "bayes"},
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
    planner: Any
    people: str
    lapse: float
    options: int
    answers: list[int]
    subjects: range
    matrices: int
    seed: int
    _asked: dict[str, tuple[dict[Key, list[ConfidenceSet]], float]] = field(default_factory=dict)

    def x(self, i: int) -> Frame:
        """Return a subject's row."""
        return self.made.subjects.iloc[[i]]

    def person(self, i: int, k: int, lapse: float | None = None) -> Subject:
        """Return the k-th person in the place of the i-th subject."""
        share = self.lapse if lapse is None else lapse
        return person(self.people, self.made.dimension, k, self.seed, lapse=share, subject=i)

    def heard(self, method: str) -> dict[Key, list[Heard]]:
        """Return what a method recommends to the k-th person in the place of the i-th subject, by (i, k)."""
        settings = METHODS[method]
        if settings is None:
            return self._nothing()
        if settings["preset"] == "reap":
            of = self._robust if settings["objective"] == "worst-case" else self._at_center
            return of(settings["center"])
        return {
            (i, k): hold(
                self.planner,
                self.x(i),
                self.person(i, k),
                at=self.answers,
                seed=self.seed,
                options=self.options,
                **settings,
            )
            for i, k in self._everybody
        }

    @property
    def _everybody(self) -> list[Key]:
        return [(i, k) for i in self.subjects for k in range(self.matrices)]

    def _nothing(self) -> dict[Key, list[Heard]]:
        heard = {}
        for i in self.subjects:
            begin = time.process_time()
            plan = self.planner.plans(self.x(i), np.eye(self.made.dimension)[None])[0]
            seconds = time.process_time() - begin
            heard[i] = [Heard(t, plan, seconds) for t in self.answers]
        return {(i, k): heard[i] for i, k in self._everybody}

    def sets(self, center: Center) -> tuple[dict[Key, list[ConfidenceSet]], float]:
        """Return the confidence sets after 0, 1, … answers, and the seconds of one dialogue."""
        if center not in self._asked:
            begin = time.process_time()
            rows = {i: self.planner.candidates(self.x(i)).moves for i in self.subjects}
            strategy = SimilarCost(options=self.options)
            talks = {(i, k): Talk(rows[i], self.person(i, k), strategy) for i, k in self._everybody}
            held = hold_together(talks, self.answers[-1], center=center, seed=self.seed)
            self._asked[center] = held, (time.process_time() - begin) / len(talks)
        return self._asked[center]

    def _at_center(self, center: Center) -> dict[Key, list[Heard]]:
        sets, share = self.sets(center)
        heard = {}
        for i in self.subjects:
            asked = [(k, t) for k in range(self.matrices) for t in self.answers]
            begin = time.process_time()
            plans = self.planner.plans(
                self.x(i), np.stack([sets[i, k][t].center(center).matrix for k, t in asked])
            )
            seconds = share + (time.process_time() - begin) / len(asked)
            found = dict(zip(asked, plans, strict=True))
            for k in range(self.matrices):
                heard[i, k] = [Heard(t, found[k, t], seconds) for t in self.answers]
        return heard

    def _robust(self, center: Center) -> dict[Key, list[Heard]]:
        sets, share = self.sets(center)
        # Robust plans take longest, so they are asked for where the tables show them.
        at = sorted({0, min(5, self.answers[-1]), self.answers[-1]})
        for form in ("chebyshev", "analytic"):  # the engine begins at them
            solve_centers([each[t] for each in sets.values() for t in at], form)
        heard: dict[Key, list[Heard]] = {key: [] for key in self._everybody}
        for i, k in self._everybody:
            for t in at:
                begin = time.process_time()
                known = t == 0 and k > 0  # nobody has said anything: everybody's plan is the first one's
                plan = heard[i, 0][0].plan if known else self.planner.robust(self.x(i), sets[i, k][t])
                heard[i, k].append(Heard(t, plan, share + time.process_time() - begin))
        return heard


def run(
    out: Path,
    *,
    people: str,
    lapse: float,
    options: int,
    engine: str,
    methods: list[str],
    answers: list[int],
    subjects: tuple[int, int],
    matrices: int,
    **bench: Any,
) -> Frame:
    """Return one row a subject, matrix, method and number of answers, with the effort and the oracle's."""
    made, seed = make_bench(out, **bench), bench["seed"]
    cell = Cell(made, made.engine(engine), people, lapse, options, answers, range(*subjects), matrices, seed)
    heard = {method: cell.heard(method) for method in methods}
    rows: list[dict[str, Any]] = []
    for i in cell.subjects:
        for k, best in enumerate(_oracles(cell, i)):
            someone = cell.person(i, k, lapse=0.0)
            runs = [_row(method, each, someone, made) for method in methods for each in heard[method][i, k]]
            oracle = min([run["effort"] for run in runs if run["found"]] + [best])
            rows += [{**run, "subject": i, "matrix": k, "oracle": oracle} for run in runs]
    frame = pd.DataFrame(rows)
    for name, value in {
        **bench,
        "people": people,
        "lapse": lapse,
        "options": options,
        "engine": engine,
    }.items():
        if name in ("dataset", "own", "people", "lapse", "options", "engine"):
            frame[name] = value
    return frame


def _row(method: str, heard: Heard, someone: Subject, made: Bench) -> dict[str, Any]:
    plan, sure = heard.plan, heard.plan.confidence
    truth = made.judge(plan)
    return {
        "method": method,
        "answers": heard.answers,
        "effort": someone.effort(plan.moves) if truth["found"] else np.nan,
        "within": sure.within if sure is not None else np.nan,
        "expected": sure.excess if sure is not None else np.nan,
        "seconds": heard.seconds,
        "neighbors": plan.neighbors or 0,
        **truth,
    }


def _oracles(cell: Cell, i: int) -> list[float]:
    """Return, for each person, the effort of the engine's plan for the true cost; for L1 the shortest path with L1 edges."""
    persons = [cell.person(i, k, lapse=0.0) for k in range(cell.matrices)]
    if isinstance(persons[0], L1):
        return [_shortest(cell.planner, cell.x(i), someone) for someone in persons]
    truth = np.stack([someone.matrix for someone in persons if isinstance(someone, Mahalanobis)])
    plans = cell.planner.plans(cell.x(i), truth)
    return [
        someone.effort(plan.moves) if plan.status == "ok" else np.inf
        for someone, plan in zip(persons, plans, strict=True)
    ]


def _shortest(planner: Any, x: Any, someone: Any) -> float:
    if not hasattr(planner, "_legal_search"):
        return np.inf

    def cost(before: Array, after: Array) -> Array:
        return np.asarray(np.abs(np.nan_to_num(after - before)) @ someone.weights)

    plan = cheapest(planner, x, cost)
    return float(someone.effort(plan.moves)) if plan.status == "ok" else np.inf
