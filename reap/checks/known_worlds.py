"""Small worlds whose outcomes are known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.checks.worlds import GRADES, Function, World
from reap.space import ActionSpace


def credit_world(rows: int = 120) -> World:
    """Return a world in which everybody can be accepted by income alone, and by paying debts alone.

    The log-odds are ``income / 500 − 2 debts + 1`` up to a constant, with incomes of 1,000 to 5,000 and at most 3 debts. Savings
    take any value, so the rows cannot all be tried.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": pd.array(rng.integers(10, 51, rows) * 100, dtype="Int64"),
            "debts": rng.integers(0, 4, rows).astype("int8"),
            "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
            "town": rng.choice(["Ulm", "Jena", "Kiel"], rows),
            "savings": rng.normal(size=rows) * 1e3,
        },
        index=[f"p{i}" for i in range(rows)],
    )
    space = ActionSpace.from_frame(X, immutable=["town"], steps={"income": 100})
    weights = np.zeros(space.dimension)
    weights[space.slices["income"]], weights[space.slices["debts"]] = 8.0, -6.0  # 4,000 / 500 and 3 · 2
    return World(X, space, Function(space, weights, -1.0))


def awkward_world(rows: int = 90) -> World:
    """Return a world of every dtype there is, with missing values, in which income decides."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": pd.array(rng.integers(5, 60, rows) * 100, dtype="Int64"),
            "debts": rng.integers(0, 4, rows).astype("int8"),
            "share": pd.array(np.round(rng.random(rows), 2), dtype="Float64"),
            "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
            "town": pd.array(rng.choice(["Ulm", "Jena", "Kiel"], rows), dtype="string"),
            "owner": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "member": rng.random(rows) < 0.5,
            "years": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 30, rows)),
        },
        index=pd.date_range("2024-01-01", periods=rows),
    )
    return World(X, ActionSpace.from_frame(X, missing=["years"], immutable=["town"]), Earnings())


def four_things_world(rows: int = 100) -> World:
    """Return a world that accepts whoever has four things; the first person has none of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.random(rows) < 0.6 for name in ("home", "job", "car", "bank")})
    X["age"] = rng.integers(18, 70, rows)
    X.iloc[0, :4] = False
    return World(X, ActionSpace.from_frame(X), FourThings())


@dataclass(frozen=True)
class Earnings:
    """A picklable model of one column: accepts an income above 3,000, whatever is missing elsewhere."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        return np.asarray(1 / (1 + np.exp(3 - frame["income"].to_numpy(dtype=float) / 1000)))


@dataclass(frozen=True)
class Never:
    """A model that accepts nobody."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        return np.full(len(frame), 0.1)


@dataclass(frozen=True)
class FourThings:
    """A picklable model that accepts whoever has a home, a job, a car and a bank account."""

    def __call__(self, frame: Frame) -> Array:
        """Return the probability of each row, (n,)."""
        have = frame[["home", "job", "car", "bank"]].to_numpy(dtype=float).sum(axis=1)
        return np.asarray(np.where(have == 4, 0.9, 0.1 + 0.05 * have))
