"""A lender that keeps its word: who starts today is judged by today's model until a day, whatever model decides by then."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap import language
from reap.models.files import save_model
from reap.service import promises
from reap.service.app import prepare
from reap.service.case import Case
from reap.service.promises import months_on
from reap.service.settings import Settings

from .conftest import ADMIN, running
from .people import text_of
from .serving import start, stop

UNTIL = months_on(datetime.now(UTC).date(), 6)
KEY = {"Authorization": f"Bearer {ADMIN}"}


@pytest.fixture(scope="module")
def models(german):
    """A lenient model and a stricter one that takes its place, and a person whom both refuse."""
    X, y = german.X, german.y
    lenient = make_pipeline(german.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    strict = make_pipeline(german.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    strict[-1].intercept_ = strict[-1].intercept_ - 3.0
    refused = X[lenient.predict(X) == 0]
    return lenient, strict, german.space.values(german.space.vector(refused.iloc[[0]]))


@pytest.fixture(scope="module")
def cases(german, models):
    return [
        Case.of(reap.Recourse(model, german.space).fit(german.X), german.X, german.X.iloc[:0])
        for model in models[:2]
    ]


def chosen(client, token):
    """Choose the plan of a session; return it."""
    plan = client.get(f"/api/v1/sessions/{token}/plan").json()
    client.post(f"/api/v1/sessions/{token}/choice", json={"plan": plan["id"]})
    return plan


def done(client, token, plan):
    """Say that all of a plan is done, and return the answer."""
    names = [change["feature"] for change in plan["changes"]]
    return client.post(f"/api/v1/sessions/{token}/done", json={"done": names})


def test_reap_serve_keeps_what_it_promised_after_the_model_was_replaced(models, tmp_path):
    lenient, strict, row = models
    environment = {"REAP_HONOUR_MONTHS": "6", "REAP_ADMIN_KEY": ADMIN}
    save_model(lenient, tmp_path / "model.skops")
    process, url = start(tmp_path, "--data", "german", **environment)
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            token = client.post("/api/v1/sessions", json={"subject": row}).json()["token"]
            first = client.get(f"/api/v1/sessions/{token}").json()
            plan = chosen(client, token)
            page = text_of(client.get(f"/s/{token}/plan").text)
    finally:
        stop(process)
    day = language.day(UNTIL)
    assert f"If you do this by {day}, the computer will say yes" in page
    assert "simply the easiest" in page
    assert plan["stands"] in page
    assert "not a promise" not in page
    save_model(strict, tmp_path / "model.skops")
    process, url = start(tmp_path, "--data", "german", **environment)
    try:
        with httpx.Client(base_url=url, timeout=60) as client:
            assert client.get(f"/api/v1/sessions/{token}").json()["score"] == first["score"]
            new = client.post("/api/v1/sessions", json={"subject": row}).json()["token"]
            harder = client.get(f"/api/v1/sessions/{new}").json()
            assert harder["score"] < first["score"]  # who starts now is judged by the new one
            promised = client.get("/api/v1/admin/summary", headers=KEY).json()["promised"]
            operator = text_of(client.get("/operator", auth=("any", ADMIN)).text)
            state = done(client, token, plan).json()
            assert state["accepted"]
            assert "Good news: yes" in text_of(client.get(f"/s/{token}").text)
            log = client.get(f"/api/v1/sessions/{token}/export", headers=KEY).json()
    finally:
        stop(process)
    assert [(one["people"], one["until"], one["in_use"]) for one in promised] == [
        (1, UNTIL.isoformat(), True),
        (1, UNTIL.isoformat(), False),
    ]
    assert promised[1]["model"][:12] in operator
    assert UNTIL.isoformat() in operator
    events = {event["type"]: event.get("payload") or json.loads(event["text"]) for event in log["events"]}
    assert events["started"]["honoured_until"] == UNTIL.isoformat()
    assert events["reported"]["model"] == events["started"]["model"] == promised[1]["model"]
    kept = tmp_path / "reap-promises" / f"{promised[1]['model']}.case"
    kept.rename(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="did not start"):
        start(tmp_path, "--data", "german", **environment)


def settings(folder, **more):
    return Settings(
        database_url=f"sqlite:///{folder}/reap.db",
        promises_folder=str(folder / "kept"),
        admin_key=ADMIN,
        rate=0,
        **more,
    )


@pytest.fixture
def promised(cases, models, tmp_path):
    """A session that was begun and planned under the first model, with a promise of six months."""
    ours = settings(tmp_path, honour_months=6)
    prepare(cases[0], ours)
    with running(cases[0], ours) as here:
        token = here.start(models[2])["token"]
        yield tmp_path, token, chosen(here.client, token)


def test_a_promise_ends_with_its_day_and_not_with_the_setting(cases, promised, monkeypatch):
    folder, token, plan = promised
    ours = settings(folder)  # no new promises are made; those that were given run on
    prepare(cases[1], ours)

    class Later(datetime):
        day = UNTIL

        @classmethod
        def now(cls, zone=None):
            return datetime(cls.day.year, cls.day.month, cls.day.day, 12, tzinfo=zone)

    monkeypatch.setattr(promises, "datetime", Later)
    with running(cases[1], ours) as here:
        assert here.client.get(f"/s/{token}/plan").status_code == 200  # the last day counts
        Later.day = date.fromordinal(UNTIL.toordinal() + 1)
        page = here.client.get(f"/s/{token}/plan")
        assert page.status_code == 409
        assert "has been replaced" in text_of(page.text)
        assert done(here.client, token, plan).status_code == 409
        assert here.client.get("/api/v1/admin/summary", headers=KEY).json()["promised"] == []
    (folder / "kept" / f"{cases[0].model}.case").unlink()
    prepare(cases[1], ours)  # nothing is promised any more, so nothing is missed


def test_a_kept_model_that_is_missing_or_changed_stops_the_start_with_a_sentence(cases, promised):
    folder, _token, _plan = promised
    file = folder / "kept" / f"{cases[0].model}.case"
    written = file.read_bytes()
    sentence = f"the model {cases[0].model[:12]} is promised to 1 person until {UNTIL.isoformat()}"
    for wrong, said in ((None, "is missing"), (b"x" + written, "was changed"), (written[:-1], "was changed")):
        if wrong is None:
            file.unlink()
        else:
            file.write_bytes(wrong)
        with pytest.raises(reap.InputError, match=f"{sentence}.*{said}"):
            prepare(cases[1], settings(folder))
    file.write_bytes(written)
    prepare(cases[1], settings(folder))


def test_a_plan_that_takes_longer_than_the_promise_says_so(cases, models, tmp_path):
    ours = settings(tmp_path, honour_months=1)
    only = {"changeable": ["status", "savings", "employment"], "difficulty": {}}
    with running(cases[0], ours) as here:
        token = here.start(models[2])["token"]
        here.client.post(f"/api/v1/sessions/{token}/screening", json=only)
        plan = here.client.get(f"/api/v1/sessions/{token}/plan").json()
        assert plan["months"] > 1
        assert "This plan takes longer" in plan["stands"]


def test_a_promise_needs_a_link_and_a_database_that_last_as_long(tmp_path):
    with pytest.raises(reap.InputError, match="186 or more"):
        Settings.read(_file(tmp_path, "honour_months = 6\nexpire_days = 30"))
    with pytest.raises(reap.InputError, match="a database in memory forgets"):
        Settings.read(_file(tmp_path, 'honour_months = 6\ndatabase_url = "sqlite://"'))


def _file(folder, text):
    file = Path(folder) / "settings.toml"
    file.write_text(text)
    return file
