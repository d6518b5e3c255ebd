"""Who gets a plan: what is counted, and that nobody without one is passed over."""

from __future__ import annotations

import pandas as pd
import pytest

from reap.research.experiments import coverage, tables
from reap.research.experiments.scope import Scope


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    scope = Scope(tmp_path_factory.mktemp("coverage"), ("synthetic",), subjects=4, matrices=3)
    return pd.concat([coverage.run(scope.out, **cell) for cell in coverage.cells(scope)], ignore_index=True)


def test_plans_keep_their_promises(runs):
    assert runs["status"].eq("ok").all()
    assert (runs["plans"] >= 1).all()
    assert runs[["invalid", "illegal", "reducible", "dominated"]].to_numpy().sum() == 0
    assert (runs["few"] == runs["plans"]).all()


def test_nobody_without_a_plan_is_passed_over(runs, tmp_path):
    nothing = {"status": "none_found", "why": "the best scores 0.4", "plans": 0, "changes": 0, "few": 0}
    frame = pd.concat([runs, runs.iloc[:1].assign(subject=99, **nothing)], ignore_index=True)
    table, without = coverage.summary({"coverage": frame})
    assert table.frame["with a plan"].tolist() == ["0.80"]
    assert without.frame[["subject", "why"]].to_numpy().tolist() == [[99, "the best scores 0.4"]]


def test_tables_without_runs_are_left_out(tmp_path):
    scope = Scope(tmp_path, ("german",), quick=True)
    assert list(tables.reproduce(["pear", "run_time"], scope, quiet=True)) == ["run_time"]
