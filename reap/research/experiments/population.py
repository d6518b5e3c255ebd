"""Beyond the paper: what a prior learnt from past sessions saves people who were never seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.belief import LearnedPrior, Posterior, Sampled
from reap.belief.learning import Past
from reap.learning.learning import PEOPLE, learn_past
from reap.research.experiments.bench import make_bench
from reap.research.experiments.measures import excess
from reap.research.experiments.report import ReportTable, between, ordered, table
from reap.research.experiments.runner import Scope
from reap.research.populations import KINDS, Course, Drawn, SimulatedPopulation, hold, pools

TITLE = "A prior from past sessions: default, learnt, and the population's own, on people never seen"
#: COMPAS and Bank are left out: most of their people have two plans at most, and nothing to be asked.
DATASETS = ("german", "student", "gmc", "heloc")
NEEDS = ("population",)
#: Past sessions to learn from, and the answers after which people are judged.
PAST, ANSWERS = (30, 100, 300, 1000), (0, 1, 3, 5)
#: Subjects whose pools are made, matrices to make them with, plans of a pool at most; matrices of the population's own prior.
SUBJECTS, SAMPLES, PLANS, JUDGING = 30, 60, 60, 1000
#: A person is served once the plan is within this share of their best.
NEAR = 0.05
#: What is drawn from the seed: each has a stream of its own, so that nobody who is judged taught.
_SESSION, _PERSON, _PRIOR, _CROWD = 3, 11, 13, 5


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell: one a data set and population."""
    sizes = {"past": PAST, "people": scope.subjects or 200, "subjects": SUBJECTS, "samples": SAMPLES}
    if scope.quick:
        sizes = {"past": PAST[:1], "people": 4, "subjects": 6, "samples": 40}
    return [
        {**scope.bench(dataset, own=True), "population": kind, **sizes}
        for kind in (KINDS[:1] if scope.quick else KINDS)
        for dataset in scope.over(DATASETS)
    ]


def run(
    out: Path, *, population: str, past: list[int], people: int, subjects: int, samples: int, **bench: Any
) -> Frame:
    """Return one row a person, prior and number of answers."""
    made, seed = make_bench(out, **bench), bench["seed"]
    rooms = pools(made.engine("recourse"), made.subjects.iloc[:subjects], samples, PLANS, seed)
    if not rooms:
        return pd.DataFrame()
    k = rooms[0].shape[1]
    crowd = SimulatedPopulation(population, k, seed)
    default = Posterior(k, random_state=seed + _PRIOR)
    sessions = [_held(rooms, crowd, default, i, _SESSION) for i in range(max(past))]
    rng = np.random.default_rng([seed, _CROWD])
    beliefs: dict[str, Sampled] = {"default": default}
    taken = {}
    for count in past:
        answers = Past.of([each.answers for each in sessions[:count]], k)
        prior = learn_past(answers, made.space) if len(answers) >= PEOPLE else None
        name = f"learnt from {count}"
        taken[name], beliefs[name] = "nothing", default
        if prior is not None and prior.learnt != "nothing":
            taken[name], beliefs[name] = prior.learnt, Posterior(k, _alone(prior), random_state=seed + _PRIOR)
    beliefs["population"] = Drawn(np.stack([crowd.draw(rng) for _ in range(JUDGING)]))
    about = {"dataset": made.name, "population": population}
    return pd.DataFrame(
        [
            {**about, "prior": name, "taken": taken.get(name, ""), "subject": i, **row}
            for name, belief in beliefs.items()
            for i in range(people)
            for row in _rows(_held(rooms, crowd, belief, i, _PERSON))
        ]
    )


def _held(rooms: list[Array], crowd: SimulatedPopulation, belief: Sampled, i: int, stream: int) -> Course:
    """Hold a session with the i-th person of a stream: the same person, room and slips whatever the prior."""
    rng = np.random.default_rng([crowd.seed, i, stream])
    room, matrix = rooms[int(rng.integers(len(rooms)))], crowd.draw(rng)
    return hold(room, matrix, belief.copy(), rng)


def _alone(prior: LearnedPrior) -> LearnedPrior:
    """Return a prior over the columns that can move and no others, as pools have them."""
    k = len(prior.columns)
    return replace(prior, dimension=k, columns=tuple(range(k)))


def _rows(course: Course) -> list[dict[str, Any]]:
    near = course.efforts <= (1 + NEAR) * course.best + 1e-12
    needed = int(near.argmax()) if near.any() else len(near)
    about = {"oracle": course.best, "needed": needed}
    return [{"answers": t, "effort": course.efforts[t], **about} for t in ANSWERS]


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return excess after 0, 1, 3 and 5 answers and answers needed, a line a population, number of sessions and prior."""
    order = ("default", *(f"learnt from {count}" for count in PAST), "population")
    frame = ordered(runs["population"], dataset=DATASETS, population=KINDS, prior=order)

    def needed(part: Frame) -> str:
        values = part.loc[part["answers"] == 0, "needed"]
        half = 1.96 * values.sem()
        return f"{values.mean():.2f} [{values.mean() - half:.2f}, {values.mean() + half:.2f}]"

    columns: dict[str, Any] = {"learnt": lambda part: part["taken"].iloc[0]}
    for t in ANSWERS:
        columns[f"after {t}"] = lambda part, t=t: between(excess(part[part["answers"] == t]))
    columns["answers to within 5 %"] = needed
    shown = table(frame, ["dataset", "population", "prior"], columns)
    people = int(frame["subject"].nunique())
    said = [
        f"{people} people never seen, the same in all lines of a population, on pools of plans of {SUBJECTS} rejected people "
        "of the data set. Every past person gave up to five answers, one in twenty a slip, to questions of the default prior. "
        "Excess: ratio of sums, 95 % interval over people.",
        "population: a belief that starts from matrices of the population itself, the best any prior could do.",
        "Answers to within 5 %: the number after which the plan is first within 5 % of the person's best; 6 where none is.",
        "Wanted of 300 sessions: a third of the default's excess before any answer and half its answers; no move where "
        "nothing is shared.",
    ]
    return [ReportTable(TITLE, shown.rename(columns={"population": "people share"}), remarks=said)]
