"""Random small worlds for property tests: a table with awkward dtypes, an action space, a trained model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import reap

GRADES = ["low", "middle", "good", "best"]


@dataclass(frozen=True)
class World:
    X: pd.DataFrame
    y: np.ndarray
    space: reap.ActionSpace
    model: Any
    rejected: pd.DataFrame

    def probability(self, frame: pd.DataFrame) -> np.ndarray:
        """The model's own verdict on a frame, without anything of the library in between."""
        if hasattr(self.model, "predict_proba"):
            return self.model.predict_proba(frame)[:, 1]
        return np.asarray(self.model(frame), dtype=float)

    def matrices(self, count: int, seed: int = 0) -> np.ndarray:
        return random_matrices(self.space.dimension, count, seed)


def random_matrices(d: int, count: int, seed: int = 0) -> np.ndarray:
    G = np.random.default_rng(seed).normal(size=(count, d, d))
    A = G @ G.transpose(0, 2, 1)
    return A / np.linalg.eigvalsh(A)[:, -1, None, None]


def random_world(seed: int, rows: int = 60, kind: str | None = None) -> World:
    """Return a world whose kinds, dtypes, rules and model depend on the seed."""
    rng = np.random.default_rng(seed)
    X = _table(rng, rows)
    space = _space(rng, X)
    Z = np.nan_to_num(space.encode(X))
    value = Z @ rng.normal(size=Z.shape[1]) + 0.1 * rng.normal(size=rows)
    y = (value > np.quantile(value, 0.6)).astype(int)
    model = _model(kind or rng.choice(["logistic", "forest", "function"]), X, y, space, rng)
    world = World(X, y, space, model, X)
    return World(X, y, space, model, X[world.probability(X) <= 0.5])


def _table(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Columns of every kind and dtype, each present or not."""
    columns = {
        "age": rng.integers(18, 70, rows),
        "income": pd.array(rng.integers(5, 60, rows) * 100, dtype="Int64"),
        "share": np.round(rng.random(rows), 2).astype("float32" if rng.random() < 0.3 else "float64"),
        "wealth": rng.normal(size=rows) * 1e4,
        "grade": pd.Categorical(rng.choice(GRADES, rows), categories=GRADES, ordered=True),
        "town": pd.array(rng.choice(["Ulm", "Jena", "Kiel"], rows), dtype="string"),
        "job": pd.Categorical(rng.choice(["cook", "smith", "clerk", "nurse"], rows)),
        "owner": rng.random(rows) < 0.5,
        "married": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
        "cards": rng.integers(0, 4, rows).astype("int8"),
    }
    names = [name for name in columns if name == "income" or rng.random() < 0.6]
    index = [f"p{i}" for i in rng.permutation(rows)]
    return pd.DataFrame({name: columns[name] for name in names}, index=index)


def _space(rng: np.random.Generator, X: pd.DataFrame) -> reap.ActionSpace:
    names = list(X.columns)
    ordered = [c for c in names if c in ("age", "income", "share", "wealth", "grade", "cards", "owner")]
    sides = {c: rng.choice(["any", "up", "down"], p=[0.5, 0.3, 0.2]) for c in ordered}
    immutable = [c for c in names if c != "income" and rng.random() < 0.2]
    options: dict[str, Any] = {}
    if "age" in names and rng.random() < 0.3:
        options["bounds"] = {"age": (18, 75)}
    if rng.random() < 0.4:
        options["steps"] = {"income": 100.0}
    if rng.random() < 0.25:
        options["max_changes"] = int(rng.integers(1, 4))
    if "job" in names and rng.random() < 0.3:
        options["forbidden"] = {"job": [("cook", "smith")]}
    if {"age", "cards"} <= set(names) and rng.random() < 0.4:
        options["rules"] = ["100 * cards + age <= 380"]
    elif {"age", "income"} <= set(names) and rng.random() < 0.2:
        options["rules"] = ["if income increases then age increases by at least 1"]
    return reap.ActionSpace.from_frame(
        X,
        immutable=immutable,
        increasing=[c for c in ordered if sides[c] == "up"],
        decreasing=[c for c in ordered if sides[c] == "down"],
        **options,
    )


def _model(
    kind: str, X: pd.DataFrame, y: np.ndarray, space: reap.ActionSpace, rng: np.random.Generator
) -> Any:
    if kind == "logistic":
        return make_pipeline(space.encoder(), LogisticRegression(C=100.0)).fit(X, y)
    if kind == "forest":
        words = [c for c in X.columns if not pd.api.types.is_numeric_dtype(X[c].dtype) or X[c].dtype == bool]
        words += [c for c in X.columns if str(X[c].dtype) == "boolean"]
        coded = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), list(dict.fromkeys(words))), remainder="passthrough"
        )
        return make_pipeline(coded, RandomForestClassifier(8, max_depth=5, random_state=0)).fit(X, y)
    weights = rng.normal(size=space.dimension) * 3
    values = np.nan_to_num(space.encode(X)) @ weights
    return Function(space, weights, float(np.quantile(values, 0.6)))


@dataclass(frozen=True)
class Function:
    """A picklable model that is a plain function of the raw frame."""

    space: reap.ActionSpace
    weights: np.ndarray
    level: float

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        return 1 / (1 + np.exp(self.level - np.nan_to_num(self.space.encode(frame)) @ self.weights))
