"""What a result was made from: hashes, settings, and what an auditor needs to read it."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from typing import Any

import joblib
import numpy as np

from reap import __version__
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.batch.workers import pack
from reap.space import ActionSpace


def describe(
    engine: Any,
    *,
    data: str,
    preferences: Any,
    settings: Mapping[str, Any],
    matrix: Array | None,
    reference: Frame | None,
    provenance: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the manifest of a run that is about to start."""
    space = engine.space
    return {
        "format": "reap.batch",
        "reap": __version__,
        "engine": _engine(engine),
        "model": digest(engine.model),
        "space": space.digest,
        "data": data,
        "preferences": digest(preferences) if preferences else None,
        "settings": dict(settings),
        "complete": False,
        "provenance": dict(provenance or {}),
        "matrix": None if matrix is None else matrix.tolist(),
        "columns": list(space.columns),
        "toml": _toml(space),
        "accepted": _accepted(engine, reference),
    }


def digest(thing: Any) -> str:
    """Return a hash of anything that can be pickled: the same for equal content, in another process too."""
    try:
        return str(joblib.hash(thing, hash_name="sha1"))
    except (pickle.PicklingError, AttributeError, TypeError):  # a function made on the spot
        return hashlib.sha1(pack(thing)).hexdigest()


def _engine(engine: Any) -> dict[str, Any]:
    settings = {k: v for k, v in engine.get_params(deep=False).items() if k not in ("model", "space")}
    # What fit learned, by scikit-learn's sign; the classifier is the model again, which has its own hash.
    learned = {k: v for k, v in vars(engine).items() if k.endswith("_") and k != "classifier_"}
    return {
        "name": type(engine).__name__,
        "settings": {name: repr(value) for name, value in settings.items()},
        "fitted": digest(learned),
    }


def _toml(space: ActionSpace) -> str | None:
    try:
        return space.to_toml()
    except InputError:  # a Python function derives a feature: no file can hold it
        return None


def _accepted(engine: Any, reference: Frame | None) -> dict[str, Any] | None:
    """Return the first two moments of the accepted people: all that the unit of effort needs of them."""
    if reference is None:
        return None
    Z = engine.space.encode(reference)
    return moments(Z[engine.classifier_.accepts(Z)])


def moments(Z: Array) -> dict[str, Any] | None:
    """Return number, mean (d,) and mean of squares (d, d) of vectors; missing values count as the column's mean.

    Examples
    --------
    >>> moments(np.array([[0.0, 1.0], [2.0, np.nan]]))
    {'rows': 2, 'mean': [1.0, 1.0], 'second': [[2.0, 1.0], [1.0, 1.0]]}
    """
    if len(Z) == 0:
        return None
    absent = np.isnan(Z)
    known = np.maximum((~absent).sum(axis=0), 1)
    mean = np.where(absent, 0.0, Z).sum(axis=0) / known
    full = np.where(absent, mean, Z)
    return {"rows": len(Z), "mean": mean.tolist(), "second": (full.T @ full / len(Z)).tolist()}
