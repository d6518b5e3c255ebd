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


def remarks(quality, kinds):
    (result,) = calibration.summary({"quality": quality, "kinds": kinds})
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
    assert any(
        "Waiting people: stated 0.90, observed 0.00, +90.0 points apart" in said and "missed" in said
        for said in told.remarks
    )
    assert any(
        "Gaussian people: stated 0.50, observed 0.50, 0.0 points apart" in said and "met" in said
        for said in told.remarks
    )


def test_how_far_a_kind_may_be_off_by_chance_is_said():
    told = remarks(runs([1.0, 2.0]), runs([1.0] * 9 + [2.0], people="waiting", within=0.9))
    (line,) = [said for said in told.remarks if "Waiting" in said]
    assert "0.0 points apart (−1" in line
    assert "10 sessions" in line
