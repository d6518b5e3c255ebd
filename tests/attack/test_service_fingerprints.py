"""A session of one engine never goes on under another: the fingerprints cover engine, settings and every row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.service.case import Case
from reap.service.settings import Settings
from reap.service.store import fingerprint
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


@pytest.fixture
def refused_one(people):
    X, space = people
    return space.values(space.vector(X[first(X) < 0.5].iloc[[0]]))


def assert_refused_but_taken_along(service, token):
    here = f"/api/v1/sessions/{token}"
    for path in (here, f"/s/{token}"):
        refused = service.client.get(path)
        assert refused.status_code == 409
        assert "has been replaced since this session was started" in refused.text
    assert service.client.get(f"{here}/export").status_code == 200
    assert service.client.delete(here).status_code == 204
    assert service.client.get(here).status_code == 404


def test_a_session_does_not_go_on_under_other_settings_and_can_be_taken_along(people, refused_one, tmp_path):
    url = f"sqlite:///{tmp_path}/reap.db"
    with running(case_of(people), Settings(database_url=url, rate=0)) as service:
        token = service.start(refused_one)["token"]
    with running(case_of(people, max_changes=1), Settings(database_url=url, rate=0)) as service:
        assert_refused_but_taken_along(service, token)


def test_a_session_in_the_words_of_another_release_is_refused_even_where_the_model_is_the_same(
    people, tmp_path
):
    case = case_of(people)
    with running(case, Settings(database_url=f"sqlite:///{tmp_path}/reap.db", rate=0)) as service:
        said = [("started", {"reap": "0.0.1", "person": "as it was written then"})]
        facts = {"model": case.model, "data": case.data, "version": "0.0.1"}
        service.store.create(fingerprint("a token"), days=1, said=said, **facts)
        assert_refused_but_taken_along(service, "a token")


def test_a_limit_on_a_feature_with_a_slash_in_its_name_can_be_released(people, refused_one, tmp_path):
    """The address had no such feature."""
    url = f"sqlite:///{tmp_path}/reap.db"
    with running(case_of(people), Settings(database_url=url, rate=0)) as service:
        here = f"/api/v1/sessions/{service.start(refused_one)['token']}"
        wish = {"feature": "in/come", "at_most": 60}
        assert len(service.client.post(f"{here}/constraints", json=wish).json()["wishes"]) == 1
        released = service.client.delete(f"{here}/constraints/in%2Fcome")
        assert released.status_code == 200
        assert released.json()["wishes"] == []
