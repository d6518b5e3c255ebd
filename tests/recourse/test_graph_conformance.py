"""The graph engine passes what every engine must pass."""

from __future__ import annotations

import pytest

from reap.recourse import GraphRecourse
from tests import checks


@pytest.mark.parametrize("check", checks.CASES)
def test_conformance(check):
    check(lambda model, space: GraphRecourse(model, space))
