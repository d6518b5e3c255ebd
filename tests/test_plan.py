"""Plans: words, frames, files, pictures."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import reap
from reap import InputError, Plan
from reap.plan import Confidence
from reap.space import Feature


@pytest.fixture
def space():
    X = pd.DataFrame(
        {
            "amount": [500, 5951, 20000],
            "job": ["none", "skilled", "manager"],
            "rate": [0.5, 1.25, 3.0],
            "owner": [True, False, True],
        }
    )
    return reap.ActionSpace.from_frame(
        X,
        ordinal={"job": ["none", "skilled", "manager"]},
        features={
            "amount": {"label": "Loan amount", "unit": "DM"},
            "job": {"label": "Job"},
            "rate": {"label": "APR", "unit": "%"},
            "owner": {"label": "Home owner"},
        },
    )


@pytest.fixture
def rows(space):
    """Where somebody stands, and where they are after each of two steps."""
    return space.encode(
        pd.DataFrame(
            {
                "amount": [5951, 3200, 3200],
                "job": ["none", "none", "skilled"],
                "rate": [3.0, 3.0, 1.25],
                "owner": [False, False, True],
            }
        )
    )


@pytest.fixture
def plan(space, rows):
    return Plan(space, rows, np.array([0.2, 0.4, 0.7]), effort=0.3, confidence=Confidence(0.83, 0.01))


@pytest.fixture
def path(space):
    """A path of the paper's graph: the amount falls, rises and falls, and the score falls on the way."""
    frame = pd.DataFrame(
        {
            "amount": [5951, 3200, 4000, 2000],
            "job": ["none", "none", "skilled", "skilled"],
            "rate": 3.0,
            "owner": False,
        }
    )
    return Plan(space, space.encode(frame), np.array([0.2, 0.1, 0.4, 0.7]), effort=0.3, along=True)


def test_it_reads_like_advice(plan):
    assert str(plan).splitlines() == [
        "Your plan: 4 changes, and the score rises from 20 to 70 out of 100 (needed: more than 50).",
        "1. Reduce loan amount from 5,951 to 3,200 DM  (score 40)",
        "2. Raise job from “none” to “skilled”; reduce APR from 3.00 to 1.25 %; "
        "change home owner from “no” to “yes”  (score 70)",
        "How sure: this fits you well.",
    ]
    assert str(Confidence(within=1.0, excess=0.0, answers=0)) == "nothing was learnt about you yet"
    assert str(Confidence(within=0.6, excess=0.1)) == "this fits you fairly well"
    assert "still guessing" in str(Confidence(within=0.3, excess=0.4))
    assert Confidence(within=0.3, excess=0.4).words(asking=False) == "we are still guessing"


def test_a_path_says_first_what_it_comes_to_and_does_not_hide_a_setback(path):
    lines = str(path).splitlines()
    assert lines[:3] == [
        "Your plan: 2 changes, and the score goes from 20 to 70 out of 100 (needed: more than 50).",
        "- Reduce loan amount from 5,951 to 2,000 DM",
        "- Raise job from “none” to “skilled”",
    ]
    assert path.setback is path.steps[0]
    assert any("After step 1 the score is lower than before it (10 out of 100)" in line for line in lines)
    assert "rises" not in str(path)


def test_the_notebook_shows_each_action_once_and_folds_the_stages_of_a_path(plan, path):
    html = plan._repr_html_()
    assert html.count("<tr>") == 1 + len(plan.changes)
    assert "<details>" not in html
    assert "<td" in html
    assert html.index(">40<") < html.index(">70</td>")
    html = path._repr_html_()
    assert html.count("<tr>") == 1 + len(path.changes)
    assert html.index("from 5,951 to 2,000 DM") < html.index("<details>")
    assert html.count("<li>") == 3
    assert "lower than before it" in html


def test_effort_is_of_the_whole_change_and_of_a_path_of_its_moves(plan, path):
    assert plan.moves.tolist() == [(plan.path[-1] - plan.path[0]).tolist()]
    assert path.moves.tolist() == np.diff(path.path, axis=0).tolist()


