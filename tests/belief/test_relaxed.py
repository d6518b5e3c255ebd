"""Contradictory answers: the branch and bound against enumeration, and the groups in tension."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import pytest

from reap import InputError, _clock
from reap._typing import Array
from reap.belief import ConfidenceSet, centers
from tests.belief import sdp
from tests.belief.test_confidence_set import instance


def enumerate_subsets(belief: ConfidenceSet, violations: int) -> float:
    """The largest radius over every way to leave out up to so many answers."""
    n = len(belief)
    dropped = [set(D) for k in range(violations + 1) for D in combinations(range(n), k)]
    sets = [belief.without(D).reduced for D in dropped]
    return max(float(found.r[0]) for found in centers.solve_many(sets, "chebyshev"))


@pytest.mark.parametrize("seed", range(12))
def test_equals_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, answers, violations = int(rng.integers(1, 6)), int(rng.integers(3, 11)), int(rng.integers(1, 4))
    belief = instance(d, answers, rng, steps=1 + seed % 2, lapse=0.4)
    if seed % 3 == 0:
        belief.add_same(*rng.normal(size=(2, d)))
        belief.update(rng.normal(size=d), list(rng.normal(size=(2, d))))
    found = belief.relaxed_center(violations)
    assert found.radius == pytest.approx(enumerate_subsets(belief, violations), rel=1e-6)
    assert len(found.dropped) <= violations
    assert found.gap <= 1e-6
    kept = belief.without(found.dropped)
    assert found.radius == pytest.approx(sdp.radius(kept, "chebyshev"), rel=1e-6)
    assert kept.contains(found.matrix, 1e-9)


def test_repeated_answers_have_to_be_left_out_together() -> None:
    belief = ConfidenceSet(2)
    p, o = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for first, second in [(p, o), (p, o), (o, p), (o, p), (o, p)]:
        belief.add(first, second)
    assert belief.relaxed_center(1).dropped == ()
    assert belief.relaxed_center(2).dropped == (0, 1)
    assert belief.relaxed_center(0.5).dropped == (0, 1)
    assert belief.relaxed_center(0.3).dropped == ()
    assert belief.relaxed_center(2).radius == pytest.approx(enumerate_subsets(belief, 2), rel=1e-6)


def test_answers_that_agree_need_not_be_left_out_to_be_understood() -> None:
    """Twenty answers, four of them wrong: leaving out four finds a ball at least as large as the truth's."""
    rng = np.random.default_rng(8)
    belief, wrong = ConfidenceSet(4), {3, 8, 11, 17}
    A = np.diag([0.1, 0.3, 0.6, 1.0])
    for i in range(20):
        options = sorted(rng.normal(size=(2, 4)), key=lambda v: float(v @ A @ v))
        belief.add(*(options[::-1] if i in wrong else options))
    found = belief.relaxed_center(4)
    truth = belief.without(wrong).center().radius
    assert found.radius >= truth - 1e-8
    assert found.radius > 2 * belief.center().radius
    assert found.gap <= 1e-6
    assert found.nodes < 4845  # every subset of four


def contradicts(matrices: list[Array]) -> bool:
    """Whether no A ≻ 0 satisfies ⟨A, M⟩ < 0 for all: the largest ball with ε = 0, by Clarabel."""
    return sdp.programme(matrices, len(matrices[0]), 0.0, "chebyshev").solve(1e-9)[1] < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_conflicts_are_the_smallest_groups(seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    belief = instance(2 + seed % 2, 6, rng, lapse=0.4)
    matrices = sdp.cut_matrices(belief)
    expected: list[tuple[int, ...]] = []
    for size in (1, 2, 3):
        for group in combinations(range(6), size):
            if any(set(known) <= set(group) for known in expected):
                continue
            if contradicts([matrices[i] for i in group]):
                expected.append(group)
    found = belief.conflicts()
    if expected or not contradicts(matrices):
        assert found == expected
    else:
        assert len(found) == 1
        assert len(found[0]) > 3


def test_a_conflict_larger_than_asked_for_is_still_told() -> None:
    """A ≺ B ≺ C ≺ A needs all three answers."""
    belief = ConfidenceSet(3)
    a, b, c = np.eye(3)
    belief.add(a, b)
    belief.add(b, c)
    belief.add(c, a)
    belief.add(0.1 * a, c)
    assert belief.conflicts() == [(0, 1, 2)]
    assert belief.conflicts(largest=2) == [(0, 1, 2)]


def test_same_holds_within_epsilon() -> None:
    """People for whom both options cost under ε may call them the same and still choose."""
    belief = ConfidenceSet(2, epsilon=0.01)
    belief.add_same([1.0, 0.0], [0.0, 1.0])
    belief.add([1.0, 0.0], [0.0, 1.0])
    assert belief.conflicts() == []
    belief.add([0.0, 1.0], [0.5, 0.0])
    assert belief.conflicts() == [(1, 2)]


# time ------------------------------------------------------------------------------------------------------


def contradictory(pairs: int, d: int) -> ConfidenceSet:
    """Pairs of answers that cannot both be right; leaving any of them in keeps the ball small."""
    rng = np.random.default_rng(0)
    belief = ConfidenceSet(d)
    for _ in range(pairs):
        a, b = 0.5 * rng.normal(size=(2, d))
        belief.add(a, b)
        belief.add(1.01 * b, a)
    return belief


def test_twenty_contradictory_answers_end_at_the_limit_with_a_bound() -> None:
    belief = contradictory(10, 22)
    begin = time.process_time()
    found = belief.relaxed_center(10, time_limit=1.0)
    assert time.process_time() - begin < 2.0
    assert not found.proven
    assert found.radius < found.bound <= 0.5
    assert belief.without(found.dropped).contains(found.matrix)
    assert np.linalg.eigvalsh(found.matrix)[0] >= found.radius - 1e-9


def test_what_ends_in_time_is_the_same_with_and_without_a_limit() -> None:
    belief = contradictory(3, 4)
    free, bounded = (belief.relaxed_center(3, time_limit=limit) for limit in (None, 100.0))
    assert free.proven
    assert bounded.proven
    assert free.dropped == bounded.dropped
    assert set(belief.conflicts(time_limit=1e-9)) <= set(belief.conflicts())


def test_a_problem_of_which_one_step_takes_minutes_is_refused() -> None:
    belief, rng = ConfidenceSet(600), np.random.default_rng(1)
    for _ in range(300):
        belief.add(*rng.normal(size=(2, 600)))
    with pytest.raises(InputError, match="300 different comparisons that span 600 dimensions"):
        belief.center()


def test_whoever_answers_for_a_request_can_end_what_takes_too_long() -> None:
    with _clock.until(time.monotonic() - 1), pytest.raises(_clock.LateError):
        contradictory(3, 4).center()
    assert not _clock.late()


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_limit_is_positive(limit: float) -> None:
    with pytest.raises(InputError, match="time_limit"):
        contradictory(1, 2).relaxed_center(1, time_limit=limit)
