"""The log: append-only, one event a place, chains that tell of any change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

from reap import InputError
from reap.service.live import Live
from reap.service.log import Sent, digest
from reap.service.store import ConflictError, Store, UnavailableError
from reap.service.tables import EVENTS, SESSIONS


@pytest.fixture
def store(database):
    made = Store(database)
    made.prepare()
    yield made
    made.engine.dispose()


def begin(store, token="a" * 64, days=1):
    return store.create(token, days=days, model="m", data="d", version="1", payload={"seed": 0})[0]


def test_a_place_is_taken_once(store):
    kept = begin(store)
    store.append(kept, 1, "asked", {"n": 1})
    with pytest.raises(ConflictError):
        store.append(kept, 1, "asked", {"n": 2})
    with pytest.raises(ConflictError):
        store.append(kept, 5, "asked", {"n": 2})
    assert [e.payload for e in store.events(kept.id)] == [{"seed": 0}, {"n": 1}]


def test_a_key_is_used_once_in_a_session_and_freely_in_others(store):
    first, second = begin(store), begin(store, "b" * 64)
    sent = Sent.of("k", "answered")
    store.append(first, 1, "answered", {}, sent)
    store.append(second, 1, "answered", {}, sent)
    with pytest.raises(ConflictError):
        store.append(first, 2, "answered", {}, sent)
    assert len(store.events(first.id)) == 2
    assert list(store.faults()) == []


def test_a_token_is_stored_only_as_a_hash_and_an_expired_one_finds_nothing(store):
    kept = begin(store, "c" * 64)
    assert store.find("c" * 64).id == kept.id
    begin(store, "d" * 64, days=-1)
    assert store.find("d" * 64) is None
    assert store.find("e" * 64) is None
    assert store.purge() == 1
    assert [row.id for row in store.sessions()] == [kept.id]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (EVENTS.update().where(EVENTS.c.revision == 1).values(text='{"n":9}'), "event 1 was changed"),
        (EVENTS.update().where(EVENTS.c.revision == 1).values(created="2000"), "event 1 was changed"),
        (EVENTS.delete().where(EVENTS.c.revision == 1), "event 1 is missing"),
        (EVENTS.delete().where(EVENTS.c.revision == 2), "the log ends after 2 events, but 3 were written"),
        (SESSIONS.update().values(head="0" * 64), "the log ends after 3 events"),
    ],
)
def test_verify_tells_of_any_change(store, change, sentence):
    kept = begin(store)
    store.append(kept, 1, "asked", {"n": 1})
    store.append(kept, 2, "answered", {"n": 2})
    assert list(store.faults()) == []
    with store.engine.connect() as connection:
        connection.execute(change)
        connection.commit()
    (found,) = store.faults()
    assert found[0] == kept.id
    assert sentence in found[1]


def test_a_forged_event_with_a_right_hash_of_its_own_still_breaks_the_chain(store):
    kept = begin(store)
    store.append(kept, 1, "asked", {"n": 1})
    store.append(kept, 2, "answered", {"n": 2})
    old = store.events(kept.id)[1]
    forged = digest(old.session, 1, old.type, '{"n":7}', old.key, old.created, old.previous)
    with store.engine.connect() as connection:
        connection.execute(EVENTS.update().where(EVENTS.c.revision == 1).values(text='{"n":7}', hash=forged))
        connection.commit()
    assert [wrong for _, wrong in store.faults()] == ["event 2 does not follow the one before it"]


def test_deleting_one_person_leaves_every_other_chain_whole(store):
    first, second = begin(store), begin(store, "b" * 64)
    for kept in (first, second):
        store.append(kept, 1, "asked", {"n": 1})
    assert store.delete(first.id)
    assert not store.delete(first.id)
    assert list(store.faults()) == []
    assert [e.session for e in store.events(second.id)] == [second.id] * 2
    with store.engine.connect() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(EVENTS)).scalar_one() == 2


def test_a_database_that_is_not_there_is_unavailable(tmp_path):
    with pytest.raises(UnavailableError):
        Store(f"sqlite:///{tmp_path}/no/such/folder/reap.db").prepare()
    with pytest.raises(InputError, match="cannot be used"):
        Store("nonsense://here")


def test_a_note_goes_to_the_end_of_a_log_and_changes_nothing_that_is_seen(store):
    kept = begin(store)
    store.append(kept, 1, "asked", {"n": 1})
    sent = Sent.of("k", "review answered")
    first = store.add_note(kept.id, "review answered", {"words": "we looked"}, sent)
    again = store.add_note(kept.id, "review answered", {"words": "we looked"}, sent)
    assert first == again
    assert [e.revision for e in store.entries("review answered")] == [2]
    assert list(store.faults()) == []
    assert store.add_note("nobody", "chosen", {}) is None
    assert Live(kept, entries=store.events(kept.id)).revision == 1
    with pytest.raises(InputError, match="type of entry"):
        store.append(kept, 3, "invented", {})


def test_notes_of_several_people_at_once_are_all_kept(store):
    kept = begin(store)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: store.add_note(kept.id, "reported", {"n": i}), range(24)))
    assert sorted(e.payload["n"] for e in store.entries("reported")) == list(range(24))
    assert list(store.faults()) == []
