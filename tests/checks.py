"""What every engine and baseline must pass. A check takes ``make(model, space) -> engine`` (not fitted yet).

Use all of them::

    @pytest.mark.parametrize("check", checks.CASES)
    def test_conformance(check):
        check(lambda model, space: GraphRecourse(model, space))

Legality is judged here from the rows in units and the features' declarations, not by the library's own judge.
"""

from __future__ import annotations

import io
import itertools
import pickle
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import reap
from tests.spaces import GRADES, World, random_world

WORLDS = 200


# judging rows in units --------------------------------------------------------------------------------


def violations(space, before, after) -> list[str]:
    """What is wrong with a change from one row to another (mappings in units), by the features' declarations."""
    wrong, changed = [], []
    for feature in space.features:
        old, new = before[feature.name], after[feature.name]
        if pd.isna(old) or pd.isna(new):
            if pd.isna(old) != pd.isna(new):
                wrong.append(f"{feature.name} appears or disappears")
            continue
        if old == new:
            continue
        changed.append(feature.name)
        if not feature.actionable:
            wrong.append(f"{feature.name} cannot change")
        rank = (lambda v: v) if feature.is_number else feature.levels.index
        if feature.direction == "up" and rank(new) < rank(old):
            wrong.append(f"{feature.name} falls")
        if feature.direction == "down" and rank(new) > rank(old):
            wrong.append(f"{feature.name} rises")
        if feature.is_number:
            low, high = feature.bounds or (min(feature.range[0], old), max(feature.range[1], old))
            tolerance = 1e-6 * (high - low)
            if not low - tolerance <= new <= high + tolerance:
                wrong.append(f"{feature.name} is {new}, outside {low} to {high}")
            if feature.step is not None and abs(new / feature.step - round(new / feature.step)) > 1e-4:
                wrong.append(f"{feature.name} is {new}, no multiple of {feature.step}")
        elif (old, new) in feature.forbidden:
            wrong.append(f"{feature.name} may not go from {old} to {new}")
    if space.max_changes is not None and len(changed) > space.max_changes:
        wrong.append(f"{len(changed)} features change")
    return wrong + [rule for rule in space.rules if not _obeys(rule, before, after)]


def _obeys(rule, before, after) -> bool:
    if rule == "100 * cards + age <= 380":
        return 100 * int(after["cards"]) + int(after["age"]) <= 380
    if rule == "if income increases then age increases by at least 1":
        return not after["income"] > before["income"] or after["age"] - before["age"] >= 1
    raise AssertionError(f"the checks do not know the rule {rule!r}")


def assert_honest(world: World, x, plan) -> None:
    """A plan says the truth: valid rows are accepted as returned, every step is legal, costs and statuses agree."""
    rows = plan.space.decode(plan.path, like=world.X)
    scores = world.probability(rows)
    if plan.status in ("ok", "already_accepted"):
        assert plan.valid
        assert scores[-1] > 0.5
    else:
        assert not plan.valid
        assert len(plan.path) == 1
        assert np.isnan(plan.cost)
    assert np.allclose(plan.probabilities, scores, atol=1e-6)
    units = rows.to_dict("records")
    own = world.space.decode(world.space.vector(x)[None], like=world.X).to_dict("records")[0]
    assert violations_of_values(units[0], own) == []
    for old, new in itertools.pairwise(units):
        assert violations(world.space, old, new) == []
        assert violations(world.space, own, new) == []
    assert np.isfinite(plan.moves).all()


def violations_of_values(row, other) -> list[str]:
    return [k for k in row if not (row[k] == other[k] or (pd.isna(row[k]) and pd.isna(other[k])))]


# checks -----------------------------------------------------------------------------------------------


def check_honest_over_random_worlds(make, seeds=range(WORLDS), subjects=2):
    """Hundreds of random spaces, models and rows: no violation, valid means valid."""
    statuses = []
    for seed in seeds:
        world = random_world(seed, rows=50)
        if len(world.rejected) == 0:
            continue
        engine = make(world.model, world.space).fit(world.X)
        for i in range(min(subjects, len(world.rejected))):
            x = world.rejected.iloc[[i]]
            for plan in engine.plans(x, world.matrices(2, seed)):
                assert_honest(world, x, plan)
                statuses.append(plan.status)
    assert statuses.count("ok") > len(statuses) / 2, "the worlds are so hard that the check says nothing"


def check_costs(make):
    """The cost is the effort of the moves under the matrix that was asked for."""
    world = random_world(2)
    engine = make(world.model, world.space).fit(world.X)
    matrices = world.matrices(4)
    for plan, A in zip(engine.plans(world.rejected.iloc[0], matrices), matrices, strict=True):
        assert plan.status == "ok"
        assert np.isclose(
            plan.cost, np.einsum("si,ij,sj->", plan.moves, A, plan.moves), rtol=1e-9, atol=1e-15
        )


