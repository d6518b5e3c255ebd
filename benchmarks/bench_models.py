"""Models people have, in a Pipeline on raw frames: how many scores of 1,000 rows a question of a session takes.

German credit (10 columns, with clocks), breast cancer (30 numbers), and a wide table of 70 columns made by a rule: of every four
columns two are amounts (log-normal), one counts, one has two to five levels; six in ten matter, bent by a sine. A question is all
that happens between an answer and the next question: belief, plans, choice. Times are processor time of one thread, because the
machine may have other work; the peer is the pipeline's own ``predict_proba`` of 1,000 rows in the same run.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

import reap
from benchmarks._harness import Row, median_seconds
from reap.checks.worlds import random_matrices
from reap.models.estimator import Estimator
from reap.models.trees import Quick

MODELS: dict[str, Any] = {
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "RandomForest (200 trees)": lambda: RandomForestClassifier(200, random_state=0, n_jobs=1),
    "LightGBM": lambda: LGBMClassifier(verbose=-1, n_jobs=1, random_state=0),
    "XGBoost": lambda: XGBClassifier(n_jobs=1, random_state=0),
}
#: Answers of a session; matrices for which plans are asked for at once.
ANSWERS, MATRICES = 5, 33
#: Tables; people of a quick run, and of its comparison with a black box.
FULL, QUICK, PEOPLE = ("German", "breast cancer", "wide table"), ("German", "breast cancer"), (2, 3)


def run(quick: bool) -> list[Row]:
    """First and next question for every model and width, and the black-box way."""
    rows = []
    for name in QUICK if quick else FULL:
        X, y, space = data(name)
        for kind, make in MODELS.items():
            what, model = f"{kind}, {name}, {X.shape[1]} columns", piped(make(), X).fit(X, y)
            rows += questions(what, model, X, space, people=PEOPLE[0] if quick else 6)
            rows += plans(what, model, X, space, people=PEOPLE[0] if quick else 6)
    return rows + black_box(people=PEOPLE[1] if quick else 20)


def data(name: str) -> tuple[pd.DataFrame, np.ndarray, reap.ActionSpace]:
    """Return a table, its labels and its space."""
    if name == "German":
        german = reap.datasets.load("german")
        return german.X, np.asarray(german.y), german.space
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    else:
        X, y = table(70)
    return X, np.asarray(y), reap.ActionSpace.from_frame(X)


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
    levels = [c for c in X if not pd.api.types.is_numeric_dtype(X[c])]
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    return make_pipeline(
        make_column_transformer((numbers, [c for c in X if c not in levels]), (OneHotEncoder(), levels)),
        model,
    )


@contextlib.contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count calls and rows that the pipeline itself is asked, and rows that are scored from what was read of it."""
    seen: Counter[str] = Counter()
    asked, scored = Estimator.score, Quick.score

    def ask(self: Estimator, Z: Any) -> Any:
        seen.update(calls=1, rows=len(Z))
        return asked(self, Z)

    def score(self: Quick, Z: Any) -> Any:
        seen.update(read=len(Z))
        return scored(self, Z)

    with patch.object(Estimator, "score", ask), patch.object(Quick, "score", score):
        yield seen


