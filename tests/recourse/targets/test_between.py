"""Rows on the way to a row: few enough to be tried, whatever the number of changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.recourse.targets.between import lowered
from reap.recourse.targets.problem import Problem


class Counting:
    """Accepts whoever has at least so many columns at 1 or above; counts the rows it is asked about."""

    def __init__(self, least: int) -> None:
        self.least, self.asked = least, 0

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        self.asked += len(rows)
        return np.where((rows >= 1).sum(axis=1) >= self.least, 0.9, 0.1)


def problem_of(columns: int, least: int):
    X = pd.DataFrame(
        np.vstack([np.zeros(columns), np.full(columns, 2.0)]), columns=[f"x{i}" for i in range(columns)]
    )
    space = reap.ActionSpace.from_frame(X, steps=dict.fromkeys(X, 1))
    model = Counting(least)
    return (
        model,
        Problem(space, reap.models.wrap(model, space), space.encode(X)[0], columns),
        space.encode(X)[1],
    )


@pytest.mark.parametrize("columns", [3, 9, 10, 11, 24, 60])
def test_no_more_rows_are_tried_than_can_be(columns):
    model, problem, row = problem_of(columns, columns)
    model.asked = 0
    lowered(problem, np.eye(columns)[None], row[None])
    assert 0 < model.asked <= 2_048


@pytest.mark.parametrize("columns", [12, 24])
def test_two_changes_too_many_are_left_out_among_two_dozen(columns):
    _, problem, row = problem_of(columns, columns - 2)
    A = np.diag([1.0] * (columns - 2) + [50.0, 50.0])
    (found,) = lowered(problem, A[None], row[None])
    assert np.flatnonzero(found == problem.base).tolist() == [columns - 2, columns - 1]
