"""One table with every kind of column, and the tree ensembles people have on it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

SKLEARN = {
    "tree": lambda: DecisionTreeClassifier(max_depth=6, random_state=0),
    "forest": lambda: RandomForestClassifier(30, random_state=0),
    "extra": lambda: ExtraTreesClassifier(20, max_depth=7, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=30, random_state=0),
    "exponential": lambda: GradientBoostingClassifier(n_estimators=20, loss="exponential", random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=30, random_state=0),
}
BOOSTERS = ("lightgbm", "xgboost")
#: What is made of other models: calibrated in folds, calibrated once, and votes with different preprocessing.
BLENDS = ("calibrated", "isotonic", "frozen", "voting", "forests", "voted-calibrated")
EVERY = [*SKLEARN, *(pytest.param(name, marks=pytest.mark.extras) for name in BOOSTERS)]


def make(name: str, native: bool = False):
    """Return an ensemble by its name; ``native``: it splits on categories by itself."""
    if name == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=30, verbose=-1, n_jobs=1, random_state=0, min_data_per_group=5, cat_smooth=1
        )
    if name == "catboost":
        from catboost import CatBoostClassifier

        return CatBoostClassifier(
            iterations=30, depth=4, verbose=0, thread_count=1, random_seed=0, allow_writing_files=False
        )
    if name == "xgboost":
        from xgboost import XGBClassifier

        return XGBClassifier(
            n_estimators=30, n_jobs=1, random_state=0, enable_categorical=native, max_cat_to_onehot=1
        )
    if native:
        return HistGradientBoostingClassifier(max_iter=30, random_state=0, categorical_features="from_dtype")
    return SKLEARN[name]()


def blended(name: str, X: pd.DataFrame):
    """Return a model made of others by its name, not fitted."""
    histogram, forest = piped(make("histogram"), X), piped(make("forest"), X)
    if name == "calibrated":
        return CalibratedClassifierCV(histogram, cv=3)
    if name == "isotonic":
        return CalibratedClassifierCV(forest, cv=2, method="isotonic")
    if name == "frozen":
        return CalibratedClassifierCV(forest, cv=3, ensemble=False)
    if name == "voted-calibrated":
        once = CalibratedClassifierCV(make("boosting"), cv=2)
        return piped(VotingClassifier([("a", once), ("b", make("tree"))], voting="soft"), X)
    other = (
        make_pipeline(piped(make("tree"), X)[0], make("extra"))
        if name == "forests"
        else piped(make("boosting"), X)
    )
    return VotingClassifier(
        [("a", histogram if name == "voting" else forest), ("b", other)], voting="soft", weights=[2, 1]
    )


def people(n: int = 500, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table and labels: whole and decimal numbers, ordered and unordered levels, a truth value."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 36, n),
            "income": rng.integers(5, 25, n) * 100.0,
            "cards": rng.integers(0, 6, n),
            "housing": pd.Categorical(rng.choice(["own", "rent", "free"], n)),
            "grade": pd.Categorical(rng.choice(["a", "b", "c", "d"], n), ordered=True),
            "owner": rng.choice([False, True], n),
        }
    )
    score = (X["income"] - 1500) / 500 + (X["housing"] == "own") - 0.4 * X["grade"].cat.codes
    score += 0.05 * (X["age"] - 27) - 0.3 * X["cards"] * X["owner"] + rng.normal(0, 0.4, n)
    return X, (score > 0.1).to_numpy().astype(int)


def piped(model, X: pd.DataFrame) -> Pipeline:
    """Return a pipeline on the raw frame: levels one-hot, income scaled, the rest as it is."""
    words = [c for c in X if str(X[c].dtype) in ("category", "str", "object")]
    return make_pipeline(
        make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), words),
            (StandardScaler(), ["income"]),
            remainder="passthrough",
        ),
        model,
    )


def shares_with_outliers(n=2_000):
    """Shares of a limit in use as banks have them: nine digits, many a hair below 1, and a few thousands."""
    rng = np.random.default_rng(0)
    share = rng.random(n).round(9)
    share[::5], share[1::5] = 0.9999999, 1.0
    share[7] = 50_708.0
    X = pd.DataFrame({"share": share, "income": rng.integers(10, 90, n) * 100.0})
    y = ((share != 0.9999999) & (X["income"] > 3000)) | (share > 40_000)
    return X, y.astype(int)
