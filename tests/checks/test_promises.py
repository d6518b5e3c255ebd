"""Every promise is broken once on purpose, and found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.judge import Judge, dominates
from reap.checks.promises import EVERY, FOR_PEOPLE, Call, keep
from reap.checks.report import CheckFailed
from reap.scores import Scale
from tests.checks.engines import Altered

ALL = {**EVERY, **FOR_PEOPLE}
A = np.eye(3)[None]


def model(rows):
    """Log-odds ``income / 1000 − debts − 2``, and 3 less for the odd ones out: 3,000 with two debts."""
    odd = (rows["income"] == 3000) & (rows["debts"] == 2)
    return 1 / (1 + np.exp(2.05 - rows["income"] / 1000 + rows["debts"] + 3 * odd))


@pytest.fixture(scope="module")
def judge():
    X = pd.DataFrame(
        {"income": range(1000, 6000, 100), "debts": [0, 1, 2, 3, 4] * 10, "town": [True, False] * 25}
    )
    space = reap.ActionSpace.from_frame(X, increasing=["income"], features={"income": {"step": 100}})
    return Judge(space, model, X)


def plan_of(judge, *rows, effort=None, **given):
    """A plan through rows (income, debts, town), with the model's own scores unless told otherwise."""
    frame = pd.DataFrame(rows, columns=["income", "debts", "town"])
    path = judge.space.encode(frame)
    change = path[-1] - path[0]
    made = reap.Plan(
        judge.space, path, np.asarray(model(frame)), effort=change @ change if effort is None else effort
    )
    return replace(made, **given)


def call(judge, *plans, max_changes=3):
    x = judge.space.decode(plans[0].path[:1])
    return Call(judge, x, np.repeat(A, len(plans), axis=0), list(plans), max_changes=max_changes)


def broken(judge, name, *plans, max_changes=3):
    return list(ALL[name](call(judge, *plans, max_changes=max_changes)))


OWN = (2000, 2, True)
GOOD = [(2000, 1, True), (3100, 1, True)]


def test_a_good_plan_keeps_every_promise(judge):
    made = call(judge, plan_of(judge, OWN, *GOOD))
    keep(made, ALL)
    assert made.made
    assert list(judge.less(made.own, made.stages[0][-1]))


def test_lies_about_scores_and_verdicts(judge):
    good = plan_of(judge, OWN, *GOOD)
    higher = replace(good, scores=good.scores + 0.1)
    assert "states the scores" in broken(judge, "truthful", higher)[0]
    rejected = plan_of(judge, OWN, (2500, 2, True))
    assert "ends at a score of 0.17" in broken(judge, "truthful", rejected)[0]
    assert "but a target" in broken(judge, "truthful", replace(good, status="none_found"))[0]


def test_illegal_steps(judge):
    assert "income falls" in broken(judge, "legal", plan_of(judge, OWN, (1900, 0, True)))[0]
    off = plan_of(judge, (2100, 2, True), (5000, 2, True))
    moved = Call(
        judge,
        judge.space.decode(judge.space.encode(pd.DataFrame([OWN], columns=judge.space.names))),
        A,
        [off],
    )
    assert "starts with another income" in next(ALL["legal"](moved))


def test_efforts_that_are_not_those_of_the_moves(judge):
    wrong = plan_of(judge, OWN, *GOOD, effort=0.25)
    assert "states an effort of 0.25" in broken(judge, "effort", wrong)[0]


@pytest.mark.parametrize(
    ("name", "alter", "said"),
    [
        ("listed", lambda p: {"changes": ()}, "the status 'ok' and no change"),
        ("listed", lambda p: {"changes": p.changes[:1]}, "is not listed, and goes from"),
        ("listed", lambda p: {"target": p.target.replace(3100, np.nextafter(3100, 0))}, "it goes from"),
        ("listed", lambda p: {"changes": [replace(c, after=77) for c in p.changes]}, "→ 77; it goes from"),
        ("listed", lambda p: {"target": p.start, "changes": [_nothing(p)]}, "a change of nothing"),
        ("legal", lambda p: {"target": p.target.replace(3100, 3100.5)}, "3100.5, which is no whole number"),
        (
            "legal",
            lambda p: {"target": pd.Series({**p.target, "town": "maybe"})},
            "'maybe', which is no level",
        ),
        ("truthful", lambda p: {"target": p.start}, "ends at a score of"),
        ("effort", lambda p: {"moves": 2 * p.moves}, "moves that are not those between its rows"),
    ],
)
def test_what_a_plan_tells_is_held_against_what_it_does(judge, name, alter, said):
    plan = plan_of(judge, OWN, *GOOD)
    assert any(said in fault for fault in broken(judge, name, Altered(plan, **alter(plan))))


