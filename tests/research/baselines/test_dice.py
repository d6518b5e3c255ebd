"""DiCE through its own package, and a clear sentence where that is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import reap
from reap.checks import CASES, cases
from reap.checks.worlds import random_world
from reap.research.baselines import DiCE


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "dice_ml", None)
    world = random_world(2)
    with pytest.raises(reap.InputError, match="pip install"):
        DiCE(world.model, world.space).fit(world.X)


def make(model, space):
    return DiCE(model, space, max_iterations=100)


@pytest.mark.extras
@pytest.mark.parametrize("assert_case", CASES, ids=lambda case: case.__name__)
def test_conformance(assert_case):
    pytest.importorskip("dice_ml")
    if assert_case is cases.random_worlds:
        assert_case(make, seeds=range(12), people=1)
    else:
        assert_case(make)


@pytest.mark.extras
def test_the_torch_module_is_the_model():
    torch = pytest.importorskip("torch")
    from reap.research.baselines._dice_module import Module

    world = random_world(4, kind="logistic")
    classifier = reap.models.wrap(world.model, world.space)
    Z = world.space.encode(world.X)
    order = np.random.default_rng(0).permutation(Z.shape[1])
    module = Module(classifier.kernel, np.argsort(order))
    rows = torch.tensor(Z[:, order], requires_grad=True)
    p = module(rows)
    assert np.allclose(p.detach().numpy()[:, 0], classifier.probability(Z), atol=1e-6)
    torch.logit(p).sum().backward()
    assert np.allclose(rows.grad.numpy(), classifier.gradient(Z)[:, order], atol=1e-5)
