"""PlanParts of plans: what may be asked about beside whole plans, and what an answer to it means."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import reap
from reap import Plan
from reap.belief import Posterior
from reap.elicitation import Question
from reap.elicitation.pool import PlanParts, Pool, key
from reap.questions import Decision
from reap.space import Limits

NAMES = ("a", "b", "c", "d", "e", "f")
X = pd.DataFrame({name: [0.0, 9.95] for name in NAMES}).assign(sum=[0.0, 59.7])
SPACE = reap.ActionSpace.from_frame(X, features={"sum": {"derived": "a + b + c + d + e + f"}})


def plan(**to):
    rows = pd.DataFrame([dict.fromkeys(NAMES, 0.0), {**dict.fromkeys(NAMES, 0.0), **to}])
    rows["sum"] = rows[list(NAMES)].sum(axis=1)
    return Plan(SPACE, SPACE.encode(rows), np.array([0.2, 0.8]))


#: Two plans with nothing in common: six rows, more than anybody reads.
APART = [plan(a=3, b=4, c=2), plan(d=3, e=4, f=2)]


def changed(part):
    return {change.feature: change.after for change in part.changes}


def test_parts_are_one_or_two_changes_of_a_plan_with_all_else_as_it_is():
    parts = PlanParts(SPACE, Limits(), APART)
    found = [changed(part) for part in parts.plans]
    assert {"a": 3.0} in found
    assert {"d": 3.0, "f": 2.0} in found
    assert all(1 <= len(each) <= 2 for each in found)
    whole = [changed(each) for each in APART]
    assert all(any(each.items() < of.items() for of in whole) for each in found)
    for part in parts.plans:  # what follows from others follows
        row = SPACE.values(part.path[-1])
        assert row["sum"] == sum(row[name] for name in NAMES)


def test_parts_keep_limits_and_are_told_apart():
    parts = PlanParts(SPACE, Limits(fixed=("a",)), APART)
    assert not any("a" in changed(part) for part in parts.plans)
    near = PlanParts(SPACE, Limits(), [plan(a=3, b=4), plan(a=3.001, c=5)])
    found = [changed(part) for part in near.plans]
    assert [each for each in found if set(each) == {"a"}] == [{"a": 3.0}]


def test_a_short_plan_meets_no_part_of_a_longer_one():
    """It leads to a yes, the part may not: the two kinds of questions are not mixed."""
    long, short, other = plan(a=3, b=4, c=2), plan(d=3), plan(e=3)
    parts = PlanParts(SPACE, Limits(), [long, short, other])
    burden = parts.burden(3, [])
    at = {frozenset(changed(part)): i for i, part in enumerate(parts.plans)}
    assert np.isinf(burden[at[frozenset("ab")], at[frozenset("d")]])
    assert np.isinf(burden[at[frozenset("d")], at[frozenset("e")]])
    assert np.isfinite(burden[at[frozenset("a")], at[frozenset("b")]])


def test_plans_too_different_to_compare_are_asked_about_by_their_parts():
    pool, belief, rng = Pool(SPACE, APART), Posterior(7, columns=range(7)), np.random.default_rng(0)
    assert pool.choose(Decision(), belief, [], rng) is None
    parts = PlanParts(SPACE, Limits(), APART)
    shown = []
    while choice := pool.choose(Decision(min_gain=0.001), belief, shown, rng, parts=parts):
        first, second = (parts.plans[i - 2] for i in choice.options)
        rows = set(changed(first)) | set(changed(second))
        assert len(rows) <= 3
        assert not changed(first).items() <= changed(second).items()
        assert not changed(second).items() <= changed(first).items()
        shown.append([key(first), key(second)])
        assert len(shown) < 200
    assert len(shown) >= 2
    assert len({frozenset(names) for names in shown}) == len(shown)


def test_what_nobody_can_feel_is_not_asked_about():
    for plans in ([plan(a=0.04), plan(b=0.04)], [plan(a=3.0, b=1.0), plan(a=3.04, c=0.5)]):  # "3 or 3.04"
        assert Pool(SPACE, plans).choose(Decision(), Posterior(7), [], np.random.default_rng(0)) is None


def test_who_cannot_do_a_part_cannot_do_the_plan():
    assert Pool(SPACE, APART).covered([plan(a=3), plan(d=3)]).all()
    assert Pool(SPACE, APART).covered([plan(a=3)]).tolist() == [True, False]


def test_the_words_do_not_promise_a_yes():
    two = Question("1-1", 1, (plan(a=3), plan(d=3)), whole=False)
    assert "These are only steps. More may be needed for a yes." in str(two)
    assert "lead to a yes" not in str(two)


class Sum(ClassifierMixin, BaseEstimator):
    """Accepts who has at least 9 in all, of which a, b and c, or d, e and f, are at least 2 each."""

    classes_ = np.array([0, 1])

    def predict_proba(self, frame):
        rows = np.asarray(frame, dtype=float)
        three = np.minimum(rows, 3.0).reshape(len(rows), 2, 3).min(axis=2).max(axis=1)
        p = 1 / (1 + np.exp(-4 * (three - 1.95)))
        return np.column_stack([1 - p, p])

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True


@pytest.fixture(scope="module")
def engine():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 5, size=(300, 6)).round(1), columns=list(NAMES))
    return reap.Recourse(Sum(), reap.ActionSpace.from_frame(X)).fit(X)


def test_a_session_asks_about_parts_comes_back_and_ends_in_a_whole_plan(engine):
    x = pd.DataFrame([dict.fromkeys(NAMES, 0.0)])
    session = engine.elicit(x, questions=4)
    asked = []
    while question := session.ask():
        asked.append(question)
        session.answer(0)
    assert any(not question.whole for question in asked)
    assert session.recommend().valid
    again = reap.Elicitation.from_json(session.to_json(), engine)
    assert [q.whole for q, _, _ in again.history] == [q.whole for q in asked]
    assert again.recommend().effort == session.recommend().effort


def test_a_file_whose_parts_were_tampered_with_is_refused(engine):
    session = engine.elicit(pd.DataFrame([dict.fromkeys(NAMES, 0.0)]), questions=1)
    question = session.ask()
    assert not question.whole
    session.answer(0)
    log = json.loads(session.to_json())
    text = json.dumps(log)
    score = str(float(question.options[0].scores[-1]))
    assert score in text
    with pytest.raises(reap.InputError, match="scores are not the model's"):
        reap.Elicitation.from_json(text.replace(score, "0.4321"), engine)
    whole = text.replace('"whole": false', '"whole": true')
    with pytest.raises(reap.InputError, match="rejects where a plan ends"):
        reap.Elicitation.from_json(whole, engine)
