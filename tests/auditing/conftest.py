from __future__ import annotations

import numpy as np
import pytest

import reap
from tests.batch import people


@pytest.fixture(scope="package")
def made():
    """Plans of 500 people, some without one, some unreadable; the engine; the table they were made from."""
    engine, X = people.nearest(500, threshold=0.85)
    rows = X.copy()
    rows["branch"] = np.random.default_rng(1).choice(["north", "south"], len(X))
    rows.loc[[3, 4], "rate"] = np.nan
    limits = engine.space.limits(fixed=["income", "duration"])
    plans = reap.batch.run(engine, rows, limits=limits, n_jobs=1, chunk_size=250)
    return plans, engine, rows


@pytest.fixture
def plans(made):
    return made[0]


@pytest.fixture
def engine(made):
    return made[1]


@pytest.fixture
def rows(made):
    return made[2]


@pytest.fixture(scope="package")
def found(made):
    return reap.audit(made[0], by=["sex", "branch"], matrices=40, resamples=300)
