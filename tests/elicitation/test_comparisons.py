"""What may stand side by side: few rows, felt differences, nothing that asks for all of the other, nothing twice."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap import Feature
from reap.elicitation import Question
from reap.elicitation.pool import Comparisons, noticed
from reap.plan import Plan
from reap.recourse.reduce import asks_no_more

X = pd.DataFrame(
    {
        "amount": [0.0, 100.0, 50.0],
        "months": [0, 40, 20],
        "job": ["none", "unskilled", "skilled"],
        "home": ["rent", "own", "free"],
    }
)
SPACE = reap.ActionSpace.from_frame(X, ordinal={"job": ["none", "unskilled", "skilled"]})


def ends(*rows):
    return SPACE.encode(pd.DataFrame(rows, columns=X.columns))


START = ends((50.0, 20, "none", "rent"))[0]


def test_the_smallest_difference_worth_asking_about():
    least = dict(zip(SPACE.columns, noticed(SPACE, START), strict=True))
    assert least["amount"] == pytest.approx(
        0.02
    )  # no step: 2 % of the range, less than 5 % of the person's 50
    poor = dict(zip(SPACE.columns, noticed(SPACE, ends((20.0, 20, "none", "rent"))[0]), strict=True))
    assert poor["amount"] == pytest.approx(0.01)  # who has 20 feels 1
    nothing = dict(zip(SPACE.columns, noticed(SPACE, ends((0.0, 20, "none", "rent"))[0]), strict=True))
    assert nothing["amount"] == pytest.approx(0.01)  # a step
    assert least["months"] == pytest.approx(1 / 40)  # one month is more than 2 %
    assert least["job"] == pytest.approx(1 / 2)
    assert 0 < least["home=own"] < 1


def test_a_difference_nobody_feels_is_not_asked():
    compared = Comparisons(
        SPACE,
        START,
        ends((40.0, 20, "none", "own"), (39.0, 20, "skilled", "rent"), (30.0, 20, "skilled", "rent")),
    )
    burden = compared.burden(3, [])
    assert np.isinf(burden[0, 1])  # 40 or 39
    assert burden[0, 2] == 3


def test_a_change_nobody_feels_is_not_shown_however_far_the_other_goes():
    slight, far, shared, other = ends(
        (49.0, 20, "none", "own"),
        (30.0, 20, "none", "rent"),
        (49.0, 30, "none", "rent"),
        (50.0, 20, "skilled", "rent"),
    )
    burden = Comparisons(SPACE, START, np.stack([slight, far, shared, other])).burden(3, [])
    assert np.isinf(burden[0, 1])  # 49 instead of 50, beside 30
    assert np.isinf(burden[0, 3])
    assert burden[0, 2] == 2  # what both ask for is no difference
    assert burden[1, 3] == 2


def test_a_level_that_includes_another_is_not_compared_with_it():
    """Whoever keeps 200 DM in the account keeps it above 0: levels without an order all the same."""
    space = reap.datasets.load("german").space
    row = reap.datasets.load("german").X.iloc[[0]].assign(status="below 0 DM", guarantor="none")
    start = space.encode(row)[0]
    some, much, with_help = (
        space.encode(row.assign(status=status, guarantor=helper))[0]
        for status, helper in (
            ("0 to 200 DM", "none"),
            ("200 DM or more", "none"),
            ("0 to 200 DM", "guarantor"),
        )
    )
    burden = Comparisons(space, start, np.stack([some, much, with_help])).burden(3, [])
    assert np.isinf(burden[0, 1])
    assert np.isinf(burden[0, 2])
    assert burden[1, 2] == 2  # more money, or less and a guarantor: that is a choice


def test_no_more_rows_than_allowed():
    pair = ends((40.0, 10, "none", "own"), (30.0, 20, "skilled", "rent"))
    compared = Comparisons(SPACE, START, pair)
    assert compared.rows[0, 1] == 4
    assert np.isinf(compared.burden(3, [])[0, 1])
    assert compared.burden(4, [])[0, 1] == 4


def test_what_reads_like_an_asked_question_is_not_asked():
    pair = ends((40.0, 20, "none", "rent"), (50.0, 10, "none", "rent"))
    like = ends(
        (41.0, 20, "skilled", "rent"), (50.0, 10, "skilled", "rent")
    )  # with a shared change, and 41 for 40
    other = ends((20.0, 20, "none", "rent"), (50.0, 10, "none", "rent"))
    for rows, again in ((pair, True), (like, True), (other, False)):
        burden = Comparisons(SPACE, START, rows).burden(3, [list(pair[::-1] - START)])
        assert np.isinf(burden[0, 1]) == again


def test_what_another_change_asks_for_is_no_row_of_its_own():
    """Who takes a home of their own has 30 months at least: nothing to weigh, unless somebody goes farther than that."""
    space = reap.ActionSpace.from_frame(
        X,
        ordinal={"job": ["none", "unskilled", "skilled"]},
        rules=["if home becomes own then months is at least 30"],
    )
    own, farther, job = ends(
        (50.0, 30, "none", "own"), (50.0, 40, "none", "own"), (50.0, 20, "skilled", "rent")
    )
    compared = Comparisons(space, START, np.stack([own, farther, job]))
    assert compared.rows[0, 2] == 2  # the home, the job
    assert compared.rows[1, 2] == 3
    plans = [Plan(space, np.stack([START, end]), np.array([0.2, 0.8])) for end in (own, job)]
    question = Question("1", 1, tuple(plans))
    assert question.entailed >= {"months"}
    assert [row.label for row in question.differences] == ["job", "home"]
    assert [len(changes) for changes in question.apart] == [1, 1]
    assert "months" not in str(question).lower()
    again = Comparisons(space, START, np.stack([own, job])).burden(3, [[own - START, job - START]])
    assert np.isinf(again[0, 1])  # asked before


@pytest.mark.parametrize("options", [2, 4])
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 60), st.integers(0, 9))
def test_every_question_of_a_session_can_be_answered(german_engine, german_rejected, options, row, seed):
    session = german_engine.elicit(german_rejected.iloc[row], questions=8, options=options)
    person = reap.subjects.Mahalanobis.random(session.space.dimension, np.random.default_rng(seed))
    least, seen, words = noticed(session.space, session.here), [], iter(["skip", "same", "person"] * 20)
    # a year older goes by itself, and is no row
    own = [f for f in session.space.features if f.derived is None and f.clock is None]
    while question := session.ask():
        shown = np.stack([option.path[-1] - option.path[0] for option in question.options])
        assert options > 2 or sum(row.label != "When" for row in question.differences) <= 4
        for first, second in itertools.combinations(shown, 2):
            gap = np.abs(first - second)
            rows = [gap[session.space.slices[f.name]] > 1e-9 for f in own]
            assert 1 <= sum(r.any() for r in rows) <= 4
            for f in own:
                columns = session.space.slices[f.name]
                assert (gap[columns] < 1e-9).all() or (gap[columns] >= least[columns]).any()
            assert not asks_no_more(first[None], second[None])[0, 0]
            assert not asks_no_more(second[None], first[None])[0, 0]
            for a, b in seen:
                alike = np.abs(np.stack([a, b]) - np.stack([first, second])) < least
                turned = np.abs(np.stack([b, a]) - np.stack([first, second])) < least
                assert not alike.all()
                assert not turned.all()
        seen += list(itertools.combinations(shown, 2))
        word = next(words)
        session.answer(person.answer(question) if word == "person" else word)


def test_two_effects_of_one_deed_are_not_compared():
    late = {"kind": "integer", "range": (0, 9), "direction": "down"}
    features = [
        Feature("short", deed="pay on time", **late),
        Feature("long", deed="pay on time", **late),
        Feature("debt", range=(0, 1), direction="down"),
    ]
    now, ends = np.array([[5, 5, 0.8]]), np.array([[3, 5, 0.8], [5, 3, 0.8], [5, 5, 0.2], [3, 5, 0.2]])
    frames = [pd.DataFrame(rows, columns=["short", "long", "debt"]) for rows in (now, ends)]

    def burden(space):
        start, targets = (space.encode(frame) for frame in frames)
        return np.isfinite(Comparisons(space, start[0], targets).burden(3, []))

    fair = burden(reap.ActionSpace(features))
    assert fair[[0, 1], [2, 2]].all()  # another deed is compared with it
    assert not fair[[0, 1], [1, 0]].any()
    assert not fair[1, 3]  # who pays on time does all that the one asks for, and the other asks for debts too
    assert burden(reap.ActionSpace([replace(f, deed="") for f in features]))[[0, 1], [1, 3]].all()


def test_how_long_one_deed_takes_decides_who_asks_for_more():
    late = {"kind": "integer", "range": (0, 9), "direction": "down", "deed": "pay on time"}
    features = [
        Feature("short", pace="1 every 12 months", **late),
        Feature("long", pace="1 every 24 months", **late),
        Feature("debt", range=(0, 1), direction="down"),
    ]
    space = reap.ActionSpace(features, horizon=60)
    now, ends = np.array([[5, 5, 0.8]]), np.array([[3, 5, 0.2], [5, 4, 0.8], [4, 5, 0.2], [5, 3, 0.8]])
    start, targets = (
        space.encode(pd.DataFrame(rows, columns=["short", "long", "debt"])) for rows in (now, ends)
    )
    fair = np.isfinite(Comparisons(space, start[0], targets).burden(3, []))
    assert not fair[0, 1]  # two years both, and debts beside it
    assert fair[1, 2]  # two years, or one and debts
    assert fair[0, 3]  # two years and debts, or four years
