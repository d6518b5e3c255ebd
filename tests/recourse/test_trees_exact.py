"""On real data, trees that were read give the plans of least effort there are: against every row of up to three changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

import reap
from reap import effort
from reap.checks.worlds import random_matrices
from reap.recourse.targets.enumeration import everything, row_count
from reap.recourse.targets.order import asks_no_more
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.targets import Targets
from reap.recourse.targets.trees import Trees

MODELS = {
    "histogram": lambda: HistGradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(40, min_samples_leaf=5, random_state=0),
}
SIX = ["status", "duration", "savings", "employment", "guarantor", "other_plans"]


def deep(problem, A):
    """The least effort under each matrix (b,) of an accepted legal row that asks for all of no other one; None: no row."""
    rows = everything(problem, problem.max_changes)
    rows = rows[problem.judge(rows) >= problem.goal]
    if len(rows) == 0:
        return None
    own = problem.moves(rows)[:, problem.own]
    size, efforts = effort.size(own), effort.of_changes(A, problem.moves(rows))
    least = []
    for row in efforts:
        for i in np.argsort(row, kind="stable"):
            if not asks_no_more(own[size < size[i] * (1 - 1e-9)], own[[i]]).any():
                least.append(row[i])
                break
    return np.array(least)


def ratios(name, model, people, fixed=None, rows=400_000, matrices=8, seed=11):
    """Efforts over those of every row (people, matrices), for people whom the model never saw."""
    data = reap.datasets.load(name)
    X, rest, y, _ = train_test_split(data.X, data.y, test_size=0.3, stratify=data.y, random_state=seed)
    words = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((codes, words), remainder="passthrough")
    engine = reap.Recourse(make_pipeline(columns, MODELS[model]()).fit(X, y), data.space).fit(X)
    reader = engine.reader_
    space = data.space
    if fixed is not None:
        others = [f.name for f in space.features if f.is_action and f.name not in fixed]
        space = space.tighten(space.limits(fixed=others))
    Z = space.encode(rest)
    A = random_matrices(space.dimension, matrices, seed=seed)
    out = []
    for z in Z[~reader.classifier.accepts(Z)]:
        if space.obstacle(z) is not None or row_count(Problem(space, reader.classifier, z, 3), 3) > rows:
            continue
        least = deep(Problem(space, reader.classifier, z, 3), A)
        if least is None:
            continue
        source = Trees(
            Problem(space, reader.classifier, z, 3), reader, engine.rows_, np.random.default_rng(0)
        )
        targets = Targets(source)
        assert len(targets), "everybody is found whom looking at every row finds"
        out.append(targets.least(A)[1] / least)
        if len(out) == people:
            break
    assert len(out) == people
    return np.array(out)


@pytest.mark.parametrize(
    ("model", "people"), [("histogram", 4), pytest.param("histogram", 40, marks=pytest.mark.long)]
)
def test_german_with_six_movable_features(model, people):
    np.testing.assert_allclose(ratios("german", model, people, fixed=SIX), 1.0, rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", ["german", "heloc"])
def test_a_deep_reference(name, model):
    try:
        reap.datasets.load(name)
    except (reap.InputError, OSError) as missing:
        pytest.skip(str(missing))
    found = ratios(name, model, 12)
    assert found.min() >= 1 - 1e-9
    assert found.mean() <= 1.005
