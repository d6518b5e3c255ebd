"""What tree ensembles of five libraries keep, as tables of nodes; none of them is imported here but scikit-learn.

A value goes left where it is *not above* the threshold of a node, or where its code is in the node's set.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline

from reap._typing import Array, Bools, Ints

_TREES = (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor)
_FORESTS = (
    ensemble.RandomForestClassifier,
    ensemble.ExtraTreesClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesRegressor,
)
_BOOSTED = (ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor)
_HISTOGRAMS = (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor)


class UnreadableError(Exception):
    """The model is not one that can be read."""


@dataclass(frozen=True)
class Tree:
    """The nodes (n,) of one tree, root first; a leaf's children are −1."""

    column: Ints
    threshold: Array
    missing_left: Bools
    left: Ints
    right: Ints
    value: Array
    #: By node: which codes go left, and last what an unknown code does, (codes + 1,).
    sets: Mapping[int, Bools]


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees whose values are added up: all of an ensemble that speak for one class.

    Parameters
    ----------
    column, threshold, missing_left, left, right, value, sets
        As of ``Tree``, children counted over all nodes.
    roots : (t,)
    single : bool
        Whether values are compared in single precision.
    off : float
        How far the sum may be from the model's own: it may be added up in single precision.
    grown : sequence, optional
        scikit-learn's own trees, whose mean is said.
    """

    column: Ints
    threshold: Array
    missing_left: Bools
    left: Ints
    right: Ints
    value: Array
    sets: Mapping[int, Bools]
    roots: Ints
    single: bool
    off: float = 1e-9
    grown: Sequence[Any] = ()

    @classmethod
    def of(cls, trees: Sequence[Tree], *, single: bool, off: float = 1e-9) -> Trees:
        """Return trees one after the other."""
        start = np.cumsum([0, *(len(one.column) for one in trees)])[:-1]
        pairs = list(zip(start.tolist(), trees, strict=True))

        def joined(name: str, kind: Any) -> Any:
            return np.concatenate([np.asarray(getattr(one, name), dtype=kind) for one in trees])

        left, right = (
            np.concatenate(
                [np.where(getattr(one, side) >= 0, getattr(one, side) + at, -1) for at, one in pairs]
            )
            for side in ("left", "right")
        )
        sets = {at + node: codes for at, one in pairs for node, codes in one.sets.items()}
        return cls(
            joined("column", np.intp),
            joined("threshold", float),
            joined("missing_left", bool),
            left.astype(np.intp),
            right.astype(np.intp),
            joined("value", float),
            sets,
            start,
            single,
            off,
        )

    @cached_property
    def inner(self) -> Ints:
        """The nodes that split."""
        return np.flatnonzero(self.left >= 0)

    @property
    def thresholds(self) -> dict[int, Array]:
        """Where numbers are compared: the thresholds of each column, ascending (t,)."""
        plain = np.setdiff1d(self.inner, list(self.sets))
        column, threshold = self.column[plain], self.threshold[plain]
        return {int(c): np.unique(threshold[column == c]) for c in np.unique(column)}

    @property
    def coded(self) -> Ints:
        """The columns on whose codes some tree splits."""
        return np.unique(self.column[list(self.sets)])

    def moved(self, begin: int) -> Trees:
        """Return the same trees where their columns begin at another one."""
        return replace(self, column=self.column + begin)

    def seen(self, T: Array) -> Array:
        """Return values in the precision in which they are compared."""
        return T.astype(np.float32).astype(float) if self.single else T

    def goes_left(self, node: Ints, x: Array) -> Bools:
        """Return which values x (n, c), already ``seen``, go left at nodes (n,)."""
        with np.errstate(invalid="ignore"):
            left = x <= self.threshold[node, None]
        for i in np.flatnonzero(np.isin(node, list(self.sets))) if self.sets else ():
            codes = self.sets[int(node[i])]
            known = (x[i] >= 0) & (x[i] < len(codes) - 1)
            left[i] = codes[np.where(known, x[i], len(codes) - 1).astype(np.intp)]
        return np.where(np.isnan(x), self.missing_left[node, None], left)


# models made of others ---------------------------------------------------------------------------------------


def rewired(model: Any, put: Callable[[tuple[Any, ...], Any], Any], before: tuple[Any, ...] = ()) -> Any:
    """Return a fitted model whose innermost estimators are what ``put`` makes of them, and no step before them is taken.

    ``put`` is given the fitted steps that a row passes before an estimator, and that.
    """
    if isinstance(model, Pipeline):
        return rewired(model[-1], put, (*before, *steps_before(model)))
    if type(model).__name__ == "FrozenEstimator":  # scikit-learn 1.6
        return rewired(model.estimator, put, before)
    made = copy(model)
    if isinstance(model, CalibratedClassifierCV):
        made.calibrated_classifiers_ = [copy(one) for one in model.calibrated_classifiers_]
        for one in made.calibrated_classifiers_:
            one.estimator = rewired(one.estimator, put, before)
        return made
    if isinstance(model, ensemble.VotingClassifier | ensemble.StackingClassifier):
        made.estimators_ = [rewired(member, put, before) for member in model.estimators_]
        return made
    return put(before, model)


def steps_before(pipeline: Any) -> list[Any]:
    """Return the fitted steps that a row passes before the last one; samplers of imblearn act in training only."""
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    return [step for step in steps if not hasattr(step, "fit_resample")]


# what is compared ----------------------------------------------------------------------------------------------


def matrix(model: Any, rows: Any) -> Array:
    """Return rows as the numbers (n, c) that a tree ensemble compares, categories as the codes it gave them."""
    inner = getattr(model, "_preprocessor", None)  # histogram boosting codes categories, and puts them first
    T = numbers(rows if inner is None else inner.transform(rows))
    missing = getattr(model, "missing", np.nan)  # XGBoost's own word for it
    return np.where(missing == T, np.nan, T) if isinstance(missing, float | int) else T


def numbers(rows: Any) -> Array:
    """Return a frame, array or sparse matrix as floats (n, c), categories as their codes, NaN where a value is missing."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if not hasattr(rows, "columns"):
        return np.asarray(rows, dtype=float)
    columns = [rows.iloc[:, i] for i in range(rows.shape[1])]
    columns = [c.cat.codes.where(c.notna()) if str(c.dtype) == "category" else c for c in columns]
    return np.stack([c.to_numpy(dtype=float, na_value=np.nan) for c in columns], axis=1)


