"""A session of one engine never goes on under another: the fingerprints cover engine, settings and every row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.service.case import Case
from reap.service.desk import Desk, ReplacedError
from reap.service.settings import Settings
from reap.service.store import Store
from tests.service.conftest import running


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"in/come": rng.uniform(10, 60, 700).round(1), "debt": rng.uniform(0, 40, 700).round(1)})
    return X, reap.ActionSpace.from_frame(X)


def first(Z):
    """A model of two columns, in the units of the frame."""
    return 1 / (1 + np.exp(-(np.asarray(Z)[:, 0] - np.asarray(Z)[:, 1]) / 10))


def case_of(people, model=first, engine=reap.Recourse, **settings):
    X, space = people
    made = engine(model, space, **settings).fit(X)
    return Case.of(made, X, X.iloc[:1])


def test_another_setting_another_engine_or_another_score_is_another_model(people):
    known, last = case_of(people).model, people[0].iloc[[-1]].to_numpy()

    def second(Z):
        """Differ for the last person only."""
        return np.where((np.asarray(Z) == last).all(axis=1), 0.999, first(Z))

    def lasting(share, *models, **more):
        return case_of(people, durability=reap.Durability(share, models=list(models), **more)).model

    assert case_of(people).model == case_of(people, time_limit=60.0).model == known
    assert lasting(0.9, first) == lasting(0.9, first, n_jobs=2)
    others = [
        *(case_of(people, **other).model for other in ({"max_changes": 1}, {"random_state": 7})),
        *(case_of(people, **other).model for other in ({"threshold": 0.6}, {"margin": 0.1})),
        *(case_of(people, engine=reap.GraphRecourse).model, case_of(people, second).model),
        *(lasting(0.9, first), lasting(0.8, first), lasting(0.9, first, first)),
    ]
    assert len({known, *others}) == 1 + len(others)


def test_a_session_does_not_go_on_under_other_settings(people, tmp_path):
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    store.prepare()
    here, there = case_of(people), case_of(people, max_changes=1)
    rejected = people[0][first(people[0]) < 0.5].iloc[[0]]
    token = Desk(here, store, Settings()).start(people[1].vector(rejected))
    with pytest.raises(ReplacedError), Desk(there, store, Settings()).open(token):
        pass
    store.engine.dispose()


def test_a_limit_on_a_feature_with_a_slash_in_its_name_can_be_released(people, tmp_path):
    """The address had no such feature."""
    X, space = people
    rejected = X[first(X) < 0.5].iloc[[0]]
    url = f"sqlite:///{tmp_path}/reap.db"
    with running(case_of(people), Settings(database_url=url, rate=0)) as service:
        here = f"/api/v1/sessions/{service.start(space.values(space.vector(rejected)))['token']}"
        wish = {"feature": "in/come", "at_most": 60}
        assert len(service.client.post(f"{here}/constraints", json=wish).json()["wishes"]) == 1
        released = service.client.delete(f"{here}/constraints/in%2Fcome")
        assert released.status_code == 200
        assert released.json()["wishes"] == []
