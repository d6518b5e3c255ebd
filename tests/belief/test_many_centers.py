"""Centres of many sets in one batch: the same as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from reap import InputError
from reap.belief import ConfidenceSet, solve_centers
from reap.belief.centers import Solutions
from tests.belief.test_confidence_set import instance


@pytest.mark.parametrize("form", ["chebyshev", "published", "analytic"])
def test_a_batch_gives_what_each_alone_gives(form):
    rng = np.random.default_rng(0)
    sets = [instance(6, k, rng, steps=1 + k % 3) for k in (0, 1, 5, 5, 3, 8, 0)]
    sets += [instance(3, 4, rng), instance(4, 5, rng, epsilon=0.1, lapse=0.3)]
    sets[2].update_same([[0.1] * 6, [0.2, 0, 0, 0, 0, 0]])
    alone = [one.copy() for one in sets]
    solve_centers(sets, form)
    for one, other in zip(sets, alone, strict=True):
        assert form in one.solutions
        found, wanted = one.center(form), other.center(form)
        np.testing.assert_allclose(found.matrix, wanted.matrix, atol=1e-6)
        assert found.radius == pytest.approx(wanted.radius, abs=1e-6)
        assert found.gap == pytest.approx(wanted.gap, abs=1e-6)
        V = rng.normal(size=(3, one.dimension))
        np.testing.assert_allclose(one.worst_case(V).costs, other.worst_case(V).costs, atol=1e-6)


def test_company_changes_nothing():
    """Batches may be cut anywhere: the numbers stay the same."""
    sets = [instance(5, k, np.random.default_rng(k)) for k in (4, 4, 4, 7, 7)]
    others = [one.copy() for one in sets]
    solve_centers(sets)
    solve_centers(others[1:2])
    solve_centers([others[3], others[0]])
    for i in (0, 1, 3):
        np.testing.assert_allclose(sets[i].center().matrix, others[i].center().matrix, rtol=0, atol=1e-12)


def test_what_is_known_is_not_solved_again(monkeypatch):
    sets = [instance(4, 3, np.random.default_rng(s)) for s in range(3)]
    sets[0].center()
    solved = []
    kept = Solutions.keep

    def counted(self, *rest):
        solved.append(id(self))
        return kept(self, *rest)

    monkeypatch.setattr(Solutions, "keep", counted)
    solve_centers([sets[0], sets[1], sets[1], sets[2]])  # one of them twice
    assert solved == [id(sets[1].solutions), id(sets[2].solutions)]
    solve_centers(sets)
    assert len(solved) == 2
    sets[0].add([1, 0, 0, 0], [0, 1, 0, 0])  # what was known is known no more
    solve_centers(sets)
    assert solved[2:] == [id(sets[0].solutions)]


def test_nothing_to_do_and_misspelt_forms():
    solve_centers([])
    with pytest.raises(InputError, match="published"):
        solve_centers([ConfidenceSet(2)], "publishd")
