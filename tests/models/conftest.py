from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap


@pytest.fixture(scope="session")
def table():
    rng = np.random.default_rng(0)
    n = 240
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 75, n),
            "income": rng.normal(3000, 800, n).round(2),
            "housing": rng.choice(["own", "rent", "free"], n),
            "owner": rng.choice([False, True], n),
        }
    )
    score = (X["income"] - 3000) / 800 + (X["housing"] == "own") - 0.3 * X["owner"] + 0.01 * (X["age"] - 45)
    y = (score + rng.normal(0, 0.5, n) > 0.2).astype(int)
    return X, y, reap.ActionSpace.from_frame(X)


@pytest.fixture(scope="session")
def vectors(table):
    return np.random.default_rng(1).random((30, table[2].dimension))
