"""Sessions of the experiments, and the searches they are compared with."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap import ActionSpace, InputError
from reap.elicitation import Elicitation, Paper
from reap.questions import Exhaustive, SimilarCost
from reap.research.experiments.bench import make_bench
from reap.research.experiments.gap import by_distance
from reap.research.experiments.people import KINDS, Place, matrices, person
from reap.research.experiments.run_time import all_pairs
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import RowSession, hold, hold_together
from reap.research.subjects import Mahalanobis


def test_people_are_the_same_for_everybody():
    space = ActionSpace.from_frame(pd.DataFrame({name: [0.0, 1.0] for name in "abcd"}))
    place = Place(space, np.zeros(4), np.full(4, 0.5))
    for kind in KINDS:
        a, b = (person(kind, 4, 2, 0, subject=s, place=place) for s in (0, 5))
        move = np.array([0.3, -0.2, 0.1, 0.5])
        assert a.effort(move) == b.effort(move)
        assert a.effort(move) != person(kind, 4, 3, 0, place=place).effort(move)
    with pytest.raises(InputError, match="need a place to stand"):
        person("counting", 4, 0, 0)
    assert np.array_equal(matrices("scm", 3, 5, 1)[:2], matrices("scm", 3, 2, 1))


def test_the_set_keeps_the_truth_while_answers_are_true():
    rng = np.random.default_rng(0)
    moves = rng.normal(size=(60, 3))
    someone = person("gaussian", 3, 0, 0)
    sets = hold_together({0: RowSession(moves, someone)}, 8)[0]
    assert [len(s) for s in sets] == list(range(9))
    assert all(s.contains(someone.matrix) for s in sets)


def test_few_rows_run_out_of_questions():
    sets = hold_together({0: RowSession(np.eye(2), Mahalanobis(np.diag([1.0, 0.2])))}, 4)[0]
    assert [len(s) for s in sets] == [0, 1, 1, 1, 1]


def test_sessions_in_step_are_the_sessions_alone():
    rng = np.random.default_rng(1)
    begun = {
        s: RowSession(
            rng.normal(size=(20 + 5 * s, 3)), person("gaussian", 3, s, 0, lapse=0.3), SimilarCost(2 + s % 2)
        )
        for s in range(4)
    }
    together = hold_together(begun, 4, center="chebyshev", seed=3)
    for s, session in begun.items():
        again = RowSession(session.moves, person("gaussian", 3, s, 0, lapse=0.3), session.strategy)
        alone = hold_together({"one": again}, 4, center="chebyshev", seed=3)["one"]
        for one, other in zip(together[s], alone, strict=True):
            assert same_answers(one, other)
            np.testing.assert_allclose(
                one.center("chebyshev").matrix, other.center("chebyshev").matrix, atol=1e-9
            )


def same_answers(one, other):
    return len(one) == len(other) and all(
        a.kind == b.kind and all(np.array_equal(u, v) for u, v in zip(a.options, b.options, strict=True))
        for a, b in zip(one.answers, other.answers, strict=True)
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """German credit in the paper's setting, with a network trained until it rejects some."""
    out = tmp_path_factory.mktemp("bench")
    return make_bench(out, **{**Scope(out).bench("german"), "epochs": 100})


@pytest.mark.parametrize(("center", "options"), [("published", 2), ("published", 4), ("chebyshev", 2)])
def test_sessions_in_step_ask_what_the_product_asks(made, center, options):
    """The paper's loop on rows, with lapses, has the confidence sets of sessions with the paper's preset."""
    engine, d = made.engine("graph"), made.dimension
    rows = {i: engine.candidates(made.x(i)).moves for i in range(2)}
    people = {i: [person("gaussian", d, 1, 0, lapse=0.2, subject=i) for _ in range(2)] for i in rows}
    begun = {i: RowSession(rows[i], people[i][0], SimilarCost(options)) for i in rows}
    for i, sets in hold_together(begun, 3, center=center, seed=0).items():
        how = {"options": options, "preset": Paper(center=center), "random_state": 0}
        session = Elicitation(engine, made.x(i), questions=3, **how)
        for t in range(4):
            assert same_answers(session.belief, sets[t])
            if t < 3:
                session.answer(people[i][1].answer(session.ask()))


def test_a_session_is_heard_at_the_wanted_times(german_graph, german_rejected):
    d = german_graph.space.dimension
    outcomes = hold(
        german_graph, german_rejected.iloc[[0]], person("gaussian", d, 0, 0), at=[0, 2, 4], seed=0
    )
    assert [h.answers for h in outcomes] == [0, 2, 4]
    assert outcomes[0].seconds <= outcomes[1].seconds <= outcomes[2].seconds
    assert all(h.plan.valid for h in outcomes)
    alone = hold(german_graph, german_rejected.iloc[[0]], person("gaussian", d, 0, 0), at=[4], seed=0)
    assert np.array_equal(alone[-1].plan.path, outcomes[-1].plan.path)


def test_a_session_with_nothing_to_ask_is_heard_all_the_same(german, german_graph, german_model):
    accepted = german.X[german_model.predict(german.X) == 1].iloc[[0]]
    outcomes = hold(
        german_graph, accepted, person("gaussian", german.space.dimension, 0, 0), at=[2, 3], seed=0
    )
    assert [(h.answers, h.plan.status) for h in outcomes] == [
        (2, "already_accepted"),
        (3, "already_accepted"),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_and_pruned_agree(seed):
    rng = np.random.default_rng(seed)
    moves, G = rng.normal(size=(70, 3)), rng.normal(size=(3, 3))
    A = G @ G.T
    assert all_pairs(moves, A) == pytest.approx(Exhaustive().choose(moves, A).score, abs=1e-12)
    near, every = by_distance(moves, A, 0.0)
    assert every == pytest.approx(all_pairs(moves, A), abs=1e-9)
    assert near == pytest.approx(SimilarCost().choose(moves, A).score, abs=1e-9)
    near, every = by_distance(moves, A, 0.3)
    assert 0.3 <= every <= near
