"""Poyiadzi et al., "FACE: feasible and actionable counterfactual explanations" (2020)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reap import effort
from reap._arrays import zero_missing
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Subject
from reap.recourse.paper.paths import exact_neighbors
from reap.research.baselines.baseline import PathBaseline, above, free
from reap.space import ActionSpace, Limits


@dataclass(eq=False, repr=False, kw_only=True)
class FACE(PathBaseline):
    """The shortest path, by squared Euclidean length, through a graph of near rows to an accepted one.

    It is the graph of ``GraphRecourse`` with the identity as everybody's matrix, so that what differs is the effort
    alone. Rows in thin places are left out: those that fewer than ``min_neighbors`` other rows have among their nearest.

    Parameters
    ----------
    model, space, target, threshold, constraints
        As in ``Baseline``.
    n_neighbors, max_neighbors : int
        As in ``GraphRecourse``.
    min_neighbors : int
        The density condition; 0 keeps every row.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"income": np.arange(10, 60) * 100, "debts": np.arange(50) % 6})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = FACE(model, reap.ActionSpace.from_frame(X)).fit(X)
    >>> engine.plans(pd.Series({"income": 2000, "debts": 2}), np.eye(2)[None])[0].valid
    True
    """

    min_neighbors: int = 1

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row in a dense enough place with its nearest ones."""
        above("min_neighbors", self.min_neighbors, 0)
        space = self.space if self.constraints else free(self.space)
        dense = self._dense(self.space.encode(X), space)
        return super().fit(X[dense], None if y is None else np.asarray(y)[dense])

    def _dense(self, Z: Array, space: ActionSpace) -> Array:
        """Return which rows (n,) enough others have among their nearest; equal rows share one place."""
        near = zero_missing(Z[:, space.legal.movable or []])
        places, place = np.unique(near, axis=0, return_inverse=True)
        lists = exact_neighbors(places, self.n_neighbors)
        counts = np.bincount(lists.ravel(), minlength=len(places))
        dense = counts[place.ravel()] >= min(self.min_neighbors, len(places) - 1)
        return np.asarray(dense)

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        identity = effort.identity(self.space.dimension)
        return self.graph_.plans(subject.space.decode(subject.z[None]), identity, limits)[0]
