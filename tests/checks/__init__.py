"""The conformance suite under its former names; it lives in ``reap.checks``."""

from __future__ import annotations

import numpy as np
import pytest

from reap.checks import cases
from reap.checks.calls import Call
from reap.checks.cases import awkward_dtypes as check_awkward_dtypes
from reap.checks.cases import random_worlds as check_honest_over_random_worlds
from reap.checks.cases import same_seed_same_answer as check_same_seed_same_answer
from reap.checks.judge import Judge
from reap.checks.promises import EVERY, keep

__all__ = ["check_awkward_dtypes", "check_honest_over_random_worlds", "check_same_seed_same_answer"]

ALL = list(cases.CASES)


def name(check):
    return check.__name__


CASES = [pytest.param(check, id=name(check)) for check in ALL]


def assert_honest(world, x, plan):
    promises = {key: promise for key, promise in EVERY.items() if key != "effort"}
    keep(Call(Judge.of_world(world), x, np.empty((1, 0, 0)), [plan]), promises)
