"""Models people have, in a Pipeline on raw frames: how many scores of 1,000 rows a question takes.

Tables are synthetic: of every four columns two are amounts (log-normal), one counts, one has two to five levels; six in ten
matter, bent by a sine. Times are processor time of one thread, because the machine may have other work; the peer
is the pipeline's own ``predict_proba`` of 1,000 rows in the same run. A question asks for the plans of 33 matrices.
"""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import reap
from benchmarks._harness import Row, median_seconds
from reap.checks.worlds import random_matrices
from reap.models.frames import Frames
from reap.models.trees import read
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees import Trees

MODELS: dict[str, Any] = {
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "RandomForest (200 trees)": lambda: RandomForestClassifier(200, random_state=0, n_jobs=1),
    "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
    "XGBoost": lambda: XGBClassifier(n_jobs=1, random_state=0),
}
MATRICES = 33


def run(quick: bool) -> list[Row]:
    """First and next question for every model and width, and frames with and without a detour."""
    rows = []
    for columns in (10, 30) if quick else (10, 30, 70):
        X, y = table(columns)
        rows.append(frames(X))
        for name, make in MODELS.items():
            rows += questions(name, piped(make(), X).fit(X, y), X, people=3 if quick else 8)
    return rows


def table(columns: int, n: int = 3_000) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a synthetic table and labels."""
    rng = np.random.default_rng(columns)
    weights = rng.normal(size=columns) * (rng.random(columns) < 0.6)
    data: dict[str, Any] = {}
    score = np.zeros(n)
    for i, weight in enumerate(weights):
        if i % 4 == 3:
            data[f"level{i}"] = rng.choice(list("abcde")[: 2 + i % 3], n)
            score += weight * (data[f"level{i}"] == "a")
        elif i % 4 == 1:
            data[f"count{i}"] = rng.integers(0, 60, n)
            score += weight * data[f"count{i}"] / 20
        else:
            data[f"amount{i}"] = rng.lognormal(7, 0.6, n).round(2)
            score += weight * np.log(data[f"amount{i}"])
    score += 0.5 * np.sin(3 * score)
    noisy = score + rng.normal(0, 0.3 * score.std(), n)
    return pd.DataFrame(data), (noisy > np.quantile(score, 0.6)).astype(int)


def piped(model: Any, X: pd.DataFrame) -> Pipeline:
    """Return the usual pipeline: imputed and scaled numbers, one-hot levels."""
    levels = [c for c in X if c.startswith("level")]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(
        make_column_transformer((numbers, [c for c in X if c not in levels]), (OneHotEncoder(), levels)),
        model,
    )


def questions(name: str, model: Pipeline, X: pd.DataFrame, people: int) -> list[Row]:
    """Return the rows of one model: first and next question as multiples of the peer."""
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(model, space)
    reader = read(classifier, space, X)
    assert reader is not None
    peer = median_seconds(lambda: model.predict_proba(X[:1000]), repeats=5, clock=time.process_time)
    Z = space.encode(X)
    accepted = classifier.accepts(Z)
    A = random_matrices(space.dimension, 2 * MATRICES)
    first, following, found = [], [], []
    for z in Z[~accepted][:people]:
        start = time.process_time()
        trees = Trees(Problem(space, reader.classifier, z, 3), reader, Z[accepted], np.random.default_rng(0))
        found.append(trees.solve(A[:MATRICES]).found.all())
        middle = time.process_time()
        trees.solve(A[MATRICES:])
        first.append(middle - start)
        following.append(time.process_time() - middle)
    what, note = f"{name}, {X.shape[1]} columns", f"a plan for {sum(found)} of {len(found)} people"
    return [
        Row.limit(
            f"first question, {what}",
            median(first) / peer,
            "×",
            at_most=60,
            peer="predict_proba, 1,000 rows",
            note=note,
        ),
        Row.limit(
            f"next question, {what}",
            median(following) / peer,
            "×",
            at_most=20,
            peer="predict_proba, 1,000 rows",
        ),
        Row.limit(f"slowest question, {what}", max(first + following), "s", at_most=2, note="processor time"),
    ]


def frames(X: pd.DataFrame) -> Row:
    """Return how much faster frames are made than by decoding whole rows."""
    space = reap.ActionSpace.from_frame(X)
    Z, maker = space.encode(X)[:1000], Frames(space, list(X.columns))
    ours = median_seconds(lambda: maker.of(Z), clock=time.process_time)
    theirs = median_seconds(lambda: space.decode(Z)[list(X.columns)], clock=time.process_time)
    note = f"{1000 / ours:,.0f} rows a second, {1000 / theirs:,.0f} before"
    return Row.speedup(f"frames of 1,000 rows, {X.shape[1]} columns", "space.decode", ours, theirs, note=note)
