"""The tables beyond the paper: who is in them, what they measure, and what they say of it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.research.experiments import Scope, durability, horizons, population, quality, reproduce
from reap.research.experiments.people import oracles, person


def runs(who, dataset, efforts, options=2):
    """One plan a person after 0, 5 and 10 answers; the best plan takes an effort of 1."""
    people = range(len(efforts))
    about = {"who": who, "dataset": dataset, "options": options, "method": "ours", "subject": people}
    about |= {"person": people, "effort": efforts, "oracle": 1.0, "within": 0.75, "rows": 9}
    return pd.concat([pd.DataFrame({**about, "answers": t}) for t in (0, 5, 10)], ignore_index=True)


# quality --------------------------------------------------------------------------------------------------------


def test_every_kind_meets_every_data_set_often_enough(tmp_path):
    made = quality.cells(Scope(tmp_path, datasets=("synthetic",)))
    for who in quality.PEOPLE:
        for options in (2, 4):
            alike = [c for c in made if (c["who"], c["options"]) == (who, options)]
            count = sum((c["subjects"][1] - c["subjects"][0]) * c["matrices"] for c in alike)
            assert count >= (quality.RUNS if who == "Gaussian" else quality.FEWER)


def test_what_misses_its_target_is_marked():
    found = [runs("Gaussian", "german", [1.0, 1.02]), runs("count changes", "german", [1.0, 1.0])]
    found.append(runs("count changes", "gmc", [1.5, 1.0]))
    wide, lines, sure = quality.summary({"quality": pd.concat(found)})
    by = wide.frame.set_index("people")
    assert by.loc["Gaussian", ["german", "gmc"]].tolist() == ["1.0 / 1.0", "–"]
    assert by.loc["count changes", ["german", "gmc"]].tolist() == ["0.0 / 0.0", "25.0! / 25.0!"]
    assert lines.frame["runs"].tolist() == [2, 2, 2]
    assert "4 of 6 figures" in wide.remarks[1]
    assert sure.frame["points apart"].tolist() == ["-8.3", "-25.0", "+0.0"]  # five of six, all, one of two


def test_every_simulated_person_is_used_once(tmp_path):
    made = reproduce(
        ["quality"], Scope(tmp_path, ("german",), subjects=2, matrices=2, quick=True), quiet=True
    )
    frame = pd.concat([pd.read_parquet(f) for f in (tmp_path / "runs" / "quality").iterdir()])
    assert frame.groupby(["who", "person"])["subject"].nunique().eq(1).all()
    assert frame.groupby("who")["person"].nunique().eq(4).all()
    assert (frame["effort"] >= frame["oracle"] - 1e-12).all()
    assert "german" in made["quality"][0].frame


# the best plan --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def engine(german, german_model):
    return reap.Recourse(german_model, german.space).fit(german.X)


def test_of_a_matrix_the_best_plan_is_the_engines(engine, german_rejected):
    x, d = german_rejected.iloc[[0]], engine.space.dimension
    persons = [person("gaussian", d, k, 0) for k in range(3)]
    plans = engine.plans(x, np.stack([someone.matrix for someone in persons]))
    assert oracles(engine, x, persons) == pytest.approx([plan.effort for plan in plans])


def test_an_l1_persons_is_easier_than_what_squares_give(engine, german_rejected):
    persons = [person("l1", engine.space.dimension, k, 0) for k in range(4)]
    less = 0
    for i in range(8):
        x = german_rejected.iloc[[i]]
        once = engine.plans(x, np.stack([np.diag(someone.weights) for someone in persons]))
        first = np.array([someone.effort(plan.moves) for someone, plan in zip(persons, once, strict=True)])
        best = np.array(oracles(engine, x, persons))
        assert (best <= first + 1e-12).all()
        less += (best < first - 1e-9).sum()
    assert less > 0


# horizons -------------------------------------------------------------------------------------------------------


def test_more_time_never_asks_for_more_effort_and_clocks_agree(tmp_path):
    scope = Scope(tmp_path, ("german",), subjects=4, quick=True)
    frame = pd.concat([horizons.run(tmp_path, **cell) for cell in horizons.cells(scope)])
    assert frame.groupby("subject")["within"].apply(sorted).tolist() == [list(horizons.MONTHS)] * 4
    found = frame[frame["found"]]
    assert len(found)
    assert (found["months"] <= found["within"]).all()
    assert not frame[["late", "disagree"]].any(axis=None)
    efforts = found.pivot_table("effort", "subject", "within")
    for sooner, later in zip(horizons.MONTHS, horizons.MONTHS[1:], strict=False):
        both = efforts[[sooner, later]].dropna()
        assert (both[later] <= both[sooner] * 1.01).all()
    (result,) = horizons.summary({"horizons": frame})
    ((_, share, low, high),) = result.plot.panels["people with a plan"].values()
    assert all(a <= b <= c for a, b, c in zip(low, share, high, strict=True))


# durability -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    scope = Scope(tmp_path_factory.mktemp("durability"), ("german",), subjects=3, quick=True)
    (cell,) = durability.cells(scope)
    return durability.run(scope.out, **cell)


def test_every_method_answers_for_every_person(held):
    assert held.groupby("method", sort=False).size().tolist() == [3] * len(durability.methods([]))
    assert held[held["method"].str.contains("today|durability|margin")]["valid"].all()
    for later in ("fresh", "replaced"):
        assert held[later].dropna().between(0, 1).all()
        assert np.array_equal(held[later].isna(), ~held["valid"])
    made = held[held["valid"]]
    assert np.allclose(made["votes"].str.count("1") / 4, made["fresh"])


def test_holding_never_asks_for_less(held):
    efforts = held.set_index(["method", "subject"])["effort"]
    for careful in ("margin .03", "durability .80", durability.PROMISED):
        assert (efforts[careful] >= efforts[durability.EDGE] * (1 - 1e-6)).all()


def test_the_table_has_a_row_a_method_and_says_a_shortfall(held):
    (result,) = durability.summary({"durability": held.assign(fresh=0.9)})
    assert result.frame["method"].tolist() == list(durability.methods([]))
    assert result.frame["× the edge"].iloc[0] == "1.00"
    assert (result.frame["later file"] == "–").all()  # German has none
    assert any("german logistic 0.900." in remark for remark in result.remarks)


def test_a_tenth_of_the_rows_is_replaced_by_people_who_get_no_plan():
    rows, others = np.arange(50), np.arange(60, 90)
    for made in durability.with_others(rows, others, 3, seed=0):
        assert (made != rows).sum() == 5
        assert np.isin(made[made != rows], others).all()
        assert len(np.unique(made)) == 50


# learnt priors --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_every_prior_meets_the_same_people(tmp_path):
    (cell,) = population.cells(Scope(tmp_path, ("german",), quick=True))
    found = population.run(tmp_path, **cell)
    assert (found["effort"] >= found["oracle"] - 1e-12).all()
    assert found[found["answers"] == 0].groupby("subject")["oracle"].nunique().eq(1).all()
    (result,) = population.summary({"population": found})
    assert result.frame["prior"].tolist() == ["default", "learnt from 30", "population"]
