"""scikit-learn's trees as tables of nodes: single trees, forests, gradient boosting of both kinds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from reap._typing import Array, Bools
from reap.models.trees.forest import Forest, Tree

_NO_SETS = np.zeros((0, 1), dtype=bool)


def flatten(model: Any, index: int, rows: Any) -> Forest | None:
    """Return the trees of a fitted classifier for one of its classes; None where it has none that we know.

    ``rows`` are some rows as the model takes them: what a booster starts from is read off its own scores.
    """
    match model:
        case DecisionTreeClassifier() | ExtraTreeClassifier():
            return _averaged([model], index)
        case RandomForestClassifier() | ExtraTreesClassifier():
            return _averaged(model.estimators_, index)
        case GradientBoostingClassifier() if len(model.classes_) == 2:
            return _boosted(model, index, rows)
        case HistGradientBoostingClassifier() if len(model.classes_) == 2:
            return _histograms(model, index, rows)
    return None


def matrix(model: Any, rows: Any) -> Array:
    """Return rows as the numbers the model compares; categories as the codes it gave them."""
    inner = getattr(model, "_preprocessor", None)  # histogram boosting codes categories, and puts them first
    if inner is not None:
        rows = inner.transform(rows)
    return numbers(rows)


def numbers(rows: Any) -> Array:
    """Return a frame, array or sparse matrix as floats (n, c), NaN where a value is missing."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if hasattr(rows, "columns"):
        parts = [rows.iloc[:, i].to_numpy(dtype=float, na_value=np.nan) for i in range(rows.shape[1])]
        return np.stack(parts, axis=1)
    return np.asarray(rows, dtype=float)


def _averaged(members: Any, index: int) -> Forest:
    trees = []
    for member in members:
        share = member.tree_.value[:, 0, :]
        trees.append(_plain(member.tree_, share[:, index] / share.sum(axis=1) / len(members)))
    return Forest.of(trees, base=0.0, link="none", single=True)


def _boosted(model: Any, index: int, rows: Any) -> Forest:
    sign = (1.0 if index == 1 else -1.0) * (2.0 if model.loss == "exponential" else 1.0)
    trees = [
        _plain(member[0].tree_, sign * model.learning_rate * member[0].tree_.value[:, 0, 0])
        for member in model.estimators_
    ]
    forest = Forest.of(trees, base=0.0, link="sigmoid", single=True)
    return _based(forest, sign * model.decision_function(rows[:1]), numbers(rows[:1]))


def _plain(tree: Any, value: Array) -> Tree:
    leaf = tree.children_left < 0
    missing = getattr(tree, "missing_go_to_left", np.zeros(len(leaf)))
    return Tree(
        np.where(leaf, 0, tree.feature),
        tree.threshold,
        np.asarray(missing, dtype=bool),
        tree.children_left,
        tree.children_right,
        np.where(leaf, value, 0.0),
        np.full(len(leaf), -1),
        _NO_SETS,
    )


def _histograms(model: Any, index: int, rows: Any) -> Forest:
    sign = 1.0 if index == 1 else -1.0
    known, place = model._bin_mapper.make_known_categories_bitsets()
    trees = []
    for (grown,) in model._predictors:
        nodes = grown.nodes
        leaf, coded = nodes["is_leaf"].astype(bool), nodes["is_categorical"].astype(bool)
        missing = nodes["missing_go_to_left"].astype(bool)
        which = np.flatnonzero(coded & ~leaf)
        order = np.argsort(nodes["bitset_idx"][which])
        which = which[order]
        sets = np.zeros((len(which), 257), dtype=bool)
        for k, node in enumerate(which):  # an unknown category goes where a missing one does
            left = _bits(grown.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
            seen = _bits(known[place[nodes["feature_idx"][node]]])
            sets[k] = np.append(left | (~seen & missing[node]), missing[node])
        kind = np.full(len(leaf), -1)
        kind[which] = np.arange(len(which))
        trees.append(
            Tree(
                np.where(leaf, 0, nodes["feature_idx"]),
                nodes["num_threshold"],
                missing,
                np.where(leaf, -1, nodes["left"].astype(int)),
                np.where(leaf, -1, nodes["right"].astype(int)),
                np.where(leaf, sign * nodes["value"], 0.0),
                kind,
                sets,
            )
        )
    forest = Forest.of(trees, base=0.0, link="sigmoid", single=False)
    return _based(forest, sign * model.decision_function(rows[:1]), matrix(model, rows[:1]))


def _bits(words: Any) -> Bools:
    return np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little").astype(bool)


def _based(forest: Forest, raw: Array, T: Array) -> Forest:
    """Return the forest with the base that makes it agree with a raw score (1,) of a row (1, c)."""
    base = float(raw[0] - forest.raw(forest.seen(T))[0, 0])
    return replace(forest, members=(replace(forest.members[0], base=base),))
