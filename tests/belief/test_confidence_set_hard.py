"""Sets that break careless solvers: repeated, opposite, nearly parallel, tiny, huge and very many answers."""

from __future__ import annotations

import numpy as np
import pytest

from reap.belief import ConfidenceSet
from tests.belief import sdp
from tests.belief.test_confidence_set import inside, instance, person


def assert_solved(belief: ConfidenceSet, *, rel: float = 1e-6, floor: float = 1e-12) -> None:
    """Both centres are in the set, certified, and equal Clarabel's."""
    for form in ("chebyshev", "published"):
        center = belief.center(form)
        inside(belief, center.matrix, center.radius, form)
        assert center.gap <= max(1e-6 * center.radius, floor)
        assert center.radius == pytest.approx(sdp.radius(belief, form), rel=rel)
    V = np.random.default_rng(0).normal(size=(3, belief.dimension))
    found = belief.worst_case(V)
    assert (found.gaps <= 1e-6 * found.costs + floor).all()
    for i, v in enumerate(V):
        assert found.costs[i] == pytest.approx(sdp.worst(belief, v), rel=rel)
        assert belief.contains(found.matrix(i), 1e-9)


def test_repeated_answers_change_nothing() -> None:
    once = instance(4, 5, np.random.default_rng(0))
    often = ConfidenceSet(4)
    for answer in [*once.answers, *once.answers, *once.answers[:2]]:
        often.add(*answer.options)
    assert len(often) == 12
    for form in ("chebyshev", "published", "analytic"):
        assert often.center(form).matrix == pytest.approx(once.center(form).matrix, abs=1e-9)
    assert_solved(often)


def test_of_parallel_answers_the_tightest_counts() -> None:
    loose, both = ConfidenceSet(3), ConfidenceSet(3)
    p, o = np.array([1.0, 0.2, 0.0]), np.array([0.0, 0.9, 0.3])
    loose.add(3 * p, 3 * o)
    both.add(p, o)
    both.add(3 * p, 3 * o)
    both.add(2 * p, 2 * o)
    assert both.center().matrix == pytest.approx(loose.center().matrix, abs=1e-9)
    assert_solved(both)


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
def test_nearly_parallel_answers(angle: float) -> None:
    rng = np.random.default_rng(1)
    belief = instance(4, 3, rng)
    for answer in list(belief.answers):
        belief.add(*(option + angle * rng.normal(size=option.shape) for option in answer.options))
    assert_solved(belief)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_options_that_hardly_differ(gap: float) -> None:
    rng = np.random.default_rng(2)
    belief, A = ConfidenceSet(4, epsilon=gap / 10), person(4, rng)
    for _ in range(5):
        p = rng.normal(size=4)
        o = p + gap * rng.normal(size=4)
        belief.add(*sorted([p, o], key=lambda v: float(v @ A @ v)))
    for form in ("chebyshev", "published"):
        center = belief.center(form)
        assert belief.contains(center.matrix, 1e-12)
        assert center.gap <= 1e-6 * center.radius


@pytest.mark.parametrize("epsilon", [1e-4, 1e-6, 1e-8])
def test_small_epsilon(epsilon: float) -> None:
    assert_solved(instance(4, 8, np.random.default_rng(3), epsilon=epsilon))


@pytest.mark.parametrize("epsilon", [1e-2, 1e-5, 1e-8])
def test_opposite_answers(epsilon: float) -> None:
    """Two answers that contradict each other leave a band of width 2ε, so the radius is ε/‖M‖."""
    belief = ConfidenceSet(3, epsilon)
    p, o = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.5])
    belief.add(p, o)
    belief.add(o, p)
    norm = np.linalg.norm(np.outer(p, p) - np.outer(o, o))
    for form in ("chebyshev", "published"):
        center = belief.center(form)
        inside(belief, center.matrix, center.radius, form)
        assert center.radius == pytest.approx(epsilon / norm, rel=1e-6, abs=1e-12)


def test_one_column() -> None:
    belief = ConfidenceSet(1, epsilon=0.05)
    belief.add([1.0], [2.0])
    assert belief.center().radius == pytest.approx(0.5, rel=1e-7)
    belief.add([2.0], [1.0])  # impossible for a cost that grows: A ≤ ε/3
    center = belief.center()
    assert center.radius == pytest.approx(0.05 / 6, rel=1e-7)
    assert center.matrix == pytest.approx(0.05 / 6, rel=1e-6)
    assert belief.worst_case([[1.0], [-2.0]]).costs == pytest.approx([0.05 / 3, 0.2 / 3], rel=1e-6)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_long_and_short_moves(scale: float) -> None:
    """Effort and ε scale with the square of the moves: the set stays as it is."""
    usual = instance(4, 6, np.random.default_rng(4))
    scaled = ConfidenceSet(4, epsilon=usual.epsilon * scale**2)
    for answer in usual.answers:
        scaled.add(*(scale * option for option in answer.options))
    assert scaled.center().radius == pytest.approx(usual.center().radius, rel=1e-7)
    assert scaled.center().matrix == pytest.approx(usual.center().matrix, abs=1e-6)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_two_hundred_answers(d: int) -> None:
    assert_solved(instance(d, 200, np.random.default_rng(d), lapse=0.1))


def test_a_question_of_many_options_and_a_same_of_three() -> None:
    rng = np.random.default_rng(6)
    belief = ConfidenceSet(5)
    belief.update(0.5 * rng.normal(size=5), [rng.normal(size=(2, 5)) for _ in range(6)])
    belief.update_same([rng.normal(size=5) for _ in range(3)])
    assert len(belief) == 2
    assert len(sdp.cut_matrices(belief)) == 12
    assert_solved(belief)
