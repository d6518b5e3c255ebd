"""The baselines pass what every engine must pass."""

from __future__ import annotations

import pytest

from reap.research.baselines import FACE, PEAR, Wachter
from tests import checks

MAKE = {
    # Bigger and fewer steps than the paper's: the promises checked do not depend on them.
    "wachter": lambda model, space: Wachter(model, space, learning_rate=0.1, max_iterations=30),
    "face": lambda model, space: FACE(model, space),
    "pear": lambda model, space: PEAR(
        model, space, dag={"income": [f.name for f in space.features if f.name == "age"]}
    ),
}


@pytest.mark.parametrize("baseline", MAKE)
@pytest.mark.parametrize("check", checks.ALL, ids=checks.name)
def test_conformance(check, baseline):
    if check is checks.check_honest_over_random_worlds:
        check(MAKE[baseline], seeds=range(40))
    else:
        check(MAKE[baseline])
