"""How a problem's logit and its derived columns change with the numbers that a person can move."""

from __future__ import annotations

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Ints
from reap.recourse.targets.problem import Problem


def gradient(problem: Problem, Z: Array, of: Ints | None = None) -> Array:
    """Return the gradient (n, m) of the logit by the movable numbers, or (n, k) by those ``of`` (n, k) for each row.

    Derived columns are included as they follow.
    """
    full = problem.classifier.gradient(Z)
    full = zero_missing(full) if problem.gaps else full
    own = full[:, problem.numbers.columns]
    own = own if of is None else np.take_along_axis(own, of, axis=1)
    if len(problem.derived):
        own = own + (slopes(problem, Z, of) * full[:, None, problem.derived]).sum(axis=2)
    return own


def slopes(problem: Problem, Z: Array, of: Ints | None = None) -> Array:
    """Return how derived columns follow the numbers, (n, m or k, derived), by differences of a few steps.

    ``of`` (n, k) names the numbers that matter to each row.
    """
    n = problem.numbers
    of = np.broadcast_to(np.arange(len(n.columns)), (len(Z), len(n.columns))) if of is None else of
    columns, reach = n.columns[of][None], np.maximum(n.step, 0.02)[of]
    here = np.take_along_axis(Z, n.columns[of], axis=1)
    ends = n.snap(here + np.stack([-reach, reach]), of)  # (2, n, k)
    moved = np.repeat(np.repeat(Z[None, :, None], of.shape[1], axis=2), 2, axis=0)
    np.put_along_axis(moved, np.broadcast_to(columns, ends.shape)[..., None], ends[..., None], axis=3)
    moved = problem.follow(moved.reshape(-1, Z.shape[1])).reshape(moved.shape)
    gap = (ends[1] - ends[0])[:, :, None]
    rise = zero_missing(moved[1] - moved[0])[:, :, problem.derived]
    leading = problem.derived[None, None] == columns[0][:, :, None]  # a clock that is a number of its own
    rise[leading] = 0.0
    return np.asarray(np.divide(rise, gap, out=np.zeros_like(rise), where=np.abs(gap) > 1e-9))
