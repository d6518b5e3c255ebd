"""The pool: each plan once, none that asks for all that another asks for and more, paths exempt."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import reap
from reap import Plan
from reap.elicitation import Bayes
from reap.elicitation.pool import Comparisons, Pool, key
from reap.questions import Choice, Decision
from reap.recourse.reduce import asks_no_more
from tests.questions.helpers import Cloud

X = pd.DataFrame({"a": [0.0, 4.0], "b": [0.0, 4.0], "sum": [0.0, 8.0]})
SPACE = reap.ActionSpace.from_frame(X, features={"sum": {"derived": "a + b"}})
ENDS = arrays(float, st.tuples(st.integers(0, 7), st.just(2)), elements=st.sampled_from([0, 1, 2, 3, 4]))


def plan(*rows, along=False):
    """A plan from (2, 2) through rows (a, b); what they add up to follows."""
    rows = np.array([(2.0, 2.0), *rows])
    frame = pd.DataFrame({"a": rows[:, 0], "b": rows[:, 1], "sum": rows.sum(axis=1)})
    return Plan(SPACE, SPACE.encode(frame), np.linspace(0.2, 0.8, len(rows)), along=along)


def changes(pool):
    return np.array([p.path[-1] - p.path[0] for p in pool]).reshape(-1, 3)[:, :2]


@given(ENDS, st.integers(0, 7))
def test_no_plan_asks_for_all_that_another_asks_for(ends, cut):
    plans = [plan(end) for end in ends if tuple(end) != (2.0, 2.0)]
    pool = Pool(SPACE, plans[:cut])
    joining = pool.new(plans[cut:])
    pool = Pool(SPACE, [*pool, *joining])
    kept = changes(pool)
    below = asks_no_more(kept, kept)
    assert below.sum() == len(kept)  # each only below itself
    every = np.array([p.path[-1] - p.path[0] for p in plans]).reshape(-1, 3)[:, :2]
    assert asks_no_more(kept, every).any(axis=0).all()
    assert all(any(p is other for other in plans[cut:]) for p in joining)
    at_once = Pool(SPACE, plans)
    assert {key(p) for p in at_once} == {key(p) for p in pool}


def test_two_paths_to_one_row_are_two_plans_and_two_orders_of_actions_are_one():
    paths = [plan((2, 4), (4, 4), along=True), plan((4, 2), (4, 4), along=True), plan((2, 4), along=True)]
    assert len(Pool(SPACE, paths)) == 3
    assert len(Pool(SPACE, [*paths, *paths])) == 3
    orders = [plan((2, 4), (4, 4)), plan((4, 2), (4, 4))]
    (kept,) = Pool(SPACE, orders)
    assert kept is orders[0]


def test_a_limit_that_the_start_breaks_is_judged_by_where_a_plan_leads():
    ordered = plan((2, 4), (1, 4))  # after its first action a is still 2
    within = Pool(SPACE, [ordered]).within(SPACE.tighten(SPACE.limits(at_most={"a": 1})))
    assert len(within) == 1
    assert len(within.within(SPACE.tighten(SPACE.limits(fixed=["b"])))) == 0


class First:
    """A strategy that takes the first pair that may be shown."""

    def choose(self, moves, belief, asked=(), burden=None, *, plans=None, chances=None, random_state=0):
        known = {frozenset(pair) for pair in asked}
        for pair in itertools.combinations(range(len(moves)), 2):
            if np.isfinite(burden[pair]) and frozenset(pair) not in known:
                return Choice(pair, 0.0, 1)
        return None


def test_two_paths_to_one_row_are_compared_when_nothing_else_is_left_to_ask():
    once, twice, other = plan((4, 4), along=True), plan((4, 2), (4, 4), along=True), plan((2, 0), along=True)
    pool, rng = Pool(SPACE, [once, twice, other]), np.random.default_rng(0)
    shown, belief = [], np.eye(3)
    seen = []
    while (choice := pool.choose(First(), belief, shown, rng)) is not None:
        seen.append(choice.options)
        shown.append([key(pool[i]) for i in choice.options])
    assert seen == [(0, 2), (1, 2), (0, 1)]


def test_the_default_strategy_sees_the_plans_by_the_features_in_which_they_differ():
    pool = Pool(SPACE, [plan((0, 2)), plan((2, 0)), plan((4, 4))])
    ends = np.stack([p.path[-1] for p in pool])
    assert Comparisons(SPACE, pool[0].path[0], ends).rows.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    belief = Cloud([np.diag([1.0, 0.1, 0.0]), np.diag([0.1, 1.0, 0.0])])
    choice = pool.choose(Decision(), belief, [], np.random.default_rng(0))
    assert choice.options == (0, 1)
    assert Pool(SPACE, [plan((0, 2))]).choose(Decision(), belief, [], np.random.default_rng(0)) is None


def test_a_session_on_paths_shows_two_paths_to_one_row_last(german_graph, german_rejected):
    # a path's effort is its moves'
    session = german_graph.elicit(german_rejected.iloc[0], questions=3, preset=Bayes(minds=False))
    question = session.ask()
    assert all(option.along for option in question.options)
    assert not question.same_target
