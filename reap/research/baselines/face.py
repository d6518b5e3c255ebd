"""Poyiadzi et al., "FACE: feasible and actionable counterfactual explanations" (2020)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from reap._arrays import zero_missing
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse.engine import Candidates, Subject
from reap.recourse.graph import GraphRecourse
from reap.recourse.routes.path.rows import exact_neighbors, movable_columns
from reap.research.baselines._baseline import Baseline, above, free
from reap.space import ActionSpace, Limits


class FACE(Baseline):
    """The shortest path, by squared Euclidean length, through a graph of near rows to an accepted one.

    It is our graph with the identity as everybody's cost and nothing tidied, so that what differs is the cost alone;
    the whole path is kept. Rows in thin places are left out: those that fewer than ``min_neighbors`` other rows
    have among their nearest.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float
        Rows with a probability above it are accepted.
    n_neighbors, max_neighbors : int
        Neighbours of each row, K, and up to how many K doubles where nothing accepted is in reach.
    min_neighbors : int
        The density condition; 0 keeps every row.
    constraints : bool
        False: the paper's setting, anything may become anything.
    random_state : int
        Not used: nothing here is random.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = FACE(model, space).fit(X)
    >>> engine.plans(pd.Series({"income": 2000, "debts": 2}), np.eye(2)[None])[0].valid
    True
    """

    def __init__(
        self,
        model: Any,
        space: ActionSpace,
        *,
        target: Any = 1,
        threshold: float = 0.5,
        n_neighbors: int = 10,
        max_neighbors: int = 160,
        min_neighbors: int = 1,
        constraints: bool = True,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.space = space
        self.target = target
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.max_neighbors = max_neighbors
        self.min_neighbors = min_neighbors
        self.constraints = constraints
        self.random_state = random_state

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row in a dense enough place with its nearest ones.

        Parameters
        ----------
        X : DataFrame
        y : ignored
        """
        above("min_neighbors", self.min_neighbors, 0)
        self.classifier_ = self._wrap()
        space = self.space if self.constraints else free(self.space)
        self.graph_ = GraphRecourse(
            self.model,
            space,
            target=self.target,
            threshold=self.threshold,
            n_neighbors=self.n_neighbors,
            max_neighbors=self.max_neighbors,
            tidy=False,
            random_state=self.random_state,
        ).fit(X[self._dense(self.space.encode(X), space)])
        return self

    def _dense(self, Z: Array, space: ActionSpace) -> Array:
        """Return which rows (n,) enough others have among their nearest; equal rows share one place."""
        near = zero_missing(Z[:, movable_columns(space)])
        places, place = np.unique(near, axis=0, return_inverse=True)
        lists = exact_neighbors(places, self.n_neighbors)
        counts = np.bincount(lists.ravel(), minlength=len(places))
        dense = counts[place.ravel()] >= min(self.min_neighbors, len(places) - 1)
        return np.asarray(dense)

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        identity = np.eye(self.space.dimension)[None]
        return self.graph_.plans(self.space.decode(subject.z[None]), identity, limits)[0]

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows the subject could become, as one-step plans, nearest first."""
        return self.graph_.candidates(x, limits)
