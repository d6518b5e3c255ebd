"""``reap learn`` end to end: a service's database or exported files in, a prior and its report out."""

from __future__ import annotations

import pytest

from reap import InputError
from reap.belief import LearnedPrior
from reap.cli import main
from reap.cli.ask import _same_prior as same_prior
from reap.elicitation import events
from reap.service import exports
from reap.service.store import Store
from tests.learning.people import HARD, scaled, session, space

RULES = space()


@pytest.fixture
def rules(tmp_path):
    RULES.save(tmp_path / "space.toml")
    return tmp_path / "space.toml"


def stored(tmp_path, people):
    store = Store(f"sqlite:///{tmp_path}/reap.db")
    store.prepare()
    for i, person in enumerate(people):
        started, *rest = person.events
        said = [("started", started.payload)]
        kept, entries = store.create(f"token-{i}", days=30, model="m", data="d", version="0", said=said)
        store.append(kept, 1, entries[-1].hash, [(event.type, event.payload) for event in rest])
    return store


def run(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["learn", *map(str, arguments)])
    return ended.value.code


def test_from_a_database_and_back(tmp_path, rules, capsys, monkeypatch):
    people = [session(RULES, HARD, i) for i in range(40)]
    store = stored(tmp_path, people)
    old = {"space": RULES.digest, "z": "as the first release wrote it"}
    store.create("old", days=30, model="m", data="d", version="0", said=[("started", old)])
    database = f"sqlite:///{tmp_path}/reap.db"
    given = ("--database", database, "--space", rules)
    assert run(*given, "-o", tmp_path / "prior.json") == 0
    said = capsys.readouterr().out
    assert "Learnt from 40 people" in said
    assert "Left out: 1 session that this release cannot replay" in said
    prior = LearnedPrior.load(tmp_path / "prior.json")
    assert prior.people == 40
    # who is deleted is left out at the next learning
    store.delete(store.sessions()[0].id)
    assert run(*given, "-o", tmp_path / "again.json") == 0
    assert LearnedPrior.load(tmp_path / "again.json").people == 39
    # the same sessions as files, in other order: the same prior, to the byte
    folder = tmp_path / "exports"
    folder.mkdir()
    logs = [exports.as_json(row, store.events(row.id)) for row in reversed(store.sessions()[:-1])]
    (folder / "service.jsonl").write_text("\n".join(logs[:20]) + "\n")
    for i, person in enumerate(people[1:20]):
        (folder / f"{i}.json").write_text(events.write(person.events))
    assert run("--exports", folder, "--space", rules, "-o", tmp_path / "files.json") == 0
    assert (tmp_path / "files.json").read_bytes() == (tmp_path / "again.json").read_bytes()
    # new people who differ: a warning, and an exit code that a job can watch
    monkeypatch.chdir(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    for i in range(20):
        person = session(RULES, scaled([-2.0, 2.0, -1.0, 1.0]), 100 + i)
        (other / f"{i}.json").write_text(events.write(person.events))
    capsys.readouterr()
    assert run("--exports", other, "--space", rules, "--check", "prior.json") == 1
    assert "worse than the default" in capsys.readouterr().out
    store.engine.dispose()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Give --database or --exports"),
        (["--exports", "."], "Give --output FILE"),
        (["--exports", "nowhere", "-o", "p.json"], "There is no folder 'nowhere'"),
        (["--exports", ".", "-o", "p.json"], "There is no session in '.'"),
        (["--database", "sqlite:///none.db", "-o", "p.json"], "There is no database"),
        (["--exports", ".", "-o", "p.json", "--by", "hours"], "--by goes with --check"),
        (["--exports", ".", "-o", "none/p.json"], "There is no folder 'none'"),
        (["--exports", ".", "-o", "."], "'.' is a folder"),
    ],
)
def test_bad_input_ends_in_a_sentence(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    assert said in capsys.readouterr().err


def test_a_session_goes_on_with_its_own_prior_and_no_other(tmp_path):
    """In the words of the command line: `--prior`, not the name of a parameter."""
    file, prior = (
        tmp_path / "me.json",
        LearnedPrior.default(RULES.digest, 4, (0,), ("hours",), people=30, answers=90),
    )
    prior.save(tmp_path / "prior.json")
    without = events.write(session(RULES, HARD, 0).events)
    began = without.replace('"engine": {}', f'"engine": {{}}, "prior": "{prior.hash}"', 1)
    same_prior(file, without, None)
    same_prior(file, began, tmp_path / "prior.json")
    with pytest.raises(InputError, match=r"me\.json holds .* without a learnt prior; leave out --prior"):
        same_prior(file, without, tmp_path / "prior.json")
    with pytest.raises(
        InputError, match=f"prior {prior.hash[:12]}, none was given; name its file with --prior"
    ):
        same_prior(file, began, None)


def test_a_file_that_was_tampered_with(tmp_path, rules, capsys):
    store = stored(tmp_path, [session(RULES, HARD, 0)])
    row = store.sessions()[0]
    (tmp_path / "x.jsonl").write_text(
        exports.as_json(row, store.events(row.id)).replace('\\"choice\\":0', '\\"choice\\":1')
    )
    assert run("--exports", tmp_path, "--space", rules, "-o", tmp_path / "p.json") == 2
    assert "x.jsonl, line 1: the export is not what was written" in " ".join(capsys.readouterr().err.split())
    store.engine.dispose()


def test_too_few_people_or_another_space_end_in_a_sentence(tmp_path, rules, capsys):
    store = stored(tmp_path, [session(RULES, HARD, i) for i in range(29)])
    given = ("--database", f"sqlite:///{tmp_path}/reap.db", "-o", tmp_path / "p.json")
    assert run(*given, "--space", rules) == 2
    assert "29 people answered a question in these sessions" in " ".join(capsys.readouterr().err.split())
    other = tmp_path / "other.toml"
    space(features={"hours": {"max_change": 5}}).save(other)
    assert run(*given, "--space", other) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "0 people answered" in said
    assert "(29 sessions were held with another action space)" in said
    for row in store.sessions():
        store.delete(row.id)
    assert run(*given, "--space", rules) == 2
    assert "0 people answered" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "p.json").exists()
    store.engine.dispose()


def test_a_file_that_was_cut_short(tmp_path, rules, capsys):
    text = events.write(session(RULES, HARD, 0).events)
    (tmp_path / "a.json").write_text(text[: len(text) // 2])
    assert run("--exports", tmp_path, "--space", rules, "-o", tmp_path / "p.json") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "a.json, line 1: the session is not valid JSON" in said
    assert "Traceback" not in said
