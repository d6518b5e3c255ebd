"""Delete my data: nothing of the person is left in any file of the database, while the service runs."""

from __future__ import annotations

import pytest

from reap.service.store import SESSIONS, Store

#: An amount that occurs nowhere else.
TRACE = 7653


def files(folder):
    return b"".join(path.read_bytes() for path in folder.glob("reap.db*"))


def expire(service):
    with service.store.engine.connect() as connection:
        connection.execute(SESSIONS.update().values(expires="2020-01-01T00:00:00.000000+00:00"))


def visit(service, row):
    """A session with an answer and a plan; its values are on disk."""
    started = service.start({**row, "amount": TRACE})
    service.answer(started["token"], started["state"], "left")
    assert service.client.get(f"/api/v1/sessions/{started['token']}/plan").status_code == 200
    return started["token"]


@pytest.fixture
def others(service, row, tmp_path):
    """A second worker with open connections, and another person whose session stays."""
    service.start(row)
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    store.prepare()
    assert len(store.sessions()) == 1
    yield store
    store.engine.dispose()


def test_a_deleted_session_is_in_no_file_while_workers_go_on(service, others, row, tmp_path):
    token = visit(service, row)
    assert str(TRACE).encode() in files(tmp_path)
    assert service.client.delete(f"/api/v1/sessions/{token}").status_code == 204
    assert str(TRACE).encode() not in files(tmp_path)
    assert len(others.sessions()) == 1
    assert list(others.faults()) == []


def test_a_purged_session_is_in_no_file_while_workers_go_on(service, others, row, tmp_path):
    visit(service, row)
    expire(service)
    assert others.purge() == 2
    assert str(TRACE).encode() not in files(tmp_path)


@pytest.mark.parametrize("through", ["api", "page"])
def test_the_owner_of_an_expired_session_can_still_delete_it(service, row, tmp_path, through):
    token = visit(service, row)
    page = service.client.get(f"/s/{token}/delete").text
    expire(service)
    assert service.client.get(f"/api/v1/sessions/{token}").status_code == 404
    assert service.client.get(f"/s/{token}/delete").status_code == 200
    if through == "api":
        assert service.client.delete(f"/api/v1/sessions/{token}").status_code == 204
    else:
        csrf = page.split('name="csrf" value="')[1].split('"')[0]
        assert service.client.post(f"/s/{token}/delete", data={"csrf": csrf}).status_code == 200
    assert service.store.sessions() == []
    assert str(TRACE).encode() not in files(tmp_path)
    assert service.client.delete(f"/api/v1/sessions/{token}").status_code == 404
