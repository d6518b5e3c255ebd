"""Plans for people who mind the number of changes or the time, and an engine that serves several people at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import reap
from reap.checks.worlds import random_matrices
from reap.elicitation.asking import FEWER
from reap.space import Limits

TIGHTER = [*(Limits(max_changes=k) for k in FEWER), Limits(within_months=1)]


def fresh(engine):
    """The same fitted engine, which has met nobody."""
    made = reap.Recourse(engine.model, engine.space, durability=engine.durability, models=engine.models)
    made.__setstate__(engine.__getstate__())
    return made


@pytest.fixture(scope="module")
def matrices(german_engine):
    return random_matrices(german_engine.space.dimension, 8, np.random.default_rng(0))


def test_lighter_plans_keep_a_tighter_limit_each(german_engine, german_rejected, matrices):
    light = 0
    for i in range(6):
        x = german_rejected.iloc[[i]]
        z0 = german_engine.space.vector(x)
        usual = german_engine.plans(x, matrices)
        for plan in german_engine.lighter(x, matrices, Limits(), TIGHTER):
            assert plan.status == "ok"
            assert plan.valid
            within = [german_engine.space.tighten(each).allows(z0, plan.path[-1])[0] for each in TIGHTER]
            assert any(within)
            light += len(plan.changes) < min(len(p.changes) for p in usual) or plan.months < min(
                p.months for p in usual
            )
    assert light  # some of them are lighter than anything that least effort alone finds


def test_they_are_about_as_easy_as_what_a_search_of_its_own_finds(german_engine, german_rejected, matrices):
    ratios = []
    for i in range(8):
        x = german_rejected.iloc[[i]]
        for each in TIGHTER:
            found = german_engine.lighter(x, matrices, Limits(), [each])
            searched = super(reap.Recourse, german_engine).lighter(x, matrices, Limits(), [each])
            most = reap.Recourse.max_changes
            best = [p for p in searched if p.status == "ok" and len(p.changes) <= most]
            if not best:
                continue
            for A in matrices:
                least = min(p.moves[0] @ A @ p.moves[0] for p in best)
                ratios.append(min((p.moves[0] @ A @ p.moves[0] for p in found), default=np.inf) / least)
    assert len(ratios) > 50
    assert np.median(ratios) <= 1.01
    assert np.isfinite(ratios).mean() > 0.95


def test_limits_of_the_person_hold_for_lighter_plans_too(german_engine, german_rejected, matrices):
    fixed = Limits(fixed=("duration", "amount"))
    plans = [
        plan
        for i in range(4)
        for plan in german_engine.lighter(german_rejected.iloc[[i]], matrices, fixed, TIGHTER)
    ]
    assert plans
    assert not any(c.feature in fixed.fixed for plan in plans for c in plan.changes)


def test_who_is_accepted_or_can_do_nothing_gets_none(german_engine, german_rejected, german, matrices):
    accepted = german.X[german_engine.classifier_.accepts(german_engine.space.encode(german.X))].iloc[[0]]
    assert german_engine.lighter(accepted, matrices, Limits(), TIGHTER) == []
    actions = tuple(f.name for f in german_engine.space.features if f.is_action)
    x = german_rejected.iloc[[0]]
    assert german_engine.lighter(x, matrices, Limits(fixed=actions), TIGHTER) == []


def test_an_engine_that_overrides_plans_is_asked_for_them(german_engine, german_rejected, matrices):
    class Own(reap.Recourse):
        def plans(self, x, matrices, limits=None):
            asked.append(limits)
            return super().plans(x, matrices, limits)

    asked = []
    own = Own(german_engine.model, german_engine.space)
    own.__setstate__(german_engine.__getstate__())
    own.lighter(german_rejected.iloc[[0]], matrices, Limits(), TIGHTER)
    assert asked == TIGHTER


def test_people_are_served_side_by_side_and_get_the_plans_they_get_alone(
    german_engine, german_rejected, matrices
):
    rows = [german_rejected.iloc[[i]] for i in range(6)]
    alone = [[p.path.tobytes() for p in fresh(german_engine).plans(x, matrices)] for x in rows]
    shared = fresh(german_engine)
    with ThreadPoolExecutor(6) as pool:
        beside = list(pool.map(lambda x: [p.path.tobytes() for p in shared.plans(x, matrices)], rows * 2))
    assert beside == alone * 2


def test_nobody_waits_for_somebody_elses_search(german_engine, german_rejected, matrices):
    engine, first, second = fresh(german_engine), german_rejected.iloc[[0]], german_rejected.iloc[[1]]
    z = engine.space.vector(first)
    held, done = threading.Event(), threading.Event()

    def hold():
        with engine._search.of(engine._subject(first), None, np.inf):
            held.set()
            assert done.wait(60)

    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(hold)
        assert held.wait(60)
        try:
            assert engine.plans(second, matrices)[0].status == "ok"  # it would never come back
        finally:
            done.set()
        holder.result(60)
    assert engine.plans(first, matrices)[0].path[0].tobytes() == z.tobytes()
