"""The spaces that ship, walked with many people: no plan that no adviser would say, and time is one for all features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.checks.legality import needed, time_of
from reap.research.subjects import Mahalanobis

#: The state of an account, worst first; whoever has none may open one.
ACCOUNT = ["below 0 DM", "no account", "0 to 200 DM", "200 DM or more"]


def nonsense(plan):
    """Yield what no adviser would say of a loan."""
    before, after = plan.start, plan.target
    levels = list(plan.space.feature("savings").levels)
    if after["amount"] > before["amount"]:
        yield "raises the loan"
    if levels.index(after["savings"]) < levels.index(before["savings"]):
        yield "uses up savings"
    if ACCOUNT.index(after["status"]) < ACCOUNT.index(before["status"]):
        yield "overdraws or closes the account"
    said = {change.feature for change in plan.changes} | {c.feature for s in plan.steps for c in s.changes}
    if "age" in said:
        yield "advises age"
    if "Age" in str(plan).split("As a result")[0]:
        yield "speaks of age"


def sessions(engine, rejected, count, questions, samples):
    """Hold sessions with simulated people; return the plans that were shown or recommended, and how many were asked."""
    plans, asked = [], 0
    for i in range(count):
        person = Mahalanobis.random(engine.space.dimension, np.random.default_rng(i))
        session = reap.Elicitation(
            engine,
            rejected.iloc[i % len(rejected)],
            questions=questions,
            preset=reap.Bayes(samples=samples),
            random_state=i,
        )
        while question := session.ask():
            plans += question.options
            asked += 1
            session.answer(person.answer(question))
        plans += [session.recommend(), *session.plans(3)]
    return [plan for plan in plans if plan.status == "ok"], asked


@pytest.mark.parametrize(
    ("count", "questions", "samples"), [(12, 1, 4), pytest.param(50, 5, 32, marks=pytest.mark.long)]
)
def test_sessions_on_german_advise_nothing_that_no_adviser_would(
    german_engine, german_rejected, count, questions, samples
):
    assert len(german_rejected) >= count
    plans, asked = sessions(german_engine, german_rejected, count, questions, samples)
    assert len(plans) >= 2 * count
    assert asked >= count / 2
    assert [(str(plan), list(nonsense(plan))) for plan in plans if any(nonsense(plan))] == []


@pytest.mark.parametrize("name", ["heloc", "adult"])
@pytest.mark.parametrize("people", [5, pytest.param(200, marks=pytest.mark.long)])
def test_clocks_agree_plans_have_months_and_a_limit_on_time_is_obeyed(load, name, people):
    data = load(name)
    X, y = data.X.iloc[:2500], data.y.iloc[:2500]
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    engine = reap.Recourse(model, data.space).fit(X)
    rejected = X[model.predict(X) == 0].iloc[:people]
    assert len(rejected) == people
    A, soon = np.eye(data.space.dimension), data.space.limits(within_months=6)
    found = {None: 0, 6: 0}
    for i in range(people):
        for within, limits in ((None, None), (6, soon)):
            plan = engine.plans(rejected.iloc[[i]], A, limits)[0]
            if plan.status != "ok":
                continue
            found[within] += 1
            own, then = data.space.values(plan.path[0]), data.space.values(plan.path[-1])
            months = time_of(data.space, own, then, limits)  # from the rows alone; None where clocks disagree
            assert plan.months == months
            assert months >= needed(data.space, own, then)
            assert months <= (within or data.space.horizon)
            assert all(step.month <= plan.months for step in plan.steps)
            assert not any(data.space.feature(change.feature).clock for change in plan.changes)
            assert "at once" in str(plan) if months == 0 else "month" in str(plan)
    assert found[6] <= found[None]
    assert found[None] >= people / 5


def test_who_clears_every_card_owes_nothing_on_cards(load):
    """A file in which no card has a balance and cards are at 30 % of their limits cannot occur."""
    data = load("heloc")
    X, y = data.X.iloc[:2500], data.y.iloc[:2500]
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    engine = reap.Recourse(model, data.space).fit(X)
    cards, owed = "NumRevolvingTradesWBalance", "NetFractionRevolvingBurden"
    # So that clearing every card is cheap, and is advised where it may be.
    A = np.eye(data.space.dimension)
    A[data.space.slices[cards], data.space.slices[cards]] *= 1e-3
    rejected = X[(model.predict(X) == 0) & X[cards].between(1, 3) & (X[owed] > 5)].iloc[:12]
    plans = [engine.plans(rejected.iloc[[i]], A)[0] for i in range(len(rejected))]
    ends = [plan.target for plan in plans if plan.status == "ok"]
    assert len(ends) >= 4
    assert [end for end in ends if end[cards] == 0 and end[owed] > 0] == []
