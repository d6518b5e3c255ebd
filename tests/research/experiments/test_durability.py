"""Whether plans hold: what is measured, on retrainings that no method has seen."""

from __future__ import annotations

import numpy as np
import pytest

from reap.research.experiments import durability, runner, tables
from reap.research.experiments.scope import Scope


@pytest.fixture(scope="module")
def scope(tmp_path_factory):
    return Scope(tmp_path_factory.mktemp("durability"), ("german",), subjects=3, quick=True)


@pytest.fixture(scope="module")
def frame(scope):
    cells = [
        runner.Cell("durability", cell) for cell in durability.cells(scope) if cell["kind"] == "logistic"
    ]
    return runner.run(cells, scope.out, 1, "durability", quiet=True)


def test_every_method_answers_for_every_person(frame):
    assert frame.groupby("method", sort=False).size().tolist() == [3] * 6
    ours = frame[~frame["method"].isin(["Wachter", "ROAR"])]
    assert ours["valid"].all()
    assert frame["fresh"].dropna().between(0, 1).all()
    assert np.array_equal(frame["fresh"].isna(), ~frame["valid"])


def test_holding_never_asks_for_less(frame):
    efforts = frame.set_index(["method", "subject"])["effort"]
    for careful in ("margin .03", "durability .80", "durability .95"):
        assert (efforts[careful] >= efforts["today's model alone"] * (1 - 1e-6)).all()


def test_the_table_has_a_row_a_method(frame, scope):
    (result,) = durability.summary({"durability": frame}, scope)
    assert result.frame["method"].tolist() == list(durability._methods([]))
    assert result.frame["effort × that at the edge"].iloc[0] == "1.00"
    assert "durability" in tables.NAMES
