"""The default engine, the paper's graph, and the adapter for other generators pass the shipped suite."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.checks import CASES, FOR_PEOPLE, WITH_TIME_LIMIT
from reap.checks.cases import plans_for_people as assert_plans_for_people
from reap.recourse import PoolRecourse


@pytest.mark.parametrize(
    "assert_case", [*CASES, *WITH_TIME_LIMIT, *FOR_PEOPLE], ids=lambda case: case.__name__
)
def test_recourse(assert_case):
    assert_case(reap.Recourse)


def test_two_thousand_plans_keep_every_promise():
    # 84 worlds of two people and 12 matrices; worlds, rules and models differ from those of the cases
    assert_plans_for_people(reap.Recourse, seeds=range(1000, 1084), people=2, matrices=12)


@pytest.mark.long
def test_ten_thousand_plans_keep_every_promise():
    assert_plans_for_people(reap.Recourse, seeds=range(2000, 2200), people=3, matrices=17)


@pytest.mark.parametrize("assert_case", [*CASES, *WITH_TIME_LIMIT], ids=lambda case: case.__name__)
def test_graph(assert_case):
    assert_case(reap.GraphRecourse)


class Scatter:
    """A generator that knows nothing: rows at random, illegal ones among them."""

    def __init__(self, space):
        self.space = space

    def __call__(self, x):
        rng = np.random.default_rng(0)
        Z = rng.random((400, self.space.dimension)) * 1.2 - 0.1
        stays = rng.random(Z.shape) < rng.random((len(Z), 1))
        return self.space.decode(np.where(stays, self.space.encode(x), Z))


@pytest.mark.parametrize("assert_case", CASES, ids=lambda case: case.__name__)
def test_adapter(assert_case):
    assert_case(lambda model, space: PoolRecourse(Scatter(space), model, space))
