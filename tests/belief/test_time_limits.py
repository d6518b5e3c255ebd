"""Time has a bound: contradictory, tiny and very many answers end at the limit, with a figure that still holds."""

from __future__ import annotations

import time

import numpy as np
import pytest

from reap import ConfidenceSet, InputError, _clock

#: Seconds by which a call may run over its limit: one Newton step of the largest problem here, on a busy machine.
SLACK = 1.0


def contradictory(pairs: int, d: int = 22) -> ConfidenceSet:
    """Pairs of answers that cannot both be right; leaving any of them in keeps the ball small."""
    rng = np.random.default_rng(0)
    belief = ConfidenceSet(d)
    for _ in range(pairs):
        a, b = 0.5 * rng.normal(size=(2, d))
        belief.add(a, b)
        belief.add(1.01 * b, a)
    return belief


def scattered(answers: int, d: int, scale: float) -> ConfidenceSet:
    rng = np.random.default_rng(1)
    belief = ConfidenceSet(d)
    for _ in range(answers):
        belief.add(*(scale * rng.normal(size=(2, d))))
    return belief


def test_twenty_contradictory_answers_end_at_the_limit_with_a_bound() -> None:
    belief = contradictory(10)
    begin = time.process_time()
    found = belief.relaxed_center(10, time_limit=1.0)
    assert time.process_time() - begin < 1.0 + SLACK
    assert not found.proven
    assert found.radius < found.bound <= 0.5
    kept = belief.solutions.without(found.dropped)
    assert kept.contains(found.matrix)
    assert np.linalg.eigvalsh(found.matrix)[0] >= found.radius - 1e-9


def test_what_ends_in_time_is_the_same_with_and_without_a_limit() -> None:
    belief = contradictory(3, d=4)
    free, bounded = (belief.relaxed_center(3, time_limit=limit) for limit in (None, 100.0))
    assert free.proven
    assert bounded.proven
    assert free.dropped == bounded.dropped
    assert free.radius == bounded.radius


@pytest.mark.parametrize("scale", [1e-3, 1e-6, 0.5])
@pytest.mark.parametrize("form", ["published", "chebyshev"])
def test_a_hundred_answers_over_two_hundred_columns_end_at_the_limit(form: str, scale: float) -> None:
    belief = scattered(100, 200, scale)
    begin = time.process_time()
    found = belief.center(form, time_limit=0.5)
    assert time.process_time() - begin < 0.5 + SLACK
    assert belief.contains(found.matrix)
    assert found.radius <= found.bound


def test_a_centre_that_was_cut_short_is_not_remembered() -> None:
    belief = scattered(12, 12, 0.5)
    early = belief.center(time_limit=1e-9)
    late = belief.center()
    assert early.gap > 1e-3
    assert late.gap < 1e-6
    assert early.radius <= late.radius <= early.bound


def test_groups_in_tension_that_are_told_in_time_are_groups_in_tension() -> None:
    belief = contradictory(10, d=6)
    some = belief.conflicts(time_limit=1e-9)
    assert set(some) <= set(belief.conflicts())


def test_a_problem_of_which_one_step_takes_minutes_is_refused() -> None:
    belief = scattered(300, 600, 0.5)
    with pytest.raises(InputError, match="300 different comparisons that span 600 dimensions"):
        belief.center(time_limit=1.0)


def test_whoever_answers_for_a_request_can_end_what_takes_too_long() -> None:
    with _clock.until(time.monotonic() - 1), pytest.raises(_clock.LateError):
        scattered(3, 4, 0.5).center()
    assert not _clock.late()


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_limit_is_positive(limit: float) -> None:
    with pytest.raises(InputError, match="time_limit"):
        ConfidenceSet(2).relaxed_center(1, time_limit=limit)
    with pytest.raises(InputError, match="time_limit"):
        contradictory(1, d=2).center(time_limit=limit)
