"""Members scored at once say what each says alone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reap.models.network import Network
from reap.models.together import OneByOne, Stacked, together

FEATURES = 4


def network(rng, hidden, activation="relu", index=1, outputs=1):
    sizes = [FEATURES, *hidden, outputs]
    weights = [rng.normal(size=pair) for pair in pairwise(sizes)]
    return Network(weights, [rng.normal(size=size) for size in sizes[1:]], activation, index)


@pytest.mark.parametrize("rows", [0, 1, 7, 600])  # 600: more than one block
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@pytest.mark.parametrize("hidden", [(), (5,), (3, 6, 2)])
def test_networks_of_one_shape_at_once(hidden, activation, rows):
    rng = np.random.default_rng(0)
    members = [network(rng, hidden, activation, index=i % 2) for i in range(5)]
    Z, weights = rng.normal(size=(rows, FEATURES)), rng.normal(size=(5, rows))
    weights[rng.random((5, rows)) < 0.5] = 0.0
    both = together(members)
    assert isinstance(both, Stacked)
    alone = OneByOne(members)
    assert np.allclose(both.logits(Z), alone.logits(Z), rtol=1e-12, atol=1e-12)
    assert np.allclose(both.pull(Z, weights), alone.pull(Z, weights), rtol=1e-10, atol=1e-10)
    by_hand = sum(w[:, None] * one.gradient(Z) for w, one in zip(weights, members, strict=True))
    assert np.allclose(alone.pull(Z, weights), by_hand, rtol=1e-12, atol=1e-12)


def test_members_of_different_shapes_one_by_one():
    rng = np.random.default_rng(1)
    plain = network(rng, (5,))
    for other in (network(rng, (4,)), network(rng, (5,), "tanh"), network(rng, ())):
        assert isinstance(together([plain, other]), OneByOne)
    assert isinstance(together([network(rng, (5,), outputs=3)] * 2), OneByOne)
