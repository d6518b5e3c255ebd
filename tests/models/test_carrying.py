"""A pipeline that wants a column the space leaves out gets the person's own value of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import reap
from reap import cli
from reap.models import carrying, wrap
from reap.models.files import save_model

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
    with pytest.raises(reap.InputError, match=r"column 'customer_id', which .* reap.models.carrying\(model"):
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


def test_the_command_line_passes_the_row_through(tmp_path, capsys):
    X, y = people()
    model = pipeline(LogisticRegression(), X, y)
    save_model(model, tmp_path / "model.skops")
    X.assign(decision=y).to_csv(tmp_path / "people.csv", index=False)
    reap.ActionSpace.from_frame(X[FREE]).save(tmp_path / "space.toml")
    south = int(np.flatnonzero((model.predict(X) == "no") & (X["region"] == "south"))[0])
    words = ["recommend", "--json", "--margin", 0, "--data", tmp_path / "people.csv", "--label", "decision"]
    words += ["--favourable", "yes", "--target", "yes", "--model", tmp_path / "model.skops"]
    words += ["--space", tmp_path / "space.toml"]
    for more, i in (([], int(np.flatnonzero(model.predict(X) == "no")[0])), (["--row", south], south)):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(word) for word in (*words, *more)])
        out, err = capsys.readouterr()
        assert not ended.value.code, err
        plan = reap.Plan.from_json(out)
        assert plan.start.to_dict() == X.loc[i, FREE].to_dict()
        then = pd.DataFrame([{**X.loc[i].to_dict(), **plan.target.to_dict()}])[list(X)]
        assert model.predict(then).tolist() == ["yes"]
        assert plan.probabilities[0] == pytest.approx(model.predict_proba(X.loc[[i]])[0, 1])
