"""All options of a question together differ in few rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap.belief import Posterior
from reap.questions import AnswerValue
from reap.questions.shown import Shown


def of(plans):
    return Shown([plans[:, None] != plans[None]], most=3)


@settings(deadline=None, max_examples=60)
@given(
    plans=st.lists(st.lists(st.integers(0, 1), min_size=5, max_size=5), min_size=3, max_size=8),
    most=st.integers(1, 5),
)
def test_rows_are_counted_over_all_options(plans, most):
    plans = np.array(plans)
    shown, more = of(plans)._replace(most=most), np.arange(2, len(plans))
    rows = [int((np.ptp(plans[[0, 1, i]], axis=0) > 0).sum()) for i in more]
    assert shown.fits([0, 1], more).tolist() == [count <= most for count in rows]


def test_parts_count_on_after_the_plans():
    plans, parts = np.eye(2), np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    shown = Shown([plans[:, None] != plans[None], parts[:, None] != parts[None]], most=2)
    assert shown.fits([2, 3], np.array([4])).tolist() == [False]
    with pytest.raises(IndexError, match="option 9"):
        shown.fits([9, 3], np.array([4]))


def test_four_options_show_no_more_rows_than_two():
    plans = np.array([[1.0, 0, 0, 1, 0], [0, 1, 0, 0, 1], [0, 0, 1, 1, 0], [1, 0, 0, 0, 1], [0, 1, 1, 0, 0]])
    burden = (plans[:, None] != plans[None]).sum(axis=-1).astype(float)
    np.fill_diagonal(burden, np.inf)
    belief, ask = Posterior(5), AnswerValue(options=4, min_gain=0.0)
    free = ask.choose(plans, belief, burden=burden)
    kept = ask.choose(plans, belief, burden=burden, shown=of(plans)._replace(most=4))
    rows = [int((np.ptp(plans[list(one.options)], axis=0) > 0).sum()) for one in (free, kept)]
    assert rows[0] == 5  # what pairs of four rows come to
    assert rows[1] <= 4
    assert len(kept.options) >= 2
