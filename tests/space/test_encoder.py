from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from reap.space import ActionSpace


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 60),
            "share": np.round(rng.random(60), 2),
            "grade": pd.Categorical(
                rng.choice(["low", "mid", "high"], 60), ["low", "mid", "high"], ordered=True
            ),
            "job": rng.choice(["cook", "smith", "clerk"], 60),
            "owner": rng.random(60) < 0.5,
        },
        index=[f"p{i}" for i in range(60)],
    )


@pytest.fixture
def space(X):
    return ActionSpace.from_frame(X)


def test_columns_are_scaled_and_one_hot(X, space):
    Z = space.encoder().fit_transform(X)
    assert space.columns == ("age", "share", "grade", "job=clerk", "job=cook", "job=smith", "owner")
    np.testing.assert_allclose(Z[:, 0], (X["age"] - X["age"].min()) / np.ptp(X["age"]))
    np.testing.assert_array_equal(Z[:, 2], X["grade"].cat.codes / 2)
    np.testing.assert_array_equal(Z[:, 3:6].argmax(axis=1), X["job"].map({"clerk": 0, "cook": 1, "smith": 2}))
    np.testing.assert_array_equal(Z[:, 6], X["owner"])


def test_works_in_a_pipeline_and_in_cross_validation(X, space):
    y = (X["age"] > 45).astype(int)
    model = make_pipeline(space.encoder(), LogisticRegression(C=1e3)).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(cross_val_score(model, X, y, cv=3)) == 3


def test_names_and_index_come_out(X, space):
    out = space.encoder().set_output(transform="pandas").fit_transform(X)
    assert list(out.columns) == list(space.encoder().get_feature_names_out()) == list(space.columns)
    assert list(out.index) == list(X.index)
    np.testing.assert_array_equal(out.to_numpy(), space.encode(X))
    encoder = space.encoder().fit(X)
    assert (list(encoder.feature_names_in_), encoder.n_features_in_) == (list(X.columns), 5)


def test_clone_keeps_the_space_and_pickle_the_vectors(X, space):
    encoder = space.encoder().fit(X)
    assert clone(encoder).space is space
    again = pickle.loads(pickle.dumps(encoder))
    assert again.space == space
    np.testing.assert_array_equal(again.transform(X), encoder.transform(X))


def test_a_training_split_changes_nothing(X, space):
    part = X[(X["job"] != "cook") & (X["age"] < 50)]
    np.testing.assert_array_equal(space.encoder().fit(part).transform(X), space.encode(X))
    np.testing.assert_array_equal(space.encoder().transform(X), space.encode(X))  # nothing to fit


def test_inverse_restores_everything_but_the_index(X, space):
    encoder = space.encoder().fit(X)
    back = encoder.inverse_transform(encoder.transform(X))
    pd.testing.assert_frame_equal(back, X.reset_index(drop=True))
    pd.testing.assert_frame_equal(space.decode(space.encode(X), index=X.index), X)
