"""Random tables as users have them, each with an action space and a small model: one seed, one case.

Nothing here is prepared for the library: long tails, zeros, millions, 32-bit floats, copies of columns, many levels, gaps. Models
are those people have, in the pipelines people write. Only public names of ``reap`` are used, so that a case means the same
whatever engine stands behind it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from reap._typing import Array, Frame, Series
from reap.checks.worlds import World
from reap.space import ActionSpace

Rng = np.random.Generator
_Maker = Callable[[Rng], Any]


def raw_table(seed: int) -> World:
    """Return the case of a seed.

    Examples
    --------
    >>> raw_table(3).X.equals(raw_table(3).X)
    True
    """
    rng = np.random.default_rng(seed)
    kinds = sorted(_SMOOTH if rng.random() < 0.12 else {*_MODELS, "scorecard"} - _SMOOTH)
    kind = kinds[int(rng.integers(len(kinds)))]
    rows = int(np.exp(rng.uniform(np.log(60), np.log(2_000))))
    X = _columns(rng, rows, int(np.exp(rng.uniform(np.log(3), np.log(60.99)))))
    codes = [c for c in X if str(c).startswith("code")]
    if kind != "network on the encoder" and rng.random() < 0.4:
        X = _with_gaps(rng, X, codes, nullable=kind in _NULLABLE)
    if kind == "hist, categories":
        X = X.astype(dict.fromkeys(_texts(X), "category"))
    gaps = [c for c in X if X[c].isna().any()]
    space = ActionSpace.from_frame(X, missing=gaps, **_declared(rng, X, codes))
    train = X.iloc[np.sort(rng.permutation(rows)[: max(50, int(0.7 * rows))])]
    latent = _latent(rng, X)
    least = float(np.quantile(latent(X), rng.uniform(0.35, 0.75)))
    if kind == "function":
        made: Made = Chance(latent, least), {}
    elif kind == "scorecard":
        made = _scorecard(rng, X, latent)
    else:
        made = _trained(rng, kind, space, train, codes, latent(train), least)
    model, settings = made
    name = f"seed {seed} ({kind}, {rows:,} rows, {X.shape[1]} columns)"
    return World(X, space, model, name, train, settings, slow=kind in _SMOOTH)


# columns ------------------------------------------------------------------------------------------------


def _whole(values: Array) -> Array:
    return np.rint(values).astype("int64")


def _long_tail(rng: Rng, n: int) -> Any:
    """Median 38, 99th percentile 1,343, largest 1,000,000."""
    values = np.exp(rng.normal(np.log(38), 1.53, n))
    values[rng.integers(n)] = 1_000_000
    return _whole(values) if rng.random() < 0.5 else np.round(values, 2)


def _mostly_zero(rng: Rng, n: int) -> Any:
    amounts = rng.exponential(10 ** rng.uniform(0.5, 5), n)
    return _whole(np.where(rng.random(n) < rng.uniform(0.6, 0.97), 0, amounts))


def _from_float32(rng: Rng, n: int) -> Any:
    """Values such as 25.770000457763672, as 32-bit floats or as what is left of them in 64 bits."""
    values = np.round(rng.gamma(2.0, 10 ** rng.uniform(0, 4), n), 2).astype("float32")
    return values if rng.random() < 0.5 else values.astype("float64")


def _negative(rng: Rng, n: int) -> Any:
    values = rng.normal(-0.3, 1, n) * 10 ** rng.uniform(1, 5)
    return _whole(values) if rng.random() < 0.5 else np.round(values, 2)


_NUMBERS: dict[str, Callable[[Rng, int], Any]] = {
    "tail": _long_tail,
    "zeros": _mostly_zero,
    "millions": lambda rng, n: rng.integers(100_000, 90_000_000, n),
    "balance": _negative,
    "single": _from_float32,
    "decimal": lambda rng, n: np.round(rng.normal(5, 2, n), int(rng.integers(1, 5))),
    "double": lambda rng, n: rng.normal(0, 10 ** rng.uniform(-3, 5), n),
    "share": lambda rng, n: np.round(rng.beta(2, 5, n), 3),
    "count": lambda rng, n: rng.poisson(2, n).astype("int8"),
    "months": lambda rng, n: pd.array(rng.integers(0, 120, n), dtype="Int64"),
    "age": lambda rng, n: rng.integers(18, 80, n),
    "constant": lambda rng, n: np.full(n, [7, 0.5][int(rng.integers(2))]),
}


def _levels(rng: Rng) -> list[str]:
    """Return 2 to 40 names of levels."""
    return [f"L{i:02d}" for i in range(int(np.exp(rng.uniform(np.log(2), np.log(40.99)))))]


def _category(rng: Rng, n: int, ordered: bool = False) -> Any:
    levels = _levels(rng)
    return pd.Categorical(rng.choice(levels, n), categories=levels, ordered=ordered)


_OTHERS: dict[str, Callable[[Rng, int], Any]] = {
    "text": lambda rng, n: rng.choice(_levels(rng), n),
    "category": _category,
    "grade": lambda rng, n: _category(rng, n, ordered=True),
    "bool": lambda rng, n: rng.random(n) < rng.uniform(0.1, 0.9),
    "flag": lambda rng, n: (rng.random(n) < rng.uniform(0.1, 0.9)).astype("int64"),
    "code": lambda rng, n: rng.integers(1, int(rng.integers(3, 12)), n),
}


def _columns(rng: Rng, rows: int, count: int) -> Frame:
    """Return a table; the first column is a number that varies."""
    data: dict[str, Any] = {"income 0": np.round(rng.lognormal(8, 0.6, rows), -1).astype("int64")}
    for i in range(1, count):
        draw = rng.random()
        kinds = _NUMBERS if draw < 0.6 else _OTHERS
        kind = list(kinds)[int(rng.integers(len(kinds)))]
        if draw < 0.12:
            other = list(data)[int(rng.integers(len(data)))]
            data[f"copy {i}"] = data[other] if draw < 0.06 else _near_copy(rng, data[other])
        else:
            data[f"{kind} {i}"] = kinds[kind](rng, rows)
    return pd.DataFrame(data)


def _near_copy(rng: Rng, values: Any) -> Any:
    """Return a number column with a little noise; of any other kind a copy with some rows of other people."""
    dtype = getattr(values, "dtype", None)
    if pd.api.types.is_float_dtype(dtype) or (pd.api.types.is_integer_dtype(dtype) and np.max(values) > 150):
        noisy = np.asarray(values, dtype=float) * (1 + 0.002 * rng.normal(size=len(values)))
        return noisy if pd.api.types.is_float_dtype(dtype) else _whole(noisy)
    other = values.copy()
    some = rng.random(len(values)) < 0.05
    other[some] = values[rng.permutation(len(values))][some]
    return other


def _with_gaps(rng: Rng, X: Frame, keep: list[str], nullable: bool) -> Frame:
    """Return the table with missing values in some numbers and levels; NaN in place of NA unless ``nullable``."""
    X = X.copy()
    able = [c for c in X.columns[1:] if c not in keep and X[c].dtype != bool and X[c].nunique() > 2]
    for c in rng.permutation(able)[: int(rng.integers(1, 4))]:
        lost = rng.random(len(X)) < rng.uniform(0.03, 0.3)
        lost[:2] = False
        plain = X[c].astype("float64") if X[c].dtype == "Int64" and not nullable else X[c]
        X[c] = plain.mask(lost)
    return X


def _texts(X: Frame) -> list[str]:
    """Return the columns that are neither numbers nor truths."""
    return [c for c in X if not pd.api.types.is_numeric_dtype(X[c].dtype)]


def _declared(rng: Rng, X: Frame, codes: list[str]) -> dict[str, Any]:
    """Return what a user says of a table: what stays, only rises, only falls, some steps and bounds."""
    draw = dict(zip(X.columns, rng.random(X.shape[1]), strict=True))
    ordered = [c for c in X if not str(c).startswith(("text", "category", "code", "copy"))]
    wholes = [c for c in X if str(c).startswith(("income", "millions", "months"))]
    return {
        "immutable": [c for c in X.columns[1:] if draw[c] < 0.25],
        "increasing": [c for c in ordered if 0.25 <= draw[c] < 0.4],
        "decreasing": [c for c in ordered[1:] if 0.4 <= draw[c] < 0.5],
        "bounds": {c: (0, 2 * int(X[c].max())) for c in wholes if 0.6 < draw[c] < 0.8},
        "features": {c: {"kind": "categorical"} for c in codes}
        | {c: {"step": 1.0} for c in wholes if draw[c] > 0.7},
    }


# what decides -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Latent:
    """A smooth function of a frame: saturating terms of numbers, weights of levels, 0 for what is missing."""

    numbers: dict[str, tuple[float, float, float]]  # centre, width, weight
    levels: dict[str, dict[Any, float]]

    def __call__(self, frame: Frame) -> Array:
        """Return one value a row, (n,)."""
        total = np.zeros(len(frame))
        for c, (centre, width, weight) in self.numbers.items():
            total += weight * np.tanh(np.nan_to_num((_floats(frame[c]) - centre) / width))
        for c, weights in self.levels.items():
            total += frame[c].astype(object).map(weights).fillna(0.0).to_numpy(dtype=float)
        return total


def _floats(column: Series) -> Array:
    return np.asarray(column.to_numpy(dtype=float, na_value=np.nan))


def _latent(rng: Rng, X: Frame) -> Latent:
    numbers, levels = {}, {}
    for c in X:
        if pd.api.types.is_numeric_dtype(X[c].dtype):
            values = _floats(X[c].dropna())
            width = float(np.subtract(*np.quantile(values, [0.9, 0.1]))) or 1.0
            numbers[c] = (float(np.median(values)), width, float(rng.normal()))
        else:
            levels[c] = {level: float(rng.normal()) for level in sorted(X[c].dropna().unique())}
    first = X.columns[0]
    numbers[first] = (*numbers[first][:2], 1.5)  # more income helps, so that most people can get somewhere
    return Latent(numbers, levels)


# models -------------------------------------------------------------------------------------------------

#: A model, and what else an engine is told.
Made = tuple[Any, dict[str, Any]]


@dataclass(frozen=True)
class Chance:
    """A plain function of a frame: a logistic one of a smooth value."""

    latent: Latent
    least: float

    def __call__(self, frame: Frame) -> Array:
        """Return probabilities (n,)."""
        return np.asarray(1 / (1 + np.exp(2 * (self.least - self.latent(frame)))))


@dataclass(frozen=True)
class Scorecard:
    """Points for the bin of each number and for each level; what is missing gets none."""

    bins: dict[str, tuple[Array, Array]]  # ends (k,), points (k + 1,)
    levels: dict[str, dict[Any, float]]

    def __call__(self, frame: Frame) -> Array:
        """Return points (n,)."""
        total = 500 + Latent({}, self.levels)(frame)
        for c, (ends, points) in self.bins.items():
            values = _floats(frame[c])
            total += np.where(np.isnan(values), 0.0, points[np.digitize(values, ends)])
        return total


def _scorecard(rng: Rng, X: Frame, latent: Latent) -> Made:
    bins = {}
    for c, (_, _, weight) in latent.numbers.items():
        ends = np.unique(np.quantile(_floats(X[c].dropna()), np.sort(rng.random(4))))
        bins[c] = (ends, np.rint(20 * weight * np.linspace(-1, 1, len(ends) + 1)))
    levels = {c: {k: float(np.rint(20 * w)) for k, w in each.items()} for c, each in latent.levels.items()}
    card = Scorecard(bins, levels)
    threshold = float(np.rint(np.quantile(card(X), rng.uniform(0.35, 0.75))))
    return card, {"output": "score", "unit": "points", "threshold": threshold}


def _coded(
    X: Frame, codes: list[str], scaled: bool = False, ordinal: bool = False, filled: bool = False
) -> Any:
    """Return the transformer that people write: levels one-hot or as codes, numbers as they are, filled in or scaled."""
    words = [*_texts(X), *codes]
    coder = (
        OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        if ordinal
        else OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    )
    steps = [SimpleImputer()] * (scaled or filled) + [StandardScaler()] * scaled
    numbers = make_pipeline(*steps) if steps else "passthrough"
    return make_column_transformer((coder, words), (numbers, [c for c in X if c not in words]))


def _trained(
    rng: Rng, kind: str, space: ActionSpace, train: Frame, codes: list[str], latent: Array, least: float
) -> Made:
    """Train a classifier on noisy labels; the threshold and the names of the classes vary."""
    make, columns = _MODELS[kind]
    model = make(rng)
    if kind == "network on the encoder":
        model = make_pipeline(space.encoder(), model)
    elif columns is not None:
        model = make_pipeline(_coded(train, codes, **columns), model)
    good = latent + 0.3 * rng.normal(size=len(latent)) > least
    if good.all() or not good.any():
        good = latent > np.median(latent)
    labels = _LABELS[int(rng.integers(len(_LABELS)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations; what a model says while it is trained is not ours
        model.fit(train, np.where(good, labels[1], labels[0]))
    return model, {"target": labels[1], "threshold": float(rng.choice([0.5, 0.5, 0.5, 0.4, 0.62]))}


#: What the refused and the accepted are called.
_LABELS: tuple[tuple[Any, Any], ...] = ((0, 1), (0, 1), ("no", "yes"), (False, True), (1, 2))


def _logistic(rng: Rng) -> Any:
    return LogisticRegression(C=float(10 ** rng.uniform(-2, 2)), max_iter=200)


def _tree(rng: Rng) -> Any:
    return DecisionTreeClassifier(max_depth=int(rng.integers(2, 9)), min_samples_leaf=5, random_state=0)


def _network(rng: Rng) -> Any:
    return MLPClassifier((int(rng.integers(4, 17)), 8), max_iter=60, random_state=0)


def _ensemble(kind: Any, most: int, leaf: int | None = None, size: str = "n_estimators") -> _Maker:
    """Return what makes an ensemble of 10 to ``most`` trees, with leaves of at least so many rows, by default 1 to 5."""

    def made(rng: Rng) -> Any:
        least = int(rng.integers(1, 6)) if leaf is None else leaf
        return kind(min_samples_leaf=least, random_state=0, **{size: int(rng.integers(10, most))})

    return made


_FOREST = _ensemble(RandomForestClassifier, 60)
_BOOSTING = _ensemble(GradientBoostingClassifier, 40, leaf=1)
_HIST = _ensemble(HistGradientBoostingClassifier, 40, leaf=8, size="max_iter")


def _calibrated(rng: Rng) -> Any:
    inner = _logistic(rng) if rng.random() < 0.5 else _tree(rng)
    return CalibratedClassifierCV(inner, cv=3, method=str(rng.choice(["sigmoid", "isotonic"])))


def _stacked(rng: Rng) -> Any:
    return StackingClassifier([("tree", _tree(rng)), ("linear", _logistic(rng))], cv=3)


#: How a model is made, and how its columns are coded; None: it takes them as they are.
_MODELS: dict[str, tuple[_Maker, dict[str, bool] | None]] = {
    "logistic": (_logistic, {"scaled": True}),
    "calibrated": (_calibrated, {"scaled": True}),
    "stacked": (_stacked, {"scaled": True}),
    "network": (_network, {"scaled": True}),
    "network on the encoder": (_network, None),
    "forest": (_FOREST, {}),
    "forest on codes": (_FOREST, {"ordinal": True}),
    "extra trees": (_ensemble(ExtraTreesClassifier, 40, leaf=3), {"filled": True}),
    "boosting": (_BOOSTING, {"ordinal": True, "filled": True}),
    "boosting, scaled": (_BOOSTING, {"scaled": True}),
    "hist": (_HIST, {}),
    "hist on codes": (_HIST, {"ordinal": True}),
    "hist, categories": (_HIST, None),
    "tree": (_tree, {"ordinal": True}),
}
#: A plan takes 2 to 8 seconds with these, a tenth of that with the others; so they are fewer.
_SMOOTH = {"logistic", "calibrated", "stacked", "network", "function"}
#: Those that take pandas' NA in whole numbers; a column transformer that passes it on refuses it.
_NULLABLE = _SMOOTH | {"extra trees", "boosting", "scorecard"}
