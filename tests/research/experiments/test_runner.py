"""The runner: finished cells are kept, order and processes change nothing."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from reap import InputError
from reap.cli import main
from reap.research.experiments import NAMES, Scope, reproduce, runner
from reap.research.experiments.bench import make_bench

GERMAN = ("german",)


@pytest.fixture
def scope(tmp_path):
    return Scope(tmp_path, GERMAN, quick=True)


def cells(scope, name="gap"):
    return [runner.TableCell(name, params) for params in runner.module(name).cells(scope)]


def test_every_table_answers_the_same_questions():
    for name in NAMES:
        made = runner.module(name)
        assert made.TITLE
        assert made.NEEDS
        assert callable(made.summary)
        assert (name in made.NEEDS) == hasattr(made, "cells") == hasattr(made, "run")


def test_unknown_table():
    with pytest.raises(InputError, match="did you mean 'graph'"):
        runner.module("grpah")


def test_finished_cells_are_not_run_again(scope):
    todo = cells(scope)
    first = runner.run(todo, scope.out, quiet=True)["gap"]
    places = [cell.place(scope.out) for cell in todo]
    assert all(place.exists() for place in places)
    marked = pd.read_parquet(places[0]).assign(heuristic=-1.0)
    marked.to_parquet(places[0], index=False)
    again = runner.run(todo, scope.out, quiet=True)["gap"]
    assert (again["heuristic"] == -1.0).any()
    assert len(again) == len(first)


def test_same_seed_same_numbers_in_any_number_of_processes(scope, tmp_path):
    one = runner.run(cells(scope, "rank"), scope.out, jobs=1, quiet=True)["rank"]
    other = Scope(tmp_path / "b", GERMAN, quick=True)
    two = runner.run(cells(other, "rank"), other.out, jobs=2, quiet=True)["rank"]
    pd.testing.assert_frame_equal(one, two)
    third = Scope(tmp_path / "c", GERMAN, quick=True, seed=1)
    assert not one.equals(runner.run(cells(third, "rank"), third.out, quiet=True)["rank"])


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_breaks_leaves_no_file_and_stops_no_other(scope, jobs):
    (fine,) = cells(scope)
    broken = runner.TableCell("gap", {**fine.params, "subjects": (0, 10**6)})
    with pytest.raises(IndexError) as caught:
        runner.run([broken, fine], scope.out, jobs, quiet=True)
    assert "1 of 2 parts failed" in caught.value.__notes__[-1]
    assert not broken.place(scope.out).exists()
    assert fine.place(scope.out).exists()


def test_the_bench_is_the_papers(scope):
    made = make_bench(scope.out, **{**scope.bench("german"), "rows": None, "epochs": 20})
    assert (len(made.train), len(made.test)) == (800, 200)
    assert list(made.train.columns) == ["status", "duration", "amount", "personal_status", "age"]
    assert not made.classifier.accepts(made.space.encode(made.subjects)).any()
    assert made.classifier.accepts(made.candidates()).all()


def test_data_sets_without_files_are_left_out_unless_named(tmp_path, monkeypatch):
    monkeypatch.setenv("REAP_DATA", str(tmp_path))
    assert Scope(tmp_path).over(("german", "student", "synthetic")) == ("german", "synthetic")
    assert Scope(tmp_path, ("student",)).over(("german", "student")) == ("student",)


def test_reproduce_runs_only_what_is_needed(scope):
    results = reproduce(["graph"], scope, quiet=True)
    assert list(results) == ["graph"]
    assert {place.name for place in (scope.out / "runs").iterdir()} == {"graph"}


# the command ----------------------------------------------------------------------------------------------------


def run(*words):
    """Run the command; typer leaves by SystemExit."""
    with pytest.raises(SystemExit) as end:
        main(["reproduce", *words])
    return end.value.code


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--datasets", "german", "--matrices", "1"], id="one data set"),
        pytest.param(["--jobs", "2"], id="all", marks=pytest.mark.long),
    ],
)
def test_quick_makes_everything(words, tmp_path, capsys):
    """All tables tiny. What needs files or packages that are not here is left out. The long one is the command by itself."""
    assert run("--quick", *words, "--out", str(tmp_path)) == 0
    assert "Excess over the oracle" in capsys.readouterr().out
    verdicts = json.loads((tmp_path / "summary" / "verdicts.json").read_text(encoding="utf-8"))
    assert set(NAMES) - {entry["table"] for entry in verdicts} <= {"pear", "humans"}
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for entry in verdicts:
        assert f"## {entry['title']}" in text
    pictures = [line for line in text.splitlines() if line.startswith("![")]
    assert len(pictures) >= 5
    for line in pictures:
        assert (tmp_path / line.rpartition("(")[2].rstrip(")")).stat().st_size > 5000


def test_datasets_may_follow_each_other(tmp_path, capsys):
    assert run("classifiers", "--quick", "--datasets", "synthetic", "german", "--out", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "synthetic" in said
    assert "german" in said


def test_misspelt_names_are_one_sentence(tmp_path, capsys):
    for words in (["grpah"], ["graph", "--datasets", "germn"]):
        assert run(*words, "--out", str(tmp_path)) == 2
        assert "did you mean" in capsys.readouterr().err


def test_list(capsys):
    assert run("--list") == 0
    said = capsys.readouterr().out
    assert all(name in said for name in NAMES)
