"""Targets of the design, and what is said of runs that meet them or not."""

from __future__ import annotations

import pandas as pd
import pytest

from reap.research.experiments import excess, factors, quality
from reap.research.experiments.scope import Scope
from reap.research.experiments.targets import against_targets, tally, targets

GAUSSIAN = targets("gaussian", 0.0, 2)


def runs(excess_after_5, excess_after_10, method="ours"):
    """Runs of one method: each of four people is this far above the oracle after 5 and 10 answers."""
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
    said = against_targets(runs(0.05, 0.01), "german", GAUSSIAN)
    assert said == [
        "german, 5 answers: ours 5.0 % falls short of the target of 4.0 %.",
        "german, 10 answers: ours 1.0 % meets the target of 1.5 %.",
    ]
    assert tally(said) == ["Our default meets the targets of the design in 1 of 2 places.", said[0]]


@pytest.mark.parametrize(("found", "said"), [(0.0152, "1.52 % falls short of"), (0.0148, "1.48 % meets")])
def test_a_figure_that_rounds_to_its_target_is_shown_with_more_digits(found, said):
    asked = targets("gaussian", 0.0, 4)
    assert f"ours {said} the target of 1.5 %" in against_targets(runs(found, 0.0), "student", asked)[0]


def test_other_methods_have_no_targets():
    assert against_targets(runs(0.05, 0.01, method="true centre"), "german", GAUSSIAN) == []
    assert tally([]) == []


@pytest.mark.parametrize(
    ("people", "lapse", "options", "asked"),
    [
        ("gaussian", 0.1, 2, {5: 0.07, 10: 0.04}),
        ("gaussian", 0.1, 4, {5: 0.03, 10: 0.01}),
        ("scm", 0.0, 2, {5: 0.08, 10: 0.04}),
        ("l1", 0.0, 4, {5: 0.03, 10: 0.01}),
        ("rank-one", 0.0, 2, {}),
        ("gaussian", 0.2, 2, {}),
    ],
)
def test_the_targets_are_those_of_the_design(people, lapse, options, asked):
    assert targets(people, lapse, options) == asked


@pytest.mark.parametrize(
    ("table", "least"), [(excess, 100), (factors, 100), (quality, 200)]
)  # 400 a data set
def test_every_setting_has_enough_runs(tmp_path, table, least):
    made = table.cells(Scope(tmp_path, datasets=("german",)))
    for options in (2, 4):
        alike = [
            c for c in made if c["options"] == options and (c["people"], c["lapse"]) == ("gaussian", 0.0)
        ]
        assert sum((c["subjects"][1] - c["subjects"][0]) * c["matrices"] for c in alike) >= least


def test_the_scope_says_how_many_where_it_does(tmp_path):
    (cell, *_) = quality.cells(Scope(tmp_path, datasets=("german",), subjects=3, matrices=2))
    assert (cell["subjects"], cell["matrices"]) == ((0, 3), 2)
