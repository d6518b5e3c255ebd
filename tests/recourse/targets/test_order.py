"""Which changes ask for no more than others; many against one must say what all pairs say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reap.recourse.targets.order import Changes, asks_no_more


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 20), st.integers(0, 40))
def test_many_against_one_is_every_pair(seed, d, n):
    rng = np.random.default_rng(seed)
    # few values, many zeros: otherwise nothing asks for no more than anything
    changes = rng.choice([-1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 1e-12], (n, d))
    one = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], d)
    expected = np.flatnonzero(asks_no_more(changes, one[None])[:, 0]) if n else np.zeros(0)
    assert Changes(changes).asking_no_more(one).tolist() == expected.tolist()
