"""A pipeline that wants a column the space leaves out gets the person's own value of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import reap
from reap import cli
from reap.cli import _setup
from reap.cli._options import DecisionOptions
from reap.models import carrying, wanted, wrap
from reap.models.estimator import ignored
from reap.models.files import save_model
from reap.service.case import Case
from reap.service.settings import Settings
from tests.service.conftest import running

FREE = ["income", "debt"]


def people(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "customer_id": [f"C{i:03d}" for i in range(n)],
            "region": rng.choice(["north", "south"], n),
            "income": rng.integers(10, 60, n),
            "debt": rng.integers(0, 40, n),
        }
    )
    y = X["income"] - X["debt"] + 12 * (X["region"] == "north") > 25
    return X, y.map({True: "yes", False: "no"})


def pipeline(last, X, y):
    """The ID is asked for and dropped; the region counts."""
    steps = make_column_transformer((OneHotEncoder(), ["region"]), (StandardScaler(), FREE))
    return make_pipeline(steps, last).fit(X, y)


@pytest.mark.parametrize("last", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_scores_are_those_of_the_person(last):
    X, y = people()
    model, space = pipeline(last, X, y), reap.ActionSpace.from_frame(X[FREE])
    truth = model.predict_proba(X)[:, 1]
    with pytest.raises(reap.InputError, match=r"column 'region', which .* reap.models.carrying\(model"):
        wrap(model, space, target="yes")
    for i in (0, 1, 2):
        own = carrying(model, X.loc[i, ["customer_id", "region"]].to_dict())
        made = wrap(own, space, target="yes")
        assert made.probability(space.encode(X.loc[[i], FREE]))[0] == pytest.approx(truth[i])
        assert made.has_gradient == isinstance(last, LogisticRegression)
    with pytest.raises(reap.InputError, match="carrying needs values by column"):
        carrying(model, ["customer_id"])


@pytest.mark.parametrize("last", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_plans_hold_for_the_person_as_they_are(last):
    X, y = people()
    model, space = pipeline(last, X, y), reap.ActionSpace.from_frame(X[FREE], decreasing=["debt"])
    i = int(np.flatnonzero((model.predict(X) == "no") & (X["region"] == "south"))[0])
    own = X.loc[i, ["customer_id", "region"]].to_dict()
    engine = reap.Recourse(carrying(model, own), space, target="yes").fit(X[FREE])
    plan = engine.plans(X.loc[[i], FREE], np.eye(2))[0]
    assert plan.valid
    then = pd.DataFrame([{**own, **plan.target.to_dict()}])[list(X)]
    assert model.predict(then).tolist() == ["yes"]
    session = engine.elicit(X.loc[i, FREE], questions=1)
    assert reap.Elicitation.from_json(session.to_json(), engine).recommend().valid
    north = reap.Recourse(carrying(model, own | {"region": "north"}), space, target="yes").fit(X[FREE])
    with pytest.raises(reap.InputError, match="the model gives other scores"):
        reap.Elicitation.from_json(session.to_json(), north)


# many people ------------------------------------------------------------------------------------------


def sloppy(X, y, last=None):
    """Every text is one-hot encoded, the ID with the others, as people do."""
    texts = ["customer_id", "region"]
    steps = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), texts), (StandardScaler(), FREE))
    return make_pipeline(steps, LogisticRegression() if last is None else clone(last)).fit(X, y)


def truly(model, X, plans):
    """What the model says of everybody's plan, with their own values of what the space leaves out."""
    return model.predict(X[["customer_id", "region"]].join(plans[FREE])[list(X)])


def test_a_column_that_the_model_drops_at_once_needs_no_value():
    X, y = people()
    model, space = pipeline(LogisticRegression(), X, y), reap.ActionSpace.from_frame(X[[*FREE, "region"]])
    assert wanted(model, space) == []
    assert wanted(model, reap.ActionSpace.from_frame(X[FREE])) == ["region"]
    made = wrap(model, space, target="yes")
    assert made.has_gradient
    assert made.probability(space.encode(X[[*FREE, "region"]])) == pytest.approx(model.predict_proba(X)[:, 1])
    engine = reap.Recourse(model, space, target="yes", durability=reap.Durability(0.5, refits=3)).fit(
        X[[*FREE, "region"]], y
    )
    assert len(engine.acceptance_.others) == 3


@pytest.mark.parametrize(
    "columns",
    [
        "income",
        ["income"],
        slice("income", "income"),
        1,
        [1],
        slice(1, 2),
        [False, True, False],
        lambda frame: ["income"],
    ],
    ids=lambda columns: getattr(columns, "__name__", None) or repr(columns),
)
def test_columns_are_read_however_they_are_given(columns):
    X = pd.DataFrame({"id": [7, 8, 9], "income": [1.0, 2.0, 3.0], "town": [0, 1, 0]})
    step = FunctionTransformer(lambda part: np.asarray(part).reshape(-1, 1))  # one name alone gives a series
    model = make_pipeline(make_column_transformer((step, columns)), LogisticRegression()).fit(X, [0, 1, 1])
    assert ignored(model) == ["id", "town"]
    rest = make_column_transformer((step, columns), remainder="passthrough").fit(X)
    assert ignored(rest) == ignored(model[-1]) == []