# five libraries ------------------------------------------------------------------------------------------------


def flattened(model: Any) -> list[Trees]:
    """Return the trees of a fitted ensemble: those of the second of two classes, or those of each class.

    An ``UnreadableError`` says that the model is none that we know.
    """
    if isinstance(model, _TREES):
        return _averaged([model])
    if isinstance(model, _FORESTS):
        return _averaged(model.estimators_)
    if isinstance(model, _BOOSTED):
        rate = model.learning_rate
        return [
            Trees.of([_plain(one.tree_, rate * one.tree_.value[:, 0, 0]) for one in each], single=True)
            for each in model.estimators_.T
        ]
    if isinstance(model, _HISTOGRAMS):
        known = model._bin_mapper.make_known_categories_bitsets()
        return [
            Trees.of([_histogram(one, *known) for one in each], single=False)
            for each in zip(*model._predictors, strict=True)
        ]
    reading: dict[tuple[str, str], Callable[[Any], list[Trees]]] = {
        ("lightgbm", "LGBMModel"): _lightgbm,
        ("xgboost", "XGBModel"): _xgboost,
        ("catboost", "CatBoost"): _catboost,
    }
    for kind in type(model).__mro__:
        read = reading.get((kind.__module__.partition(".")[0], kind.__name__))
        if read is not None:
            return read(model)
    raise UnreadableError


def _averaged(members: Any) -> list[Trees]:
    values = [one.tree_.value[:, 0] for one in members]
    if hasattr(members[0], "classes_"):
        values = [value / value.sum(axis=1, keepdims=True) for value in values]
    outputs = range(values[0].shape[1])
    made = Trees.of([_plain(one.tree_, np.zeros(one.tree_.node_count)) for one in members], single=True)
    each = [np.concatenate([value[:, i] for value in values]) / len(members) for i in outputs]
    made = replace(made, grown=[one.tree_ for one in members])
    return [replace(made, value=value) for value in (each[1:] if len(each) == 2 else each)]


def _plain(tree: Any, value: Array) -> Tree:
    missing = np.asarray(getattr(tree, "missing_go_to_left", np.zeros(len(value))), dtype=bool)
    return Tree(tree.feature, tree.threshold, missing, tree.children_left, tree.children_right, value, {})


