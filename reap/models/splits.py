"""Where tree ensembles split: the thresholds of each column, from what five libraries keep of their trees; none is imported here.

A value goes left where it is *not above* the threshold. Splits on the codes of categories have none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline

from reap._typing import Array, Ints

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
class Splits:
    """What a tree ensemble compares.

    Parameters
    ----------
    thresholds : dict
        Of each column, ascending (t,).
    coded : (k,)
        Columns on whose codes some tree splits.
    single : bool
        Whether values are compared in single precision.
    """

    thresholds: dict[int, Array]
    coded: Ints
    single: bool

    @classmethod
    def of(cls, pairs: Iterable[tuple[Any, Any]], single: bool, coded: Sequence[int] = ()) -> Splits:
        """Return the splits at (columns (n,), thresholds (n,)) of each tree."""
        parts = [(np.asarray(c, dtype=np.intp), np.asarray(t, dtype=float)) for c, t in pairs]
        column = np.concatenate([np.empty(0, dtype=np.intp), *(c for c, _ in parts)])
        threshold = np.concatenate([np.empty(0), *(t for _, t in parts)])
        by_column = {int(c): np.unique(threshold[column == c]) for c in np.unique(column)}
        return cls(by_column, np.unique(np.array(coded, dtype=np.intp)), single)


def trees_in(model: Any, before: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    """Return every innermost estimator of a fitted model, with the fitted steps that a row passes before it."""
    if isinstance(model, Pipeline):
        return trees_in(model[-1], (*before, *steps_before(model)))
    if type(model).__name__ == "FrozenEstimator":  # scikit-learn 1.6
        return trees_in(model.estimator, before)
    if isinstance(model, CalibratedClassifierCV):
        return [one for copy in model.calibrated_classifiers_ for one in trees_in(copy.estimator, before)]
    if isinstance(model, ensemble.VotingClassifier | ensemble.StackingClassifier):
        return [one for member in model.estimators_ for one in trees_in(member, before)]
    return [(before, model)]


def rewired(model: Any, blocks: Iterator[Any]) -> Any:
    """Return a model whose innermost estimators, in the order of ``trees_in``, are replaced, and no step before them is taken."""
    if isinstance(model, Pipeline):
        return rewired(model[-1], blocks)
    if type(model).__name__ == "FrozenEstimator":
        return rewired(model.estimator, blocks)
    made = copy(model)
    if isinstance(model, CalibratedClassifierCV):
        made.calibrated_classifiers_ = [copy(one) for one in model.calibrated_classifiers_]
        for one in made.calibrated_classifiers_:
            one.estimator = rewired(one.estimator, blocks)
        return made
    if isinstance(model, ensemble.VotingClassifier | ensemble.StackingClassifier):
        made.estimators_ = [rewired(member, blocks) for member in model.estimators_]
        return made
    return next(blocks)


def steps_before(pipeline: Any) -> list[Any]:
    """Return the fitted steps that a row passes before the last one; samplers of imblearn act in training only."""
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    return [step for step in steps if not hasattr(step, "fit_resample")]


def splits(model: BaseEstimator) -> Splits:
    """Return what a fitted tree ensemble compares; an ``UnreadableError`` where it is none that we know."""
    if isinstance(model, _TREES):
        return _of_trees([model])
    if isinstance(model, _FORESTS) or (isinstance(model, _BOOSTED) and not hasattr(model.init_, "coef_")):
        return _of_trees(np.ravel(model.estimators_))
    if isinstance(model, _HISTOGRAMS):
        nodes = np.concatenate([one.nodes for each in model._predictors for one in each])
        nodes = nodes[nodes["is_leaf"] == 0]
        column = nodes["feature_idx"].astype(np.intp)
        inner = getattr(model, "_preprocessor", None)
        if inner is not None:  # it puts categories first
            column = np.concatenate([np.flatnonzero(some) for _, _, some in inner.transformers_[:2]])[column]
        plain = nodes["is_categorical"] == 0
        return Splits.of([(column[plain], nodes["num_threshold"][plain])], False, column[~plain])
    reading = {
        ("lightgbm", "LGBMModel"): _lightgbm,
        ("xgboost", "XGBModel"): _xgboost,
        ("catboost", "CatBoost"): _catboost,
    }
    for kind in type(model).__mro__:
        read = reading.get((kind.__module__.partition(".")[0], kind.__name__))
        if read is not None:
            return read(model)
    raise UnreadableError


def numbers(rows: Any) -> Array:
    """Return a frame, array or sparse matrix as floats (n, c), categories as their codes, NaN where a value is missing."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if not hasattr(rows, "columns"):
        return np.asarray(rows, dtype=float)
    columns = [rows.iloc[:, i] for i in range(rows.shape[1])]
    columns = [c.cat.codes.where(c.notna()) if str(c.dtype) == "category" else c for c in columns]
    return np.stack([c.to_numpy(dtype=float, na_value=np.nan) for c in columns], axis=1)


def _of_trees(members: Any) -> Splits:
    grown = [member.tree_ for member in members]
    inner = [one.children_left >= 0 for one in grown]
    return Splits.of(
        ((one.feature[some], one.threshold[some]) for one, some in zip(grown, inner, strict=True)), True
    )


def _lightgbm(model: Any) -> Splits:
    columns, thresholds, coded = list[int](), list[float](), list[int]()
    nodes = [one["tree_structure"] for one in model.booster_.dump_model()["tree_info"]]
    for node in nodes:  # grows while it is read
        if "split_feature" not in node:
            continue
        nodes += [node["left_child"], node["right_child"]]
        if node["decision_type"] == "<=":
            columns.append(node["split_feature"])
            thresholds.append(node["threshold"])
        else:
            coded.append(node["split_feature"])
    return Splits.of([(columns, thresholds)], False, coded)


def _xgboost(model: Any) -> Splits:
    booster = json.loads(bytes(model.get_booster().save_raw("json")))["learner"]["gradient_booster"]
    if booster["name"] != "gbtree":
        raise UnreadableError
    pairs, coded = list[tuple[Any, Any]](), list[int]()
    for one in booster["model"]["trees"]:
        column, inner = np.array(one["split_indices"]), np.array(one["left_children"]) >= 0
        categories = np.isin(np.arange(len(inner)), one["categories_nodes"])
        below = np.nextafter(np.array(one["split_conditions"], dtype=np.float32), np.float32(-np.inf))
        plain = inner & ~categories
        pairs.append((column[plain], below[plain]))  # x < t is x ≤ the float below
        coded += column[inner & categories].tolist()
    if not np.isnan(missing := np.float32(model.missing)):  # one value that goes its own way
        for used in {int(c) for columns, _ in pairs for c in columns}:
            pairs.append(([used] * 2, [np.nextafter(missing, np.float32(-np.inf)), missing]))
    return Splits.of(pairs, True, coded)


def _catboost(model: Any) -> Splits:
    """Return the borders of numbers; categories of its own are compared by hashes that only CatBoost can make."""
    if len(model.get_cat_feature_indices()):
        raise UnreadableError
    return Splits.of((([column] * len(at), at) for column, at in model.get_borders().items()), True)
