"""What people are advised, and what they are not: life's large decisions, less than they came for, steps that set them back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import reap
from reap.recourse.acceptance import Durability
from reap.space import ActionSpace, Feature

EASIEST = Durability("chance", refits=0)  # for people, and today's model alone


def space(**facts):
    made = [
        Feature(
            "amount", "integer", range=(0, 100), step=10, direction="down", advice="last", label="Loan amount"
        ),
        Feature("savings", "integer", range=(0, 100), step=10, direction="up"),
        Feature("home", "binary", levels=("rented", "owned"), advice="never"),
    ]
    return ActionSpace([replace(f, **facts.get(f.name, {})) for f in made])


def people(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "amount": rng.integers(0, 11, n) * 10,
            "savings": rng.integers(0, 11, n) * 10,
            "home": rng.choice(["rented", "owned"], n),
        }
    )


def score(rows):
    return np.clip(0.3 + (rows["savings"] - rows["amount"]) / 250 + 0.6 * (rows["home"] == "owned"), 0, 1)


X = pd.DataFrame({"amount": [90], "savings": [40], "home": ["rented"]})


def plan(limits=None, durability=EASIEST, **facts):
    engine = reap.Recourse(score, space(**facts), durability=durability).fit(people())
    return engine.plans(X, np.eye(engine.space.dimension), limits)[0]


def test_a_bare_engine_takes_the_easiest_whatever_it_is():
    bare = plan(durability=0.0, home={"advice": "usual"})
    assert bare.status == "ok"


def test_life_and_the_amount_are_left_alone_while_there_is_another_plan():
    engine = reap.Recourse(score, space(savings={"range": (0, 300)}), durability=EASIEST).fit(people())
    made = engine.plans(X, np.eye(engine.space.dimension))[0]
    assert [c.feature for c in made.changes] == ["savings"]
    assert made.note == ""
    bare = reap.Recourse(score, engine.space).fit(people()).plans(X, np.eye(engine.space.dimension))[0]
    assert "savings" not in [c.feature for c in bare.changes] or len(bare.changes) > 1


def test_less_than_one_came_for_is_the_last_resort_and_said():
    made = plan()  # savings end at 100: not enough alone
    assert {c.feature for c in made.changes} >= {"amount"}
    assert "home" not in {c.feature for c in made.changes}
    assert "No plan was found that leaves this as you asked for it: loan amount." in str(made)


def test_nobody_is_told_to_move_even_where_nothing_else_helps():
    kept = reap.Limits(fixed=("amount", "savings"))
    assert plan(kept).status in ("none_found", "infeasible")
    assert plan(kept, durability=0.0).status == "ok"


def test_a_session_neither_asks_nor_offers_it():
    engine = reap.Recourse(score, space(savings={"range": (0, 300)}), durability=EASIEST).fit(people())
    session = engine.elicit(X)
    assert session.changeable == ["amount", "savings"]
    while question := session.ask():
        assert not any(c.feature == "home" for option in question.options for c in option.changes)
        session.answer("left")
    plans = session.plans(4)
    less = ["amount" in {c.feature for c in plan.changes} for plan in plans]
    assert less == sorted(less)  # what asks for less stands last
    assert not any("home" in {c.feature for c in plan.changes} for plan in plans)


def test_advice_is_one_of_three_words():
    with pytest.raises(reap.InputError, match="advice on 'home'"):
        Feature("home", "binary", levels=("rented", "owned"), advice="sometimes")


def test_no_step_sets_back():
    """A step after which the score is lower is one step with the next."""

    def wavering(rows):
        helps = rows["savings"] >= 50
        return 0.2 + 0.5 * (helps & (rows["amount"] <= 50)) - 0.1 * (helps & (rows["amount"] > 50))

    made = space(
        amount={"advice": "usual", "pace": "10 every 1 months"}, savings={"pace": "10 every 1 months"}
    )
    engine = reap.Recourse(wavering, made, durability=EASIEST).fit(people())
    found = engine.plans(X, np.eye(made.dimension))[0]
    assert found.status == "ok"
    assert found.setback is None
    assert len(found.changes) == 2


def test_the_instalment_rises_by_no_more_than_a_quarter():
    german = reap.datasets.load("german")
    ratio = german.X["amount"] / german.X["duration"]
    engine = reap.Recourse(lambda rows: 0.2 + 0.6 * (rows["duration"] < 12), german.space, durability=EASIEST)
    engine.fit(german.X)
    rows = german.X[german.X["duration"].between(12, 24)].iloc[:30]
    table, seen = engine.recommend(rows), 0
    for i in table.index[table["recourse_valid"]]:
        then = table.loc[i, "amount"] / table.loc[i, "duration"]
        assert then <= 1.25 * ratio[i] * (1 + 1e-9)
        seen += 1
    assert seen > 5
    some = table.index[table["recourse_valid"]][0]
    plan = engine.plans(rows.loc[[some]], np.eye(german.space.dimension))[0]
    assert "You would repay about" in str(plan)
