"""Many columns: only those that answers compare are moved, and what is believed is the same."""

from __future__ import annotations

import numpy as np
import pytest

from reap.belief import Posterior, prior
from reap.belief.families import ALIKE, FAMILIES, PEOPLE, Latents
from reap.belief.prior import Prior
from reap.effort import of_changes

COLUMNS = np.array([1, 2, 5])


@pytest.fixture
def wide(monkeypatch):
    """Let eight columns count as many."""
    monkeypatch.setattr(prior, "WIDE", 8)


def latents(n: int, d: int, seed: int = 0):
    return np.random.default_rng(seed).standard_normal((n, d + 1, d))


def some(latents_, columns=COLUMNS):
    """The same people, their latents known in some columns only; flat."""
    n, d = len(latents_), latents_.shape[2]
    own, rest = latents_[:, :d, columns].reshape(n, -1), latents_[:, d:].reshape(n, -1)
    return np.concatenate([own, rest], axis=1)


@pytest.mark.parametrize("name", [*PEOPLE, *ALIKE])
def test_the_columns_given_are_those_of_the_whole(name):
    z = latents(50, 8)
    whole = FAMILIES[name](Latents.whole(z))
    part = FAMILIES[name](Latents(z[:, :-1, COLUMNS], z[:, -1], COLUMNS))
    A, B = whole.matrices()[:, COLUMNS[:, None], COLUMNS], part.matrices()
    if name in ("scaled", *ALIKE):  # up to what the other columns are on average
        A, B = A / A[:, :1, :1], B / B[:, :1, :1]
        np.testing.assert_allclose(A, B, atol=0.35 * np.abs(A).max(axis=(1, 2), keepdims=True).max())
    else:
        np.testing.assert_allclose(A, B, atol=1e-12)


@pytest.mark.parametrize("name", [*PEOPLE, *ALIKE])
def test_other_columns_are_what_they_are_on_average(name):
    """Given ``u``, over all that the other columns may be."""
    n, d = 40_000, 8
    z = latents(n, d)
    z[:, -1] = z[0, -1]
    whole = FAMILIES[name](Latents.whole(z))
    part = FAMILIES[name](Latents(z[:, :-1, COLUMNS], z[:, -1], COLUMNS))
    squares = np.einsum("nii->ni", whole.matrices()) - whole.ridge[:, None]
    others = np.setdiff1d(np.arange(d), COLUMNS)
    assert (part.others[:, COLUMNS] == 0).all()
    near = 5 * squares.std(axis=0)[others] / np.sqrt(n) + (0.02 if name in ALIKE else 1e-3)
    assert (np.abs(squares.mean(axis=0) - part.others.mean(axis=0))[others] <= near).all()
    assert part.trace().mean() == pytest.approx(whole.trace().mean(), rel=0.01)


@pytest.mark.parametrize("beside", [0, 2])
@pytest.mark.parametrize("difficulties", [None, np.geomspace(0.1, 10, 8)])
def test_efforts_and_matrices_over_some_columns_agree(wide, difficulties, beside):
    known = Prior(8, "people", difficulties, beside)
    rng = np.random.default_rng(0)
    z, families = known.draw(400, rng)
    z = z.astype(float)
    V = np.zeros((5, 8 + beside))
    V[:, COLUMNS] = rng.standard_normal((5, 3))
    V[:, 8:] = rng.random((5, beside))
    np.testing.assert_array_equal(known.touched(V), COLUMNS)
    own = np.concatenate([COLUMNS, np.arange(8, 8 + beside)])
    A = known.matrices(some(z), families, COLUMNS)
    efforts = known.efforts(some(z), families, V, COLUMNS)
    np.testing.assert_allclose(efforts, of_changes(A, V[:, own]), rtol=1e-9, atol=1e-12)
    # all columns given: nothing is left to averages
    everything = np.arange(8)
    np.testing.assert_allclose(
        known.efforts(some(z, everything), families, V, everything), known.efforts(z, families, V), rtol=1e-9
    )
    average = known.expected(some(z), families, COLUMNS)
    total = average.sum() + A[:, :3, :3].trace(axis1=1, axis2=2).mean()
    weights = A[:, 3:, 3:].trace(axis1=1, axis2=2) if beside else np.zeros(400)
    assert total == pytest.approx(8 * (1 - weights).mean(), rel=1e-9)


