"""The confidence set against Clarabel, which knows nothing of our basis, factors or barrier."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap import InputError
from reap._typing import Array
from reap.belief import ConfidenceSet, centers, solve_centers
from reap.belief.centers import Form
from tests.belief import sdp


def person(d: int, rng: np.random.Generator) -> Array:
    """A cost matrix with largest eigenvalue 1."""
    G = rng.normal(size=(d, d))
    A = G @ G.T
    return A / np.linalg.eigvalsh(A)[-1]


def instance(
    d: int,
    answers: int,
    rng: np.random.Generator,
    *,
    steps: int = 1,
    epsilon: float = 0.01,
    lapse: float = 0.0,
) -> ConfidenceSet:
    """A set made by a random person, who answers at random in a share of the cases."""
    belief, A = ConfidenceSet(d, epsilon), person(d, rng)
    for _ in range(answers):
        options = [rng.normal(size=(rng.integers(1, steps + 1), d)) / np.sqrt(d) for _ in range(2)]
        options.sort(key=lambda V: float(np.sum((V @ A) * V)))
        belief.add(*(options[::-1] if rng.random() < lapse else options))
    return belief


def sizes() -> list[tuple[int, int]]:
    """204 sizes with 1 to 30 columns and 1 to 30 answers; few large ones, for Clarabel's sake."""
    rng = np.random.default_rng(7)
    small = [(int(rng.integers(1, 8)), int(rng.integers(1, 31))) for _ in range(194)]
    return [
        *small,
        (10, 30),
        (12, 4),
        (12, 20),
        (14, 8),
        (14, 30),
        (16, 2),
        (16, 12),
        (18, 6),
        (20, 10),
        (30, 30),
    ]


@pytest.mark.parametrize("part", range(4))
def test_equals_clarabel(part: int) -> None:
    for number, (d, answers) in list(enumerate(sizes()))[part::4]:
        rng = np.random.default_rng([number, 1])
        belief = instance(
            d,
            answers,
            rng,
            steps=1 + 2 * (number % 2),
            epsilon=float(10 ** rng.uniform(-3, -1)),
            lapse=0.2 * (number % 3 == 0),
        )
        for form in ("chebyshev", "published"):
            center = belief.center(form)
            reference = sdp.radius(belief, form)
            assert center.radius == pytest.approx(reference, rel=1e-6), (number, form)
            assert center.gap <= 1e-6 * center.radius, (number, form)
            inside(belief, center.matrix, center.radius, form)
        directions = rng.normal(size=(2 if d < 10 else 1, d))
        found = belief.worst_case(directions)
        for i, v in enumerate(directions):
            assert found.costs[i] == pytest.approx(sdp.worst(belief, v), rel=1e-6), number
            assert belief.contains(found.matrix(i), 1e-9)
            assert v @ found.matrix(i) @ v == pytest.approx(found.costs[i], rel=1e-9)
        assert (found.gaps <= 1e-6 * found.costs).all()


def inside(belief: ConfidenceSet, A: Array, r: float, form: str) -> None:
    """The ball of radius r around A keeps off what its form says."""
    spectrum = np.linalg.eigvalsh(A)
    away = r if form == "chebyshev" else 0.0
    assert spectrum[0] >= away - 1e-12
    assert spectrum[-1] <= 1 - away + 1e-12
    for M in sdp.cut_matrices(belief):
        assert np.sum(A * M) + r * np.linalg.norm(M) <= belief.epsilon + 1e-12


@pytest.mark.parametrize("steps", [1, 3])
def test_worst_case_of_a_plan_equals_clarabel(steps: int) -> None:
    for seed in range(15):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(1, 8))
        belief = instance(d, int(rng.integers(1, 12)), rng, steps=steps)
        plan = rng.normal(size=(int(rng.integers(1, 5)), d))
        found = belief.worst_case_plan(plan)
        assert found.cost == pytest.approx(sdp.worst(belief, plan), rel=1e-6)
        assert found.gap <= 1e-6 * found.cost
        assert belief.contains(found.matrix, 1e-9)
        assert np.sum((plan @ found.matrix) * plan) == pytest.approx(found.cost, rel=1e-9)
        assert found.cost <= belief.worst_case(plan).costs.sum() * (1 + 1e-6)


def test_no_answer() -> None:
    belief = ConfidenceSet(3)
    for form in ("chebyshev", "published", "analytic"):
        assert np.array_equal(belief.center(form).matrix, np.eye(3) / 2)
    assert belief.center().radius == 0.5
    assert belief.center("published").radius == np.inf
    V = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    assert belief.worst_case(V).costs.tolist() == [5.0, 0.0]
    assert belief.worst_case_plan(V).cost == 5.0
    assert belief.relaxed_center(2).dropped == ()
    assert belief.conflicts() == []
    assert len(belief) == 0


