"""The default engine against brute force, against formulas, and on what it must say."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from reap import effort
from reap.checks.worlds import four_things_world, random_matrices
from reap.recourse import advice, search
from tests.recourse.enumeration import MODELS, Everything, small_world


def ratios(kind, seeds, people=2, matrices=6):
    """Effort of plans, relative to the best undominated row; never below the best irreducible one."""
    found = []
    for seed in seeds:
        world = small_world(kind, seed)
        engine, A = reap.Recourse(world.model, world.space).fit(world.X), world.matrices(matrices, seed)
        people_left = people
        for x in (world.rejected.iloc[[i]] for i in range(len(world.rejected))):
            everything, plans = Everything(world, x), engine.plans(x, A)
            if not everything.undominated:  # nothing of three changes is accepted
                assert all(plan.status != "ok" or len(plan.changes) > 3 for plan in plans)
                continue
            efforts = np.array([plan.effort for plan in plans])
            assert (efforts >= everything.least(everything.irreducible, A) * (1 - 1e-9)).all()
            found += (efforts / everything.least(everything.undominated, A)).tolist()
            people_left -= 1
            if not people_left:
                break
    return np.array(found)


@pytest.mark.parametrize("kind", MODELS)
def test_small_spaces_are_solved_to_one_per_cent(kind):
    found = ratios(kind, range(6))
    assert len(found) == 72
    assert found.mean() <= 1.01


def test_what_is_found_for_others_is_no_easier():
    # Where changes help each other, the easiest rows are reducible, and what is left of them may be harder than another row.
    # 10 %: numbers have steps, which weigh where a matrix makes one direction nearly free.
    data = reap.datasets.load("synthetic")
    network = MLPClassifier((20, 50, 20), max_iter=60, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make_pipeline(data.space.encoder(), network).fit(data.X, data.y)
    rejected = data.X[model.predict(data.X) == 0]
    engine = reap.Recourse(model, data.space).fit(data.X)
    A = random_matrices(data.space.dimension, 24)
    for i in range(12):
        x = rejected.iloc[[i]]
        alone = np.array([engine.plans(x, A[[b]])[0].effort for b in range(len(A))])
        every = np.concatenate([plan.moves for plan in engine.plans(x, A)])
        assert (alone <= 1.1 * effort.of_changes(A, every).min(axis=1)).all()


@pytest.mark.parametrize("kind", ["network", "logistic"])
def test_the_search_alone_comes_near(kind, monkeypatch):
    # the same spaces as if they were too large to be enumerated
    monkeypatch.setattr(search, "_ENUMERATED", 0)
    found = ratios(kind, range(6))
    assert len(found) == 72
    assert found.mean() <= 1.01


def test_continuous_numbers_reach_the_analytic_optimum():
    # a linear model on a continuous box: least effort is (τ − g)² / nᵀA⁻¹n
    Z = np.random.default_rng(0).random((200, 3))
    space = reap.ActionSpace.from_frame(Z, groups={})
    model = LogisticRegression(C=1e4).fit(Z, Z @ [1.0, 2.0, 1.5] > 2.2)
    engine = reap.Recourse(model, space, target=True).fit(Z)
    x = np.full(3, 0.45)
    gap = -(model.coef_[0] @ x + model.intercept_[0])
    for A in random_matrices(3, 6) + 0.2 * np.eye(3):
        exact = gap**2 / (model.coef_[0] @ np.linalg.solve(A, model.coef_[0]))
        plan = engine.plans(x, A)[0]
        assert exact * (1 - 1e-9) <= plan.effort
        # a change against its own gain is a saving under some matrices, and needless: those plans are dearer
        rises = (np.linalg.solve(A, model.coef_[0]) * model.coef_[0] > 0).all()
        assert not rises or plan.effort <= exact * 1.01


# how many changes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "note"), [(4, ""), (None, ""), (1, "No plan of 1 change or fewer was found.")]
)
def test_the_note_speaks_of_the_number_that_was_set(most, note):
    world = four_things_world()
    engine = reap.Recourse(world.model, world.space, max_changes=most).fit(world.X)
    plan = engine.plans(world.X.iloc[[0]], np.eye(world.space.dimension))[0]
    assert (sorted(change.feature for change in plan.changes), plan.note) == (
        ["bank", "car", "home", "job"],
        note,
    )


def test_a_persons_own_number_is_never_exceeded():
    world = four_things_world()
    engine = reap.Recourse(world.model, world.space).fit(world.X)
    limits = world.space.limits(max_changes=3)
    plan = engine.plans(world.X.iloc[[0]], np.eye(world.space.dimension), limits)[0]
    assert plan.status == "infeasible"
    assert "number of changes" in advice.advised(engine, plan, world.X.iloc[[0]], limits).note


# what rows are ------------------------------------------------------------------------------------------


def test_derived_features_follow_and_are_no_action():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.integers(0, 100, 300) * 100, "income": rng.integers(10, 60, 300) * 100})
    X["ratio"] = (X["debt"] / X["income"]).round(3)
    space = reap.ActionSpace.from_frame(
        X, features={"ratio": {"derived": "debt / income"}, "debt": {"step": 100}, "income": {"step": 100}}
    )
    model = make_pipeline(space.encoder(), LogisticRegression(C=100)).fit(X, X["ratio"] < 1.5)
    engine = reap.Recourse(model, space, target=True).fit(X)
    for plan in engine.plans(X[~model.predict(X)].iloc[[0]], random_matrices(3, 5)):
        assert plan.valid
        assert np.isclose(plan.target["ratio"], plan.target["debt"] / plan.target["income"], atol=1e-3)
        assert [change.feature for change in plan.follows] == ["ratio"]
        assert "ratio" not in [change.feature for change in plan.changes]


def test_matrices_that_cost_nothing_are_no_trouble():
    world = small_world("network", 0)
    v = np.random.default_rng(0).normal(size=world.space.dimension)
    engine = reap.Recourse(world.model, world.space).fit(world.X)
    plans = engine.plans(world.rejected.iloc[[0]], np.stack([np.zeros((len(v), len(v))), np.outer(v, v)]))
    assert [plan.valid for plan in plans] == [True, True]
    assert plans[0].effort == 0


# what is said where there is no plan ----------------------------------------------------------------------


def test_impossible_is_only_said_after_enumeration():
    world = four_things_world()
    engine = reap.Recourse(world.model, world.space, threshold=0.95).fit(world.X)
    plan = engine.plans(world.X.iloc[[0]], np.eye(world.space.dimension))[0]
    assert (plan.status, plan.valid) == ("infeasible", False)
    assert "The best score within reach is 90; more than 95 is needed." in plan.note


@pytest.fixture(scope="module")
def hopeless():
    """Too many rows to try them all, and a model that accepts none."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.integers(0, 9, 50)})
    return (
        X,
        reap.ActionSpace.from_frame(X, features={"a": {"step": 0.0001}}),
        lambda rows: 0.2 + 0.01 * rows["b"],
    )


