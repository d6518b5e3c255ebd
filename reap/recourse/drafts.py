"""What was found for a person, before the model judges it once more exactly as it is shown.

Judging waits for others: the model scores the paths of a whole chunk of people about as fast as those of one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._arrays import row_keys
from reap._typing import Array, Ints
from reap.recourse.problem import Problem
from reap.recourse.search import Found
from reap.recourse.subject import Subject


@dataclass(frozen=True, eq=False)
class Refusal:
    """Somebody for whom nothing was found: for each of ``count`` matrices the same.

    Parameters
    ----------
    subject : Subject
    complete : bool
        Whether all rows were looked at.
    late : bool
        Whether the search was stopped at its time limit.
    nearest : (d,), optional
        The legal row that came closest, where any was scored.
    count : int
    """

    subject: Subject
    complete: bool
    late: bool
    nearest: Array | None
    count: int

    @classmethod
    def of(cls, subject: Subject, problem: Problem, complete: bool, late: bool, count: int = 1) -> Refusal:
        """Return the refusal of a subject for whom nothing was found."""
        nearest = problem.nearest if np.isfinite(problem.closest) else None
        return cls(subject, complete, late, nearest, count)


@dataclass(frozen=True, eq=False)
class Draft:
    """Rows of least effort for b matrices, each row once.

    Parameters
    ----------
    subject : Subject
    found : Found
    rows : (n, d)
    keys : list of int
        One for each row: a person's plan to a row is made once, since its route does not depend on the matrix.
    which : (b,) the row of each matrix
    efforts : (b,)
    late : bool
        Whether the search for them was stopped at its time limit. Judging comes after, and the clock goes on.
    """

    subject: Subject
    found: Found
    rows: Array
    keys: list[int]
    which: Ints
    efforts: Array
    late: bool

    @classmethod
    def of(cls, subject: Subject, found: Found, rows: Array, efforts: Array) -> Draft:
        """Return the draft of rows (b, d), one for each matrix."""
        keys, first, which = np.unique(row_keys(rows), return_index=True, return_inverse=True)
        late = found.problem.late
        return cls(subject, found, rows[first], keys.tolist(), which.ravel(), efforts, late)
