"""Stated confidence against what happened: sessions that two tables share count once, and what is missed is said."""

from __future__ import annotations

import pandas as pd

from reap.research.experiments import calibration


def runs(efforts, *, people="gaussian", within=0.5):
    """Sessions with one plan each, after five answers; the best plan of everybody takes an effort of 1."""
    return pd.DataFrame(
        {
            "dataset": "german",
            "own": True,
            "people": people,
            "lapse": 0.0,
            "options": 2,
            "subject": range(len(efforts)),
            "matrix": 0,
            "answers": 5,
            "method": "ours",
            "found": True,
            "effort": efforts,
            "oracle": 1.0,
            "within": within,
        }
    )


def remarks(quality, factors):
    (result,) = calibration.summary({"quality": quality, "factors": factors})
    return result


def test_sessions_of_both_tables_count_once():
    half = runs([1.0, 1.0, 2.0, 2.0])
    told = remarks(half, half)
    assert told.frame["plans"].sum() == 4
    assert told.frame["observed"].tolist() == ["0.50"]
    assert "0.0 points" in told.remarks[0]
    assert "not shown by this run" in told.remarks[0]  # four sessions are too few


def test_a_kind_of_people_that_is_missed_is_named():
    told = remarks(runs([1.0, 2.0]), runs([2.0] * 4, people="waiting", within=0.9))
    assert any("Waiting people: stated 0.90, observed 0.00, 4 plans: missed" in said for said in told.remarks)
    assert any("Gaussian people: stated 0.50, observed 0.50, 2 plans: met" in said for said in told.remarks)
