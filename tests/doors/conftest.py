"""One engine for all doors, and somebody who has something to decide."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap


@pytest.fixture(scope="package")
def german():
    return reap.datasets.load("german")


@pytest.fixture(scope="package")
def german_engine(german):
    model = make_pipeline(german.space.encoder(), LogisticRegression(max_iter=1000)).fit(german.X, german.y)
    return reap.Recourse(model, german.space).fit(german.X)


@pytest.fixture(scope="package")
def refused(german, german_engine):
    """The row number of somebody who is asked at least two questions."""
    X = german.X
    for i in X.index[german_engine.model.predict(X) == 0]:
        session = german_engine.elicit(X.loc[i])
        if session.ask() is None:
            continue
        session.answer(0)
        if session.ask() is not None:
            return i
    raise AssertionError("nobody on German is asked twice")
