from __future__ import annotations

import pandas as pd
import pytest

from reap.research.experiments.excess import PLANS, against_targets, cells
from reap.research.experiments.scope import Scope


def runs(excess_after_5, excess_after_10, method="ours"):
    """Runs of one method: each of four people is so far above the oracle after 5 and 10 answers."""
    return pd.DataFrame(
        {
            "method": method,
            "answers": [5, 10] * 4,
            "subject": [0, 0, 1, 1, 2, 2, 3, 3],
            "effort": [1 + excess_after_5, 1 + excess_after_10] * 4,
            "oracle": 1.0,
        }
    )


def test_each_target_is_said_to_be_met_or_not():
    five, ten = against_targets(runs(0.05, 0.01), "german", 2)
    assert five == "german, 5 answers: ours 5.0 % falls short of the target of 4.0 %."
    assert ten == "german, 10 answers: ours 1.0 % meets the target of 2.0 %."


@pytest.mark.parametrize(("found", "said"), [(0.0152, "1.52 % falls short of"), (0.0148, "1.48 % meets")])
def test_a_figure_that_rounds_to_its_target_is_shown_with_more_digits(found, said):
    assert f"ours {said} the target of 1.5 %" in against_targets(runs(found, 0.0), "student", 4)[0]


def test_other_methods_have_no_targets():
    assert against_targets(runs(0.05, 0.01, method="true centre"), "german", 2) == []


def test_the_papers_plans_and_ours_are_both_compared(tmp_path):
    made = cells(Scope(tmp_path, datasets=("german",), quick=True))
    assert {cell["engine"] for cell in made} == set(PLANS)
    assert {cell["options"] for cell in made} == {2, 4}