def _histogram(grown: Any, known: Any, place: Any) -> Tree:
    nodes, leaf = grown.nodes, grown.nodes["is_leaf"].astype(bool)
    missing, sets = nodes["missing_go_to_left"].astype(bool), dict[int, Bools]()
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf).tolist():
        chosen = _bits(grown.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        seen = _bits(known[place[nodes["feature_idx"][node]]])
        # an unknown category goes where a missing one does
        sets[node] = np.append(chosen | (~seen & missing[node]), missing[node])
    left, right = (np.where(leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
    return Tree(nodes["feature_idx"], nodes["num_threshold"], missing, left, right, nodes["value"], sets)


def _bits(words: Any) -> Bools:
    return np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little").astype(bool)


def _walked(root: Any, left: str, right: str) -> tuple[list[Any], Ints, Ints]:
    """Return the nodes of a tree of dictionaries, and the children of each."""
    nodes, ways = [root], []
    for node in nodes:  # grows while it is read: children come after their parents
        ways.append((len(nodes), len(nodes) + 1) if left in node else (-1, -1))
        nodes += [node[left], node[right]] if left in node else []
    return nodes, *np.array(ways, dtype=np.intp).T


def _lightgbm(model: Any) -> list[Trees]:
    dump = model.booster_.dump_model(num_iteration=model.best_iteration_ or -1)
    trees = [_lightgbm_tree(one["tree_structure"]) for one in dump["tree_info"]]
    each = dump["num_tree_per_iteration"]
    return [Trees.of(trees[i::each], single=False) for i in range(each)]


def _lightgbm_tree(root: Any) -> Tree:
    nodes, left, right = _walked(root, "left_child", "right_child")
    if any("leaf_coeff" in node or node.get("missing_type") == "Zero" for node in nodes):
        raise UnreadableError  # linear in its leaves, or zeros that count as missing
    sets = dict[int, Bools]()
    for i, node in enumerate(nodes):
        if node.get("decision_type") == "==":
            codes = [int(code) for code in node["threshold"].split("||")]
            sets[i] = np.isin(np.arange(max(codes) + 2), codes)
    plain = np.array([node.get("decision_type") == "<=" for node in nodes])
    threshold = np.array([float(n["threshold"]) if p else 0.0 for n, p in zip(nodes, plain, strict=True)])
    follows = np.array([node.get("missing_type") == "NaN" for node in nodes])  # otherwise it counts as 0
    default = np.array([bool(node.get("default_left")) for node in nodes])
    column = np.array([node.get("split_feature", 0) for node in nodes])
    value = np.array([node.get("leaf_value", 0.0) for node in nodes])
    return Tree(
        column, threshold, np.where(follows, default, threshold >= 0) & plain, left, right, value, sets
    )


def _xgboost(model: Any) -> list[Trees]:
    booster = model.get_booster()
    if getattr(model, "early_stopping_rounds", None) and getattr(model, "best_iteration", None) is not None:
        booster = booster[: model.best_iteration + 1]
    kept = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    if kept["name"] != "gbtree":
        raise UnreadableError
    trees, group = (
        [_xgboost_tree(one) for one in kept["model"]["trees"]],
        np.array(kept["model"]["tree_info"]),
    )
    return [
        Trees.of([trees[j] for j in np.flatnonzero(group == i)], single=True, off=2e-6)
        for i in range(int(group.max()) + 1)
    ]


def _xgboost_tree(one: Any) -> Tree:
    left = np.array(one["left_children"])
    condition, codes = np.array(one["split_conditions"], dtype=np.float32), one["categories"]
    sets = dict[int, Bools]()
    where = zip(one["categories_nodes"], one["categories_segments"], one["categories_sizes"], strict=True)
    for node, begin, size in where:  # those in the set go right
        sets[node] = ~np.isin(np.arange(max(codes) + 2), codes[begin : begin + size])
    return Tree(
        np.array(one["split_indices"]),
        np.nextafter(condition, np.float32(-np.inf)).astype(float),  # x < t is x ≤ the float below
        np.array(one["default_left"], dtype=bool),
        left,
        np.array(one["right_children"]),
        np.where(left < 0, condition.astype(float), 0.0),
        sets,
    )


def _catboost(model: Any) -> list[Trees]:
    """Return trees on numbers; categories of its own are compared by hashes that only CatBoost can make."""
    if len(model.get_cat_feature_indices()):
        raise UnreadableError
    with tempfile.TemporaryDirectory() as folder:  # it writes to files only
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text())
    columns = dump["features_info"]["float_features"]
    roots = dump.get("trees") or [
        _grown(t["splits"][::-1], t["leaf_values"]) for t in dump["oblivious_trees"]
    ]
    return [Trees.of([_catboost_tree(root, columns) for root in roots], single=True)]


def _grown(splits: list[Any], values: list[float]) -> dict[str, Any]:
    """Return a tree with one split a level as one of nodes: bit i of a leaf's number says where split i sent it."""
    if not splits:
        return {"value": values[0]}
    half = len(values) // 2
    left, right = _grown(splits[1:], values[:half]), _grown(splits[1:], values[half:])
    return {"split": splits[0], "left": left, "right": right}


def _catboost_tree(root: Any, columns: list[Any]) -> Tree:
    nodes, left, right = _walked(root, "left", "right")
    splits = [node.get("split", {"split_type": "FloatFeature", "float_feature_index": 0}) for node in nodes]
    if any(one["split_type"] != "FloatFeature" for one in splits) or any(
        isinstance(node.get("value"), list) for node in nodes
    ):
        raise UnreadableError
    of = [columns[one["float_feature_index"]] for one in splits]
    return Tree(
        np.array([one["flat_feature_index"] for one in of]),
        np.array([one.get("border", 0.0) for one in splits]),
        np.array([one["nan_value_treatment"] != "AsTrue" for one in of]),
        left,
        right,
        np.array([node.get("value", 0.0) for node in nodes]),
        {},
    )
