"""Simulated populations: what they share is there, sessions over a pool end near the person's best, guesses teach nothing."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.belief import Posterior
from reap.research.populations import KINDS, Drawn, SimulatedPopulation, distinct, hold


@pytest.mark.parametrize("kind", KINDS)
def test_people_are_matrices_of_one_size(kind):
    crowd, rng = SimulatedPopulation(kind, 5, 0), np.random.default_rng(0)
    A = np.stack([crowd.draw(rng) for _ in range(50)])
    assert np.einsum("nii->n", A) == pytest.approx(5.0)
    assert np.linalg.eigvalsh(A).min() > -1e-9
    spread = np.log(np.diagonal(A.mean(axis=0))).std()
    assert (spread > 0.3) == (kind in ("scales", "clusters"))
    together = np.abs(A.mean(axis=0)[np.triu_indices(5, 1)]).max()
    assert (together > 0.3) == (kind == "directions")


def test_a_population_that_there_is_not():
    with pytest.raises(reap.InputError, match="did you mean 'scales'"):
        SimulatedPopulation("scale", 3, 0)


def test_a_session_over_a_pool_ends_near_the_best():
    crowd, rng = SimulatedPopulation("none", 4, 0), np.random.default_rng(1)
    pairs = [np.eye(4)[i] + np.eye(4)[j] for i in range(4) for j in range(i)]
    pool = np.vstack([np.eye(4), 0.7 * np.array(pairs)])  # one feature alone, or two, each less far
    first = last = best = 0.0
    for i in range(15):
        course = hold(pool, crowd.draw(rng), Posterior(4, random_state=i), rng)
        assert course.efforts.shape == (6,)
        assert (course.efforts >= course.best - 1e-12).all()
        assert len(course.answers) <= 5
        first, last, best = first + course.efforts[0], last + course.efforts[-1], best + course.best
    assert last / best - 1 < (first / best - 1) / 2


def test_the_populations_own_belief_learns():
    crowd, rng = SimulatedPopulation("scales", 3, 0), np.random.default_rng(2)
    belief = Drawn(np.stack([crowd.draw(rng) for _ in range(500)]))
    before, kept = belief.estimate()[0, 0], belief.copy()
    belief.update(np.array([1.0, 0, 0]), np.array([0, 0.5, 0]))
    assert belief.estimate()[0, 0] < before == kept.estimate()[0, 0]
    assert belief.weights.sum() == pytest.approx(1.0)


def test_plans_that_nobody_can_tell_apart_are_one():
    pool = np.array([[0.1, 0.0], [0.105, 0.0], [0.5, 0.0]])
    assert distinct(pool, np.full(2, 0.02)).tolist() == [[0.1, 0.0], [0.5, 0.0]]
