"""Numbers far out: whoever says 10¹² of anything gets an answer, and neither a link nor the memory is lost for it.

The spaces that ship have bounds, which refuse such rows. One that a user drew up from a table has none.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap._arrays import row_keys
from reap.service.case import Case
from reap.service.settings import Settings
from tests.service.conftest import running

FAR = 10**12


@pytest.fixture(scope="module")
def open_space(german):
    """German credit without its bounds."""
    return reap.ActionSpace.from_toml(re.sub(r"\nbounds = .*", "", german.space.to_toml()))


@pytest.mark.parametrize(
    ("kind", "more"),
    [(reap.GradientRecourse, {"max_iterations": 20}), (reap.Recourse, {})],
    ids=["gradient", "people"],
)
def test_a_link_lives_whatever_numbers_somebody_says(
    german, german_model, open_space, row, tmp_path, kind, more
):
    """The gradient engine met a singular matrix, and every page of the session was 500 from then on."""
    engine = kind(german_model, open_space, **more).fit(german.X)
    case = Case.of(engine, german.X, german.X[german_model.predict(german.X) == 0])
    settings = Settings(database_url=f"sqlite:///{tmp_path}/reap.db", rate=0, questions=2, time_limit=300)
    with running(case, settings) as service:
        token = service.start(row)["token"]
        here, far = f"/api/v1/sessions/{token}", {"subject": {**row, "amount": FAR, "duration": FAR}}
        assert service.client.post(f"{here}/situation", json=far).status_code == 200
        for path in (here, f"{here}/plan", f"/s/{token}", f"/s/{token}/plan"):
            assert service.client.get(path).status_code == 200, path
        assert service.client.delete(f"{here}/answers/last").status_code in (200, 409)
        assert service.client.post("/api/v1/sessions", json=far).status_code == 201
        assert list(service.store.faults()) == []


@pytest.mark.parametrize("timed", [True, False], ids=["timed", "tied"])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=20)], ids=["linear", "trees"]
)
def test_values_are_not_listed_one_by_one(model, timed):
    """Every value between 10¹² and 0 was: 8 TB of memory; of 10⁹ it were 8 GB, which a machine may have."""
    pace = {"pace": "5 EUR a month"} if timed else {}
    space = reap.ActionSpace(
        [
            reap.Feature("debt", "integer", range=(0, 60)),
            reap.Feature("income", "integer", range=(0, 60), **pace),
            reap.Feature("share", range=(0, 60), derived="debt / income"),
        ]
    )
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"debt": rng.integers(0, 60, 400), "income": rng.integers(1, 60, 400)})
    X["share"] = X["debt"] / X["income"]
    fitted = make_pipeline(space.encoder(), model).fit(X, X["debt"] < X["income"])
    engine = reap.Recourse(fitted, space, target=True).fit(X)
    x = pd.Series({"debt": FAR, "income": 20, "share": FAR / 20})
    assert engine.plans(x, np.eye(space.dimension))[0].status == "ok"


def test_rows_far_out_are_told_apart():
    """Beyond 9 · 10⁹ all had one key, and a person the plan to another row."""
    rows = np.array([[1e10, 1.0], [2e10, 1.0], [1e10, 2.0], [-1e10, 1.0], [1e10, 1.0]])
    keys = row_keys(rows).tolist()
    assert len(set(keys)) == 4
    assert keys[0] == keys[4]