@pytest.mark.parametrize("last", [LogisticRegression(), RandomForestClassifier(20, random_state=0)])
def test_a_batch_passes_everybodys_own_values_through(last):
    X, y = people()
    model, space = sloppy(X, y, last), reap.ActionSpace.from_frame(X[FREE], decreasing=["debt"])
    with pytest.raises(reap.InputError, match=r"space.keeping\(X\[\['customer_id'\]\]\)"):
        reap.Recourse(model, space, target="yes").fit(X)
    kept = space.keeping(X[wanted(model, space)])
    assert kept.dimension == 2 + 1 + 1
    engine = reap.Recourse(model, kept, target="yes").fit(X)
    rejected = X[model.predict(X) == "no"].iloc[:12]
    plans = reap.batch.run(engine, rejected, n_jobs=1)
    assert plans["recourse_status"].eq("ok").all()
    assert (truly(model, rejected, plans) == "yes").all()
    assert (plans[["customer_id", "region"]] == rejected[["customer_id", "region"]]).all(axis=None)


def test_an_id_of_thousands_is_not_taken_apart():
    X, y = people(3000)
    model, space = sloppy(X, y), reap.ActionSpace.from_frame(X[FREE])
    kept = space.keeping(X[["customer_id", "region"]])
    engine = reap.Recourse(model, kept, target="yes").fit(X)
    assert not engine.classifier_.has_gradient
    rejected = X[model.predict(X) == "no"].iloc[[0, -1]]
    plans = engine.recommend(rejected)
    assert (truly(model, rejected, plans) == "yes").all()


def command(capsys, *words, **options):
    options = {name: value for name, value in options.items() if value is not None}
    words += tuple(word for name, value in options.items() for word in (f"--{name}", value))
    with pytest.raises(SystemExit) as ended:
        cli.main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert not ended.value.code, err
    return out, err


@pytest.fixture
def files(tmp_path):
    X, y = people(80)
    save_model(sloppy(X, y), tmp_path / "model.skops")
    save_model(pipeline(LogisticRegression(), X, y), tmp_path / "dropping.skops")
    X.assign(decision=y).to_csv(tmp_path / "people.csv", index=False)
    reap.ActionSpace.from_frame(X[FREE]).save(tmp_path / "space.toml")
    return tmp_path


DECISION = {"label": "decision", "favourable": "yes", "target": "yes"}


def test_the_command_line_passes_the_row_through(files, capsys):
    X, y = people(80)
    model = pipeline(LogisticRegression(), X, y)
    rejected = X[model.predict(X) == "no"]
    given = {"data": files / "people.csv", "model": files / "dropping.skops", "space": files / "space.toml"}
    for row in (None, rejected.index[rejected["region"] == "south"][0]):
        out, _ = command(capsys, "recommend", "--json", **DECISION, **given, margin=0, row=row)
        plan, i = reap.Plan.from_json(out), rejected.index[0] if row is None else row
        assert plan.start[FREE].to_dict() == X.loc[i, FREE].to_dict()
        then = pd.DataFrame([{**X.loc[i].to_dict(), **plan.target.to_dict()}])[list(X)]
        assert model.predict(then).tolist() == ["yes"]
        assert plan.scores[0] == pytest.approx(model.predict_proba(X.loc[[i]])[0, 1])


def test_the_batch_command_passes_everybodys_own_values_through(files, capsys):
    X, y = people(80)
    given = {"model": files / "model.skops", "space": files / "space.toml", "input": files / "people.csv"}
    plans = files / "plans.parquet"
    _, err = command(capsys, "batch", "--quiet", **given, output=plans, target="yes", margin=0, jobs=1)
    assert (
        "reads customer_id, region beside the features of the space: everybody keeps their own value" in err
    )
    plans = pd.read_parquet(plans)
    found = plans["recourse_status"].eq("ok")
    assert found.sum() > 20
    assert (truly(sloppy(X, y), X[found.to_numpy()], plans[found].set_axis(X.index[found])) == "yes").all()


def test_the_audit_command_does_too(files, capsys):
    given = {"model": files / "model.skops", "space": files / "space.toml", "by": "region", "jobs": 1}
    few = {"margin": 0, "durability": 0, "matrices": 5, "resamples": 20}
    out, _ = command(capsys, "audit", files / "people.csv", **DECISION, **given, **few)
    assert "north" in out


def test_the_service_asks_for_the_column_or_says_why_not(files):
    reads = DecisionOptions(**DECISION, space=files / "space.toml", model=files / "model.skops")
    with pytest.raises(reap.InputError, match=r"reads 'customer_id', .* somebody new; train it without"):
        _setup.prepare(str(files / "people.csv"), reads, 0, guests=True)
    drops = replace(reads, model=files / "dropping.skops")
    setup = _setup.prepare(str(files / "people.csv"), drops, 0, guests=True)
    case = Case.of(setup.engine, setup.X, setup.rejected)
    with running(case, Settings(database_url="sqlite://")) as service:
        X, y = people(80)
        model = pipeline(LogisticRegression(), X, y)
        i = int(np.flatnonzero((model.predict(X) == "no") & (X["region"] == "south"))[0])
        row = {"income": int(X.income[i]), "debt": int(X.debt[i])}
        missing = service.client.post("/api/v1/sessions", json={"subject": row})
        assert missing.status_code == 422
        assert "region" in missing.text
        made = service.client.post("/api/v1/sessions", json={"subject": {**row, "region": "south"}})
        assert made.status_code == 201, made.text
        token = made.json()["token"]
        plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
        assert plan["status"] == "ok"
