"""Which columns of a raw frame a fitted model asks for, which of them it reads, and which of those a space lacks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from reap.space import ActionSpace


def asked(model: Any) -> list[str] | None:
    """Return the columns that a model was trained on, in order; None where it was an array without names."""
    first = _first(model)
    names = getattr(first, "feature_names_in_", None)
    if names is None and type(first).__module__.startswith("catboost."):  # it numbers the columns of an array
        names = first.feature_names_
        names = None if names == [str(i) for i in range(len(names))] else names
    return None if names is None else [str(name) for name in names]


def ignored(model: Any) -> list[str]:
    """Return the columns that a model asks for and drops at once: ``ColumnTransformer`` has no step for them."""
    first, names = _first(model), asked(model)
    if not isinstance(first, ColumnTransformer) or names is None:
        return []
    header, read = pd.Series(names, index=names), set[str]()
    for _, step, columns in first.transformers_:
        if not (isinstance(step, str) and step == "drop"):
            read.update(np.atleast_1d((header.loc if _by_name(columns) else header.iloc)[columns]))
    return [name for name in names if name not in read]


def _by_name(columns: Any) -> bool:
    """Return whether columns are named: by a text, several, or a slice of them; otherwise they are places or a mask."""
    given = (columns.start, columns.stop) if isinstance(columns, slice) else np.atleast_1d(columns)
    return any(isinstance(one, str) for one in given)


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
    names, unread = asked(model), set(ignored(model))
    if names is None or set(names) <= set(space.columns):
        return []
    return [name for name in names if name not in space.encoding.table and name not in unread]


def _first(model: Any) -> Any:
    """Return the step of a model that sees the frame."""
    model = getattr(model, "best_estimator_", model)
    if not isinstance(model, Pipeline):
        return model
    steps = [step for _, step in model.steps if step not in (None, "passthrough")]
    return _first(steps[0]) if steps else model
