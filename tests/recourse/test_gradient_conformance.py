"""The gradient engine and the adapter for other generators pass what every engine must pass."""

from __future__ import annotations

import numpy as np
import pytest

from reap.recourse import GradientRecourse, PoolRecourse
from tests import checks

QUICK = [check for check in checks.ALL if check is not checks.check_honest_over_random_worlds]


class Scatter:
    """A generator that knows nothing: rows at random, illegal ones among them."""

    def __init__(self, space):
        self.space = space

    def __call__(self, x):
        rng = np.random.default_rng(0)
        Z = rng.random((400, self.space.dimension)) * 1.2 - 0.1
        stays = rng.random(Z.shape) < rng.random((len(Z), 1))
        return self.space.decode(np.where(stays, self.space.encode(x), Z))


def adapter(model, space):
    return PoolRecourse(Scatter(space), model, space)


@pytest.mark.parametrize("check", QUICK, ids=checks.name)
def test_gradient(check):
    check(GradientRecourse)


@pytest.mark.parametrize("check", QUICK, ids=checks.name)
def test_adapter(check):
    check(adapter)


def test_gradient_is_honest_over_random_worlds():
    checks.check_honest_over_random_worlds(GradientRecourse, seeds=range(24), subjects=1)


@pytest.mark.slow
def test_gradient_is_honest_over_many_random_worlds():
    checks.check_honest_over_random_worlds(GradientRecourse, seeds=range(24, 200), subjects=1)


def test_adapter_is_honest_over_random_worlds():
    checks.check_honest_over_random_worlds(adapter, seeds=range(40), subjects=1)
