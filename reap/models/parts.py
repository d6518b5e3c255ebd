"""Models made of others: pipelines, votes, stacks and calibrations, taken apart and put together again without preprocessing."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn import ensemble
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline

from reap._typing import Array


def rewired(model: Any, put: Callable[[tuple[Any, ...], Any], Any], before: tuple[Any, ...] = ()) -> Any:
    """Return a fitted model whose innermost estimators are what ``put`` makes of them, and no step before them is taken.

    ``put`` is given the fitted steps that a row passes before an estimator, and that.
    """
    if isinstance(model, Pipeline):  # samplers of imblearn act in training only
        steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
        steps = [step for step in steps if not hasattr(step, "fit_resample")]
        return rewired(model[-1], put, (*before, *steps))
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


class Block:
    """An innermost estimator that is given, in place of rows, numbers (n, m) of which some are its own.

    Parameters
    ----------
    last : fitted estimator
    columns : slice
        Its own numbers: outputs of a network, or sums of leaves.
    slope, base : float or (k,)
        Its margin is ``slope × numbers + base``.
    link : {"none", "logistic", "softmax"}
        What makes probabilities of that.
    """

    def __init__(
        self,
        last: Any,
        columns: slice,
        slope: Array | float = 1.0,
        base: Array | float = 0.0,
        link: str = "none",
    ) -> None:
        self.last, self.columns, self.slope, self.base, self.link = last, columns, slope, base, link

    def __getattr__(self, name: str) -> Any:
        if name == "last":  # while it is read from a file
            raise AttributeError(name)
        value = getattr(self.last, name)
        ours = {"decision_function": self._margin, "predict": self._margin, "predict_proba": self._chances}
        return wraps(value)(partial(ours[name])) if name in ours else value

    def _margin(self, numbers: Array) -> Array:
        margin = self.slope * numbers[:, self.columns] + self.base
        return np.asarray(margin[:, 0] if margin.shape[1] == 1 else margin)

    def _chances(self, numbers: Array) -> Array:
        p = self._margin(numbers)
        if p.ndim == 2:
            return np.asarray(softmax(p, axis=1)) if self.link == "softmax" else p
        p = expit(p) if self.link == "logistic" else p
        return np.stack([1.0 - p, p], axis=1)


def numbers(rows: Any) -> Array:
    """Return a frame, array or sparse matrix as floats (n, c), categories as their codes, NaN where a value is missing."""
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if not hasattr(rows, "columns"):
        return np.asarray(rows, dtype=float)
    columns = [rows.iloc[:, i] for i in range(rows.shape[1])]
    columns = [c.cat.codes.where(c.notna()) if str(c.dtype) == "category" else c for c in columns]
    return np.stack([c.to_numpy(dtype=float, na_value=np.nan) for c in columns], axis=1)
