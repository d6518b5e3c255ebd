"""Any tree ensemble as one flat table of nodes.

The raw score of a row is ``base + Σ_trees value(leaf)``; a *link* turns it into a probability: none for forests,
which average probabilities, a sigmoid for boosters. A node sends a value left where ``x ≤ threshold``, or, where it
splits on categories, where the code of x is in the node's set. Where several models vote, or several calibrated copies of one,
each is a *member* with a raw score of its own, and the probability is the sum of their shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from reap._typing import Array, Bools, Ints
from reap.models.trees.members import Link, Member


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
    member : (nodes,)
        Whose trees they are.
    members : tuple of Member
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
    member: Ints
    members: tuple[Member, ...]
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

        return cls(
            joined("feature").astype(np.intp),
            joined("threshold").astype(float),
            joined("missing_left").astype(bool),
            joined("left", start).astype(np.intp),
            joined("right", start).astype(np.intp),
            joined("value").astype(float),
            joined("kind", first_set).astype(np.intp),
            _stacked([tree.sets for tree in trees]),
            start[:-1],
            np.zeros(start[-1], dtype=np.intp),
            (Member(base, link),),
            single,
        )

    @classmethod
    def voting(cls, forests: Sequence[Forest], columns: Sequence[int]) -> Forest:
        """Return forests of one member each as one, on their matrices side by side; ``columns``: the first of each.

        Rows are given as ``seen`` by each. Members whose raw scores are probabilities become one.
        """
        if len(forests) == 1:
            return replace(forests[0], single=False)
        members: list[Member] = []
        values, owners = [], []
        linear = [forest.members[0] for forest in forests if forest.members[0].linear]
        if linear:
            members.append(Member(sum(m.weight * m.base for m in linear), "none"))
        for forest in forests:
            own = forest.members[0]
            values.append(forest.value * (own.weight if own.linear else 1.0))
            owners.append(np.full(len(forest.value), 0 if own.linear else len(members)))
            if not own.linear:
                members.append(own)
        nodes = np.concatenate([[0], np.cumsum([len(f.value) for f in forests])])
        sets = np.concatenate([[0], np.cumsum([len(f.sets) for f in forests])])

        def joined(name: str, shift: Sequence[int] | Ints) -> Ints:
            parts = [np.asarray(getattr(f, name)) for f in forests]
            return np.concatenate([np.where(p >= 0, p + s, -1) for p, s in zip(parts, shift, strict=False)])

        return cls(
            joined("feature", columns),
            np.concatenate([f.threshold for f in forests]),
            np.concatenate([f.missing_left for f in forests]),
            joined("left", nodes),
            joined("right", nodes),
            np.concatenate(values),
            joined("kind", sets),
            _stacked([f.sets for f in forests]),
            joined("roots", nodes),
            np.concatenate(owners),
            tuple(members),
            False,
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
        """Return the raw scores (n, members) of transformed rows (n, c), already ``seen``."""
        out = np.repeat([[m.base for m in self.members]], len(T), axis=0)
        leaf, of = self.leaf, np.eye(len(self.members))[self.member[self.roots]]
        for begin in range(0, len(T), 512):
            rows = T[begin : begin + 512]
            node = np.tile(self.roots, len(rows))
            row = np.repeat(np.arange(len(rows)), len(self.roots))
            live = np.flatnonzero(~leaf[node])
            while len(live):
                here = node[live]
                left = self.goes_left(here, rows[row[live], self.feature[here]])
                node[live] = np.where(left, self.left[here], self.right[here])
                live = live[~leaf[node[live]]]
            out[begin : begin + 512] += self.value[node].reshape(len(rows), -1) @ of
        return out

    def probability(self, T: Array) -> Array:
        """Return the target's probability (n,) of transformed rows (n, c), already ``seen``."""
        return self.combined(self.raw(T))

    def combined(self, raw: Array) -> Array:
        """Return the target's probability (n,) of raw scores (n, members)."""
        return np.asarray(sum(m.probability(raw[:, i]) for i, m in enumerate(self.members)))

    @property
    def plain(self) -> bool:
        """Whether one raw score decides, by a link that is known both ways."""
        return len(self.members) == 1 and self.members[0].calibration is None

    def level(self, wanted: float) -> float:
        """Return the value of ``blend`` at which the logit of the probability is ``wanted``."""
        if self.plain and self.members[0].link == "sigmoid":
            return wanted
        return float(expit(wanted))

    def blend(self, raw: Sequence[Any]) -> Any:
        """Return one value that decides, for raw scores of each member, arrays of one shape: never falling in any of them."""
        if self.plain:
            return raw[0]
        return np.asarray(sum(m.probability(one) for m, one in zip(self.members, raw, strict=True)))


def _stacked(sets: Sequence[Bools]) -> Bools:
    """Return sets of codes (k, codes) of different width as one table; what an unknown code does stays last."""
    width = max((s.shape[1] for s in sets), default=1)
    parts = [np.pad(s, ((0, 0), (0, width - s.shape[1])), mode="edge") for s in sets if len(s)]
    return np.concatenate(parts) if parts else np.zeros((0, 1), dtype=bool)
