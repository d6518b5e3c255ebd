"""Several ensembles on the same rows: joined, they say what each of them says alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import reap
from reap.models.trees import read
from reap.models.trees.several import several
from tests.models.ensembles import make, people, piped


def members_of(models, X, y, **settings):
    space = reap.ActionSpace.from_frame(X, **settings)
    rng = np.random.default_rng(0)
    found = []
    for model in models:
        some = rng.integers(len(X), size=len(X))  # each has edges of its own
        fitted = model.fit(X.iloc[some], y[some])
        found.append(read(reap.models.wrap(fitted, space), space, X).classifier)
    return found


def rows_of(space, X, seed, count):
    rng = np.random.default_rng(seed)
    codes = space.encoding.codes_of(space.encode(X))
    return space.encoding.vectors(np.column_stack([rng.choice(column, count) for column in codes.T]))


@pytest.fixture(scope="module")
def three():
    X, y = people()
    return members_of([piped(make("histogram"), X) for _ in range(3)], X, y), X


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 700))
def test_joined_ensembles_say_what_each_says_alone(three, seed, count):
    members, X = three
    group = several(members)
    assert group._joined is not None
    Z = rows_of(members[0].space, X, seed, count)
    alone = np.stack([member.logit(Z) for member in members])
    np.testing.assert_allclose(group.logits(Z), alone, rtol=0, atol=1e-9)


def test_members_may_be_of_different_kinds_and_sizes():
    X, y = people()
    models = [
        piped(HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=60, random_state=0), X),
        piped(GradientBoostingClassifier(n_estimators=9, random_state=0), X),
        piped(RandomForestClassifier(4, max_depth=3, random_state=0), X),
    ]
    members = members_of(models, X, y)
    group, Z = several(members), members[0].space.encode(X)
    assert group._joined is not None
    alone = np.stack([member.logit(Z) for member in members])
    np.testing.assert_allclose(group.logits(Z), alone, rtol=0, atol=1e-9)
    assert group.logits(Z[:0]).shape == (3, 0)


def test_a_missing_value_is_one_to_every_member():
    X, y = people()
    X.loc[::7, "income"] = np.nan
    models = [
        HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype") for _ in range(2)
    ]
    members = members_of(models, X, y, missing=["income"])
    group, Z = several(members), members[0].space.encode(X)
    assert group._joined is not None
    assert np.isnan(Z).any()
    alone = np.stack([member.logit(Z) for member in members])
    np.testing.assert_allclose(group.logits(Z), alone, rtol=0, atol=1e-9)


def test_what_is_kept_of_a_row_stays_out_of_files(three):
    members, X = three
    group, Z = several(members), members[0].space.encode(X)
    before = group.logits(Z[:5])
    assert members[0].kernel.reader._places._known is not None
    again = pickle.loads(pickle.dumps(group))
    assert again._joined._places._known is None
    assert all(one.kernel.reader._places._known is None for one in again.members)
    np.testing.assert_array_equal(again.logits(Z[:5]), before)
