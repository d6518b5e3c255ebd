"""The log: append-only, one event a place, chains that tell of any change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from reap import InputError
from reap.service import reviews
from reap.service.desk import Desk, Live, MissingError
from reap.service.log import Sent, digest, fault
from reap.service.store import EVENTS, NOTES, SESSIONS, ConflictError, Store, UnavailableError


@pytest.fixture
def store(database):
    made = Store(database)
    made.prepare()
    yield made
    made.engine.dispose()


def begin(store, token="a" * 64, days=1):
    return store.create(token, days=days, model="m", data="d", version="1", said=[("started", {"seed": 0})])[
        0
    ]


def add(store, kept, place, kind, payload, sent=None):
    return store.append(kept, place, store.events(kept.id)[-1].hash, [(kind, payload)], sent)


def test_a_place_is_taken_once(store):
    kept = begin(store)
    add(store, kept, 1, "asked", {"n": 1})
    with pytest.raises(ConflictError):
        add(store, kept, 1, "asked", {"n": 2})
    with pytest.raises(ConflictError):
        add(store, kept, 5, "asked", {"n": 2})
    assert [e.payload for e in store.events(kept.id)] == [{"seed": 0}, {"n": 1}]


def test_a_key_is_used_once_in_a_session_and_freely_in_others(store):
    first, second = begin(store), begin(store, "b" * 64)
    sent = Sent.of("k", "answered")
    add(store, first, 1, "answered", {}, sent)
    add(store, second, 1, "answered", {}, sent)
    with pytest.raises(ConflictError):
        add(store, first, 2, "answered", {}, sent)
    assert len(store.events(first.id)) == 2
    assert list(store.faults()) == []


def test_a_token_is_stored_only_as_a_hash_and_an_expired_one_finds_nothing(store):
    kept = begin(store, "c" * 64)
    assert store.find("c" * 64).id == kept.id
    begin(store, "d" * 64, days=-1)
    assert store.find("d" * 64) is None
    assert store.find("e" * 64) is None
    assert store.purge(hold_days=1) == 0  # the law wants it for another day
    assert store.purge() == 1
    assert [row.id for row in store.sessions()] == [kept.id]


@pytest.mark.parametrize(("age", "held"), [(0, True), (9, True), (10, False), (400, False)])
def test_purging_and_deleting_hold_a_session_until_the_same_day(store, age, held):
    begin(store, "c" * 64, days=-1)
    created = (datetime.now(UTC) - timedelta(days=age)).isoformat(timespec="microseconds")
    with store.writing() as connection:
        connection.execute(SESSIONS.update().values(created=created))
    desk = SimpleNamespace(settings=SimpleNamespace(hold_days=10))
    assert (Desk.held_until(desk, store.sessions()[0]) is not None) == held
    assert store.purge(hold_days=10) == (0 if held else 1)


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
    add(store, kept, 1, "asked", {"n": 1})
    add(store, kept, 2, "answered", {"n": 2})
    assert list(store.faults()) == []
    with store.engine.connect() as connection:
        connection.execute(change)
        connection.commit()
    (found,) = store.faults()
    assert found[0] == kept.id
    assert sentence in found[1]


def test_a_forged_event_with_a_right_hash_of_its_own_still_breaks_the_chain(store):
    kept = begin(store)
    add(store, kept, 1, "asked", {"n": 1})
    add(store, kept, 2, "answered", {"n": 2})
    old = store.events(kept.id)[1]
    forged = digest(old.session, 1, old.type, '{"n":7}', old.key, old.created, old.previous)
    with store.engine.connect() as connection:
        connection.execute(EVENTS.update().where(EVENTS.c.revision == 1).values(text='{"n":7}', hash=forged))
        connection.commit()
    assert [wrong for _, wrong in store.faults()] == ["event 2 does not follow the one before it"]


def test_deleting_one_person_leaves_every_other_chain_whole(store):
    first, second = begin(store), begin(store, "b" * 64)
    for kept in (first, second):
        add(store, kept, 1, "asked", {"n": 1})
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


def test_an_operators_answer_goes_to_the_end_of_a_log_once_whoever_writes_there_meanwhile(store):
    kept = begin(store)
    for place in range(1, 9):
        add(store, kept, place, "review asked", {"words": "please"})
    with ThreadPoolExecutor(8) as pool:
        given = pool.map(lambda i: reviews.answer(store, kept.id, 1 + i % 8, "stands", "no"), range(24))
    assert len({entry.revision for entry in given}) == 8
    assert sorted(e.payload["of"] for e in store.entries("review answered")) == list(range(1, 9))
    assert list(store.faults()) == []
    with pytest.raises(MissingError):
        reviews.answer(store, "nobody", 1, "stands", "")
    assert Live(kept, None, entries=store.events(kept.id)).revision == 0  # changes nothing that is seen
    with pytest.raises(InputError, match="type of entry"):
        add(store, kept, 17, "invented", {})


def test_a_database_of_another_release_is_refused_with_a_sentence(store):
    store.prepare()  # once more changes nothing
    run(store, NOTES.update().where(NOTES.c.name == "layout").values(value="9"))
    with pytest.raises(InputError, match="another release"):
        store.prepare()


def reseal(store, kept):
    """Make the chain of a session anew, as somebody would who edited an event."""
    previous = ""
    with store.engine.connect() as connection:
        for entry in store.events(kept.id):
            parts = (entry.session, entry.revision, entry.type, entry.text, entry.key, entry.created)
            made = digest(*parts, previous)
            here = EVENTS.c.session == kept.id, EVENTS.c.revision == entry.revision
            connection.execute(EVENTS.update().where(*here).values(previous=previous, hash=made))
            previous = made
        connection.execute(SESSIONS.update().where(SESSIONS.c.id == kept.id).values(head=previous))
        connection.commit()


def run(store, *statements):
    with store.engine.connect() as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_chain_made_anew_is_told(store):
    kept = begin(store)
    add(store, kept, 1, "answered", {"n": 1})
    run(store, EVENTS.update().where(EVENTS.c.revision == 1).values(text='{"n":9}'))
    reseal(store, kept)
    assert fault(store.events(kept.id), 2, store.sessions()[0].head) is None  # the chain alone tells nothing
    assert [(name, "made anew" in said) for name, said in store.faults()] == [(kept.id, True)]


@pytest.mark.parametrize(
    "edit",
    [{"expires": "2999"}, {"token_hash": "f" * 64}, {"model": "x"}, {"version": "0"}, {"created": "1999"}],
)
def test_an_edited_row_of_a_session_is_told(store, edit):
    kept = begin(store)
    run(store, SESSIONS.update().values(**edit))
    assert [name for name, _ in store.faults()] == [kept.id]


def test_a_removed_or_added_session_is_told_and_one_that_was_deleted_is_not(store):
    first, second, third = (begin(store, letter * 64) for letter in "abc")
    store.delete(first.id)
    begin(store, "d" * 64, days=-1)
    store.purge()
    assert list(store.faults()) == []
    run(
        store,
        EVENTS.delete().where(EVENTS.c.session == second.id),
        SESSIONS.delete().where(SESSIONS.c.id == second.id),
    )
    assert list(store.faults()) == [
        ("all", "2 sessions should be here, and 1 are: somebody removed or added some")
    ]
    run(store, NOTES.update().where(NOTES.c.name == "count").values(value='[1, 0, "x"]'))
    assert [said for _, said in store.faults()] == [
        "the count of sessions was edited, or signed with another key"
    ]
    run(store, NOTES.delete().where(NOTES.c.name == "count"))
    store.prepare()  # a start does not sign what is there anew
    assert len(list(store.faults())) == 1
    assert third.id in {kept.id for kept in store.sessions()}


def test_another_key_finds_everything_unsigned_until_it_signs(database):
    ours, theirs = Store(database, "our key"), Store(database, "another key")
    ours.prepare()
    begin(ours)
    theirs.prepare()
    assert list(ours.faults()) == []
    assert len(list(theirs.faults())) == 2
    theirs.renew()
    assert list(theirs.faults()) == []
    assert ours.note("secret", "none") == "none"  # a key that is given is not stored
    for store in (ours, theirs):
        store.engine.dispose()
