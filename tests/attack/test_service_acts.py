"""Acts that cannot be computed: nothing is stored of them, and the session goes on."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import reap
from reap.elicitation import Elicitation
from reap.service import acts
from reap.service.case import Case
from reap.service.desk import Desk, UncomputedError
from reap.service.settings import Settings
from reap.service.store import Store
from tests.service.conftest import running


class Fragile(reap.Recourse):
    """An engine that cannot solve for people who are far out."""

    broken = False

    def plans(self, x, matrices, limits=None):
        amount = float(self.space.values(self.space.vector(x))["amount"])
        if amount > 15_000 or self.broken:
            raise np.linalg.LinAlgError("singular matrix")
        return super().plans(x, matrices, limits)


@pytest.fixture
def fragile(german, german_model, german_rejected):
    engine = Fragile(german_model, german.space).fit(german.X)
    return Case.of(engine, german.X, german_rejected)


def log(service, token):
    return [entry.type for entry in service.app.state.desk.log(token)[1]]


@pytest.fixture
def on_fragile(fragile, tmp_path):
    with running(
        fragile, Settings(database_url=f"sqlite:///{tmp_path}/reap.db", rate=0, questions=4)
    ) as made:
        yield made


def test_what_the_engine_cannot_solve_is_not_stored_and_the_link_lives(on_fragile, row):
    nobody = on_fragile.client.post("/api/v1/sessions", json={"subject": {**row, "amount": 18_000}})
    assert nobody.status_code == 500
    assert on_fragile.store.sessions() == []
    started = on_fragile.start(row)
    token, here = started["token"], f"/api/v1/sessions/{started['token']}"
    state = on_fragile.answer(token, started["state"]).json()["state"]
    before = log(on_fragile, token)
    far = on_fragile.client.post(f"{here}/situation", json={"subject": {**row, "amount": 18_000}})
    assert far.status_code == 500
    assert "was not stored" in far.json()["error"]
    assert log(on_fragile, token) == before
    assert on_fragile.state(token) == state
    for path in (f"{here}/plan", f"/s/{token}", f"/s/{token}/questions", f"/s/{token}/plan"):
        assert on_fragile.client.get(path).status_code == 200, path
    revised = on_fragile.client.put(
        f"{here}/answers/0",
        json={"revision": on_fragile.state(token)["revision"], "choice": "right", "key": "r"},
    )
    assert revised.status_code == 200
    assert on_fragile.client.delete(f"{here}/answers/last").status_code == 200
    assert on_fragile.client.delete(f"{here}/answers/last").json()["answers"] == []
    assert list(on_fragile.store.faults()) == []


def test_words_that_cannot_be_said_leave_no_session_behind(
    german, german_model, german_rejected, tmp_path, row
):
    """A phrase with a placeholder that does not exist: the plan is there, its words are not."""
    typo = pickle.loads(pickle.dumps(german.space))
    for feature in typo.features:
        object.__setattr__(feature, "phrases", dict.fromkeys(("up", "down", "change"), "Take {aftr}"))
    engine = reap.Recourse(german_model, typo).fit(german.X)
    case = Case.of(engine, german.X, german_rejected)
    with running(case, Settings(database_url=f"sqlite:///{tmp_path}/reap.db", rate=0)) as service:
        assert service.client.post("/api/v1/sessions", json={"subject": row}).status_code == 500
        assert service.store.sessions() == []


@pytest.fixture
def desk(fragile, tmp_path):
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    store.prepare()
    yield Desk(fragile, store, Settings(questions=4))
    store.engine.dispose()


def break_amounts(monkeypatch):
    """Let no act about the amount be computed any more; each was fine when it was stored."""
    act = Elicitation._act

    def broken(self, event):
        if event.payload.get("feature") == "amount":
            raise np.linalg.LinAlgError("singular matrix")
        act(self, event)

    monkeypatch.setattr(Elicitation, "_act", broken)


@pytest.mark.parametrize("last", ["amount", "duration"])
def test_undo_works_where_an_act_of_the_past_cannot_be_computed_any_more(
    desk, fragile, row, monkeypatch, last
):
    """Refused, it would leave nothing that the person could do; where the act before is the broken one, one more undo helps."""
    token, first = desk.start(fragile.engine.space.vector(row)), {"amount", "duration"} - {last}
    with desk.open(token) as live:
        for feature in (*first, last):
            acts.constrain(desk, live, feature, {"difficulty": 5})
    break_amounts(monkeypatch)
    there = Desk(fragile, desk.store, desk.settings)  # a worker that reads it later
    with pytest.raises(np.linalg.LinAlgError), there.open(token):
        pass
    if last == "duration":
        with there.open(token, undoing=True) as live, pytest.raises(np.linalg.LinAlgError):
            acts.undo(there, live)
        assert desk.log(token)[1][-1].type == "undone"
    with there.open(token, undoing=True) as live:
        acts.undo(there, live)
        assert dict(live.session.difficulties) == ({"duration": 5} if last == "amount" else {})
        assert live.session.ask() is not None


def test_an_act_after_which_the_question_cannot_be_said_is_not_stored(desk, fragile, row, monkeypatch):
    """The question could be computed; its words could not, and every page of the session was 500."""
    token = desk.start(fragile.engine.space.vector(row))
    before = desk.log(token)[1]

    def unsayable(self):
        raise KeyError("aftr")

    with monkeypatch.context() as patch, desk.open(token) as live:
        patch.setattr(type(live.session.ask()), "__str__", unsayable)
        with pytest.raises(UncomputedError):
            acts.constrain(desk, live, "duration", {"difficulty": 5})
    assert desk.log(token)[1] == before
    with desk.open(token) as live:
        acts.constrain(desk, live, "duration", {"difficulty": 5})
