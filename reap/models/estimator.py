"""Fitted estimators and functions, on vectors or on rows in the user's units: what they are given, and what they say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from reap._errors import InputError
from reap._typing import Array
from reap.scores import Output
from reap.space import ActionSpace


@dataclass(frozen=True, eq=False)
class Estimator:
    """A fitted classifier or regressor.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    space : ActionSpace
    index : int
        The target's place among the classes; of scores 1, or 0 where they count against the target.
    output : {"probability", "score"}
        Which of its numbers are asked for.
    raw : bool
        Whether the model takes rows in units (decoded first) or vectors.
    columns : sequence of str, or None
        What the model was trained on, by name and in its order; None: an array without names.
    carried : mapping
        The person's own values of columns that the space leaves out.
    """

    estimator: Any
    space: ActionSpace
    index: int
    output: Output
    raw: bool
    columns: Sequence[str] | None
    carried: Mapping[str, Any] = field(default_factory=dict)

    def score(self, Z: Array) -> Array:
        """Return the probability of the target class, or the scores, (n,)."""
        return said_of(self.estimator, self.rows(Z), self.index, self.output)

    def rows(self, Z: Array) -> Any:
        """Return vectors (n, d) as the model wants them."""
        if not self.raw and self.columns is None:
            return Z
        frame = self.space.decode(Z) if self.raw else pd.DataFrame(Z, columns=list(self.space.columns))
        if self.raw and self.carried:
            frame = frame.assign(**self.carried)
        return frame.to_numpy() if self.columns is None else frame[list(self.columns)]


def said_of(estimator: Any, rows: Any, index: int, output: Output) -> Array:
    """Return what a fitted estimator says of rows as it takes them, (n,): a class's probability, its margin or predictions."""
    if output == "probability":
        return np.asarray(estimator.predict_proba(rows)[:, index], dtype=float)
    if hasattr(estimator, "classes_"):
        sign = 1.0 if index == 1 else -1.0
        return sign * np.asarray(estimator.decision_function(rows), dtype=float).reshape(len(rows))
    return np.asarray(estimator.predict(rows), dtype=float).reshape(len(rows))


@dataclass(frozen=True, eq=False)
class Function:
    """A function that returns scores (n,), or probabilities: (n,) of class 1, or (n, k) of the classes 0 … k − 1."""

    function: Callable[[Any], Any]
    space: ActionSpace
    target: Any
    output: Output
    raw: bool
    carried: Mapping[str, Any] = field(default_factory=dict)

    def score(self, Z: Array) -> Array:
        """Return the probability of the target class, or the scores, (n,)."""
        given = self.function(self.space.decode(Z).assign(**self.carried) if self.raw else Z)
        try:
            found = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            first = next(iter(given), given) if hasattr(given, "__iter__") else given
            what = "probabilities, numbers between 0 and 1" if self.output == "probability" else "numbers"
            raise InputError(f"the model's function returned {first!r}; it must return {what}") from None
        if found.shape == (len(Z), 1):
            found = found[:, 0]
        if self.output == "probability":
            return self._probability(found, len(Z))
        if found.shape != (len(Z),):
            raise InputError(
                f"the model's function returned shape {found.shape} for {len(Z)} rows; it must return one score a row, "
                f"({len(Z)},)"
            )
        return found

    def _probability(self, p: Array, count: int) -> Array:
        if p.shape[:1] != (count,) or p.ndim > 2:
            raise InputError(
                f"the model's function returned shape {p.shape} for {count} rows; it must return one probability a "
                f"row, ({count},), or one a row and class, ({count}, 2)"
            )
        wrong = (p < -1e-9) | (p > 1 + 1e-9)
        if wrong.any():
            raise InputError(
                f"the model's function returned {p[wrong][0]:g}; it must return probabilities between 0 and 1"
            )
        classes = p.shape[1] if p.ndim == 2 else 2
        if self.target not in range(classes):
            raise InputError(
                f"there is no class {self.target!r}; the model's function has the classes {list(range(classes))}"
            )
        if p.ndim == 2:
            return np.asarray(p[:, int(self.target)])
        return p if self.target == 1 else 1.0 - p


# which columns a model asks for ------------------------------------------------------------------------------


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
            ends = (columns.start, columns.stop) if isinstance(columns, slice) else np.atleast_1d(columns)
            named = any(isinstance(one, str) for one in ends)  # otherwise they are places or a mask
            read.update(np.atleast_1d((header.loc if named else header.iloc)[columns]))
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


def rows_at_random(space: ActionSpace, rng: np.random.Generator, count: int) -> Array:
    """Return vectors (n, d) of rows at random: levels as they are, numbers a little beyond their range, some missing."""
    Z = np.zeros((count, space.dimension))
    for feature in space.features:
        columns, n = space.slices[feature.name], np.arange(count)
        if feature.kind == "categorical":
            Z[n, columns.start + rng.integers(feature.width, size=count)] = 1.0
        elif feature.is_number:
            Z[:, columns.start] = rng.uniform(-0.25, 1.25, count)
        else:
            last = max(len(feature.levels) - 1, 1)
            Z[:, columns.start] = rng.integers(len(feature.levels), size=count) / last
        if feature.missing:
            gone = np.flatnonzero(rng.random(count) < 0.15)
            gone = gone[gone > 0]  # the first row is known
            Z[gone, columns] = 0.0 if feature.kind == "categorical" else np.nan
    return Z if space.encoded else space.encode(space.decode(Z))  # whole numbers are whole
