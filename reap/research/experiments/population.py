"""Beyond the paper: what a prior learnt from past sessions saves people who were never seen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.belief import LearnedPrior, Posterior, Sampled
from reap.belief.learning import Past
from reap.learning.learning import PEOPLE, learn_past
from reap.research.experiments.measures import excess
from reap.research.experiments.results import Result, between
from reap.research.experiments.scope import Scope, make_bench
from reap.research.populations import KINDS, Course, Drawn, Population, hold, pools
from reap.space import ActionSpace

TITLE = "A prior from past sessions: default, learnt, and the population's own, on people never seen"
#: COMPAS and Bank are left out: most of their people have two plans at most, and nothing to be asked.
DATASETS = ("german", "student", "gmc", "heloc")
NEEDS = ("population",)
#: Past sessions to learn from, the most wanted first, and the answers after which people are judged.
PAST, ANSWERS = (300, 100, 30, 1000), (0, 1, 3, 5)
#: Subjects whose pools are made, matrices to make them with, plans of a pool at most.
SUBJECTS, SAMPLES, PLANS = 30, 60, 60
#: Matrices of the population's own prior.
JUDGING = 1000
#: A person is served once the plan is within this share of their best.
NEAR = 0.05
#: What is drawn from the seed: each has a stream of its own, so that nobody who is judged taught.
_SESSION, _PERSON, _PRIOR, _CROWD = 3, 11, 13, 5
Bench = tuple[tuple[str, Any], ...]


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    small = scope.quick
    return [
        {
            **scope.bench(dataset, own=True),
            "population": kind,
            "past": past,
            "people": 4 if small else scope.subjects or 200,
            "subjects": 6 if small else SUBJECTS,
            "samples": 40 if small else SAMPLES,
        }
        for past in (PAST[2:3] if small else PAST)
        for kind in (KINDS[:1] if small else KINDS)
        for dataset in scope.over(DATASETS)
    ]


def run(
    out: Path,
    *,
    population: str,
    past: int,
    people: int,
    subjects: int,
    samples: int,
    **bench: Any,
) -> Frame:
    """Return one row a person, prior and number of answers."""
    said = tuple(sorted(bench.items()))
    rooms = _pools(out, subjects, samples, said)
    if not rooms:
        return pd.DataFrame()
    space, seed, k = make_bench(out, **bench).space, bench["seed"], rooms[0].shape[1]
    given = (out, subjects, samples, said, population)
    begin = time.process_time()
    sessions = [_session(*given, i) for i in range(past)]
    held = time.process_time()
    prior = _prior(Past.of([each.answers for each in sessions], k), space)
    learnt = time.process_time()
    courses = {name: _courses(*given, people, name) for name in ("default", "population")}
    courses["learnt"] = courses["default"]
    if prior.learnt != "nothing":
        belief = Posterior(k, alone(prior), random_state=seed + _PRIOR)
        crowd = Population(population, k, seed)
        courses["learnt"] = [_held(rooms, crowd, belief, i) for i in range(people)]
    about = {
        "dataset": bench["dataset"],
        "population": population,
        "past": past,
        "answering": sum(bool(each.answers) for each in sessions),
        "taken": prior.learnt,
        "t": prior.figures["gate_t"],
        "seconds_sessions": held - begin,
        "seconds_learning": learnt - held,
    }
    return pd.DataFrame(
        [
            {**about, "prior": name, "subject": i, **row}
            for name in ("default", "learnt", "population")
            for i, course in enumerate(courses[name])
            for row in _rows(course)
        ]
    )


def _rows(course: Course) -> list[dict[str, Any]]:
    near = course.efforts <= (1 + NEAR) * course.best + 1e-12
    needed = int(near.argmax()) if near.any() else len(near)
    return [
        {"answers": t, "effort": course.efforts[t], "oracle": course.best, "needed": needed} for t in ANSWERS
    ]


@lru_cache(maxsize=8)
def _pools(out: Path, subjects: int, samples: int, bench: Bench) -> list[Array]:
    """Return the pools of plans of a data set's rejected people, made once and kept."""
    said = dict(bench)
    name = f"{said['dataset']}-{said['seed']}-{said['rows'] or 'all'}-{subjects}-{samples}.npz"
    place = out / "pools" / name
    if not place.exists():
        made = make_bench(out, **said)
        found = pools(made.engine("recourse"), made.subjects.iloc[:subjects], samples, PLANS, said["seed"])
        place.parent.mkdir(parents=True, exist_ok=True)
        np.savez(place, *found)
    with np.load(place) as kept:
        return [kept[name] for name in kept.files]


def _prior(past: Past, space: ActionSpace) -> LearnedPrior:
    """Return what was learnt; the default where too few had anything to answer."""
    if len(past) >= PEOPLE:
        return learn_past(past, space)
    columns = tuple(space.legal.movable or ())
    names = tuple(space.columns[i] for i in columns)
    about = {"people": len(past), "answers": 0, "figures": {"gate_t": 0.0}}
    return LearnedPrior.default(space.digest, space.dimension, columns, names, **about)


