"""CatBoost as tables of nodes, from the JSON it writes of itself; it is not imported here.

Splits on numbers are read. Where CatBoost counts targets over categories of its own (``cat_features``) the dump holds hashes
of their names, which only CatBoost can make: such a model is asked instead. Behind a one-hot or ordinal encoder it is read.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from reap.models.trees.forest import Forest, Tree

_NO_SETS = np.zeros((0, 1), dtype=bool)


def is_catboost(model: Any) -> bool:
    """Return whether a model is CatBoost's classifier, without importing it."""
    return any(
        c.__module__.partition(".")[0] == "catboost" and c.__name__ == "CatBoostClassifier"
        for c in type(model).__mro__
    )


def flatten(model: Any, index: int) -> Forest | None:
    """Return the trees of a fitted ``CatBoostClassifier`` of two classes on numbers; None for anything else."""
    if len(model.classes_) != 2 or len(model.get_cat_feature_indices()):
        return None
    with tempfile.TemporaryDirectory() as folder:  # it writes to files only
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        dump = json.loads(path.read_text())
    scale, (base,) = dump["scale_and_bias"]
    sign = 1.0 if index == 1 else -1.0
    columns = dump["features_info"]["float_features"]
    roots = dump.get("trees") or [
        _grown(t["splits"][::-1], t["leaf_values"]) for t in dump["oblivious_trees"]
    ]
    trees = [_tree(root, columns, sign * scale) for root in roots]
    if any(tree is None for tree in trees):
        return None
    return Forest.of([t for t in trees if t is not None], base=sign * base, link="sigmoid", single=True)


def _grown(splits: list[Any], values: list[float]) -> dict[str, Any]:
    """Return a tree with one split a level as one of nodes: bit i of a leaf's number says where split i sent it."""
    if not splits:
        return {"value": values[0]}
    half = len(values) // 2
    left, right = _grown(splits[1:], values[:half]), _grown(splits[1:], values[half:])
    return {"split": splits[0], "left": left, "right": right}


def _tree(root: Any, columns: list[Any], scale: float) -> Tree | None:
    """Return one tree; None where it splits on something else than numbers."""
    nodes, left, right = [root], [], []
    for node in nodes:  # grows while it is read: children come after their parents
        split = "split" in node
        if split and node["split"]["split_type"] != "FloatFeature":
            return None
        left.append(len(nodes) if split else -1)
        right.append(len(nodes) + 1 if split else -1)
        if split:
            nodes += [node["left"], node["right"]]
    of = [columns[n["split"]["float_feature_index"]] if "split" in n else None for n in nodes]
    return Tree(
        np.array([0 if c is None else c["flat_feature_index"] for c in of]),
        np.array([n["split"]["border"] if "split" in n else 0.0 for n in nodes]),  # left where x ≤ border
        np.array([c is not None and c["nan_value_treatment"] != "AsTrue" for c in of]),
        np.array(left),
        np.array(right),
        np.array([scale * n.get("value", 0.0) for n in nodes]),
        np.full(len(nodes), -1),
        _NO_SETS,
    )