def test_not_found_is_said_where_rows_are_many(hopeless):
    X, space, model = hopeless
    plan = reap.Recourse(model, space).fit(X).plans(X.iloc[0], np.eye(2))[0]
    assert plan.status == "none_found"
    assert "within reach is 28; more than 50 is needed" in plan.note
    assert len(plan.path) == 1


def test_out_of_time_is_said(hopeless):
    X, space, model = hopeless
    engine = reap.Recourse(model, space, time_limit=1e-9).fit(X)
    assert engine.plans(X.iloc[0], np.eye(2))[0].status == "time_limit"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_changes": 0}, "max_changes is 0"),
        ({"max_changes": True}, "max_changes is True"),
        ({"anonymity": 0.5}, "anonymity is 0.5"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"threshold": 1.5}, "threshold is 1.5"),
    ],
)
def test_bad_settings_are_refused(settings, words):
    world = four_things_world()
    with pytest.raises(reap.InputError, match=words):
        reap.Recourse(world.model, world.space, **settings).fit(world.X)


def test_an_engine_that_is_not_fitted_says_so_whatever_it_is_asked(german, german_model):
    engine = reap.Recourse(german_model, german.space)
    with pytest.raises(reap.InputError, match="not fitted"):
        engine.fingerprint()
    with pytest.raises(reap.InputError, match="not fitted"):
        engine.plans(german.X.iloc[0], np.eye(german.space.dimension))


def test_a_session_offers_at_least_one_plan(german_engine, german_rejected):
    with pytest.raises(reap.InputError, match="count is 0"):
        german_engine.elicit(german_rejected.iloc[0]).plans(0)


# sessions, real data, other models ------------------------------------------------------------------------


def test_a_session_ends_near_the_persons_best(german, german_model, german_rejected):
    engine = reap.Recourse(german_model, german.space).fit(german.X)
    A = random_matrices(german.space.dimension, 1, seed=3)[0]
    session = engine.elicit(german_rejected.iloc[0], questions=4, random_state=0)
    while question := session.ask():
        session.answer(int(np.argmin([effort.of_moves(A, plan.moves) for plan in question.options])))
    plan = session.recommend()
    best = engine.plans(german_rejected.iloc[0], A)[0].effort
    assert plan.valid
    assert best * (1 - 1e-9) <= effort.of_moves(A, plan.moves) <= 3 * best


@pytest.mark.slow
@pytest.mark.parametrize("name", ["german", "compas", "student", "bank", "gmc", "heloc", "adult"])
def test_real_people_keep_every_promise(load, name):
    data = load(name)
    X, y = data.X.iloc[:1500], data.y.iloc[:1500]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # any network will do
        model = make_pipeline(data.space.encoder(), MODELS["network"]()).fit(X, y)
    report = reap.checks.engine(reap.Recourse(model, data.space), X, people=6, matrices=5)
    assert report.line("irreducible").cases == 30


@pytest.mark.extras
def test_a_torch_network_works_unchanged():
    torch = pytest.importorskip("torch")
    world = small_world("network", 0)
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(world.space.dimension, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1)
    )
    Z = torch.tensor(world.space.encode(world.X), dtype=torch.float32)
    t = torch.tensor(world.model.predict(world.X), dtype=torch.float32)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(200):
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(module(Z)[:, 0], t).backward()
        optimiser.step()
    engine = reap.Recourse(reap.models.torch_model(module, output="logit"), world.space).fit(world.X)
    with torch.no_grad():
        people = world.X[(module(Z)[:, 0] <= 0).numpy()]
        for i in range(3):
            plan = engine.plans(people.iloc[i], np.eye(world.space.dimension))[0]
            assert plan.valid
            assert module(torch.tensor(plan.path[-1:], dtype=torch.float32)).item() > 0
