"""Beyond the paper: what a prior learnt from past sessions saves people who were never seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.belief import LearnedPrior, Posterior
from reap.belief.learning import Past
from reap.belief.learning.fitting import MATRICES
from reap.learning.learning import PEOPLE, learn_past
from reap.research.experiments.measures import excess
from reap.research.experiments.results import Result, between
from reap.research.experiments.scope import Scope, make_bench
from reap.research.populations import KINDS, Course, Drawn, Population, hold, pools
from reap.space import ActionSpace

TITLE = "A prior from past sessions: default, learnt, and the population's own, on people never seen"
DATASETS = ("german", "student", "compas", "bank")
NEEDS = ("population",)
#: Past sessions to learn from, and the answers after which people are judged.
PAST, ANSWERS = (30, 100, 300, 1000), (0, 1, 3, 5)
#: Subjects whose pools are made, matrices to make them with, plans of a pool at most, particles of a past session.
SUBJECTS, SAMPLES, PLANS, PARTICLES = 60, 200, 60, 120
#: A person is served once the plan is within this share of their best.
NEAR = 0.05


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    small = scope.quick
    return [
        {
            **scope.bench(dataset, own=True),
            "population": kind,
            "past": past,
            "people": 4 if small else scope.subjects or 100,
            "subjects": 6 if small else SUBJECTS,
            "samples": 40 if small else SAMPLES,
            "matrices": 90 if small else MATRICES,
            "poisoned": 0.0,
        }
        for dataset in scope.over(DATASETS)
        for kind in (KINDS[:1] if small else KINDS)
        for past in (PAST[:1] if small else PAST)
    ]


def run(
    out: Path,
    *,
    population: str,
    past: int,
    people: int,
    subjects: int,
    samples: int,
    matrices: int,
    poisoned: float,
    **bench: Any,
) -> Frame:
    """Return one row a person, prior and number of answers. ``poisoned``: share of past people who answer at random."""
    made = make_bench(out, **bench)
    rooms = _pools(out, subjects, samples, tuple(sorted(bench.items())))
    if not rooms:
        return pd.DataFrame()
    seed, k = bench["seed"], rooms[0].shape[1]
    crowd = Population(population, k, seed)
    begin = time.process_time()
    sessions = [_session(rooms, crowd, i, seed, poisoned) for i in range(past)]
    held = time.process_time()
    prior = _prior(Past.of([each.answers for each in sessions], k), made.space, matrices)
    learnt = time.process_time()
    drawn = np.random.default_rng([seed, 5])
    truth = np.stack([crowd.draw(drawn) for _ in range(2000)])
    rows = []
    for i in range(people):
        for name in ("default", "learnt", "population"):
            rng = np.random.default_rng([seed, i, 11])  # the same person and slips for every prior
            room, matrix = rooms[int(rng.integers(len(rooms)))], crowd.draw(rng)
            course = hold(room, matrix, _belief(name, prior, truth, k, i), rng)
            near = course.efforts <= (1 + NEAR) * course.best + 1e-12
            needed = int(near.argmax()) if near.any() else len(near)
            rows += [
                {
                    "dataset": bench["dataset"],
                    "population": population,
                    "past": past,
                    "poisoned": poisoned,
                    "prior": name,
                    "subject": i,
                    "answers": t,
                    "effort": course.efforts[t],
                    "oracle": course.best,
                    "needed": needed,
                    "taken": prior.learnt,
                    "t": prior.figures["gate_t"],
                    "seconds_sessions": held - begin,
                    "seconds_learning": learnt - held,
                }
                for t in ANSWERS
            ]
    return pd.DataFrame(rows)


@lru_cache(maxsize=2)
def _pools(out: Path, subjects: int, samples: int, bench: tuple[tuple[str, Any], ...]) -> list[Array]:
    """Return the pools of plans of a data set's rejected people, made once and kept."""
    said = dict(bench)
    place = out / "pools" / f"{said['dataset']}-{said['seed']}-{said['rows'] or 'all'}-{subjects}.npz"
    if not place.exists():
        made = make_bench(out, **said)
        found = pools(made.engine("recourse"), made.subjects.iloc[:subjects], samples, PLANS, said["seed"])
        place.parent.mkdir(parents=True, exist_ok=True)
        np.savez(place, *found)
    with np.load(place) as kept:
        return [kept[name] for name in kept.files]


def _prior(past: Past, space: ActionSpace, matrices: int) -> LearnedPrior:
    """Return what was learnt; the default where too few had anything to answer."""
    if len(past) >= PEOPLE:
        return learn_past(past, space, matrices=matrices)
    columns = tuple(space.movable or ())
    return LearnedPrior.default(
        space.digest,
        space.dimension,
        columns,
        tuple(space.columns[i] for i in columns),
        people=len(past),
        answers=0,
        figures={"gate_t": 0.0},
    )


def _session(rooms: list[Array], crowd: Population, i: int, seed: int, poisoned: float) -> Course:
    """Hold the i-th past session, with the default prior."""
    rng = np.random.default_rng([seed, i, 3])
    room, matrix = rooms[int(rng.integers(len(rooms)))], crowd.draw(rng)
    guessing = rng.random() < poisoned
    belief = Posterior(crowd.columns, particles=PARTICLES, random_state=i)
    return hold(room, matrix, belief, rng, answering=(lambda: int(rng.integers(2))) if guessing else None)


def _belief(name: str, prior: LearnedPrior, truth: Array, k: int, i: int) -> Posterior | Drawn:
    if name == "population":
        return Drawn(truth)
    if name == "learnt" and prior.learnt != "nothing":
        return Posterior(k, alone(prior), random_state=i)
    return Posterior(k, random_state=i)


def alone(prior: LearnedPrior) -> LearnedPrior:
    """Return a prior over the columns that can move and no others, as pools have them."""
    k = len(prior.columns)
    said = {name: getattr(prior, name) for name in prior.__dataclass_fields__}
    return LearnedPrior(**{**said, "dimension": k, "columns": tuple(range(k))})


def summary(runs: Mapping[str, Frame], scope: Scope) -> list[Result]:
    """Return excess after 0, 1, 3 and 5 answers and answers needed, a line a population, number of sessions and prior."""
    rows = []
    frame = runs["population"]
    keys = ["dataset", "population", "past", "prior"]
    for (dataset, kind, past, prior), part in frame.groupby(keys, sort=False):
        once = part[part["answers"] == 0]
        found = {f"after {t}": between(excess(at)) for t, at in part.groupby("answers")}
        needed = once["needed"].to_numpy(float)
        rows.append(
            {
                "data": dataset,
                "population": kind,
                "past sessions": past,
                "prior": prior,
                "gate": f"{once['taken'].iloc[0]} (t = {once['t'].iloc[0]:.1f})" if prior == "learnt" else "",
                **found,
                "answers to within 5 %": _mean(needed),
            }
        )
    said = [
        "People never seen, on the pools of plans of the data set's rejected people; every past person gave up to five answers, "
        "one in twenty a slip, to the questions of the default prior. Excess: ratio of sums, 95 % interval over people.",
        "Population: a belief that starts from 2,000 matrices of the population itself. ",
        "Answers to within 5 %: the number after which the plan is first within 5 % of the person's best; 6 where none is.",
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]


def _mean(values: Array) -> str:
    """Return a mean with its 95 % interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} [{values.mean() - half:.2f}, {values.mean() + half:.2f}]"