def test_analytic_centre_is_where_the_barrier_is_flat() -> None:
    belief = instance(4, 6, np.random.default_rng(3))
    A = belief.center("analytic").matrix
    gradient = np.linalg.inv(np.eye(4) - A) - np.linalg.inv(A)
    for M in sdp.cut_matrices(belief):
        gradient += M / (belief.epsilon - np.sum(A * M))
    assert np.abs(gradient).max() < 1e-5
    assert 0 < belief.center("analytic").radius <= belief.center().radius


@pytest.mark.parametrize("d", [6, 60, 300])
def test_size_does_not_depend_on_the_number_of_columns(d: int) -> None:
    """A set of few answers in many columns is the one of the same answers in the coordinates of their span."""
    rng = np.random.default_rng(5)
    small = instance(6, 3, rng)
    turn = np.linalg.qr(rng.normal(size=(d, 6)))[0]
    large = ConfidenceSet(d)
    for answer in small.answers:
        large.add(*(option @ turn.T for option in answer.options))
    for form in ("chebyshev", "published"):
        assert large.center(form).radius == pytest.approx(small.center(form).radius, rel=1e-7)
    assert turn.T @ large.center().matrix @ turn == pytest.approx(small.center().matrix, abs=1e-6)
    outside = np.eye(d) - turn @ turn.T
    assert np.linalg.eigvalsh(large.center().matrix)[0] >= large.center().radius - 1e-9
    v = rng.normal(size=6)
    mixed = turn @ v + outside @ rng.normal(size=d)
    assert large.worst_case(turn @ v).costs == pytest.approx(small.worst_case(v).costs, rel=1e-6)
    found = large.worst_case(mixed)
    assert large.contains(found.matrix(0), 1e-9)
    assert found.gaps[0] <= 1e-6 * found.costs[0]


def test_worst_case_is_homogeneous_and_above_every_member() -> None:
    rng = np.random.default_rng(11)
    belief = instance(5, 8, rng)
    V = rng.normal(size=(40, 5))
    found = belief.worst_case(V)
    assert belief.worst_case(3.0 * V).costs == pytest.approx(9.0 * found.costs, rel=1e-6)
    for form in ("chebyshev", "published", "analytic"):
        A = belief.center(form).matrix
        assert (np.sum((V @ A) * V, axis=1) <= found.costs * (1 + 1e-6)).all()
    for i in range(5):
        A = found.matrix(i)
        assert (np.sum((V @ A) * V, axis=1) <= found.costs * (1 + 1e-6)).all()


@pytest.mark.parametrize("form", ["chebyshev", "published", "analytic"])
def test_a_batch_gives_what_each_alone_gives_whoever_is_in_it(form: Form) -> None:
    rng = np.random.default_rng(0)
    sets = [instance(6, k, rng, steps=1 + k % 3) for k in (0, 1, 5, 5, 3, 8, 0)]
    sets += [instance(int(rng.integers(1, 6)), int(rng.integers(1, 7)), rng, lapse=0.3) for _ in range(20)]
    sets[2].update_same([[0.1] * 6, [0.2, 0, 0, 0, 0, 0]])
    alone, some = ([one.copy() for one in sets] for _ in range(2))
    solve_centers([*sets, sets[0]], form)
    solve_centers([some[3], some[12], some[4]], form)
    for i, (one, other) in enumerate(zip(sets, alone, strict=True)):
        found, wanted = one.center(form), other.center(form)
        assert found.matrix == pytest.approx(wanted.matrix, abs=2e-5)
        assert found.radius == pytest.approx(wanted.radius, abs=1e-6)
        assert found.gap == pytest.approx(wanted.gap, abs=1e-6)
        assert one.worst_case(np.eye(one.dimension)).costs == pytest.approx(
            other.worst_case(np.eye(one.dimension)).costs, abs=1e-6
        )
        if i in (3, 4, 12):  # batches may be cut anywhere
            np.testing.assert_allclose(found.matrix, some[i].center(form).matrix, rtol=0, atol=1e-12)


def test_what_is_known_is_not_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [instance(4, 3, np.random.default_rng(seed)) for seed in range(2)]
    solve_centers(sets)
    monkeypatch.setattr(centers, "solve_many", lambda *given: pytest.fail("solved again"))
    solve_centers(sets)
    assert sets[0].copy().center().radius == sets[0].center().radius


