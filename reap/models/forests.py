"""What tree ensembles of five libraries keep, as one table of nodes; none of them is imported here but scikit-learn."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import ensemble, tree

from reap._typing import Array, Bools, Ints
from reap.models.parts import numbers

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


@dataclass(frozen=True, eq=False)
class Trees:
    """The nodes (n,) of trees whose values are added up: all of an ensemble that speak for one class.

    Parameters
    ----------
    column, threshold, missing_left : (n,)
        A value of the column goes left where it is not above the threshold; whether a missing one does.
    left, right : (n,)
        The children; those of a leaf are −1.
    value : (n,)
        Of leaves.
    sets : mapping from node to (codes + 1,)
        Of a node that splits on codes instead: which of them go left, and last what an unknown code does.
    roots : (t,)
        A tree's other nodes follow its root.
    grown : sequence
        scikit-learn's own trees, where there are.
    """

    column: Ints
    threshold: Array
    missing_left: Bools
    left: Ints
    right: Ints
    value: Array
    sets: Mapping[int, Bools]
    roots: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.intp))
    grown: Sequence[Any] = ()

    @classmethod
    def joined(cls, trees: Sequence[Trees]) -> Trees:
        """Return trees one after the other."""
        begin = np.cumsum([0, *(len(one.column) for one in trees)])[:-1]
        pairs = list(zip(begin.tolist(), trees, strict=True))
        column, threshold, missing, value = (
            np.concatenate([getattr(one, name) for one in trees])
            for name in ("column", "threshold", "missing_left", "value")
        )
        left, right = (
            np.concatenate(
                [np.where(getattr(one, side) < 0, -1, getattr(one, side) + at) for at, one in pairs]
            )
            for side in ("left", "right")
        )
        sets = {at + node: codes for at, one in pairs for node, codes in one.sets.items()}
        return cls(column.astype(np.intp), threshold, missing, left, right, value, sets, begin)

    @property
    def inner(self) -> Ints:
        """The nodes that split."""
        return np.flatnonzero(self.left >= 0)

    def goes_left(self, node: Ints, x: Array) -> Bools:
        """Return which values x (n, c) go left at nodes (n,)."""
        with np.errstate(invalid="ignore"):
            left = x <= self.threshold[node, None]
        for i in np.flatnonzero(np.isin(node, list(self.sets))) if self.sets else ():
            codes = self.sets[int(node[i])]
            known = (x[i] >= 0) & (x[i] < len(codes) - 1)
            left[i] = codes[np.where(known, x[i], len(codes) - 1).astype(np.intp)]
        return np.where(np.isnan(x), self.missing_left[node, None], left)


def matrix(model: Any, rows: Any) -> Array:
    """Return rows as the numbers (n, c) that a tree ensemble compares, categories as the codes it gave them."""
    inner = getattr(model, "_preprocessor", None)  # histogram boosting codes categories, and puts them first
    T = numbers(rows if inner is None else inner.transform(rows))
    missing = getattr(model, "missing", np.nan)  # XGBoost's own word for it
    return np.where(missing == T, np.nan, T) if isinstance(missing, float | int) else T


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
        each = [
            [_plain(one.tree_, rate * one.tree_.value[:, 0, 0]) for one in row] for row in model.estimators_.T
        ]
    elif isinstance(model, _HISTOGRAMS):
        known = model._bin_mapper.make_known_categories_bitsets()
        each = [[_histogram(one, *known) for one in row] for row in zip(*model._predictors, strict=True)]
    else:
        kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(model).__mro__}
        reading = next((read for kind, read in _OTHERS.items() if kind in kinds), None)
        if reading is None:
            raise UnreadableError
        each = reading(model)
    return [Trees.joined(trees) for trees in each]


def _averaged(members: Any) -> list[Trees]:
    values = [one.tree_.value[:, 0] for one in members]
    if hasattr(members[0], "classes_"):
        values = [value / value.sum(axis=1, keepdims=True) for value in values]
    made = Trees.joined([_plain(one.tree_, np.zeros(one.tree_.node_count)) for one in members])
    made = replace(made, grown=[one.tree_ for one in members])
    each = [replace(made, value=value) for value in np.concatenate(values).T / len(members)]
    return each[1:] if len(each) == 2 else each


def _plain(tree: Any, value: Array) -> Trees:
    missing = np.asarray(getattr(tree, "missing_go_to_left", np.zeros(len(value))), dtype=bool)
    left, right = tree.children_left, tree.children_right
    return Trees(tree.feature, _in_single(tree.threshold), missing, left, right, value, {})


def _in_single(threshold: Array) -> Array:
    """Return the greatest numbers (n,) that single precision takes for no more than thresholds (n,)."""
    low = threshold.astype(np.float32)
    low = np.where(low > threshold, np.nextafter(low, np.float32(-np.inf)), low)
    middle = (low.astype(float) + np.nextafter(low, np.float32(np.inf)).astype(float)) / 2
    return np.asarray(np.where(middle.astype(np.float32) <= low, middle, np.nextafter(middle, -np.inf)))


def _histogram(grown: Any, known: Any, place: Any) -> Trees:
    nodes, leaf = grown.nodes, grown.nodes["is_leaf"].astype(bool)
    missing, sets = nodes["missing_go_to_left"].astype(bool), dict[int, Bools]()
    for node in np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf).tolist():
        chosen = _bits(grown.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
        seen = _bits(known[place[nodes["feature_idx"][node]]])
        # an unknown category goes where a missing one does
        sets[node] = np.append(chosen | (~seen & missing[node]), missing[node])
    left, right = (np.where(leaf, -1, nodes[side].astype(np.intp)) for side in ("left", "right"))
    return Trees(nodes["feature_idx"], nodes["num_threshold"], missing, left, right, nodes["value"], sets)


def _bits(words: Any) -> Bools:
    return np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little").astype(bool)


def _walked(root: Any, left: str, right: str) -> tuple[list[Any], Ints, Ints]:
    """Return the nodes of a tree of dictionaries, and the children of each."""
    nodes, ways = [root], []
    for node in nodes:  # grows while it is read: children come after their parents
        ways.append((len(nodes), len(nodes) + 1) if left in node else (-1, -1))
        nodes += [node[left], node[right]] if left in node else []
    return nodes, *np.array(ways, dtype=np.intp).T


def _lightgbm(model: Any) -> list[list[Trees]]:
    dump = model.booster_.dump_model(num_iteration=model.best_iteration_ or -1)
    trees = [_lightgbm_tree(one["tree_structure"]) for one in dump["tree_info"]]
    each = dump["num_tree_per_iteration"]
    return [trees[i::each] for i in range(each)]


def _lightgbm_tree(root: Any) -> Trees:
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
    missing = np.where(follows, default, threshold >= 0) & plain
    column = np.array([node.get("split_feature", 0) for node in nodes])
    value = np.array([node.get("leaf_value", 0.0) for node in nodes])
    return Trees(column, threshold, missing, left, right, value, sets)


def _xgboost(model: Any) -> list[list[Trees]]:
    booster = model.get_booster()
    if getattr(model, "early_stopping_rounds", None) and getattr(model, "best_iteration", None) is not None:
        booster = booster[: model.best_iteration + 1]
    kept = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]
    if kept["name"] != "gbtree":
        raise UnreadableError
    trees, group = [_xgboost_tree(one) for one in kept["model"]["trees"]], kept["model"]["tree_info"]
    return [[one for one, k in zip(trees, group, strict=True) if k == i] for i in range(max(group) + 1)]


def _xgboost_tree(one: Any) -> Trees:
    left = np.array(one["left_children"])
    condition, codes = np.array(one["split_conditions"], dtype=np.float32), one["categories"]
    sets = dict[int, Bools]()
    where = zip(one["categories_nodes"], one["categories_segments"], one["categories_sizes"], strict=True)
    for node, begin, size in where:  # those in the set go right
        sets[node] = ~np.isin(np.arange(max(codes) + 2), codes[begin : begin + size])
    return Trees(
        np.array(one["split_indices"]),
        _in_single(np.nextafter(condition, np.float32(-np.inf))),  # x < t is x ≤ the float below
        np.array(one["default_left"], dtype=bool),
        left,
        np.array(one["right_children"]),
        np.where(left < 0, condition.astype(float), 0.0),
        sets,
    )


def _catboost(model: Any) -> list[list[Trees]]:
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
    return [[_catboost_tree(root, columns) for root in roots]]


def _grown(splits: list[Any], values: list[float]) -> dict[str, Any]:
    """Return a tree with one split a level as one of nodes: bit i of a leaf's number says where split i sent it."""
    if not splits:
        return {"value": values[0]}
    half = len(values) // 2
    left, right = _grown(splits[1:], values[:half]), _grown(splits[1:], values[half:])
    return {"split": splits[0], "left": left, "right": right}


def _catboost_tree(root: Any, columns: list[Any]) -> Trees:
    nodes, left, right = _walked(root, "left", "right")
    splits = [node.get("split", {"split_type": "FloatFeature", "float_feature_index": 0}) for node in nodes]
    values = [node.get("value", 0.0) for node in nodes]
    if any(one["split_type"] != "FloatFeature" for one in splits) or any(isinstance(v, list) for v in values):
        raise UnreadableError
    of = [columns[one["float_feature_index"]] for one in splits]
    column = np.array([one["flat_feature_index"] for one in of])
    border = _in_single(np.array([one.get("border", 0.0) for one in splits]))
    missing = np.array([one["nan_value_treatment"] != "AsTrue" for one in of])
    return Trees(column, border, missing, left, right, np.array(values), {})


_OTHERS: dict[tuple[str, str], Callable[[Any], list[list[Trees]]]] = {
    ("lightgbm", "LGBMModel"): _lightgbm,
    ("xgboost", "XGBModel"): _xgboost,
    ("catboost", "CatBoost"): _catboost,
}
