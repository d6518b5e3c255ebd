"""Which columns of a raw frame a fitted model asks for, which of them it reads, and which of those a space lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from reap.space import ActionSpace


def asked(model: Any) -> list[str] | None:
    """Return the columns that a model was trained on, in order; None where it was an array without names."""
    names = getattr(_first(model), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def ignored(model: Any) -> list[str]:
    """Return the columns that a model asks for and drops at once: ``ColumnTransformer`` has no step for them."""
    first, names = _first(model), asked(model)
    if not isinstance(first, ColumnTransformer) or names is None:
        return []
    order, read = np.array(names, dtype=object), set[str]()
    for _, step, columns in first.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        if isinstance(columns, str):
            read.add(columns)
        elif isinstance(columns, slice) and any(
            isinstance(end, str) for end in (columns.start, columns.stop)
        ):
            return []
        else:
            several = list(columns) if not isinstance(columns, slice | int | np.integer) else columns
            named = isinstance(several, list) and all(isinstance(one, str) for one in several)
            read.update(several if named else np.atleast_1d(order[several]))  # type: ignore[arg-type]
    return [name for name in names if name not in read]


def wanted(model: Any, space: ActionSpace) -> list[str]:
    """Return the columns that a model reads and a space lacks, such as a region that nobody moves to for a loan.

    Parameters
    ----------
    model : fitted estimator or Pipeline on raw frames
    space : ActionSpace

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"branch": [1, 2, 3], "income": [10, 40, 30]})
    >>> model = DecisionTreeClassifier().fit(X, [0, 1, 1])
    >>> wanted(model, reap.ActionSpace.from_frame(X[["income"]]))
    ['branch']
    """
    known = {column for feature in space.features for column in (feature.columns or (feature.name,))}
    names, unread = asked(model), set(ignored(model))
    if names is None or set(names) <= set(space.columns):
        return []
    return [name for name in names if name not in known and name not in unread]


def _first(model: Any) -> Any:
    """Return the step of a model that sees the frame."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        return model
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    return _first(steps[0]) if steps else model
