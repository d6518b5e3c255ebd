"""``reap serve`` as it is run: killed, restarted, inspected, stopped; ``tests/attack/test_storm.py`` kills it at any moment."""

from __future__ import annotations

import json
import signal

import httpx
import pytest

from reap.cli import main
from reap.models.files import save_model
from reap.service.store import Store

from .serving import start, stop


@pytest.mark.slow
def test_reap_serve_is_killed_restarted_inspected_and_stopped(german_model, row, tmp_path, capsys):
    save_model(german_model, tmp_path / "model.skops")
    process, url = start(tmp_path)
    try:
        started = httpx.post(f"{url}/api/v1/sessions", json={"subject": row}, timeout=60).json()
        token, state = started["token"], started["state"]
        body = {
            "question": state["question"]["id"],
            "revision": state["revision"],
            "choice": "left",
            "key": "k",
        }
        seen = httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60).json()
    finally:
        assert stop(process, signal.SIGKILL) == -signal.SIGKILL
    process, url = start(tmp_path)
    try:
        assert httpx.get(f"{url}/api/v1/sessions/{token}", timeout=60).json() == seen["state"]
        again = httpx.post(f"{url}/api/v1/sessions/{token}/answers", json=body, timeout=60).json()
        assert again == seen
        httpx.get(f"{url}/api/v1/sessions/{token}/plan", timeout=60)
    finally:
        # one worker is the process itself, which hands the signal on once it has answered everybody
        assert stop(process) == -signal.SIGTERM
    logs = "".join(path.read_text() for path in tmp_path.glob("log-*"))
    assert '"route": "/api/v1/sessions/{token}/answers"' in logs
    assert '"event": "stopped"' in logs
    assert token not in logs

    def command(*given, code=0):
        with pytest.raises(SystemExit) as ended:
            main([*given, "--database", f"sqlite:///{tmp_path}/reap.db"])
        assert ended.value.code == code
        return capsys.readouterr().out

    assert "Sessions" in command("sessions")
    assert command("verify").startswith("1 session, 5 events: every chain is whole and signed.\n")
    assert command("export", "--format", "csv").count("\n") == 2
    exported = json.loads(command("export"))["events"]
    assert [event["type"] for event in exported] == ["started", "asked", "answered", "asked", "recommended"]
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    with store.engine.connect() as connection:
        connection.exec_driver_sql("UPDATE events SET text = '{}' WHERE revision = 2")
    store.engine.dispose()
    assert "event 2 was changed" in command("verify", code=1)
    (kept,) = store.sessions()
    assert kept.id in command("sessions")
    assert "Removed" in command("sessions", "--delete", kept.id)
    assert command("verify").startswith("0 sessions, 0 events: every chain is whole and signed.\n")


@pytest.mark.slow
def test_several_workers_share_one_postgresql(german_model, postgres, row, tmp_path):
    save_model(german_model, tmp_path / "model.skops")
    database = postgres.new()
    process, url = start(tmp_path, "--database", database, workers=2)
    try:
        started = httpx.post(f"{url}/api/v1/sessions", json={"subject": row}, timeout=60).json()
        token, state = started["token"], started["state"]
        turn = 0
        while (
            state["question"] is not None
        ):  # each request on a connection of its own, so that either worker may take it
            body = {"question": state["question"]["id"], "revision": state["revision"], "choice": turn % 2}
            sent = httpx.post(
                f"{url}/api/v1/sessions/{token}/answers", json={**body, "key": f"k{turn}"}, timeout=60
            )
            state = sent.json()["state"]
            assert httpx.get(f"{url}/api/v1/sessions/{token}", timeout=60).json() == state
            turn += 1
        assert turn >= 2
        plans = [httpx.get(f"{url}/api/v1/sessions/{token}/plan", timeout=60).json() for _ in range(4)]
        assert all(plan == plans[0] for plan in plans)
        counted = httpx.get(f"{url}/metrics").text
        assert 'route="/api/v1/sessions/{token}/answers",status="200"} ' + f"{turn}.0" in counted
    finally:
        assert stop(process) == 0  # the supervisor of several ends by itself
    store = Store(database)
    store.prepare()
    assert list(store.faults()) == []
    assert [e.type for kept in store.sessions() for e in store.events(kept.id)].count("answered") == turn
    store.engine.dispose()
