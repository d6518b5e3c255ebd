"""The baselines pass what every engine must pass."""

from __future__ import annotations

import pytest

from reap.checks import CASES
from reap.research.baselines import FACE, PEAR, ROAR, Wachter

MAKE = {
    # Bigger and fewer steps than the paper's: the promises checked do not depend on them.
    "wachter": lambda model, space: Wachter(model, space, learning_rate=0.1, max_iterations=30),
    "roar": lambda model, space: ROAR(model, space, learning_rate=0.1, max_iterations=30),
    "face": lambda model, space: FACE(model, space),
    "pear": lambda model, space: PEAR(
        model, space, dag={"income": [f.name for f in space.features if f.name == "age"]}
    ),
}


@pytest.mark.parametrize("baseline", MAKE)
@pytest.mark.parametrize("assert_case", CASES, ids=lambda case: case.__name__)
def test_conformance(assert_case, baseline):
    assert_case(MAKE[baseline])
