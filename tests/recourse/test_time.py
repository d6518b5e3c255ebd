"""Time in plans: clocks are no advice, waiting is the last resort, steps have months, limits on time are obeyed."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.checks.worlds import random_matrices
from reap.recourse.advice import possible, relaxations
from reap.space import Feature

HORIZON = 12
OWN = {"debt": 6, "loan": 8, "term": 3, "phone": "no", "since": 5, "age": 30}


def space(**settings):
    return reap.ActionSpace(
        [
            Feature("debt", "integer", range=(0, 9), direction="down", pace="1 every 2 months"),
            Feature("loan", "integer", range=(1, 9), direction="down", when="application"),
            Feature("term", "integer", range=(1, 5), when="application"),
            Feature("phone", "binary", levels=["no", "yes"], direction="up", pace="1 month a level"),
            Feature("since", "integer", range=(0, 40), clock="months"),
            Feature("age", "integer", range=(18, 80), clock="years"),
        ],
        horizon=HORIZON,
        **settings,
    )


def model(debt=0.0, loan=0.0, term=0.0, phone=0.0, since=0.0, needed=1.0):
    """A score that rises by so much for every unit less of debt and loan, more of the others."""

    def score(rows):
        gain = debt * (6 - rows["debt"]) + loan * (8 - rows["loan"]) + term * (rows["term"] - 3)
        gain = gain + phone * (rows["phone"] == "yes") + since * (rows["since"] - 5)
        return 1 / (1 + np.exp(-5 * (gain - needed + 1e-3)))

    return score


def table():
    values = itertools.product((0, 3, 6, 9), (1, 4, 8), (1, 3, 5), ("no", "yes"), (0, 17, 40), (30,))
    return pd.DataFrame(list(values), columns=list(OWN))


def plan_of(scored, limits=None, A=None, **settings):
    made = space(**settings)
    engine = reap.Recourse(scored, made).fit(table())
    A = np.eye(made.dimension) if A is None else A
    return engine.plans(pd.DataFrame([OWN]), A, limits)[0]


def test_steps_stand_in_the_order_of_their_dates_and_what_is_chosen_on_the_day_last_and_together():
    plan = plan_of(model(debt=0.1, phone=0.3, loan=0.1, term=0.1, needed=1.7), max_changes=4)
    assert [[c.feature for c in step.changes] for step in plan.steps][-1] == ["loan", "term"]
    assert [step.month for step in plan.steps] == [1, plan.months, plan.months]
    assert plan.months == 2 * (6 - plan.target["debt"])
    assert plan.target["since"] == 5 + plan.months
    lines = str(plan).splitlines()
    assert lines[0].startswith(
        f"Your plan: 4 changes, ready in about {plan.months} months, and the score rises"
    )
    assert lines[2].startswith("2. Reduce debt")
    assert f"(in month {plan.months}, score" in lines[2]
    assert lines[3].startswith("3. When you apply: reduce loan")


def test_dates_are_those_of_the_calendar_where_the_first_day_is_given():
    plan = plan_of(model(debt=0.2, phone=0.3, needed=1.3))
    assert plan.months == 10
    assert "by March 2027" in plan.describe("2026-05-10")
    assert "in month 10" in str(plan)


def test_what_takes_no_time_is_ready_at_once():
    plan = plan_of(model(loan=0.5))
    assert (plan.months, plan.steps[0].month, plan.follows) == (0, 0, ())
    assert "1 change, ready at once" in str(plan)


def test_a_plan_without_time_says_nothing_of_it():
    X = table()[["debt", "loan"]]
    engine = reap.Recourse(
        lambda rows: np.where(rows["debt"] < 5, 0.9, 0.1), reap.ActionSpace.from_frame(X)
    ).fit(X)
    plan = engine.plans(pd.DataFrame([{"debt": 6, "loan": 8}]), np.eye(2))[0]
    assert plan.months == 0
    assert "ready" not in str(plan)
    assert "month" not in str(plan)


def test_waiting_alone_is_a_plan_without_changes_and_only_where_nothing_else_helps():
    plan = plan_of(model(since=0.1))
    assert (len(plan.changes), len(plan.steps), plan.months) == (0, 1, 10)
    assert "Your plan: wait 10 months" in str(plan)
    assert "1. Wait until month 10" in str(plan)
    assert plan.note == "Nothing has to change but the date. No plan that is ready sooner was found."
    plan = plan_of(model(since=0.1, loan=0.2))
    assert [c.feature for c in plan.changes] == ["loan"]
    assert plan.months == 0


def test_waiting_beside_an_action_is_a_step_of_its_own():
    scored = model(since=0.05, loan=0.1)  # all of the loan gives 0.7
    plan = plan_of(scored)
    assert [bool(step.changes) for step in plan.steps] == [False, True]
    assert scored(pd.DataFrame([{**plan.target.to_dict(), "since": 5 + plan.months - 1}]))[0] < 0.5
    assert plan.note == "No plan without waiting was found."


@pytest.mark.parametrize("seed", range(8))
def test_no_plan_waits_longer_than_needed_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    parts = rng.uniform(0, 0.3, 4) * (rng.random(4) < 0.7)
    scored = model(*parts, since=rng.uniform(0, 0.15), needed=rng.uniform(0.5, 1.5))
    made = space()
    engine = reap.Recourse(scored, made, max_changes=None).fit(table())
    rows = pd.DataFrame(
        list(itertools.product(range(7), range(1, 9), range(1, 6), ("no", "yes"), range(HORIZON + 1))),
        columns=["debt", "loan", "term", "phone", "month"],
    )
    needed = np.maximum(2 * (6 - rows["debt"]), rows["phone"] == "yes")
    rows = rows[needed <= rows["month"]]
    rows["since"], rows["age"] = 5 + rows["month"], 30 + rows["month"] // 12
    waits = rows["month"] > needed[rows.index]
    assert made.allows(pd.DataFrame([OWN]), rows[list(OWN)]).all()
    accepted = scored(rows) > 0.5
    debts = 2 * (6 - rows["debt"]) > (rows["phone"] == "yes")  # what takes longest
    idle = rows.assign(debt=rows["debt"].where(~debts, 6), phone=rows["phone"].where(debts, "no"))
    sooner = idle.assign(since=5 + (idle["phone"] == "yes"))
    pretext = (rows["month"] > 0) & (scored(idle) > 0.5) & (scored(sooner) <= 0.5)
    plans = engine.plans(pd.DataFrame([OWN]), random_matrices(made.dimension, 6, seed=seed))
    for plan in plans:
        assert (plan.status == "ok") == accepted.any()
        if plan.status != "ok":
            continue
        took = max(made.time.actions(plan.path[0], plan.path[-1]).values(), default=0)
        assert plan.months >= took
        if (accepted & ~waits & ~pretext).any():
            assert plan.months == took
        elif plan.months > took:  # then not one month longer than it must be
            nearer = {**plan.target.to_dict(), "since": plan.target["since"] - 1}
            assert scored(pd.DataFrame([nearer]))[0] <= 0.5


def test_within_months_is_obeyed_by_engine_and_session():
    scored = model(debt=0.2, loan=0.09, phone=0.3)
    limits = space().limits(within_months=6)
    assert plan_of(scored).months > 6
    assert plan_of(scored, limits).months <= 6
    engine = reap.Recourse(scored, space()).fit(table())
    session = engine.elicit(OWN, questions=2)
    session.constrain(within_months=6)
    while question := session.ask():
        assert all(option.months <= 6 for option in question.options)
        session.answer("left")
    assert session.recommend().months <= 6
    assert session.limits.describe() == ["done within 6 months"]
    again = reap.Elicitation.from_json(session.to_json(), engine)
    assert again.recommend().to_dict() == session.recommend().to_dict()
    session.release("within_months")
    session.constrain("loan", at_most=7, within_months=3)
    assert session.limits.within_months == 3
    assert session.recommend().months <= 3


def test_a_limit_on_time_that_makes_no_sense_is_refused():
    engine = reap.Recourse(model(loan=0.5), space()).fit(table())
    session = engine.elicit(OWN)
    with pytest.raises(reap.InputError, match="name the feature"):
        session.constrain(at_most=3, within_months=3)
    with pytest.raises(reap.InputError, match=r"within_months is 2\.5"):
        session.constrain(within_months=2.5)
    X = table()[["debt", "loan"]]
    timeless = reap.Recourse(lambda rows: rows["debt"] / 20, reap.ActionSpace.from_frame(X)).fit(X)
    with pytest.raises(reap.InputError, match="no feature has a pace"):
        timeless.elicit({"debt": 3, "loan": 4}).constrain(within_months=3)


def test_what_must_go_names_the_time():
    engine = reap.Recourse(model(debt=0.2), space()).fit(table())
    session = engine.elicit(OWN)
    session.constrain(within_months=2)
    assert relaxations(session.limits, possible(engine, OWN)) == [("within_months",)]
    assert "Without your limit on “time” there is a plan." in session.recommend().note


def test_questions_show_the_time_once_and_no_clocks():
    engine = reap.Recourse(model(debt=0.2, loan=0.15, phone=0.2), space()).fit(table())
    session = engine.elicit(OWN, questions=3)
    seen = []
    while question := session.ask():
        labels = [row.label for row in question.differences]
        assert not {"since", "age"} & set(labels)
        months = [option.months for option in question.options]
        assert ("When" in labels) == (len(set(months)) > 1)
        seen += [row for row in question.differences if row.label == "When"]
        session.answer("left")
    assert seen
    assert {d.feature for d in session.learned().difficulties} == {"debt", "loan", "term", "phone"}


def test_months_come_with_tables_and_json():
    scored = model(debt=0.2, phone=0.3, needed=1.3)
    engine = reap.Recourse(scored, space()).fit(table())
    frame = engine.recommend(pd.DataFrame([OWN]))
    assert frame["recourse_months"].tolist() == [10]
    plan = engine.plans(pd.DataFrame([OWN]), np.eye(6))[0]
    data = plan.to_dict()
    assert data["months"] == 10
    assert [step["month"] for step in data["steps"]] == [1, 10]
    assert reap.Plan.from_dict(data).steps == plan.steps
    assert "in month 10" in plan._repr_html_()


@pytest.mark.parametrize("kind", ["read", "black box"])
def test_trees_are_asked_for_plans_that_take_time(kind):
    rng = np.random.default_rng(0)
    X = table().sample(300, replace=True, random_state=0)
    X["debt"] = rng.integers(0, 10, len(X))
    X["since"] = rng.integers(0, 41, len(X))
    y = (8 - X["debt"] + (X["phone"] == "yes") * 2 + X["since"] / 20 - X["loan"] / 2 > 2).astype(int)
    made = space()
    trees = make_pipeline(made.encoder(), RandomForestClassifier(20, max_depth=5, random_state=0)).fit(X, y)
    model = trees if kind == "read" else lambda rows: trees.predict_proba(rows)[:, 1]
    report = reap.checks.engine(reap.Recourse(model, made), X, people=5, matrices=4)
    assert report.line("months").cases >= 10


@pytest.mark.slow
@pytest.mark.parametrize("name", ["german", "heloc", "compas"])
def test_real_people_never_wait_where_they_need_not(load, name):
    data = load(name)
    X, y = data.X.iloc[:1500], data.y.iloc[:1500]
    scored = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(X, y)
    engine = reap.Recourse(scored, data.space).fit(X)
    waiting = 0
    for x in (X.iloc[[i]] for i in np.flatnonzero(scored.predict(X) == 0)[:12]):
        for plan in engine.plans(x, random_matrices(data.space.dimension, 3, seed=0)):
            if plan.status != "ok":
                continue
            took = max(data.space.time.actions(plan.path[0], plan.path[-1]).values(), default=0)
            waiting += plan.months > took
            assert plan.months == took or "No plan without waiting was found." in plan.note
    assert waiting <= 6  # the last resort of few
