"""Points, regressions and durability through the commands and through the page."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap import cli
from reap.models.files import save_model

POINTS = ("--threshold", "560", "--model-output", "score", "--unit", "points")


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """A lender's folder: a table, a space, a regression in points and a classifier."""
    folder, rng = tmp_path_factory.mktemp("bank"), np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, 200) * 100,
            "debts": rng.integers(0, 7, 200),
            "home": rng.integers(0, 2, 200),
        }
    )
    points = 500 + X["income"] / 50 - 15 * X["debts"] + 30 * X["home"] + rng.normal(0, 15, 200)
    X.assign(paid=np.where(points > 560, "yes", "no")).to_csv(folder / "loans.csv", index=False)
    space = reap.ActionSpace.from_frame(X, immutable=["home"])
    space.save(folder / "space.toml")
    save_model(make_pipeline(space.encoder(), LinearRegression()).fit(X, points), folder / "points.skops")
    labels = np.where(points > 560, "yes", "no")
    save_model(make_pipeline(space.encoder(), LogisticRegression()).fit(X, labels), folder / "classes.skops")
    return folder


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.delenv("REAP_DURABILITY")  # what users get

    def runner(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return runner


def of(bank, model, command="recommend"):
    table = ("--data", bank / "loans.csv", "--label", "paid", "--favourable", "yes")
    return command, *table, "--space", bank / "space.toml", "--model", bank / model


def test_a_regression_in_points_is_spoken_of_in_points(run, bank):
    code, out, _ = run(*of(bank, "points.skops"), *POINTS)
    assert code == 0
    score = float(re.search(r"to ([\d.]+) points \(needed: more than 560 points\)", out)[1])
    assert score > 560 + 1  # a margin is kept where nothing can be retrained
    code, out, _ = run(*of(bank, "points.skops"), *POINTS, "--json", "--margin", "0")
    plan = json.loads(out)
    assert plan["scale"]["unit"] == "points"
    assert 560 < plan["scores"][-1] < score
    code, out, _ = run(*of(bank, "points.skops", "reasons"), *POINTS)
    assert code == 0
    assert out.startswith("1. ")


def test_a_range_is_typed_with_a_colon(run, bank):
    code, out, _ = run(
        *of(bank, "points.skops"), "--threshold", "540:560", "--output", "score", "--margin", "0", "--json"
    )
    assert code == 0
    assert 540 <= json.loads(out)["scores"][-1] <= 560


def test_batch_and_audit_keep_the_unit(run, bank):
    rows = ("--space", bank / "space.toml", "--input", bank / "loans.csv", "--data", bank / "loans.csv")
    code, _, err = run(
        "batch",
        "--model",
        bank / "points.skops",
        *rows,
        *POINTS,
        "-o",
        bank / "plans.parquet",
        "-j",
        1,
        "--quiet",
    )
    assert code == 0, err
    plans = pd.read_parquet(bank / "plans.parquet")
    made = plans[plans["recourse_status"] == "ok"]
    assert (made["recourse_score"] > 560).all()
    assert "recourse_probability" not in plans
    code, _, err = run("audit", bank / "plans.parquet", "--by", "home", "--matrices", 5, "--resamples", 20)
    assert code == 0, err


def test_the_easiest_chance_of_a_yes_is_looked_for_by_default(run, bank):
    code, out, _ = run(*of(bank, "classes.skops"), "--target", "yes")
    assert code == 0
    first, safer = out.split("A safer plan")
    counts = [int(re.search(r"(\d+) of 20 possible updates of it", part)[1]) for part in (first, safer)]
    assert counts[0] < 19 <= counts[1]
    assert "This plan is safer, and asks" in safer
    code, out, _ = run(*of(bank, "classes.skops"), "--target", "yes", "--durability", "0.9")
    assert int(re.search(r"(\d+) of 100 possible updates", out)[1]) >= 90
    assert "Easier today, but less sure to hold" in out
    code, out, _ = run(*of(bank, "classes.skops"), "--target", "yes", "--durability", "0")
    assert "possible update" not in out
    assert "less sure" not in out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--threshold", "high"), "--threshold is 'high'"),
        (("--threshold", "620"), "output='score'"),
        (("--threshold", "1:2:3"), "--threshold is '1:2:3'"),
        (("--output", "points"), "points"),
        (("--durability", "2"), "Durability is 2"),
        (("--durability", "often"), "--durability is 'often'; give chance"),
        (("--durability", "0.9", *POINTS), "--margin instead"),
    ],
)
def test_what_cannot_be_is_one_sentence(run, bank, given, said):
    code, _, err = run(*of(bank, "classes.skops"), "--target", "yes", *given)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