def _nothing(plan):
    first = plan.changes[0]
    return replace(first, after=first.before, after_text=first.before_text)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ((3100, 1, False), "without town"),
        ((3300, 1, True), "with income at 3200 instead of 3300"),
        ((5000, 1, True), "without debts"),
        ((4500, 0, False), "without debts and town"),
    ],
)
def test_reducible_plans(judge, target, said):
    assert any(
        sentence.endswith(f"is accepted {said}")
        for sentence in broken(judge, "irreducible", plan_of(judge, OWN, target))
    )


def test_what_the_model_accepts_by_a_hair_is_an_alternative(judge):
    plan = plan_of(judge, OWN, (4100, 2, True))
    near = float(model(pd.DataFrame({"income": [4000], "debts": [2]}))[0])
    above, below = (replace(judge, scale=Scale(near + gap)) for gap in (1e-8, -1e-8))
    assert broken(above, "irreducible", plan) == []
    assert broken(below, "irreducible", plan)


def test_dominated_plans(judge):
    one, two = plan_of(judge, OWN, (3100, 1, True)), plan_of(judge, OWN, (3100, 0, True))
    assert len(broken(judge, "undominated", one, two)) == 1
    assert broken(judge, "undominated", one, one) == []
    own = judge.space.values(one.path[0])
    less, more = (judge.space.values(plan.path[-1]) for plan in (one, two))
    assert dominates(judge.space, own, less, more)
    assert not dominates(judge.space, own, more, less)
    other = {**more, "income": 2900}
    assert not dominates(judge.space, own, less, other)
    assert not dominates(judge.space, own, other, less)


def test_more_changes_than_promised(judge):
    many = plan_of(judge, OWN, (3100, 1, False))
    assert "has 3 changes; 2 were promised" in broken(judge, "few changes", many, max_changes=2)[0]
    said = replace(many, note="No plan of 2 changes or fewer was found.")
    assert broken(judge, "few changes", said, max_changes=2) == []


def test_steps_of_several_actions_and_features_that_move_twice(judge):
    both = plan_of(judge, OWN, (3100, 1, True))
    assert "income could come first" in broken(judge, "single steps", both)[0]
    twice = plan_of(judge, OWN, (2500, 2, True), (2500, 1, True), (3100, 1, True))
    assert "more than one step" in broken(judge, "single steps", twice)[0]
    idle = plan_of(judge, OWN, OWN, (4100, 2, True))
    assert "nothing is done" in broken(judge, "single steps", idle)[0]


def test_actions_that_a_rule_ties_together_are_one_step(judge):
    tied = reap.ActionSpace(
        judge.space.features,
        rules=["if income increases then debts changes", "if debts changes then income changes"],
    )
    made = plan_of(replace(judge, space=tied), OWN, (3100, 1, True))
    assert broken(replace(judge, space=tied), "single steps", made) == []


def test_hidden_setbacks(judge, monkeypatch):
    falls = plan_of(judge, (2900, 2, True), (3000, 2, True), (3000, 0, True))
    assert falls.setback is not None
    assert broken(judge, "setbacks", falls) == []
    monkeypatch.setattr(reap.Plan, "__str__", lambda plan: "Your plan: the score rises.")
    assert "does not say that the score falls at step 1" in broken(judge, "setbacks", falls)[0]


def test_a_broken_promise_is_raised_in_a_sentence(judge):
    with pytest.raises(CheckFailed, match=r"here, the plan of 0 .* ends at a score of 0.46"):
        keep(call(judge, plan_of(judge, OWN, (1900, 0, True))), EVERY, "here, ")