def test_same_is_two_cuts_and_k_options_are_k_minus_one() -> None:
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 1, 4))
    same, both = ConfidenceSet(4), ConfidenceSet(4)
    same.add_same(a, b)
    both.add(a, b)
    both.add(b, a)
    assert (len(same), len(both)) == (1, 2)
    assert same.center().radius == pytest.approx(both.center().radius, rel=1e-9)
    best, pairs = ConfidenceSet(4), ConfidenceSet(4)
    best.update(a, [b, c])
    pairs.update(a, b)
    pairs.add(a[0], c[0])
    assert (len(best), len(pairs)) == (1, 2)
    assert np.array_equal(best.estimate(), pairs.estimate())
    assert best.answers[0].kind == "preferred"
    assert same.answers[0].kind == "same"


def test_copies_are_independent_and_everything_pickles() -> None:
    belief = instance(3, 4, np.random.default_rng(1))
    before = belief.center().matrix
    other = belief.copy()
    other.add([1.0, 0.0, 0.0], [0.0, 2.0, 0.0])
    assert (len(belief), len(other)) == (4, 5)
    assert np.array_equal(belief.center().matrix, before)
    again = pickle.loads(pickle.dumps(belief))
    assert np.array_equal(again.center().matrix, before)
    belief.center().matrix[:] = 7.0
    assert np.array_equal(belief.center().matrix, before)
    moves = np.array([1.0, 0.0, 0.0])
    belief.add(moves, [0.0, 1.0, 0.0])
    moves[:] = 5.0
    assert belief.answers[-1].options[0].tolist() == [[1.0, 0.0, 0.0]]


def test_contains() -> None:
    belief = ConfidenceSet(2)
    belief.add([1.0, 0.0], [0.0, 1.0])
    assert belief.contains(np.diag([0.2, 0.9]))
    assert belief.contains(np.diag([0.5, 0.49]))
    assert not belief.contains(np.diag([0.5, 0.48]))
    assert belief.contains(np.diag([0.5, 0.48]), tolerance=0.01)
    assert not belief.contains(np.diag([-0.1, 0.5]))
    assert not belief.contains(np.diag([0.2, 1.1]))
    assert not belief.contains(np.array([[0.2, 0.1], [0.0, 0.9]]))


@given(
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
    st.floats(-9, 0),
    st.sampled_from([1, 3]),
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_asked_the_matrices_are_in_the_set(
    d: int, answers: int, seed: int, exponent: float, steps: int
) -> None:
    rng = np.random.default_rng(seed)
    belief = instance(d, answers, rng, steps=steps, epsilon=10**exponent, lapse=0.3)
    for form in ("chebyshev", "published", "analytic"):
        center = belief.center(form)
        assert belief.contains(center.matrix, 1e-12)
        if form != "analytic":
            inside(belief, center.matrix, center.radius, form)
            assert center.gap <= max(1e-6 * center.radius, 1e-11)
    V = rng.normal(size=(5, d))
    found = belief.worst_case(V)
    assert all(belief.contains(found.matrix(i), 1e-9) for i in range(5))
    assert (found.gaps <= 1e-6 * found.costs + 1e-10).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.add([1.0, 2.0], [1.0, 2.0]), "identical"),
        (lambda s: s.add([1.0, 2.0], [-1.0, -2.0]), "ask the same effort of everybody"),
        (lambda s: s.add_same([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]), "ask the same effort"),
        (lambda s: s.add([1.0, 2.0, 3.0], [1.0, 2.0]), r"shape \(2,\) or \(steps, 2\)"),
        (lambda s: s.add([1.0, np.nan], [1.0, 2.0]), "not finite"),
        (lambda s: s.add(["a", "b"], [1.0, 2.0]), "must be numbers"),
        (lambda s: s.update([1.0, 2.0], []), "shape"),
        (lambda s: s.update_same([[1.0, 2.0]]), "at least 2"),
        (lambda s: s.center("chebychev"), "did you mean 'chebyshev'"),
        (lambda s: solve_centers([s], "chebychev"), "did you mean 'chebyshev'"),
        (lambda s: s.worst_case([[1.0]]), "shape"),
        (lambda s: s.contains(np.eye(3)), r"\(3, 3\)"),
        (lambda s: s.relaxed_center(-1), "0 or more"),
        (lambda s: s.relaxed_center(1.5), "share"),
        (lambda s: s.conflicts(largest=0), "at least 1"),
        (lambda s: ConfidenceSet(0), "dimension is 0"),
        (lambda s: ConfidenceSet(2, epsilon=0.0), "epsilon is 0.0"),
    ],
)
def test_bad_input_is_one_clear_sentence(call: object, words: str) -> None:
    belief = ConfidenceSet(2)
    with pytest.raises(InputError, match=words):
        call(belief)  # type: ignore[operator]
    assert len(belief) == 0
