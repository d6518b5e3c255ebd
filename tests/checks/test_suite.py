"""The suite on somebody's own engine, space and model."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.checks import CheckFailed
from reap.checks.report import Line, Report
from reap.checks.worlds import credit_world, random_world
from tests.checks.engines import Rows
from tests.checks.test_cases import Cheap, Illegal, Moody


@pytest.fixture(scope="module")
def world():
    return credit_world()


# engines ------------------------------------------------------------------------------------------------


def test_an_honest_engine_gets_a_clean_report(world):
    report = reap.checks.engine(Rows(world.model, world.space), world.X, people=6, for_people=False)
    assert report.ok
    assert str(report).splitlines()[0] == "Rows on 6 people, 4 matrices each: 6 of 6 promises hold"
    assert report.line("legal").cases == 24


def test_a_function_that_makes_an_engine_and_a_fitted_one_are_taken_alike(world):
    made = reap.checks.engine(lambda: Rows(world.model, world.space), world.X, people=3, for_people=False)
    fitted = Rows(world.model, world.space).fit(world.X)
    assert str(made) == str(reap.checks.engine(fitted, world.X, people=3, for_people=False))


@pytest.mark.parametrize(
    ("engine", "line", "said"),
    [
        (Cheap, "effort", "states an effort"),
        (Illegal, "legal", "is illegal"),
        (Moody, "manners", "is another"),
    ],
)
def test_faults_are_named(world, engine, line, said):
    report = reap.checks.engine(
        engine(world.model, world.space), world.X, people=7, for_people=False, raises=False
    )
    assert not report.ok
    assert said in report.line(line).broken[0]
    with pytest.raises(CheckFailed, match=f"✗ {line}"):
        reap.checks.engine(engine(world.model, world.space), world.X, people=7, for_people=False)


def test_plans_for_people_are_asked_for_unless_effort_is_of_a_path(world):
    report = reap.checks.engine(Rows(world.model, world.space), world.X, people=6, raises=False)
    assert report.line("irreducible").broken
    paths = reap.checks.engine(reap.GraphRecourse(world.model, world.space), world.X, people=6)
    assert "irreducible" not in [line.name for line in paths.lines]


def test_only_engines_are_checked(world):
    with pytest.raises(reap.InputError, match=r"subclass reap\.recourse\.Engine"):
        reap.checks.engine(lambda: world.model, world.X)


def test_a_table_without_rejected_people_proves_nothing(world):
    accepted = world.X[world.probability(world.X) > 0.5]
    report = reap.checks.engine(Rows(world.model, world.space), accepted, raises=False)
    assert not report.ok
    assert "could not be checked: no case" in str(report)


def test_an_encoded_table_is_checked_too():
    Z = np.random.default_rng(0).random((80, 3)).round(2)
    space = reap.ActionSpace.from_frame(Z, groups={})
    model = LogisticRegression(C=100).fit(Z, Z.sum(axis=1) > 1.5)
    assert reap.checks.engine(Rows(model, space, target=True), Z, people=5, for_people=False).ok


# models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_models_of_random_worlds_pass(seed):
    world = random_world(seed, rich=True)
    assert reap.checks.model(world.model, world.space, world.X).ok


def test_a_gradient_is_measured(world):
    pipe = make_pipeline(world.space.encoder(), LogisticRegression()).fit(world.X, world.X["income"] > 3000)
    report = reap.checks.model(pipe, world.space, world.X, target=True)
    assert report.line("gradient").cases == 20


def unsteady(rows):
    """A score that depends on the other rows of the table."""
    income = rows["income"].to_numpy(dtype=float)
    return 1 / (1 + np.exp(income.mean() / 1000 - income / 1000))


@pytest.mark.parametrize(
    ("model", "line", "said"),
    [
        (unsteady, "steady", "in the table and"),
        (lambda rows: np.full(len(rows), 0.9), "both verdicts", "120 of 120 rows are accepted"),
    ],
)
def test_faults_of_models_are_named(world, model, line, said):
    with pytest.raises(CheckFailed, match=said):
        reap.checks.model(model, world.space, world.X)
    assert reap.checks.model(model, world.space, world.X, raises=False).line(line).broken


def test_a_column_that_the_space_rounds_away_is_found():
    X = pd.DataFrame({"income": np.linspace(1000, 5000, 60)})
    coarse = reap.ActionSpace([reap.Feature("income", "integer", range=(1000, 5000))])
    with pytest.raises(reap.InputError, match=r"'income' .* whole number"):
        reap.checks.model(lambda rows: rows["income"] % 1, coarse, X)


# reports ------------------------------------------------------------------------------------------------


def test_a_report_shows_three_faults_and_counts_the_rest():
    text = str(Report("Mine", [Line("legal", "every plan is legal", 9, [f"fault {i}" for i in range(5)])]))
    assert text.splitlines() == [
        "Mine: 0 of 1 promises hold",
        "✗ legal            broken 5 times in 9 cases: every plan is legal",
        *(f"    fault {i}" for i in range(3)),
        "    and 2 more",
    ]


@pytest.mark.slow
def test_the_command_prints_what_holds_and_counts_what_failed():
    done = subprocess.run(
        [sys.executable, "-m", "reap.checks", "tests.checks.engines:Rows"],
        capture_output=True,
        text=True,
        check=False,
    )
    # of the promises for people a session keeps one for every engine: its pool drops dominated plans
    assert done.returncode == len(reap.checks.FOR_PEOPLE) - 1, done.stdout + done.stderr
    held = sum(line.startswith("✓") for line in done.stdout.splitlines())
    assert held == len(reap.checks.CASES) + 1
