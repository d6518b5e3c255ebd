"""A model taken apart: the steps that a row passes, then trees; several of both where models vote or are calibrated in folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import Pipeline

from reap._typing import Array
from reap.models.estimator import Estimator, steps_before
from reap.models.trees import boosters, catboost_trees, sklearn_trees
from reap.models.trees.forest import Forest
from reap.models.trees.members import Calibration


class UnreadableError(Exception):
    """The model is not one that can be read."""


@dataclass(frozen=True)
class Part:
    """One estimator of trees: the steps before it, its share of the vote, and what calibrates it, if anything does."""

    steps: tuple[Any, ...]
    last: Any
    weight: float = 1.0
    calibrator: Any = None


class Parts:
    """All trees of a model, and the matrix that they compare.

    Parameters
    ----------
    kernel : Estimator
    Z : (n, d)
        A few rows.

    Attributes
    ----------
    all : list of Part
    forests : list of Forest, one a part
    forest : Forest
        All of them, on the parts' matrices side by side.
    columns : list of int
        The first column of each part, then their number.
    """

    def __init__(self, kernel: Estimator, Z: Array) -> None:
        self.kernel = kernel
        self.all = taken_apart(kernel.estimator)
        inputs = self._inputs(Z)
        self.forests = [self._flatten(p, rows) for p, rows in zip(self.all, inputs, strict=True)]
        widths = [_matrix(p.last, rows).shape[1] for p, rows in zip(self.all, inputs, strict=True)]
        self.columns = np.concatenate([[0], np.cumsum(widths)]).tolist()
        self.forest = Forest.voting(self.forests, self.columns[:-1])

    def transform(self, Z: Array) -> Array:
        """Return vectors (n, d) as the matrix (n, c) that the trees compare, in the precision in which they do."""
        inputs = self._inputs(Z)
        return np.concatenate(
            [f.seen(_matrix(p.last, r)) for p, f, r in zip(self.all, self.forests, inputs, strict=True)],
            axis=1,
        )

    def raw(self, T: Array) -> Array:
        """Return the raw scores (n, members) of such a matrix; scikit-learn's own trees are compiled, so they are asked."""
        if len(self.all) > 1 or not hasattr(
            members := getattr(self.all[0].last, "estimators_", None), "__len__"
        ):
            return self.forest.raw(T)
        if self.forest.members[0].link != "none":
            return self.forest.raw(T)
        rows, total = np.ascontiguousarray(T, dtype=np.float32), np.zeros(len(T))
        for root, member in zip(self.forest.roots, members or (), strict=True):
            total += self.forest.value[root + member.tree_.apply(rows)]
        return total[:, None]

    def _inputs(self, Z: Array) -> list[Any]:
        """Return what the trees of each part are given, steps that parts share taken once."""
        known: dict[tuple[int, ...], Any] = {(): self.kernel.rows(Z)}
        out = []
        try:
            for part in self.all:
                key: tuple[int, ...] = ()
                for step in part.steps:
                    rows, key = known[key], (*key, id(step))
                    if key not in known:
                        known[key] = step.transform(rows)
                out.append(known[key])
        except (ValueError, TypeError):  # a value that the preprocessing refuses
            raise UnreadableError from None
        return out

    def _flatten(self, part: Part, rows: Any) -> Forest:
        index = self.kernel.index
        if catboost_trees.is_catboost(part.last):
            forest = catboost_trees.flatten(part.last, index)
        elif boosters.is_lightgbm(part.last) or boosters.is_xgboost(part.last):
            forest = boosters.flatten(part.last, index)
        else:
            forest = sklearn_trees.flatten(part.last, index, rows)
        if forest is None:
            raise UnreadableError
        calibration = None
        if part.calibrator is not None:
            calibration = Calibration(part.calibrator, hasattr(part.last, "decision_function"), index == 0)
        own = replace(forest.members[0], weight=part.weight, calibration=calibration)
        return replace(forest, members=(own,))


def taken_apart(
    model: Any, steps: Sequence[Any] = (), weight: float = 1.0, calibrator: Any = None
) -> list[Part]:
    """Return the parts of a fitted model; one, where it is no vote and not calibrated in folds."""
    if isinstance(model, Pipeline):
        return taken_apart(model[-1], (*steps, *steps_before(model)), weight, calibrator)
    if type(model).__name__ == "FrozenEstimator":  # scikit-learn 1.6
        return taken_apart(model.estimator, steps, weight, calibrator)
    if isinstance(model, CalibratedClassifierCV | VotingClassifier) and calibrator is not None:
        raise UnreadableError  # what calibrates a vote does not calibrate each voter
    if isinstance(model, CalibratedClassifierCV):
        copies = model.calibrated_classifiers_
        found = []
        for copy in copies:
            if len(copy.calibrators) != 1 or not _rises(copy.calibrators[0]):
                raise UnreadableError
            found += taken_apart(copy.estimator, steps, weight / len(copies), copy.calibrators[0])
        return found
    if isinstance(model, VotingClassifier):
        if model.voting != "soft":
            raise UnreadableError
        votes = (
            np.ones(len(model.estimators_)) if model.weights is None else np.array(model._weights_not_none)
        )
        shares = weight * votes / votes.sum()
        pairs = zip(model.estimators_, shares.tolist(), strict=True)
        return [part for voter, share in pairs for part in taken_apart(voter, steps, share)]
    return [Part(tuple(steps), model, weight, calibrator)]


def _rises(calibrator: Any) -> bool:
    """Return whether a calibrator is known never to fall: Platt's sigmoid by its slope, an isotonic one by its kind."""
    if hasattr(calibrator, "a_"):
        return bool(calibrator.a_ < 0)
    return bool(getattr(calibrator, "increasing_", False))


def _matrix(last: Any, rows: Any) -> Array:
    """Return rows as the numbers that the last step of a part compares."""
    if boosters.is_lightgbm(last) or boosters.is_xgboost(last):
        return boosters.matrix(last, rows)
    return sklearn_trees.matrix(last, rows)