def questions(what: str, model: Pipeline, X: pd.DataFrame, space: reap.ActionSpace, people: int) -> list[Row]:
    """Return the rows of one model: first and next question as multiples of the peer, and where the scores go."""
    engine = reap.Recourse(model, space).fit(X)
    peer = median_seconds(lambda: model.predict_proba(X.iloc[:1000]), repeats=5, clock=time.process_time)
    peer *= 1000 / min(len(X), 1000)
    rejected = X[~engine.classifier_.accepts(space.encode(X))]
    first, following, found = [], [], 0
    with counting() as seen:
        for i in range(people):
            person = reap.subjects.Mahalanobis.random(space.dimension, np.random.default_rng(i))
            session, start = engine.elicit(rejected.iloc[[i]], questions=ANSWERS), time.process_time()
            question = session.ask()
            first.append(time.process_time() - start)
            while question is not None:
                choice, start = person.answer(question), time.process_time()
                session.answer(choice)
                question = session.ask()
                following.append(time.process_time() - start)
            found += session.recommend().valid
    count = len(first) + len(following)
    scores = f"{seen['calls'] / count:.1f} calls with {seen['rows'] / count:.0f} rows, {seen['read'] / count:,.0f} rows read"
    each, other = "predict_proba, 1,000 rows", median(following) if following else float("nan")
    return [
        Row.limit(
            f"first question, {what}",
            median(first) / peer,
            "×",
            at_most=60,
            peer=each,
            note=f"a plan for {found} of {people} people; of a 1,000: {peer * 1e3:.0f} ms",
        ),
        Row.limit(
            f"next question, {what}",
            other / peer,
            "×",
            at_most=20,
            peer=each,
            note=f"{len(following)} answers; a question: {scores}",
        ),
        Row.limit(f"slowest question, {what}", max(first + following), "s", at_most=2, note="processor time"),
    ]


def plans(what: str, model: Pipeline, X: pd.DataFrame, space: reap.ActionSpace, people: int) -> list[Row]:
    """Return the rows of plans alone, without belief and question: somebody's first one, and 33 matrices more.

    What a prototype of reading trees needed: 3 to 9 times the peer for the first, 1.2 to 7 times for the others.
    """
    engine = reap.Recourse(model, space).fit(X)
    peer = median_seconds(lambda: model.predict_proba(X.iloc[:1000]), repeats=5, clock=time.process_time)
    peer *= 1000 / min(len(X), 1000)
    rejected = X[~engine.classifier_.accepts(space.encode(X))]
    matrices = random_matrices(space.dimension, MATRICES)
    first, more = [], []
    for i in range(people):
        start = time.process_time()
        engine.plans(rejected.iloc[[i]], np.eye(space.dimension)[None])
        first.append(time.process_time() - start)
        start = time.process_time()
        engine.plans(rejected.iloc[[i]], matrices)
        more.append(time.process_time() - start)
    each = "predict_proba, 1,000 rows"
    return [
        Row.limit(f"first plan, {what}", median(first) / peer, "×", at_most=9, peer=each),
        Row.limit(f"{MATRICES} matrices more, {what}", median(more) / peer, "×", at_most=7, peer=each),
    ]


def black_box(people: int) -> list[Row]:
    """A histogram booster on German behind a function: what is lost where trees cannot be read."""
    X, y, space = data("German")
    half = np.random.default_rng(0).random(len(X)) < 0.5
    model = piped(MODELS["HistGradientBoosting"](), X).fit(X[half], y[half])
    known = reap.Recourse(model, space).fit(X[half])
    hidden = reap.Recourse(lambda rows: model.predict_proba(rows[list(X.columns)])[:, 1], space).fit(X[half])
    rejected = X[~half][~known.classifier_.accepts(space.encode(X[~half]))].iloc[:people]
    A = random_matrices(space.dimension, 5)
    ratios, missed, seconds = [], 0, [0.0, 0.0]
    for i in range(len(rejected)):
        plans = []
        for k, engine in enumerate((known, hidden)):
            start = time.process_time()
            plans.append(engine.plans(rejected.iloc[[i]], A))
            seconds[k] += time.process_time() - start
        for exact, other in zip(*plans, strict=True):
            missed += exact.valid and not other.valid
            if exact.valid and other.valid:
                ratios.append(other.effort / exact.effort)
    note = (
        f"{len(rejected)} people the model never saw, 5 matrices; {seconds[1] / seconds[0]:.1f} times as long"
    )
    name = "black box against trees that were read, German"
    return [
        Row.limit(f"{name}: effort", float(np.mean(ratios)), "×", at_most=1.1, note=note),
        Row.limit(f"{name}: plans missed", missed, "", at_most=0, note=f"worst effort {max(ratios):.3f} ×"),
    ]
