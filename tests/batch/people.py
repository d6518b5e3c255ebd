"""A table of people, a model, and engines for the tests; importable by worker processes."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.plan import Plan
from reap.recourse import Candidates, Engine


def table(n=150, seed=0):
    """People as in a credit table: numbers, an order, categories, an immutable column, an outcome."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "income": rng.integers(8, 60, n) * 100,
            "duration": rng.integers(6, 60, n),
            "rate": np.round(rng.uniform(1, 9, n), 1),
            "school": rng.choice(["low", "mid", "high"], n),
            "job": rng.choice(["none", "part", "full"], n),
            "sex": rng.choice(["female", "male"], n),
        }
    )
    score = (
        X["income"] / 1500 - X["duration"] / 30 - X["rate"] / 6 + (X["job"] == "full") + (X["sex"] == "male")
    )
    return X, (score + rng.normal(0, 0.5, n) > 0.3).astype(int)


def space_of(X):
    return reap.ActionSpace.from_frame(
        X,
        immutable=["sex"],
        increasing=["school"],
        ordinal={"school": ["low", "mid", "high"]},
        features={
            "income": {"step": 100, "unit": "EUR"},
            "rate": {"step": 0.1},
            "duration": {"unit": "months"},
        },
    )


def model_of(X, y, space):
    return make_pipeline(space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)


class Nearest(Engine):
    """The cheapest accepted row of other people, projected for the subject: one step.

    ``delay`` seconds a row make runs long enough to be interrupted; a file named ``bomb`` makes the worker that
    finds it kill itself, once.
    """

    def __init__(self, model, space, *, target=1, threshold=0.5, random_state=0, delay=0.0, bomb=None):
        self.model, self.space, self.target = model, space, target
        self.threshold, self.random_state, self.delay, self.bomb = threshold, random_state, delay, bomb

    def fit(self, X, y=None):
        self._accept(X, y)
        self.rows_ = self.space.encode(X)
        return self

    def candidates(self, x, limits=None):
        subject = self._subject(x, limits)
        Z = subject.space.project(self.rows_, subject.z)
        scores = self.classifier_.probability(Z)
        fine = self.classifier_.scale.enough(scores) & subject.space.allows(subject.z, Z)
        return Candidates(subject, Z[fine], scores[fine])

    def plans(self, x, matrices, limits=None):
        self._interrupt()
        subject, people = self._subject(x, limits), self._efforts(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(people)
        rows = self.candidates(x, limits)
        if len(rows) == 0:
            none = Plan.none(subject.space, subject.z, subject.score, "none_found", note="Nobody is near.")
            return [none] * len(people)
        efforts = subject.efforts(people, rows.targets)
        return [rows[int(e.argmin())].with_(effort=float(e.min())) for e in efforts]

    def robust(self, x, confidence_set, objective="worst-case", limits=None):
        raise NotImplementedError

    def _interrupt(self):
        if self.delay:
            time.sleep(self.delay)
        if self.bomb is not None:
            try:
                os.remove(self.bomb)
            except FileNotFoundError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


def nearest(n=150, **settings):
    """A fitted engine and the table it was fitted on."""
    X, y = table(n)
    space = space_of(X)
    return Nearest(model_of(X, y, space), space, **settings).fit(X), X