def check_limits(make):
    """A person's limits are kept, and leave no trace on the next person."""
    world = random_world(2, rows=120)
    engine = make(world.model, world.space).fit(world.X)
    A = np.eye(world.space.dimension)
    for i in range(4):
        x = world.rejected.iloc[[i]]
        free = engine.plans(x, A)[0]
        if free.status != "ok":
            continue
        name = free.changes[0].feature
        plan = engine.plans(x, A, world.space.limits(fixed=[name]))[0]
        assert_honest(world, x, plan)
        assert name not in [change.feature for change in plan.changes]
        again = engine.plans(x, A)[0]
        assert np.array_equal(again.path, free.path, equal_nan=True)


def check_candidates(make):
    """Candidates are distinct one-step plans to accepted, legal rows."""
    for seed in (2, 7, 8):
        world = random_world(seed, rows=120)
        engine = make(world.model, world.space).fit(world.X)
        x = world.rejected.iloc[[0]]
        found = engine.candidates(x)
        assert found.moves.shape == (len(found), world.space.dimension)
        assert len(np.unique(found.moves.round(9), axis=0)) == len(found)
        for plan in found[:20]:
            assert plan.moves.shape == (1, world.space.dimension)
            assert_honest(world, x, plan)


def check_input_untouched(make):
    """Frames, rows and matrices that go in come out as they were."""
    world = random_world(4)
    X, x, matrices = world.X.copy(), world.rejected.iloc[[0]].copy(), world.matrices(2)
    kept = matrices.copy()
    engine = make(world.model, world.space).fit(X)
    engine.plans(x, matrices)
    engine.candidates(x)
    engine.recommend(x)
    pd.testing.assert_frame_equal(X, world.X)
    pd.testing.assert_frame_equal(x, world.rejected.iloc[[0]])
    assert np.array_equal(matrices, kept)


def check_recommend_keeps_index_and_dtypes(make):
    """One frame back: the subjects' index, the columns' dtypes, honest columns beside them."""
    for seed in (2, 4, 11):
        world = random_world(seed)
        engine = make(world.model, world.space).fit(world.X)
        X = world.X.iloc[:6]
        table = engine.recommend(X)
        rows = table[list(X.columns)]
        assert table.index.equals(X.index)
        assert list(table.columns[-4:]) == [f"recourse_{k}" for k in ("valid", "cost", "status", "steps")]
        pd.testing.assert_series_equal(rows.dtypes, X.dtypes)
        accepted = world.probability(rows) > 0.5
        assert accepted[table["recourse_valid"]].all()
        stays = ~table["recourse_valid"] | (table["recourse_status"] == "already_accepted")
        pd.testing.assert_frame_equal(rows[stays], X[stays])
        assert (table["recourse_status"] == "already_accepted").tolist() == (
            world.probability(X) > 0.5
        ).tolist()


def check_awkward_dtypes(make):
    """Nullable integers and booleans, categories, strings, small integers, and missing values."""
    rng = np.random.default_rng(0)
    n = 90
    X = pd.DataFrame(
        {
            "income": pd.array(rng.integers(5, 60, n) * 100, dtype="Int64"),
            "debts": rng.integers(0, 4, n).astype("int8"),
            "share": pd.array(np.round(rng.random(n), 2), dtype="Float64"),
            "grade": pd.Categorical(rng.choice(GRADES, n), categories=GRADES, ordered=True),
            "town": pd.array(rng.choice(["Ulm", "Jena", "Kiel"], n), dtype="string"),
            "owner": pd.array(rng.random(n) < 0.5, dtype="boolean"),
            "member": rng.random(n) < 0.5,
            "years": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 30, n)),
        },
        index=pd.date_range("2024-01-01", periods=n),
    )
    space = reap.ActionSpace.from_frame(X, missing=["years"], immutable=["town"])
    world = World(X, np.zeros(n), space, _Income(), X[X["income"] <= 3000])
    engine = make(world.model, space).fit(X)
    for i in range(4):
        x = world.rejected.iloc[[i]]
        plan = engine.plans(x, np.eye(space.dimension))[0]
        assert plan.status == "ok"
        assert_honest(world, x, plan)
        assert_honest(world, x, engine.plans(world.rejected.iloc[i], np.eye(space.dimension))[0])
    table = engine.recommend(world.rejected.iloc[:4])
    pd.testing.assert_series_equal(table[list(X.columns)].dtypes, X.dtypes)


class _Income:
    """Accepts an income above 3000, whatever is missing elsewhere."""

    def __call__(self, rows):
        return 1 / (1 + np.exp(3 - rows["income"].astype(float) / 1000))


def check_same_seed_same_answer(make):
    """Two engines made alike give the same plans; asking for something else in between changes nothing."""
    for seed in (3, 9):
        world = random_world(seed, rows=120)
        x, matrices = world.rejected.iloc[[0]], world.matrices(5)
        one, two = (make(world.model, world.space).fit(world.X) for _ in range(2))
        two.plans(world.rejected.iloc[[1]], matrices)
        two.plans(x, world.matrices(3, seed=7))
        for a, b in zip(one.plans(x, matrices), two.plans(x, matrices), strict=True):
            assert np.array_equal(a.path, b.path, equal_nan=True)
            assert (a.cost, a.status) == (b.cost, b.status) or a.status != "ok"


