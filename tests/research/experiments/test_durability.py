"""Whether plans hold: what is measured, on retrainings that no method has seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
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
    assert frame.groupby("method", sort=False).size().tolist() == [3] * len(durability._methods([]))
    ours = frame[frame["method"].str.contains("today|durability|margin")]
    assert ours["valid"].all()
    assert frame["fresh"].dropna().between(0, 1).all()
    assert np.array_equal(frame["fresh"].isna(), ~frame["valid"])
    assert np.array_equal(frame["replaced"].isna(), ~frame["valid"])


def test_a_tenth_of_the_rows_is_replaced_by_people_who_get_no_plan():
    rows, others = np.arange(50), np.arange(60, 90)
    for made in durability._replaced(rows, others, 3, seed=0):
        assert (made != rows).sum() == 5
        assert np.isin(made[made != rows], others).all()
        assert len(np.unique(made)) == 50


def test_a_shortfall_is_said():
    frame = pd.DataFrame(
        {"dataset": "german", "model": "logistic", "method": "durability .95", "fresh": [0.9, 0.96]}
    )
    said = "durability .95 kept less than .95 on fresh retrainings: german logistic 0.930."
    assert said in durability._remarks(frame)


def test_holding_never_asks_for_less(frame):
    efforts = frame.set_index(["method", "subject"])["effort"]
    for careful in ("margin .03", "durability .80", "durability .95"):
        assert (efforts[careful] >= efforts["today's model alone"] * (1 - 1e-6)).all()


def test_the_table_has_a_row_a_method(frame, scope):
    (result,) = durability.summary({"durability": frame})
    assert result.frame["method"].tolist() == list(durability._methods([]))
    assert result.frame["× the edge"].iloc[0] == "1.00"
    assert (result.frame["later file"] == "–").all()  # German has none
    for share, interval in zip(
        result.frame["fresh retrainings"], result.frame["fresh, 95 % interval"], strict=True
    ):
        low, high = map(float, interval.split(" to "))
        assert low <= float(share) <= high


def test_votes_are_those_that_the_share_counts(frame):
    made = frame[frame["valid"]]
    assert made["votes"].str.len().eq(4).all()
    assert np.allclose(made["votes"].str.count("1") / 4, made["fresh"])
    assert (frame[~frame["valid"]]["votes"] == "").all()
    assert "durability" in tables.NAMES
