"""Which changes ask for no more than others."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reap.recourse.reduce import asks_no_more, undominated


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 30), st.integers(1, 30), st.floats(0, 1))
def test_what_asks_no_more_by_the_definition(seed, d, n, m, still):
    rng = np.random.default_rng(seed)
    values = [-1.0, -0.5, 0.5, 1.0, 1e-12, -1e-12, 1.5e-9, 0.8e-9]
    changes, others = (rng.choice(values, (k, d)) * (rng.random((k, d)) > still) for k in (n, m))
    mine, theirs = changes[:, None], others[None]
    near = (mine * theirs > 0) & (np.abs(mine) <= np.abs(theirs) + 1e-9)
    np.testing.assert_array_equal(asks_no_more(changes, others), ((np.abs(mine) <= 1e-9) | near).all(axis=2))
    below = asks_no_more(changes, changes)
    earlier = np.arange(n)[:, None] < np.arange(n)
    np.testing.assert_array_equal(undominated(changes), ~(below & (~below.T | earlier)).any(axis=0))
