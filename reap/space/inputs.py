"""What a user may hand in as a subject or as rows, turned into a frame."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Frame


def one_row(x: Any, encoded: Sequence[str] | None) -> Frame:
    """Return one subject as a one-row frame: a Series, a one-row frame, a mapping, or an array in encoder columns.

    Parameters
    ----------
    x : the subject
    encoded : the encoder's columns where the space takes arrays, else None

    Examples
    --------
    >>> one_row({"age": 30, "job": "cook"}, None)
       age   job
    0   30  cook
    """
    if isinstance(x, np.ndarray):
        if encoded is None:
            raise InputError(
                "give the subject as a pandas Series or a one-row DataFrame; arrays need a space made with groups="
            )
        x = from_array(np.atleast_2d(x), encoded)
    elif isinstance(x, pd.Series):
        if not x.index.is_unique:
            twice = x.index[x.index.duplicated()][0]
            raise InputError(f"the subject has the feature {str(twice)!r} more than once; keep one")
        x = pd.DataFrame([x.to_list()], columns=list(x.index), index=[x.name])
    elif isinstance(x, Mapping):
        x = pd.DataFrame([list(x.values())], columns=list(x))
    x = as_frame(x)
    if not isinstance(x, pd.DataFrame):
        raise InputError(
            f"give the subject as a pandas Series or a one-row DataFrame, not {type(x).__name__}"
        )
    if len(x) != 1:
        raise InputError(
            f"one subject is needed, but the table has {len(x)} rows; pick one, for example X.iloc[0]"
        )
    return x


def from_array(X: Any, columns: Sequence[str]) -> Frame:
    """Return an array (n, d) in encoder columns as a frame."""
    if X.ndim != 2 or X.shape[1] != len(columns):
        raise InputError(f"the array has shape {X.shape}; the space has {len(columns)} encoded columns")
    try:
        return pd.DataFrame(np.asarray(X, dtype=float), columns=list(columns))
    except (TypeError, ValueError):
        raise InputError("the array holds something that is not a number; give encoded rows") from None


def as_frame(X: Any) -> Any:
    """Return a frame of another library (polars, pyarrow) as a pandas frame, anything else as it is."""
    if isinstance(X, pd.DataFrame) or not hasattr(X, "to_pandas"):
        return X
    return X.to_pandas()


def as_given(frame: Frame, given: Any) -> Any:
    """Return a pandas frame as one of the library that was given (polars, pyarrow), so that tables go out as they came in."""
    if isinstance(given, pd.DataFrame) or not hasattr(given, "to_pandas"):
        return frame
    back = getattr(type(given), "from_pandas", None)  # pyarrow's is of the table, polars' of the module
    back = back or getattr(sys.modules[type(given).__module__.partition(".")[0]], "from_pandas", None)
    return frame if back is None else back(frame)


def names_of(given: Any) -> tuple[str, ...]:
    """Return names of features; one alone may stand without a list.

    Examples
    --------
    >>> names_of("age"), names_of(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    if isinstance(given, str):
        return (given,)
    if not hasattr(given, "__iter__"):
        raise InputError(f"{given!r} is no list of features; give names, such as ['age']")
    return tuple(given)