@lru_cache(maxsize=20_000)
def _session(out: Path, subjects: int, samples: int, bench: Bench, population: str, i: int) -> Course:
    """Hold the i-th past session, with the default prior."""
    rooms, seed = _pools(out, subjects, samples, bench), dict(bench)["seed"]
    crowd = Population(population, rooms[0].shape[1], seed)
    return _held(rooms, crowd, _default(crowd.columns, seed), i, _SESSION)


@lru_cache(maxsize=64)
def _courses(
    out: Path, subjects: int, samples: int, bench: Bench, population: str, people: int, name: str
) -> list[Course]:
    """Return the sessions of people never seen with a prior that nothing was learnt for."""
    rooms, seed = _pools(out, subjects, samples, bench), dict(bench)["seed"]
    crowd = Population(population, rooms[0].shape[1], seed)
    belief: Sampled = _default(crowd.columns, seed)
    if name == "population":
        rng = np.random.default_rng([seed, _CROWD])
        belief = Drawn(np.stack([crowd.draw(rng) for _ in range(JUDGING)]))
    return [_held(rooms, crowd, belief, i) for i in range(people)]


def _held(rooms: list[Array], crowd: Population, belief: Sampled, i: int, stream: int = _PERSON) -> Course:
    """Hold a session with the i-th person of a stream: the same person, room and slips whatever the prior."""
    rng = np.random.default_rng([crowd.seed, i, stream])
    room, matrix = rooms[int(rng.integers(len(rooms)))], crowd.draw(rng)
    return hold(room, matrix, belief.copy(), rng)


@lru_cache(maxsize=16)
def _default(columns: int, seed: int) -> Posterior:
    """Return the belief that nobody has taught."""
    return Posterior(columns, random_state=seed + _PRIOR)


def alone(prior: LearnedPrior) -> LearnedPrior:
    """Return a prior over the columns that can move and no others, as pools have them."""
    k = len(prior.columns)
    return replace(prior, dimension=k, columns=tuple(range(k)))


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return excess after 0, 1, 3 and 5 answers and answers needed, a line a population, number of sessions and prior."""
    frame, rows = runs["population"], []
    keys = ["dataset", "population", "past", "prior"]
    order = {name: i for i, name in enumerate((*KINDS, "default", "learnt", "population"))}
    frame = frame.sort_values(keys, key=lambda column: column.map(lambda value: order.get(value, value)))
    most = frame.groupby(keys[:2])["past"].max()
    for (dataset, kind, past, prior), part in frame.groupby(keys, sort=False):
        if prior != "learnt" and past != most[dataset, kind]:
            continue  # they do not depend on past sessions
        once = part[part["answers"] == 0]
        found = {f"after {t}": between(excess(at)) for t, at in part.groupby("answers")}
        learnt = prior == "learnt"
        rows.append(
            {
                "data": dataset,
                "people share": kind,
                "prior": f"learnt from {past}" if learnt else prior,
                "gate": f"{once['taken'].iloc[0]} (t = {once['t'].iloc[0]:.1f})" if learnt else "",
                **found,
                "answers to within 5 %": _mean(once["needed"].to_numpy(float)),
            }
        )
    people = int(frame.groupby(keys)["subject"].nunique().max())
    said = [
        f"{people} people never seen, the same in all lines of a population, on pools of plans of {SUBJECTS} rejected people "
        "of the data set. Every past person gave up to five answers, one in twenty a slip, to questions of the default prior. "
        "Excess: ratio of sums, 95 % interval over people. Past people, people judged, matrices of the default prior, of the "
        "population and of the learning are drawn from streams of their own.",
        "population: a belief that starts from matrices of the population itself, the best any prior could do.",
        "Answers to within 5 %: the number after which the plan is first within 5 % of the person's best; 6 where none is.",
        *_shortfalls(frame),
    ]
    return [Result(TITLE, pd.DataFrame(rows), "beyond the paper", said)]


def _shortfalls(frame: Frame) -> list[str]:
    """Return what 300 sessions should reach and do not: a third of the excess, half the answers; without structure no move."""
    said = []
    wanted = frame[(frame["past"] == 300) & (frame["answers"] == 0) & (frame["population"] != "clusters")]
    for (dataset, kind), part in wanted.groupby(["dataset", "population"], sort=False):
        first = {name: excess(at)["excess"] for name, at in part.groupby("prior")}
        needed = {name: float(at["needed"].mean()) for name, at in part.groupby("prior")}
        if kind == "none":
            moved = 100 * abs(first["learnt"] - first["default"])
            if moved > 0.3:
                said.append(
                    f"Missed: {dataset}, nothing shared: the first plan moves by {moved:.1f} points (0.3 allowed)."
                )
            continue
        for what, found, part_of, share in (
            ("excess before any answer is", first, 3, "⅓"),
            ("answers to within 5 % are", needed, 2, "½"),
        ):
            if found["learnt"] > found["default"] / part_of:
                said.append(
                    f"Missed: {dataset}, {kind}, 300 sessions: {what} {found['learnt'] / found['default']:.2f} of the "
                    f"default's ({share} wanted; the population's own prior: {found['population'] / found['default']:.2f})."
                )
    return said or (["Nothing missed of what 300 sessions should reach."] if len(wanted) else [])


def _mean(values: Array) -> str:
    """Return a mean with its 95 % interval."""
    half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} [{values.mean() - half:.2f}, {values.mean() + half:.2f}]"