def check_pickle_and_clone(make):
    """A fitted engine survives pickling; a clone has the settings and the fitted model, but is not fitted."""
    world = random_world(6, rows=80)
    x, A = world.rejected.iloc[[0]], world.matrices(2)
    engine = make(world.model, world.space).fit(world.X)
    before = engine.plans(x, A)
    restored = pickle.loads(pickle.dumps(engine))
    for a, b in zip(before, restored.plans(x, A), strict=True):
        assert np.array_equal(a.path, b.path, equal_nan=True)
    twin = clone(engine)
    assert type(twin) is type(engine)
    assert twin.model is engine.model
    assert set(twin.get_params(deep=False)) == set(engine.get_params(deep=False))
    refused(lambda: twin.plans(x, A), "not fitted")
    for a, b in zip(before, twin.fit(world.X).plans(x, A), strict=True):
        assert np.array_equal(a.path, b.path, equal_nan=True)


def check_already_accepted(make):
    """An accepted subject is no error: a plan without steps that says so."""
    world = random_world(2)
    engine = make(world.model, world.space).fit(world.X)
    x = world.X[world.probability(world.X) > 0.5].iloc[[0]]
    plan = engine.plans(x, np.eye(world.space.dimension))[0]
    assert (plan.status, plan.valid, plan.cost, len(plan.steps)) == ("already_accepted", True, 0.0, 0)
    assert len(engine.candidates(x)) == 0


def check_nobody_is_accepted(make):
    """Where the model accepts nobody there is no plan, no candidate, and a status that says why."""
    world = random_world(2)
    engine = make(_Never(), world.space).fit(world.X)
    x = world.X.iloc[[0]]
    plan = engine.plans(x, np.eye(world.space.dimension))[0]
    assert plan.status in ("unreachable", "none_found", "infeasible")
    assert_honest(World(world.X, world.y, world.space, _Never(), world.X), x, plan)
    assert len(engine.candidates(x)) == 0
    assert str(plan)


class _Never:
    def __call__(self, rows):
        return np.full(len(rows), 0.1)


def check_infeasible(make):
    """Limits that leave no legal row are told as such, not as a failed search."""
    world = random_world(2)
    engine = make(world.model, world.space).fit(world.X)
    x = world.rejected.iloc[[0]]
    high = int(world.X["income"].max())
    limits = world.space.limits(at_least={"income": high + 10_000})
    plan = engine.plans(x, np.eye(world.space.dimension), limits)[0]
    assert plan.status == "infeasible"
    assert not plan.valid
    assert plan.note
    assert len(engine.candidates(x, limits)) == 0


def check_time_limit(make):
    """Out of time: a valid plan with a note, or none with that status; engines without the setting are exempt."""
    world = random_world(2, rows=120)
    engine = make(world.model, world.space)
    if "time_limit" not in engine.get_params(deep=False):
        return
    engine.set_params(time_limit=1e-9).fit(world.X)
    x = world.rejected.iloc[[0]]
    plan = engine.plans(x, np.eye(world.space.dimension))[0]
    assert plan.status in ("time_limit", "ok")
    assert_honest(world, x, plan)


def check_silent(make):
    """Nothing is printed and nothing is warned about."""
    world = random_world(3)
    out, err = io.StringIO(), io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("error")
        engine = make(world.model, world.space).fit(world.X)
        engine.recommend(world.X.iloc[:3])
    assert out.getvalue() == err.getvalue() == ""


def check_bad_input_is_refused(make):
    """Wrong shapes, unknown columns and unfitted engines end in one clear sentence."""
    world = random_world(2)
    engine = make(world.model, world.space)
    x, d = world.rejected.iloc[[0]], world.space.dimension
    refused(lambda: engine.plans(x, np.eye(d)), "not fitted")
    engine.fit(world.X)
    refused(lambda: engine.plans(x, np.eye(d + 1)), "cost matrices")
    refused(lambda: engine.plans(x, np.full((d, d), np.nan)), "cost matrices")
    refused(lambda: engine.plans(x.rename(columns={"income": "incme"}), np.eye(d)), "incme")
    refused(lambda: engine.plans(world.X.iloc[:2], np.eye(d)), "one subject")
    refused(lambda: engine.fit(world.X.drop(columns="income")), "income")


def refused(call, words) -> None:
    with pytest.raises(reap.InputError, match=words):
        call()


ALL = [value for key, value in list(globals().items()) if key.startswith("check_")]


def name(check) -> str:
    """What a check is called in a test's id."""
    return check.__name__.removeprefix("check_")


#: For ``parametrize``; the one over hundreds of worlds is slow.
CASES = [
    pytest.param(
        check, id=name(check), marks=[pytest.mark.slow] if check is check_honest_over_random_worlds else []
    )
    for check in ALL
]