def test_the_values_are_in_units(plan):
    assert plan.valid
    assert plan.score == pytest.approx(0.7)
    assert plan.start["amount"] == 5951
    assert plan.target["job"] == "skilled"
    assert [change.feature for change in plan.changes] == ["amount", "job", "rate", "owner"]
    assert len(plan.steps[1].changes) == 3
    assert plan.steps[0].changes[0].signed == "−2,751 DM"


def test_frame(plan):
    frame = plan.to_frame()
    assert list(frame.index) == ["now", "step 1", "step 2"]
    assert frame["amount"].tolist() == [5951, 3200, 3200]
    assert frame["amount"].dtype == np.int64
    assert frame["probability"].tolist() == [0.2, 0.4, 0.7]


def test_json_round_trip_is_exact_and_needs_nothing_else(plan):
    text = plan.to_json()
    again = Plan.from_json(text)
    assert again.to_json() == text
    assert str(again) == str(plan)
    assert again.path.tobytes() == plan.path.tobytes()
    assert again.confidence == plan.confidence


def test_nothing_needs_to_change(space, plan):
    none = Plan.none(space, plan.path[0], 0.9, "already_accepted")
    assert none.valid
    assert none.effort == 0
    assert none.moves.shape == (0, space.dimension)
    assert "accepts you as you are" in str(none)


@pytest.mark.parametrize("status", ["none_found", "unreachable", "infeasible", "time_limit"])
def test_no_plan_is_never_valid_and_says_why(space, plan, status):
    none = Plan.none(space, plan.path[0], 0.9, status, note="Lift the limit on the amount.")
    assert not none.valid
    assert np.isnan(none.effort)
    assert str(none).endswith("Lift the limit on the amount.")
    assert none.target["amount"] == 5951
    assert Plan.from_json(none.to_json()).status == status
    assert "<strong>" in none._repr_html_()


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda d: "[", "not valid JSON"),
        (lambda d: "[]", "not a plan"),
        (lambda d: json.dumps({**d, "version": 7}), "version 7"),
        (lambda d: json.dumps({**d, "path": [[1.0]]}), "shape"),
        (lambda d: json.dumps({**d, "path": "x"}), "damaged"),
        (lambda d: json.dumps({**d, "status": "great"}), "damaged"),
        (lambda d: json.dumps({k: v for k, v in d.items() if k != "effort"}), "damaged"),
    ],
)
def test_damaged_files_are_refused(plan, damage, sentence):
    with pytest.raises(InputError, match=sentence):
        Plan.from_json(damage(json.loads(plan.to_json())))


def test_a_plan_cannot_be_changed(plan):
    with pytest.raises(AttributeError):
        plan.effort = 0.0
    with pytest.raises(ValueError, match="read-only"):
        plan.path[0, 0] = 1.0


def test_plot_names_what_changes(plan, tmp_path):
    figure = plan.plot()
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels == ["Loan amount", "Job", "APR", "Home owner"]
    figure.savefig(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").stat().st_size > 5000


def test_html_escapes(space):
    X = pd.DataFrame({"a<b>": [0, 1, 2]})
    odd = reap.ActionSpace.from_frame(X)
    html = Plan(odd, odd.encode(X.iloc[[0, 2]]), np.array([0.1, 0.9]))._repr_html_()
    assert "a<b>" not in html
    assert "a&lt;b&gt;" in html


@pytest.mark.parametrize(
    ("threshold", "score", "text"), [(0.5, 0.7, "70"), (0.5, 0.5021, "50.2"), (0.333, 0.3334, "33.34")]
)
def test_a_score_just_above_the_threshold_shows_that_it_is(space, threshold, score, text):
    z = np.zeros((1, space.dimension))
    assert Plan(space, z, np.array([score]), threshold=threshold).scale.number(score) == text


def test_a_plan_of_one_step_is_done_when_its_waiting_is():
    space = reap.ActionSpace(
        [
            Feature("debt", range=(0, 9000), pace="200 EUR a month"),
            Feature("age", "integer", range=(18, 80), clock="years"),
        ]
    )
    rows = space.encode(pd.DataFrame({"debt": [5000.0, 2000.0], "age": [30, 32]}))
    plan = Plan(space, rows, np.array([0.2, 0.7]), effort=0.1)
    assert plan.months == plan.steps[0].month == 24  # the debt alone would take 15
