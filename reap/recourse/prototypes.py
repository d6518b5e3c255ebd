"""Prototypes in place of rows, so that no plan shows a single person's record."""

from __future__ import annotations

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Ints
from reap.space import ActionSpace


def prototypes(space: ActionSpace, Z: Array, k: int) -> Array:
    """Return the average person of each group of at least k rows, as vectors (m, d).

        Rows are grouped by the columns that can change. Numbers are averaged, levels take the nearest to the
    average or the most frequent, all in units as they are shown.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    k : int

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [10, 12, 50, 54], "owner": ["no", "no", "yes", "yes"]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> space.decode(prototypes(space, space.encode(X), 2))
       income owner
    0      11    no
    1      52   yes
    """
    if k > len(Z):
        raise InputError(
            f"anonymity is {k}, but the table has {len(Z)} rows; give more rows or a smaller number"
        )
    known = ~np.isnan(Z)
    filled = np.where(known, Z, 0.0)
    averages = []
    for rows in groups(filled[:, space.movable or []], k):
        count = known[rows].sum(axis=0)
        averages.append(np.where(count > 0, filled[rows].sum(axis=0) / np.maximum(count, 1), np.nan))
    return space.encode(space.decode(np.array(averages)))


def groups(Z: Array, k: int) -> list[Ints]:
    """Return a partition of rows (n, m) into groups of k to 2k − 1 near ones (more where they are all alike).

    Halve at the median of the column with the largest variance, while both halves keep k rows (Mondrian, LeFevre,
    DeWitt and Ramakrishnan 2006).

    Examples
    --------
    >>> [group.tolist() for group in groups(np.array([[0.0], [5.0], [0.1], [5.1]]), 2)]
    [[0, 2], [1, 3]]
    """
    waiting, done = [np.arange(len(Z))], []
    while waiting:
        rows = waiting.pop()
        spread = Z[rows].var(axis=0) if Z.shape[1] else np.zeros(1)
        if len(rows) < 2 * k or spread.max() == 0:
            done.append(rows)
            continue
        order = rows[np.argsort(Z[rows, spread.argmax()], kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return done
