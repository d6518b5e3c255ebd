"""Upgrades: the first release's database moves to this schema; its sessions are refused with a sentence, and can be taken along.

``first_release.sql`` was dumped from a database that the code of 0.1.0 wrote: one session on German credit with two answers.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from reap import InputError
from reap.service import exports
from reap.service.migrations import v0001_first_release
from reap.service.store import META, SESSIONS, Store, fingerprint

FIRST = (Path(__file__).parent / "first_release.sql").read_text(encoding="utf-8")
TOKEN = "H6pQ6QqVe5_dEn9OEBOtXA"


def dumped(*tables):
    """The rows of the first release's tables."""
    with sqlite3.connect(":memory:") as memory:
        memory.executescript(FIRST)
        memory.row_factory = sqlite3.Row
        rows = {name: [dict(row) for row in memory.execute(f"SELECT * FROM {name}")] for name in tables}
    memory.close()
    return rows


@pytest.fixture
def first(database):
    """A database as the first release left it; only the end of its session is moved, so that the test does not age."""
    engine = sa.create_engine(database)
    with engine.begin() as connection:
        context = MigrationContext.configure(connection)
        with context.begin_transaction(), _operations(context):
            v0001_first_release.upgrade()
        for name, rows in dumped("sessions", "events", "notes").items():
            table = sa.Table(name, sa.MetaData(), autoload_with=connection)
            if rows:
                connection.execute(table.insert(), rows)
        connection.execute(sa.text("UPDATE sessions SET expires = '2999'"))
    engine.dispose()
    return database


def _operations(context):
    from alembic.operations import Operations

    return Operations.context(context)


def same_schema(engine):
    """What differs from this release's tables; texts of any length are one to SQLite."""
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), META)
    if engine.dialect.name == "sqlite":
        found = [each for each in found if not (isinstance(each, list) and each[0][0] == "modify_type")]
    return found


def test_the_dump_is_what_the_first_migration_makes():
    """Else the chain of migrations would begin somewhere that never was."""
    with sqlite3.connect(":memory:") as memory:
        memory.executescript(FIRST)
        dump = {row[0] for row in memory.execute("SELECT name FROM pragma_table_info('sessions')")}
    memory.close()
    assert "trials" not in dump
    assert {"id", "token_hash", "head"} <= dump


def test_a_database_of_the_first_release_moves_and_keeps_everything(first):
    store = Store(first)
    store.prepare()
    assert same_schema(store.engine) == []
    (kept,) = store.sessions()
    assert list(store.faults()) == []
    assert [entry.type for entry in store.events(kept.id)].count("answered") == 2
    assert store.find(fingerprint(TOKEN)).id == kept.id
    store.append(kept, kept.events, kept.head, [("returned", {})])
    store.prepare()  # once more changes nothing
    assert list(store.faults()) == []
    lines = exports.as_csv(store.events(kept.id)).splitlines()
    assert len(lines) == 3
    store.engine.dispose()


def test_a_session_begun_before_the_upgrade_is_refused_with_a_sentence_and_can_be_taken_along(first, serve):
    client, here = serve(first).client, f"/api/v1/sessions/{TOKEN}"
    refused = client.get(here)
    assert refused.status_code == 409
    assert "has been replaced since this session was started" in refused.json()["error"]
    assert client.get(f"/s/{TOKEN}").status_code == 409
    assert client.get(f"{here}/export").status_code == 200
    assert client.delete(here).status_code == 204
    assert client.get(here).status_code == 404


def test_a_session_that_cannot_be_read_any_more_is_refused_even_where_the_model_is_the_same(
    first, serve, case
):
    """The fingerprints agree, the words of the log do not."""
    store = Store(first)
    store.prepare()
    with store.engine.connect() as connection:
        connection.execute(SESSIONS.update().values(model=case.model, data=case.data))
        connection.commit()
    store.engine.dispose()
    refused = serve(first).client.get(f"/api/v1/sessions/{TOKEN}")
    assert refused.status_code == 409
    assert "replaced" in refused.json()["error"]


def test_a_session_begun_under_this_schema_goes_on_after_a_restart(database, serve, row):
    token = serve(database).start(row)["token"]
    assert serve(database).client.get(f"/api/v1/sessions/{token}").status_code == 200


def test_a_new_database_has_the_schema_that_migrations_lead_to(database):
    store = Store(database)
    store.prepare()
    assert same_schema(store.engine) == []
    store.engine.dispose()


def test_a_database_of_a_later_release_is_refused_with_a_sentence(database):
    store = Store(database)
    store.prepare()
    with store.engine.connect() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        connection.commit()
    with pytest.raises(InputError, match="another release"):
        store.prepare()
    store.engine.dispose()