def answered(n: int, beside: int = 0) -> Posterior:
    belief = Posterior(8, particles=n, beside=beside, random_state=3)
    options = np.zeros((3, 2, 8 + beside))
    options[0, 0, 1], options[0, 1, 2] = 1.0, -1.0
    options[1, 0, [1, 5]], options[1, 1, 2] = (0.6, 0.5), -0.7
    options[2, 0, 5], options[2, 1, [1, 2]] = 1.0, (0.8, 0.3)
    if beside:
        options[:, :, 8:] = [[1.0], [1.4]]
    for chosen, other in options:
        belief.update(chosen, other)
    return belief


@pytest.mark.parametrize("beside", [0, 1])
def test_the_belief_is_that_of_all_columns(monkeypatch, beside):
    n = 30_000
    whole = answered(n, beside)
    monkeypatch.setattr(prior, "WIDE", 8)
    part = answered(n, beside)
    assert part._cloud._columns.tolist() == COLUMNS.tolist()
    assert part.kinds == pytest.approx(whole.kinds, abs=0.02)
    spread = whole.matrices.std(axis=0)
    assert (np.abs(part.mean - whole.mean) <= 8 * spread / np.sqrt(n) + 0.02).all()
    sampled = part.sample(4_000)
    assert (np.abs(sampled.mean(axis=0) - whole.mean) <= 8 * spread / np.sqrt(4_000) + 0.02).all()
    assert (np.abs(sampled.std(axis=0) - spread) <= 0.15 * spread + 0.02).all()
    V = np.zeros((4, 8 + beside))
    V[np.arange(4), [1, 2, 3, 5]] = 1.0
    V[0, 7] = V[1, 0] = 0.5  # with columns that nobody was asked about
    for ours, theirs in zip(part.efforts(V).T, whole.efforts(V).T, strict=True):
        quantiles = np.linspace(0.1, 0.9, 5)
        np.testing.assert_allclose(
            np.quantile(ours, quantiles), np.quantile(theirs, quantiles), rtol=0.12, atol=0.01
        )
    if beside:
        assert part.minds == pytest.approx(whole.minds, abs=0.03)


def test_columns_that_nobody_was_asked_about_stay_as_they_were_drawn(wide):
    before, after = Posterior(8, particles=40), answered(40)
    others = np.setdiff1d(np.arange(8), COLUMNS)
    drawn = after._cloud._drawn
    whole = after._cloud._with(np.arange(8)).reshape(40, -1, 8)
    assert np.array_equal(whole[:, :8, others], drawn[:, :8, others])
    assert not np.array_equal(whole[:, :8, COLUMNS], drawn[:, :8, COLUMNS])
    mean = after.mean
    off = mean - np.diag(np.diag(mean))
    assert not off[np.ix_(others, np.arange(8))].any()
    assert off[np.ix_(COLUMNS, COLUMNS)].any()
    assert mean.trace() == pytest.approx(8.0)
    assert before.mean == pytest.approx(np.diag(np.diag(before.mean)))
    assert after.matrices.trace(axis1=1, axis2=2) == pytest.approx(8.0)


def test_the_same_answers_give_the_same_state_and_a_copy_goes_its_own_way(wide):
    first, second = answered(60), answered(60)
    assert np.array_equal(first.matrices, second.matrices)
    other, state = first.copy(), first.matrices.copy()
    other.update(np.eye(8)[7], np.eye(8)[6])
    assert np.array_equal(first.matrices, state)
    assert not np.array_equal(other.matrices, state)


def test_what_was_learnt_to_go_together_needs_all_columns(wide):
    turned = Prior(8)
    turned._turns = [(np.eye(8) + 0.1, turned._turns[0][1])]
    assert turned.touched(np.eye(8)[:1]) is None
