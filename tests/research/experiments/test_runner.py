"""The runner: finished cells are kept, order and processes change nothing."""

from __future__ import annotations

import pandas as pd
import pytest

from reap import InputError
from reap.research.experiments import NAMES, Scope, reproduce, runner, tables
from reap.research.experiments.scope import make_bench

GERMAN = ("german",)


@pytest.fixture
def scope(tmp_path):
    return Scope(tmp_path, GERMAN, quick=True)


def cells(scope, name="gap"):
    return [runner.Cell(name, params) for params in tables.module(name).cells(scope)]


def test_every_table_answers_the_same_questions():
    for name in NAMES:
        made = tables.module(name)
        assert made.TITLE
        assert made.NEEDS
        assert callable(made.summary)
        assert (name in made.NEEDS) == hasattr(made, "cells") == hasattr(made, "run")


def test_unknown_table():
    with pytest.raises(InputError, match="did you mean 'graph'"):
        tables.module("grpah")


def test_finished_cells_are_not_run_again(scope):
    todo = cells(scope)
    first = runner.run(todo, scope.out, quiet=True)
    places = [cell.place(scope.out) for cell in todo]
    assert all(place.exists() for place in places)
    marked = pd.read_parquet(places[0]).assign(heuristic=-1.0)
    marked.to_parquet(places[0], index=False)
    again = runner.run(todo, scope.out, quiet=True)
    assert (again["heuristic"] == -1.0).any()
    assert len(again) == len(first)


def test_same_seed_same_numbers_in_any_number_of_processes(scope, tmp_path):
    one = runner.run(cells(scope, "rank"), scope.out, jobs=1, quiet=True)
    other = Scope(tmp_path / "b", GERMAN, quick=True)
    two = runner.run(cells(other, "rank"), other.out, jobs=2, quiet=True)
    pd.testing.assert_frame_equal(one, two)
    third = Scope(tmp_path / "c", GERMAN, quick=True, seed=1)
    assert not one["rank"].equals(runner.run(cells(third, "rank"), third.out, quiet=True)["rank"])


def test_a_cell_that_breaks_leaves_no_file(scope):
    cell = runner.Cell("gap", {**tables.module("gap").cells(scope)[0], "subjects": (0, 10**6)})
    with pytest.raises(IndexError):
        cell.run(scope.out)
    assert not cell.place(scope.out).exists()


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
    results = reproduce(["lengths"], scope, quiet=True)
    assert list(results) == ["lengths"]
    assert {place.name for place in (scope.out / "runs").iterdir()} == {"graph"}
