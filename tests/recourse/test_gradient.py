"""Plans on the decision boundary: legal, valid, and as cheap as enumeration says."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from reap.recourse import _boundary_pool
from tests.spaces import random_matrices

GRADES = ["low", "middle", "good", "best"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def table(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "hours": rng.integers(0, 13, rows),
            "visits": rng.integers(0, 9, rows),
            "grade": pd.Categorical(
                rng.choice(["low", "middle", "good", "best"], rows),
                ["low", "middle", "good", "best"],
                ordered=True,
            ),
            "town": rng.choice(["Ulm", "Jena", "Kiel"], rows),
            "member": rng.random(rows) < 0.5,
            "age": rng.integers(18, 22, rows),
        }
    )
    value = (
        X["hours"] / 6
        + np.cos(X["visits"])
        + X["grade"].cat.codes / 2
        + (X["town"] == "Ulm") * X["member"]
        - X["age"] / 20
    )
    return X, (value + 0.3 * rng.normal(size=rows) > value.quantile(0.6)).astype(int)


@pytest.fixture(scope="module")
def people():
    return table()


def mlp(space, X, y):
    net = MLPClassifier((12, 12), max_iter=60, random_state=0, solver="lbfgs")
    return make_pipeline(space.encoder(), net).fit(X, y)


class Everybody:
    """Every row of the small world by a plain product of values, and the least effort over them: brute force."""

    def __init__(self, space, model, X):
        levels = [range(13), range(9), GRADES, ["Jena", "Kiel", "Ulm"], [False, True], range(18, 22)]
        rows = pd.DataFrame(list(itertools.product(*levels)), columns=list(X.columns)).astype(
            X.dtypes.to_dict()
        )
        p = model.predict_proba(rows)[:, 1]
        self.space, self.rows = space, rows[p > 1 / (1 + np.exp(-1e-3))].reset_index(drop=True)
        self.vectors = space.encode(self.rows)

    def cheapest(self, x, A):
        """The least effort of accepted legal rows for each matrix; empty where there is none."""
        before = x.loc[x.index.repeat(len(self.rows))].reset_index(drop=True)
        moves = self.vectors[self.space.allows(before, self.rows)] - self.space.encode(x)
        costs = np.einsum("bni,ni->bn", moves @ A, moves)
        return costs.min(axis=1) if len(moves) else np.empty(0)


def rejected(space, model, X, count):
    """Rejected people who break no rule where they stand."""
    people = X[space.allows(X, X)]
    people = people[model.predict(people) == 0]
    return [people.iloc[[i]] for i in range(count)]


SPACES = {
    "free": {},
    "fixed and directed": {"immutable": ["town"], "increasing": ["age", "visits"], "decreasing": ["hours"]},
    "counted": {"max_changes": 2},
    "linear rule": {"rules": ["hours + 2 * visits <= 12"]},
    "implication": {"rules": ["if hours increases then age increases by at least 1"]},
    "forbidden": {"forbidden": {"town": [("Jena", "Ulm")], "grade": [("low", "good")]}},
}


@pytest.mark.parametrize("options", SPACES.values(), ids=SPACES.keys())
@pytest.mark.parametrize("kind", ["network", "forest"])
def test_small_spaces_are_solved_exactly(people, options, kind):
    X, y = people
    space = reap.ActionSpace.from_frame(X, **options)
    model = (
        mlp(space, X, y)
        if kind == "network"
        else make_pipeline(space.encoder(), RandomForestClassifier(15, max_depth=6, random_state=0)).fit(X, y)
    )
    engine = reap.GradientRecourse(model, space).fit(X)
    A = random_matrices(space.dimension, 4)
    everybody = Everybody(space, model, X)
    for x in rejected(space, model, X, 3):
        plans, best = engine.plans(x, A), everybody.cheapest(x, A)
        assert [plan.status for plan in plans] == ["ok" if len(best) else "infeasible"] * 4
        if len(best):
            assert np.allclose([plan.cost for plan in plans], best, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", SPACES.values(), ids=SPACES.keys())
def test_search_alone_comes_near_the_optimum(people, options, monkeypatch):
    # with a pool of 1,500 scored rows the world of 11,232 is not enumerated any more
    monkeypatch.setattr(_boundary_pool, "ENUMERATED", 0)
    monkeypatch.setattr(_boundary_pool, "SCORED", 1_500)
    X, y = people
    space = reap.ActionSpace.from_frame(X, **options)
    model = mlp(space, X, y)
    engine = reap.GradientRecourse(model, space).fit(X.iloc[:60])
    A = random_matrices(space.dimension, 4, seed=1)
    everybody = Everybody(space, model, X)
    found, best = [], []
    for x in rejected(space, model, X, 5):
        least = everybody.cheapest(x, A)
        best += list(least)
        found += [plan.cost for plan in engine.plans(x, A)][: len(least)]
    assert len(best) >= 8
    assert np.all(np.array(found) >= np.array(best) * (1 - 1e-9))
    # rounding does not know linear rules: rows that break one are brought back to the nearest that obeys
    assert np.sum(found) / np.sum(best) < (1.15 if "rules" in options else 1.02)


def test_costs_and_scores_are_those_of_the_row_shown(people):
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    model = mlp(space, X, y)
    A = random_matrices(space.dimension, 3)
    x = X[model.predict(X) == 0].iloc[[0]]
    for plan, matrix in zip(reap.GradientRecourse(model, space).fit(X).plans(x, A), A, strict=True):
        row = plan.target.to_frame().T.astype(X.dtypes.to_dict())
        assert np.isclose(model.predict_proba(row)[0, 1], plan.probability)
        move = space.encode(row)[0] - space.encode(x)[0]
        assert np.isclose(plan.cost, move @ matrix @ move)


def test_continuous_numbers_reach_the_analytic_optimum():
    # a linear model on a continuous box: least effort is (τ − g)² / nᵀA⁻¹n
    rng = np.random.default_rng(0)
    Z = rng.random((200, 4))
    space = reap.ActionSpace.from_frame(Z, groups={})
    model = LogisticRegression(C=1e4).fit(Z, Z @ [1.0, 2.0, 0.5, 1.5] > 2.5)
    engine = reap.GradientRecourse(model, space, target=True).fit(Z)
    x = np.full(4, 0.45)
    w, b = model.coef_[0], model.intercept_[0]
    for A in random_matrices(4, 6) + 0.2 * np.eye(4):
        gap = 1e-3 - (w @ x + b)
        exact = gap**2 / (w @ np.linalg.solve(A, w))
        plan = engine.plans(x, A)[0]
        assert exact * (1 - 1e-9) <= plan.cost <= exact * 1.01


def test_flat_costs_are_no_trouble(people):
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    model = mlp(space, X, y)
    engine = reap.GradientRecourse(model, space).fit(X)
    v = np.random.default_rng(0).normal(size=space.dimension)
    x = X[model.predict(X) == 0].iloc[0]
    plans = engine.plans(x, np.stack([np.zeros_like(np.outer(v, v)), np.outer(v, v)]))
    assert [plan.valid for plan in plans] == [True, True]
    assert plans[0].cost == 0


def test_a_missing_value_stays_missing():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, 200) * 100,
            "years": np.where(rng.random(200) < 0.3, np.nan, rng.integers(0, 30, 200)),
        }
    )
    space = reap.ActionSpace.from_frame(X, missing=["years"], steps={"income": 10})

    def model(rows):
        return 1 / (1 + np.exp(3 - rows["income"] / 1000 - rows["years"].fillna(5) / 20))

    x = pd.Series({"income": 2000, "years": np.nan})
    plan = reap.GradientRecourse(model, space).fit(X).plans(x, np.eye(2))[0]
    assert plan.valid
    assert np.isnan(plan.target["years"])
    assert plan.target["income"] == 2760  # logit 1e-3 is reached at 2751, shown in steps of 10


def test_derived_features_follow():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.integers(0, 100, 300) * 100, "income": rng.integers(10, 60, 300) * 100})
    X["ratio"] = (X["debt"] / X["income"]).round(3)
    space = reap.ActionSpace.from_frame(
        X, derived={"ratio": "debt / income"}, steps={"debt": 100, "income": 100}
    )
    model = make_pipeline(space.encoder(), LogisticRegression(C=100)).fit(X, X["ratio"] < 1.5)
    engine = reap.GradientRecourse(model, space, target=True).fit(X)
    x = X[~model.predict(X)].iloc[[0]]
    for plan in engine.plans(x, random_matrices(3, 5)):
        assert plan.valid
        assert np.isclose(plan.target["ratio"], plan.target["debt"] / plan.target["income"], atol=1e-3)


# honesty ----------------------------------------------------------------------------------------------


def test_impossible_is_only_said_after_enumeration(people):
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    model = mlp(space, X, y)
    strict = reap.GradientRecourse(model, space, threshold=1 - 1e-12).fit(X)
    x = X[model.predict(X) == 0].iloc[0]
    plan = strict.plans(x, np.eye(space.dimension))[0]
    assert (plan.status, plan.valid) == ("infeasible", False)
    assert "Of all rows there are" in plan.note


def test_not_found_is_said_where_rows_are_many():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.integers(0, 9, 50)})
    space = reap.ActionSpace.from_frame(X)
    plan = (
        reap.GradientRecourse(lambda rows: 0.2 + 0.01 * rows["b"], space)
        .fit(X)
        .plans(X.iloc[0], np.eye(2))[0]
    )
    assert plan.status == "none_found"
    assert "the best scores 0.28; more than 0.50 is needed" in plan.note
    assert len(plan.path) == 1


def test_the_limit_in_the_way_is_named(people):
    X, y = people
    space = reap.ActionSpace.from_frame(X, immutable=["town", "member", "age", "visits", "grade"])
    model = mlp(space, X, y)
    engine = reap.GradientRecourse(model, space).fit(X)
    rejected = X[model.predict(X) == 0]
    helped = [i for i in range(20) if engine.plans(rejected.iloc[i], np.eye(space.dimension))[0].valid]
    x = rejected.iloc[helped[0]]
    plan = engine.plans(x, np.eye(space.dimension), space.limits(fixed=["hours"], max_changes=2))[0]
    assert not plan.valid
    assert "There is a plan without your limit on 'hours'." in plan.note


def test_out_of_time():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=50), "b": rng.integers(0, 9, 50)})
    space = reap.ActionSpace.from_frame(X)
    engine = reap.GradientRecourse(lambda rows: 0.2 + 0.01 * rows["b"], space, time_limit=1e-9).fit(X)
    assert engine.plans(X.iloc[0], np.eye(2))[0].status == "time_limit"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "boundry"}, "did you mean 'boundary'"),
        ({"loss": "square"}, "no loss 'square'"),
        ({"learning_rate": 0}, "learning_rate is 0"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"weight": -1}, "weight is -1"),
        ({"max_iterations": 0}, "max_iterations is 0"),
        ({"constraints": False}, "only knows legal rows"),
    ],
)
def test_bad_settings_are_refused(people, settings, words):
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    with pytest.raises(reap.InputError, match=words):
        reap.GradientRecourse(mlp(space, X, y), space, **settings).fit(X)


def test_efforts_must_not_be_negative(people):
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    engine = reap.GradientRecourse(mlp(space, X, y), space).fit(X)
    with pytest.raises(reap.InputError, match="positive semidefinite"):
        engine.plans(X.iloc[0], -np.eye(space.dimension))


# the dialogue and real data -----------------------------------------------------------------------------


def test_a_dialogue_ends_near_the_persons_best(german, german_model, german_rejected):
    engine = reap.GradientRecourse(german_model, german.space).fit(german.X)
    A = random_matrices(german.space.dimension, 1, seed=3)[0]
    session = engine.elicit(german_rejected.iloc[0], questions=4, random_state=0)
    while question := session.ask():
        efforts = [np.einsum("si,ij,sj->", p.moves, A, p.moves) for p in question.options]
        session.answer(int(np.argmin(efforts)))
    plan = session.recommend()
    best = engine.plans(german_rejected.iloc[0], A)[0].cost
    assert plan.valid
    assert best * (1 - 1e-9) <= np.einsum("si,ij,sj->", plan.moves, A, plan.moves) <= 3 * best


@pytest.mark.slow
@pytest.mark.parametrize("name", ["german", "compas", "student", "bank"])
def test_real_people_get_legal_valid_plans(load, name):
    data = load(name)
    X, y = data.X.iloc[:1500], data.y.iloc[:1500]
    net = MLPClassifier((20,), max_iter=40, random_state=0, solver="lbfgs")
    model = make_pipeline(data.space.encoder(), net).fit(X, y)
    engine = reap.GradientRecourse(model, data.space).fit(X)
    rejected = X[model.predict(X) == 0].iloc[:12]
    A = random_matrices(data.space.dimension, 3)
    plans = [
        (x, plan) for x in (rejected.iloc[[i]] for i in range(len(rejected))) for plan in engine.plans(x, A)
    ]
    assert all(plan.status == "ok" for _, plan in plans)
    for x, plan in plans:
        row = data.space.decode(plan.path[1:], like=x)
        assert model.predict_proba(row)[0, 1] > 0.5
        assert data.space.allows(x, row).all()


@pytest.mark.extras
def test_a_torch_network_works_unchanged(people):
    torch = pytest.importorskip("torch")
    X, y = people
    space = reap.ActionSpace.from_frame(X)
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Linear(space.dimension, 12), torch.nn.ReLU(), torch.nn.Linear(12, 1)
    )
    Z, t = torch.tensor(space.encode(X), dtype=torch.float32), torch.tensor(y.to_numpy(), dtype=torch.float32)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.02)
    for _ in range(200):
        optimiser.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(module(Z)[:, 0], t).backward()
        optimiser.step()
    engine = reap.GradientRecourse(reap.models.torch_model(module, output="logit"), space).fit(X)
    with torch.no_grad():
        rejected = X[(module(Z)[:, 0] <= 0).numpy()]
        for i in range(3):
            plan = engine.plans(rejected.iloc[i], np.eye(space.dimension))[0]
            assert plan.valid
            assert module(torch.tensor(plan.path[-1:], dtype=torch.float32)).item() > 0
