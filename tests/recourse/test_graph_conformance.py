"""The graph engine keeps what every engine promises."""

from __future__ import annotations

import pytest

from reap.checks import CASES, WITH_TIME_LIMIT
from reap.recourse import GraphRecourse


@pytest.mark.parametrize("assert_case", [*CASES, *WITH_TIME_LIMIT], ids=lambda case: case.__name__)
def test_conformance(assert_case):
    assert_case(GraphRecourse)
