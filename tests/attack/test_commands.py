"""Commands with broken files: every one ends in a sentence and code 2, or says what is wrong with what it was given."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3

import pandas as pd
import pytest

from reap import InputError, cli
from reap.batch import answers
from reap.batch.tables import open_table
from reap.datasets import read_csv
from reap.service import acts
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store

#: No text in UTF-8.
NO_TEXT = b"\xff\xfe\0no text"


@pytest.fixture
def run(capsys):
    """Run a command; return its code and what it says. An exception that is no sentence fails the test."""

    def runner(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(word) for word in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out + err

    return runner


def assert_refused(ended, *words):
    code, said = ended
    assert code == 2, said
    assert said.startswith("Error: ")
    assert all(word in said for word in words), said


# texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("space", "FILE.toml"),
        ("verify", "--config", "FILE.toml"),
        ("recommend", "--space", "FILE.toml"),
        ("ask", "--session", "FILE.json"),
        ("learn", "--exports", "FOLDER", "--output", "prior.json"),
    ],
    ids=" ".join,
)
def test_a_file_that_is_no_text_is_named(run, command, tmp_path, monkeypatch):
    """Each was a UnicodeDecodeError."""
    monkeypatch.chdir(tmp_path)
    for name in ("FILE.toml", "FILE.json", "FOLDER/FILE.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(NO_TEXT)
    assert_refused(run(*command), "FILE.", "UTF-8")


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '{"format": "reap.session", "version": 1}',
        '{"format": "reap.session", "version": 1, "events": [1]}',
        '{"format": "reap.session", "version": 1, "events": []}',
        '{"format": "reap.session", "version": 1, "events": [{"type": "started"}]}',
        '{"format": "reap.log"}',
        "[" * 100_000,
    ],
    ids=lambda line: line[:60],
)
def test_a_damaged_session_to_learn_from_is_named(run, line, tmp_path):
    (tmp_path / "past.jsonl").write_text(f"\n{line}\n")
    assert_refused(
        run("learn", "--exports", tmp_path, "--output", tmp_path / "prior.json"), "past.jsonl, line 2"
    )


# tables -------------------------------------------------------------------------------------------------


def spoilt(data, rng):
    """The bytes cut, or with some of them changed or put in."""
    made = bytearray(data)
    match rng.randrange(3):
        case 0:
            del made[rng.randrange(len(made)) :]
        case 1:
            for _ in range(rng.choice([1, 20])):
                made[rng.randrange(len(made))] = rng.randrange(256)
        case _:
            at = rng.randrange(len(made))
            made[at:at] = rng.randbytes(rng.randrange(1, 40))
    return bytes(made)


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.parquet"])
def test_a_damaged_table_is_rows_or_a_sentence(name, german, tmp_path):
    """A gzip file that was cut ended in an EOFError, one that was changed in an error of zlib."""
    path, X = tmp_path / name, german.X.iloc[:60]
    X.to_parquet(path) if name.endswith("parquet") else X.to_csv(path, index=False)
    data, outcomes = path.read_bytes(), {"refused": 0, "read": 0}
    for i in range(150):
        path.write_bytes(spoilt(data, random.Random(i)))
        readers = [lambda: [len(frame) for frame in open_table(path, german.space).frames(50)]]
        readers += [] if name.endswith("parquet") else [lambda: read_csv(path)]
        for read in readers:
            try:
                read()
                outcomes["read"] += 1
            except InputError:
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 0


@pytest.mark.parametrize("name", ["answers.csv", "answers.parquet"])
def test_damaged_answers_of_people_are_a_sentence(run, name, german, tmp_path):
    german.X.iloc[:5].to_csv(tmp_path / "people.csv", index=False)
    german.X.assign(good=german.y).to_csv(tmp_path / "data.csv", index=False)
    german.space.save(tmp_path / "space.toml")
    (tmp_path / name).write_bytes(NO_TEXT)
    ended = run(
        *("batch", "--space", tmp_path / "space.toml", "--input", tmp_path / "people.csv", "--quiet"),
        *("--data", tmp_path / "data.csv", "--label", "good", "--durability", 0, "--jobs", 1),
        *("--output", tmp_path / "plans.parquet", "--preferences", tmp_path / name),
    )
    assert_refused(ended, name, "cannot be read as a table of answers")


def test_answers_nested_too_deeply_are_a_sentence(german):
    for text in ("[" * 100_000, json.dumps(["\ud800"]), "[NaN]", f"[{10**400}]"):
        line = pd.DataFrame([{"row_id": 0, "round": 0, "options": text, "answer": "0"}])
        with pytest.raises(InputError, match="options must be JSON"):
            answers.read(line, german.space)


def test_plans_that_are_no_parquet_are_not_audited(run, tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    (tmp_path / "plans.parquet").write_bytes(NO_TEXT)
    for name in ("plans.parquet", "other.parquet"):
        assert_refused(run("audit", tmp_path / name, "--by", "sex"))


# databases ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored(case, quick, tmp_path_factory):
    """A database with the session of somebody who gave an answer and has a plan."""
    path = tmp_path_factory.mktemp("stored") / "reap.db"
    store = Store(f"sqlite:///{path}")
    store.prepare()
    desk = Desk(case, store, Settings(questions=4))
    with desk.open(desk.start(case.engine.space.vector(quick))) as live:
        asked = live.session.ask()
        acts.answer(desk, live, question=asked.id, revision=live.revision, choice=0, key="k")
        desk.plan(live)
    store.engine.dispose()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


#: What somebody who can write in the database may do; the code of ``verify``, of ``export`` and of ``export --format csv``.
HANDS = {
    "DELETE FROM events": (1, 2, 0),
    "DELETE FROM events WHERE type = 'asked'": (1, 0, 2),
    "UPDATE events SET text = '{' WHERE type = 'asked'": (1, 0, 2),
    "UPDATE events SET text = '[]' WHERE type = 'answered'": (1, 0, 2),
    "UPDATE events SET text = '{}' WHERE type = 'answered'": (1, 0, 2),
    "UPDATE events SET text = x'ff00ff'": (1, 2, 2),
    "UPDATE events SET text = 7": (1, 0, 2),
    "UPDATE events SET created = 'x' WHERE type = 'asked'": (1, 0, 2),
    "UPDATE sessions SET events = -1": (1, 0, 0),
    "DROP TABLE events": (2, 2, 2),
    "DROP TABLE sessions": (2, 2, 2),
    "DELETE FROM notes": (2, 2, 2),
}


@pytest.mark.parametrize("hand", HANDS)
def test_a_database_that_was_changed_by_hand_is_told_in_sentences(run, stored, hand, tmp_path):
    """Bytes in the place of a text made ``reap verify`` end in a traceback, and one such session every export."""
    path = shutil.copy(stored, tmp_path / "reap.db")
    with sqlite3.connect(path) as connection:
        connection.execute(hand)
    connection.close()
    there = ("--database", f"sqlite:///{path}")
    ends = [run(*command, *there) for command in (["verify"], ["export"], ["export", "--format", "csv"])]
    assert tuple(code for code, _ in ends) == HANDS[hand], ends
    assert all(said.startswith("Error: ") for code, said in ends if code == 2)
    for command in (["sessions"], ["learn", "--output", tmp_path / "prior.json"]):
        code, said = run(*command, *there)
        assert code in (0, 2)
        assert code == 0 or said.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("content", [b"", NO_TEXT, b"SQLite format 3\0" + bytes(range(256)) * 20])
@pytest.mark.parametrize("command", ["verify", "sessions", "export"])
def test_a_file_that_is_no_database_of_ours_is_told_in_a_sentence(run, command, content, tmp_path):
    (tmp_path / "reap.db").write_bytes(content)
    code, said = run(command, "--database", f"sqlite:///{tmp_path}/reap.db")
    if content:
        assert_refused((code, said), "database")
    else:  # an empty file is a database without sessions
        assert code == 0
