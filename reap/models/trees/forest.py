"""Any tree ensemble as one flat table of nodes.

The raw score of a row is ``base + Σ_trees value(leaf)``; a *link* turns it into a probability: none for forests,
which average probabilities, a sigmoid for boosters. A node sends a value left where ``x ≤ threshold``, or, where it
splits on categories, where the code of x is in the node's set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from reap._typing import Array, Bools, Ints

Link = Literal["sigmoid", "none"]


@dataclass(frozen=True)
class Tree:
    """The nodes of one tree, root first; arrays (n,). A leaf's children are −1."""

    feature: Ints
    threshold: Array
    missing_left: Bools
    left: Ints
    right: Ints
    value: Array
    kind: Ints  # which row of ``sets`` the node looks up; −1 where it compares with the threshold
    sets: Bools  # (k, codes): which codes go left


@dataclass(frozen=True, eq=False)
class Forest:
    """All trees of a model, end to end.

    Parameters
    ----------
    feature, threshold, missing_left, left, right, value, kind
        As of ``Tree``, children counted over all nodes.
    sets : (k, codes) bool
        Which codes of a category go left; the last column is what an unknown code does.
    roots : (trees,)
    base : float
    link : {"sigmoid", "none"}
    single : bool
        Whether the model compares in single precision.
    """

    feature: Ints
    threshold: Array
    missing_left: Bools
    left: Ints
    right: Ints
    value: Array
    kind: Ints
    sets: Bools
    roots: Ints
    base: float
    link: Link
    single: bool

    @classmethod
    def of(cls, trees: Sequence[Tree], *, base: float, link: Link, single: bool) -> Forest:
        """Return trees as one table."""
        sizes = [len(tree.feature) for tree in trees]
        start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        first_set = np.concatenate([[0], np.cumsum([len(tree.sets) for tree in trees])]).astype(np.intp)

        def joined(name: str, shift: Ints | None = None) -> Array:
            parts = [np.asarray(getattr(tree, name)) for tree in trees]
            if shift is not None:
                parts = [np.where(p >= 0, p + s, -1) for p, s in zip(parts, shift, strict=False)]
            return np.concatenate(parts)

        width = max((tree.sets.shape[1] for tree in trees), default=1)
        sets = [
            np.pad(t.sets, ((0, 0), (0, width - t.sets.shape[1])), mode="edge") for t in trees if len(t.sets)
        ]
        return cls(
            joined("feature").astype(np.intp),
            joined("threshold").astype(float),
            joined("missing_left").astype(bool),
            joined("left", start).astype(np.intp),
            joined("right", start).astype(np.intp),
            joined("value").astype(float),
            joined("kind", first_set).astype(np.intp),
            np.concatenate(sets) if sets else np.zeros((0, 1), dtype=bool),
            start[:-1],
            base,
            link,
            single,
        )

    @property
    def leaf(self) -> Bools:
        """Which nodes are leaves, (nodes,)."""
        return self.left < 0

    @property
    def categorical(self) -> Ints:
        """The columns on whose codes some node splits."""
        return np.unique(self.feature[~self.leaf & (self.kind >= 0)])

    def seen(self, T: Array) -> Array:
        """Return a matrix as the model compares it: in single precision where it does."""
        return T.astype(np.float32).astype(float) if self.single else T

    def goes_left(self, node: Ints, x: Array) -> Bools:
        """Return whether values x (n, …), already ``seen``, go left at nodes (n,)."""
        node = node.reshape(-1, *[1] * (x.ndim - 1))
        with np.errstate(invalid="ignore"):
            left = x <= self.threshold[node]
        if len(self.sets):
            coded = np.broadcast_to(self.kind[node] >= 0, x.shape) & ~np.isnan(x)
            if coded.any():
                last = self.sets.shape[1] - 1
                code = np.where(coded, x, 0.0)
                place = np.where((code < 0) | (code > last), last, code).astype(np.intp)
                left = np.where(coded, self.sets[np.broadcast_to(self.kind[node], x.shape), place], left)
        missing = np.isnan(x)
        return np.where(missing, self.missing_left[node], left) if missing.any() else left

    def raw(self, T: Array) -> Array:
        """Return the raw scores (n,) of transformed rows (n, c)."""
        T = self.seen(T)
        out = np.full(len(T), self.base)
        for begin in range(0, len(T), 512):
            rows = T[begin : begin + 512]
            node = np.tile(self.roots, len(rows))
            row = np.repeat(np.arange(len(rows)), len(self.roots))
            live = np.flatnonzero(~self.leaf[node])
            while len(live):
                here = node[live]
                left = self.goes_left(here, rows[row[live], self.feature[here]])
                node[live] = np.where(left, self.left[here], self.right[here])
                live = live[~self.leaf[node[live]]]
            out[begin : begin + 512] += self.value[node].reshape(len(rows), -1).sum(axis=1)
        return out

    def probability(self, T: Array) -> Array:
        """Return the target's probability (n,) of transformed rows (n, c)."""
        raw = self.raw(T)
        return np.asarray(expit(raw)) if self.link == "sigmoid" else raw

    def level(self, wanted: float) -> float:
        """Return the raw score at which the logit of the probability is ``wanted``."""
        return wanted if self.link == "sigmoid" else float(expit(wanted))

    def logit(self, raw: Array) -> Array:
        """Return the logit of raw scores."""
        return raw if self.link == "sigmoid" else np.asarray(logit(np.clip(raw, 2.0**-53, 1 - 2.0**-53)))
