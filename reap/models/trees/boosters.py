"""LightGBM and XGBoost as tables of nodes, from what they write down of themselves; neither is imported here."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit

from reap._typing import Array
from reap.models.trees.forest import Forest, Tree
from reap.models.trees.sklearn_trees import numbers


def flatten(model: Any, index: int) -> Forest | None:
    """Return the trees of a fitted ``LGBMClassifier`` or ``XGBClassifier`` of two classes; None for anything else."""
    if len(model.classes_) != 2:
        return None
    sign = 1.0 if index == 1 else -1.0
    if is_lightgbm(model):
        return _lightgbm(model.booster_.dump_model(num_iteration=model.best_iteration_ or -1), sign)
    if is_xgboost(model):
        booster = model.get_booster()
        if getattr(model, "best_iteration", None) is not None and model.early_stopping_rounds:
            booster = booster[: model.best_iteration + 1]
        return _xgboost(json.loads(bytes(booster.save_raw("json")))["learner"], sign)
    return None


def is_lightgbm(model: Any) -> bool:
    """Return whether a model is LightGBM's classifier, without importing it."""
    return _is(model, "lightgbm", "LGBMClassifier")


def is_xgboost(model: Any) -> bool:
    """Return whether a model is XGBoost's classifier, without importing it."""
    return _is(model, "xgboost", "XGBClassifier")


def _is(model: Any, package: str, name: str) -> bool:
    return any(c.__module__.partition(".")[0] == package and c.__name__ == name for c in type(model).__mro__)


def matrix(model: Any, rows: Any) -> Array:
    """Return rows as the numbers the model compares; columns of categories as the codes it gave them."""
    if hasattr(rows, "dtypes"):
        coded = [c for c in rows.columns if str(rows[c].dtype) == "category"]
        if coded:
            rows = rows.copy()
            for column, levels in zip(coded, _categories(model, coded, rows), strict=True):
                code = {level: float(k) for k, level in enumerate(levels)}
                rows[column] = rows[column].astype(object).map(code).astype(float)
    T = numbers(rows)
    missing = getattr(model, "missing", np.nan)
    return T if np.isnan(missing) else np.where(missing == T, np.nan, T)


def _categories(model: Any, coded: list[Any], rows: Any) -> list[list[Any]]:
    """Return the levels of each column of categories in the order of their codes."""
    if is_lightgbm(model):
        return list(model.booster_.pandas_categorical or [])
    learner = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]
    kept = learner["gradient_booster"]["model"].get("cats", {}).get("enc", [])
    named = dict(zip(learner["feature_names"], kept, strict=False))
    return [_decoded(named.get(str(c)), rows[c]) for c in coded]


def _decoded(kept: Any, column: Any) -> list[Any]:
    if not kept or not kept["values"]:  # an older file does not keep them: the codes are the column's own
        return list(column.cat.categories)
    if "offsets" not in kept:
        return list(kept["values"])
    text, ends = bytes(kept["values"]), kept["offsets"]
    return [text[a:b].decode() for a, b in pairwise(ends)]


def _lightgbm(dump: Any, sign: float) -> Forest | None:
    objective, *options = str(dump["objective"]).split()
    if objective != "binary" or dump["average_output"]:
        return None
    slope = next((float(o.partition(":")[2]) for o in options if o.startswith("sigmoid:")), 1.0)
    trees = [_lightgbm_tree(tree["tree_structure"], sign * slope) for tree in dump["tree_info"]]
    if any(tree is None for tree in trees):
        return None
    return Forest.of([t for t in trees if t is not None], base=0.0, link="sigmoid", single=False)


def _lightgbm_tree(root: Any, sign: float) -> Tree | None:
    """Return one tree of a dump; None where it is linear in its leaves or takes zeros for missing values."""
    nodes = [root]
    left, right = [], []
    for node in nodes:  # grows while it is read: children come after their parents
        split = "split_feature" in node
        left.append(len(nodes) if split else -1)
        right.append(len(nodes) + 1 if split else -1)
        if split:
            nodes += [node["left_child"], node["right_child"]]
    if any("leaf_coeff" in node or node.get("missing_type") == "Zero" for node in nodes):
        return None
    coded = [k for k, node in enumerate(nodes) if node.get("decision_type") == "=="]
    sets = [[int(code) for code in nodes[k]["threshold"].split("||")] for k in coded]
    table = np.zeros((len(sets), max(map(max, sets), default=0) + 2), dtype=bool)
    for k, codes in enumerate(sets):
        table[k, codes] = True
    kind = np.full(len(nodes), -1)
    kind[coded] = np.arange(len(coded))
    plain = [node.get("decision_type") == "<=" for node in nodes]
    threshold = np.array([float(n["threshold"]) if p else 0.0 for n, p in zip(nodes, plain, strict=True)])
    # otherwise what is missing counts as 0
    follows = np.array([n.get("missing_type") == "NaN" for n in nodes])
    default = np.array([bool(n.get("default_left")) for n in nodes])
    missing = np.where(follows, default, threshold >= 0.0) & plain
    feature = np.array([n.get("split_feature", 0) for n in nodes])
    value = np.array([sign * n.get("leaf_value", 0.0) for n in nodes])
    return Tree(feature, threshold, missing, np.array(left), np.array(right), value, kind, table)


def _xgboost(learner: Any, sign: float) -> Forest | None:
    booster = learner["gradient_booster"]
    if learner["objective"]["name"] != "binary:logistic" or booster["name"] != "gbtree":
        return None
    base = float(np.float32(str(learner["learner_model_param"]["base_score"]).strip("[]")))
    trees = []
    for tree in booster["model"]["trees"]:
        left = np.array(tree["left_children"])
        leaf = left < 0
        condition = np.array(tree["split_conditions"], dtype=np.float32)
        nodes = tree["categories_nodes"]
        codes = tree["categories"]
        table = np.ones((len(nodes), max(codes, default=0) + 2), dtype=bool)  # those in the set go right
        for k, (begin, size) in enumerate(
            zip(tree["categories_segments"], tree["categories_sizes"], strict=True)
        ):
            table[k, codes[begin : begin + size]] = False
        kind = np.full(len(leaf), -1)
        kind[nodes] = np.arange(len(nodes))
        trees.append(
            Tree(
                np.array(tree["split_indices"]),
                np.nextafter(condition, np.float32(-np.inf)).astype(float),  # x < t is x ≤ the float below
                np.array(tree["default_left"], dtype=bool),
                left,
                np.array(tree["right_children"]),
                np.where(leaf, sign * condition.astype(float), 0.0),
                kind,
                table,
            )
        )
    return Forest.of(trees, base=sign * float(logit(base)), link="sigmoid", single=True)
