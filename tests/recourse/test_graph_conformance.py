"""The graph engine keeps what every engine promises."""

from __future__ import annotations

import pytest

from reap.checks import CASES, WITH_TIME_LIMIT
from reap.recourse import GraphRecourse


@pytest.mark.parametrize("check", [*CASES, *WITH_TIME_LIMIT], ids=lambda check: check.__name__)
def test_conformance(check):
    check(GraphRecourse)
