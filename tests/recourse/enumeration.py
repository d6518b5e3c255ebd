"""Small worlds in which every row can be tried: the best plan there is, by brute force over rows in units."""

from __future__ import annotations

import itertools
from functools import cached_property

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from reap import effort
from reap.checks.judge import Judge, dominates
from reap.checks.legality import actions, violations
from reap.checks.worlds import World

VALUES = {
    "hours": range(10),
    "visits": range(7),
    "grade": ["low", "middle", "good", "best"],
    "town": ["Jena", "Kiel", "Ulm"],
    "member": [False, True],
}
MODELS = {
    "network": lambda: MLPClassifier((10,), max_iter=400, random_state=0, solver="lbfgs", alpha=0.01),
    "logistic": lambda: LogisticRegression(C=100),
    "forest": lambda: RandomForestClassifier(15, max_depth=6, random_state=0),
}


def table(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(list(values), rows) for name, values in VALUES.items()})
    return X.astype({"grade": pd.CategoricalDtype(VALUES["grade"], ordered=True)})


def small_world(kind, seed):
    """A random space of the five features, with a model that needs several of them."""
    rng = np.random.default_rng(seed)
    X = table(seed=seed)
    options = [
        {},
        {"increasing": ["hours", "grade"]},
        {"immutable": ["town"], "features": {"visits": {"max_change": 3}}},
        {"rules": ["hours + 2 * visits <= 16"]},
        {"rules": ["if hours increases then visits increases by at least 1"]},
        {"features": {"town": {"forbidden": [("Jena", "Ulm")]}}, "decreasing": ["visits"]},
    ][seed % 6]
    space = reap.ActionSpace.from_frame(X, **options)
    Z = space.encode(X)
    value = Z @ rng.normal(size=Z.shape[1]) + np.cos(4 * Z[:, 0] + Z[:, 1]) * rng.random()
    y = (value + 0.1 * rng.normal(size=len(X)) > np.quantile(value, 0.8)).astype(int)
    return World(X, space, make_pipeline(space.encoder(), MODELS[kind]()).fit(X, y))


class Everything:
    """Every row of a small world, and what of it one subject could be told to become.

    Parameters
    ----------
    world : World of the features above
    x : one-row DataFrame
    most : int
        Changes at most.
    """

    def __init__(self, world, x, most=3):
        self.world, self.judge = world, Judge.of_world(world)
        self.z = world.space.vector(x)
        self.own = world.space.values(self.z)
        rows = [dict(zip(VALUES, values, strict=True)) for values in itertools.product(*VALUES.values())]
        accepted = self.judge.accepts(rows)
        self.accepted = [
            row
            for row, fine in zip(rows, accepted, strict=True)
            if fine
            and len(actions(world.space, self.own, row)) <= most
            and not violations(world.space, self.own, row)
        ]

    @cached_property
    def irreducible(self):
        """The accepted rows of which no action can be left out and no step taken back."""
        known = {tuple(row.values()) for row in self.accepted}
        return [
            row
            for row in self.accepted
            if not any(tuple(less.values()) in known for _, less in self.judge.less(self.own, row))
        ]

    @cached_property
    def undominated(self):
        """The irreducible rows that ask for all of no other accepted row."""
        space, own = self.world.space, self.own
        return [
            r
            for r in self.irreducible
            if not any(dominates(space, own, other, r) for other in self.irreducible)
        ]

    def least(self, rows, A):
        """The least effort (b,) of rows for matrices (b, d, d)."""
        Z = self.world.space.encode(self.judge.frame(rows))
        return effort.of_changes(A, Z - self.z).min(axis=1)
