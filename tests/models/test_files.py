"""Models as files: what loads, and what is refused with which words."""

from __future__ import annotations

import pickle
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from reap.models.files import load_model, save_model


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 90, 200),
            "debt": rng.integers(0, 50, 200),
            "job": rng.choice(["none", "part", "full"], 200),
            "school": rng.choice(["low", "mid", "high"], 200),
        }
    )
    X["ratio"] = X["debt"] / X["income"]
    return X, (X["income"] - X["debt"] + rng.normal(0, 5, 200) > 25).astype(int)


@pytest.fixture
def space(table):
    return reap.ActionSpace(
        reap.ActionSpace.from_frame(
            table[0],
            ordinal={"school": ["low", "mid", "high"]},
            features={"ratio": {"derived": "debt / income"}, "job": {"forbidden": [("full", "none")]}},
        ).features,
        rules=["income + debt <= 200", "if school increases then income increases by at least 1"],
        max_changes=3,
    )


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        MLPClassifier((4,), solver="lbfgs", max_iter=2000, random_state=0),
        MLPClassifier((4,), early_stopping=True, max_iter=2000, random_state=0),
        CalibratedClassifierCV(LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    ],
    ids=lambda e: type(e).__name__,
)
def test_a_saved_model_comes_back_with_its_space(table, space, estimator, tmp_path):
    X, y = table
    model = make_pipeline(space.encoder(), estimator).fit(X, y)
    space.encoding.steps  # what was computed and kept must not end up in the file
    save_model(model, tmp_path / "model.skops")
    back = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert back[0].space == space
    assert back[0].space.rules == space.rules
    assert reap.models.wrap(back, space).has_gradient == (type(estimator).__name__ != "GridSearchCV")


def test_limits_of_a_person_survive(space):
    tight = space.tighten(space.limits(fixed=["job"], at_most={"debt": 10}))
    back = pickle.loads(pickle.dumps(tight))
    assert back == tight
    assert back != space


def test_unknown_types_are_listed_and_can_be_trusted_by_name(table, space, tmp_path):
    X, y = table
    model = make_pipeline(space.encoder(), RandomForestClassifier(3, random_state=0)).fit(X, y)
    path = tmp_path / "forest.skops"
    save_model(model, path)
    with pytest.raises(reap.InputError, match=r"sklearn\.tree\._tree\.Tree.*--trust"):
        load_model(path)
    back = load_model(path, trusted=["sklearn.tree._tree.Tree"])
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


class Bomb:
    """Leaves a trace if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (self.path, "w"))


@pytest.mark.parametrize("dump", [joblib.dump, lambda o, p: p.write_bytes(pickle.dumps(o))])
def test_pickles_are_refused_and_nothing_in_them_runs(tmp_path, dump):
    path = tmp_path / "model.pkl"
    dump(Bomb(str(tmp_path / "trace")), path)
    with pytest.raises(reap.InputError, match="allow_pickle"):
        load_model(path)
    assert not (tmp_path / "trace").exists()


def test_pickles_load_with_a_warning_where_allowed(table, space, tmp_path):
    X, y = table
    model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
    joblib.dump(model, tmp_path / "model.joblib")
    with pytest.warns(UserWarning, match="runs the code inside it"):
        back = load_model(tmp_path / "model.joblib", allow_pickle=True)
    np.testing.assert_array_equal(back.predict_proba(X), model.predict_proba(X))


def test_damaged_and_absent_files_are_named(tmp_path):
    with pytest.raises(reap.InputError, match="no model file"):
        load_model(tmp_path / "absent.skops")
    (tmp_path / "text.skops").write_text("not a model")
    with pytest.raises(reap.InputError, match="not a skops file"):
        load_model(tmp_path / "text.skops")
    with (
        pytest.warns(UserWarning, match="runs the code"),
        pytest.raises(reap.InputError, match="cannot be read as a model"),
    ):
        load_model(tmp_path / "text.skops", allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "empty.skops", "w") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(reap.InputError, match="cannot be read as a model"):
        load_model(tmp_path / "empty.skops")
