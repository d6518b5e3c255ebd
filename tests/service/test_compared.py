"""The rows of a question on the page."""

from __future__ import annotations

import numpy as np
import pandas as pd

import reap
from reap.elicitation import Question
from reap.plan import Plan
from reap.service.views import compared
from tests.space.test_meaning import lasting

LATE = {"kind": "integer", "range": (0, 9), "direction": "down", "pace": "1 every 12 months", "deed": "pay"}
NOW = {"short": 2, "long": 3, "job": "none"}


def question(*changed):
    said = "Pay on time for {months:month|months} (to make up for {by:NAME delay|NAME delays})"
    features = [
        reap.Feature(name, **LATE, phrases={"down": said.replace("NAME", name)}) for name in ("short", "long")
    ]
    job = reap.Feature("job", "ordinal", levels=("none", "some"), label="Job", pace="6 months a level")
    space = reap.ActionSpace([*features, job])
    rows = space.encode(pd.DataFrame([NOW, *({**NOW, **each} for each in changed)]))
    plans = [Plan(space, np.stack([rows[0], row]), np.array([0.2, 0.8])) for row in rows[1:]]
    return Question("0-1", 1, tuple(plans))


def test_what_one_deed_brings_is_one_row():
    rows = compared(question({"short": 1, "long": 1}, {"job": "some"}))
    assert [row.label for row in rows] == ["short", "Job", "When"]
    done, left = rows[0].cells
    assert done.text == "Pay on time for 24 months (to make up for 1 short delay and 2 long delays)"
    assert (done.changes, left.changes, done.bar, left.bar) == (True, False, None, None)
    assert left.text == "short: 2, as now"


def test_a_deed_by_which_options_differ_is_said_whole_in_each():
    asked = question({"short": 1, "long": 1}, {"short": 1, "job": "some"})
    assert asked.shared == ()
    assert "include this" not in str(asked)
    assert "A  Pay on time for 24 months (to make up for 1 short delay and 2 long delays)" in str(asked)
    assert "Pay on time for 12 months (to make up for 1 short delay)" in str(asked)
    assert asked.titles == ("lower long", "job: some")
    (late, *_) = compared(asked)
    assert [cell.changes for cell in late.cells] == [True, True]


def test_a_deed_that_is_the_same_in_all_is_shared():
    asked = question({"short": 1, "long": 2}, {"short": 1, "long": 2, "job": "some"})
    assert [change.feature for change in asked.shared] == ["short", "long"]


def test_one_feature_of_a_deed_keeps_its_scale():
    (late, _, _) = compared(question({"short": 1}, {"job": "some"}))
    assert late.cells[0].text == "Pay on time for 12 months (to make up for 1 short delay)"
    assert late.cells[0].bar is not None


def test_what_takes_all_of_the_time_says_so_where_another_says_a_shorter_one():
    question = lasting({"debts": 3, "hours": 5}, {"hours": 8})
    assert [row.cells[0].text for row in compared(question)] == [
        "Pay off 2 of 5 debts, which takes 4 months",
        "Work 5 hours for 2 months",
        "This takes 4 months",
    ]
