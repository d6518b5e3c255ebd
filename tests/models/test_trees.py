"""Tree ensembles read through their pipelines, one by one and with their retrainings, against what the models themselves say."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, QuantileTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array

import reap
from reap.models.durable import retrained
from reap.models.leaves import put, units
from reap.models.trees import Quick, read
from tests.models.ensembles import BLENDS, EVERY, blended, make, people, piped, shares_with_outliers

BOTH = ["lightgbm", "xgboost"]
CALIBRATED = [pytest.param(f"calibrated {name}", marks=pytest.mark.extras) for name in BOTH]


def anybody(space, X, seed=0, count=300):
    """Return vectors (n, d) that nobody has: of every feature the value of somebody else."""
    rng = np.random.default_rng(seed)
    codes = space.encoding.codes_of(space.encode(X))
    return space.encoding.vectors(np.column_stack([rng.choice(column, count) for column in codes.T]))


def assert_read(classifier, X):
    """Assert that scores without the pipeline are the model's, and the model's the same for all values between two edges."""
    space = classifier.space
    reading = read(classifier, space, X)
    assert reading is not None
    single = "XGB" in repr(classifier.model)  # it adds up in single precision
    Z = np.concatenate([space.encode(X), anybody(space, X)])
    own = classifier.score(Z)
    np.testing.assert_allclose(reading.classifier.score(Z), own, rtol=0, atol=2e-6 if single else 1e-9)
    rng = np.random.default_rng(1)
    for k, edges in reading.edges.items():
        feature = space.features[k]
        low, high = feature.range
        ends = np.unique([low, *edges[(edges > low) & (edges < high)], high])
        cell = np.clip(np.searchsorted(edges, units(space, k, Z)) - (edges <= low).sum(), 0, len(ends) - 2)
        values = ends[cell] + rng.uniform(0.001, 0.999, len(Z)) * (ends[cell + 1] - ends[cell])
        known = ~np.isnan(Z[:, space.slices[feature.name].start])
        known &= np.diff(ends)[cell] > 1e-6 * np.ptp(ends)  # a value that goes its own way has no neighbours
        if feature.kind == "integer" or np.ptp(ends) == 0:
            continue
        moved = Z[known]
        put(space, moved, k, values[known])
        np.testing.assert_allclose(classifier.score(moved), own[known], rtol=0, atol=1e-9)
    return reading


def wrapped(model, X, y, *, missing=None, **settings):
    return reap.models.wrap(
        model.fit(X, y), reap.ActionSpace.from_frame(X, missing=missing or ()), **settings
    )


def gaps():
    X, y = people()
    X.loc[::7, "income"] = np.nan
    return X, y


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", [*EVERY, *BLENDS, *CALIBRATED])
def test_every_ensemble_is_read_behind_a_column_transformer(name, target):
    X, y = people()
    model = blended(name, X) if name in BLENDS else piped(make(name.split()[-1]), X)
    model = CalibratedClassifierCV(model, cv=2) if name.startswith("calibrated ") else model
    assert isinstance(assert_read(wrapped(model, X, y, target=target), X).classifier.kernel, Quick)


def test_stacks_and_calibrations_of_any_kind_are_read():
    X, y = people()
    upside_down = CalibratedClassifierCV(piped(make("tree"), X), cv=2).fit(X, y)
    for copy in upside_down.calibrated_classifiers_:
        copy.calibrators[0].a_ *= -1
    over_a_vote = CalibratedClassifierCV(blended("voting", X), cv=2).fit(X, y)
    members = [("a", piped(make("histogram"), X)), ("b", piped(make("forest"), X))]
    stack = StackingClassifier(members, final_estimator=LogisticRegression(), cv=2).fit(X, y)
    space = reap.ActionSpace.from_frame(X)
    for model in (upside_down, over_a_vote, stack, make_pipeline(space.encoder(), make("forest")).fit(X, y)):
        assert isinstance(assert_read(reap.models.wrap(model, space), X).classifier.kernel, Quick)


def test_scores_of_regressions_and_margins_are_read():
    X, _ = people()
    amount = X["income"] * (1 + X["owner"]) - 50 * X["age"]
    points = piped(HistGradientBoostingRegressor(max_iter=30, random_state=0), X)
    assert_read(wrapped(points, X, amount, threshold=500.0, output="score"), X)
    margin = piped(make("boosting"), X)
    assert_read(wrapped(margin, X, (amount > 0).astype(int), threshold=0.0, output="score"), X)


@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("last", [RandomForestClassifier, HistGradientBoostingClassifier])
def test_ensembles_of_three_classes_are_read_for_each(last, target):
    X, y = people()
    y = y + (X["age"] > 30).to_numpy()
    reading = assert_read(wrapped(piped(last(random_state=0), X), X, y, target=target), X)
    assert isinstance(reading.classifier.kernel, Quick)


# categories, arrays, missing values ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["histogram", *EVERY[-2:]])
@pytest.mark.parametrize("order", [["own", "rent", "free"], ["free", "own", "rent"]])
def test_splits_on_categories_are_read_whatever_their_order(name, order):
    X, y = people()
    X["housing"] = X["housing"].cat.set_categories(order)
    X["grade"] = X["grade"].cat.as_unordered()
    shuffled = X.assign(housing=X["housing"].cat.set_categories(["rent", "free", "own"]))
    model = make(name, native=True).fit(X, y)
    for table in (X, shuffled):
        classifier = reap.models.wrap(model, reap.ActionSpace.from_frame(table))
        truth = model.predict_proba(X)[:, 1]
        np.testing.assert_allclose(
            classifier.probability(classifier.space.encode(X)), truth, rtol=0, atol=1e-6
        )
        assert_read(classifier, X)


@pytest.mark.extras
@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("given", ["nullable", "array"])
def test_boosters_on_nullable_dtypes_and_on_arrays_in_units(name, given):
    X, y = people()
    if given == "array":
        X = X[["age", "income", "cards", "housing"]].assign(housing=X["housing"].cat.codes.astype(int))
        space = reap.ActionSpace.from_frame(X, features={"housing": {"kind": "categorical"}})
        model = make(name).fit(X.to_numpy(dtype=float), y)
        truth = model.predict_proba(X.to_numpy(dtype=float))[:, 1]
    else:
        kinds = {"age": "Int64", "income": "Float64", "cards": "Int8", "owner": "boolean"}
        X = X[list(kinds)].astype(kinds)
        X.loc[::9, "cards"] = pd.NA
        space = reap.ActionSpace.from_frame(X, missing=["cards"])
        model = make(name).fit(X, y)
        truth = model.predict_proba(X)[:, 1]
    classifier = reap.models.wrap(model, space)
    np.testing.assert_allclose(classifier.probability(space.encode(X)), truth, rtol=0, atol=1e-6)
    assert read(classifier, space, X) is not None


@pytest.mark.extras
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_catboost_is_read_where_it_splits_on_numbers(policy):
    pytest.importorskip(
        "catboost", reason="CatBoost is a wheel of 97 MB: pip install reap-recourse[catboost]"
    )
    X, y = gaps()
    model = piped(make("catboost").set_params(grow_policy=policy), X)
    for target in (0, 1):
        assert_read(wrapped(model, X, y, missing=["income"], target=target), X)
    native = make("catboost").set_params(cat_features=["housing", "grade"])
    plain = X.astype({"housing": str, "grade": str})
    classifier = wrapped(native, plain, y, missing=["income"])
    Z = classifier.space.encode(plain)
    np.testing.assert_allclose(classifier.probability(Z), native.predict_proba(plain)[:, 1], atol=1e-9)
    assert read(classifier, classifier.space, plain) is None


def test_missing_values_go_where_the_model_sends_them():
    X, y = gaps()
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype")
    classifier = wrapped(model, X, y, missing=["income"])
    assert np.isnan(classifier.space.encode(X)).any()
    assert_read(classifier, X)


def test_what_the_preprocessing_refuses_is_refused():
    X, y = people()
    model = piped(make("forest"), X)
    model[0].set_params(standardscaler=FunctionTransformer(check_array))
    classifier = wrapped(model, X, y, missing=["income"])
    reading, Z = assert_read(classifier, X), classifier.space.encode(X)
    Z[0, classifier.space.slices["income"].start] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        reading.classifier.score(Z)


# where the edges are ---------------------------------------------------------------------------------------

#: What new releases of scikit-learn want to be told, and old ones do not know.
QUANTILES = (
    {"quantile_method": "averaged_inverted_cdf"}
    if "quantile_method" in KBinsDiscretizer().get_params()
    else {}
)


@pytest.mark.parametrize(
    "step",
    [
        QuantileTransformer(n_quantiles=40),
        KBinsDiscretizer(5, encode="onehot", **QUANTILES),
        FunctionTransformer(np.log1p),
        FunctionTransformer(np.negative),
    ],
    ids=["quantiles", "bins", "logarithm", "mirrored"],
)
def test_edges_are_found_behind_any_transformation_of_a_single_number(step):
    X, y = people()
    X = X[["age", "income", "cards"]].assign(income=lambda x: x["income"] + 0.37)
    steps = make_column_transformer((step, ["income"]), remainder="passthrough")
    assert_read(wrapped(make_pipeline(steps, RandomForestClassifier(20, random_state=0)), X, y), X)


def test_edges_are_where_the_model_turns():
    X = pd.DataFrame({"income": np.arange(0.0, 100.0), "age": np.arange(100) % 50})
    classifier = wrapped(DecisionTreeClassifier(max_depth=1), X, X["income"] > 41, target=True)
    edges = read(classifier, classifier.space, X).edges
    np.testing.assert_allclose(edges[0], [41.5], atol=1e-5)
    assert len(edges[1]) == 0


def test_a_hair_below_one_is_told_from_one_whatever_the_range():
    X, y = shares_with_outliers()
    classifier = wrapped(HistGradientBoostingClassifier(max_iter=20, random_state=0), X, y)
    Z = classifier.space.encode(X)
    reading = read(classifier, classifier.space, X)
    np.testing.assert_allclose(reading.classifier.probability(Z), classifier.probability(Z), atol=1e-9)
    assert ((reading.edges[0] > 0.9999999) & (reading.edges[0] < 1.0)).any()


def test_edges_of_a_few_extreme_people_are_read():
    X, _ = shares_with_outliers()
    X["share"] = X["share"].clip(0, 1)
    X.loc[7, "share"], X.loc[13, "share"] = 1.5, 3.0  # not among the rows on which the reading is tried
    space = reap.ActionSpace.from_frame(X.drop(index=[7, 13]))
    classifier = reap.models.wrap(DecisionTreeClassifier(random_state=0).fit(X, X["share"] > 2), space)
    reading, Z = read(classifier, space, X), space.encode(X)
    np.testing.assert_allclose(reading.classifier.probability(Z), classifier.probability(Z), atol=1e-9)


# what is not read, or not as it seems ----------------------------------------------------------------------


def ratio(frame):
    return np.column_stack([frame["income"] / (1 + frame["cards"]), frame["age"]])


def test_what_mixes_features_looks_again_or_has_no_trees_is_not_read():
    X, y = people()
    stack = [("a", make("histogram"))]
    again = StackingClassifier(stack, LogisticRegression(max_iter=2000), cv=2, passthrough=True)
    vote = [("a", piped(make("histogram"), X)), ("b", piped(LogisticRegression(max_iter=2000), X))]
    for model in (
        make_pipeline(FunctionTransformer(ratio), DecisionTreeClassifier(max_depth=4)),
        piped(again, X),
        VotingClassifier(vote, voting="soft"),
        piped(LogisticRegression(max_iter=2000), X),
    ):
        classifier = wrapped(model, X, y)
        assert read(classifier, classifier.space, X) is None
    classifier = reap.models.wrap(lambda frame: frame["age"] / 100, classifier.space)
    assert read(classifier, classifier.space, X) is None


class Louder(RandomForestClassifier):
    """A forest whose probabilities are not what its trees say."""

    def predict_proba(self, X):
        p = super().predict_proba(X) ** 2
        return p / p.sum(axis=1, keepdims=True)


def test_a_model_that_says_otherwise_than_its_trees_is_believed():
    X, y = people()
    assert_read(wrapped(piped(Louder(10, random_state=0), X), X, y), X)


# with retrainings, in files, in plans ----------------------------------------------------------------------


def quick(model, X, y, count=3, missing=()):
    """Return a model and its retrainings as they are, and as they were read."""
    own = wrapped(model, X, y, missing=missing)
    plain = [own, *retrained(own, X, y, count)]
    return plain, [read(one, own.space, X).classifier for one in plain]


MODELS = {
    "histogram": lambda X: piped(make("histogram"), X),
    "boosting": lambda X: piped(make("boosting"), X),
    "a forest in words": lambda X: piped(make("forest"), X),
    "a forest of deep trees": lambda X: piped(RandomForestClassifier(700, n_jobs=1, random_state=0), X),
    "calibrated": lambda X: blended("calibrated", X),
    "voting": lambda X: blended("voting", X),
}


@pytest.mark.parametrize("name", MODELS)
def test_retrainings_together_say_what_each_says(name):
    X, y = people(300)
    plain, fast = quick(MODELS[name](X), X, y, 3 if "deep" not in name else 1)
    assert all(isinstance(one.kernel, Quick) for one in fast)
    together, Z = Quick.joined([one.kernel for one in fast]), plain[0].space.encode(X)
    np.testing.assert_allclose(together.scores(Z), [one.score(Z) for one in plain], rtol=0, atol=1e-9)
    assert together.scores(Z[:0]).shape == (len(fast), 0)
    fast[0].score(Z)
    again = pickle.loads(pickle.dumps(fast[0]))
    assert again.kernel.leaves._known is None  # whoever was scored last stays out of files
    np.testing.assert_array_equal(again.score(Z), fast[0].score(Z))


def test_missing_values_are_scored_together_or_refused_in_the_models_own_words():
    X, y = gaps()
    plain, fast = quick(piped(make("histogram"), X), X, y, missing=["income"])
    Z = plain[0].space.encode(X)
    together, own = Quick.joined([one.kernel for one in fast]), [one.score(Z) for one in plain]
    np.testing.assert_allclose(together.scores(Z), own, rtol=0, atol=1e-9)
    whole = X.dropna()
    plain, fast = quick(piped(make("boosting"), whole), whole, y[X["income"].notna()], 1, missing=["income"])
    with pytest.raises(ValueError, match="NaN"):
        fast[0].score(Z)
    with pytest.raises(ValueError, match="NaN"):
        Quick.joined([one.kernel for one in fast]).scores(Z)


def test_a_plan_asks_the_pipeline_about_what_is_shown_alone(monkeypatch):
    X, y = people()
    model = piped(make("histogram"), X).fit(X, y)
    engine = reap.Recourse(model, reap.ActionSpace.from_frame(X)).fit(X)
    calls = []
    real = type(engine.classifier_.kernel).score

    def counted(self, Z):
        calls.append(len(Z))
        return real(self, Z)

    monkeypatch.setattr(type(engine.classifier_.kernel), "score", counted)
    person = X[model.predict(X) == 0].iloc[[0]]
    plan = engine.plans(person, np.eye(engine.space.dimension))[0]
    assert plan.valid
    # the person as they are, and the plan as it is shown, but for what the last digits of a score decide
    assert sum(calls) <= 2 * len(plan.path)
    shown = engine.space.decode(plan.path)[list(X.columns)]
    np.testing.assert_array_equal(plan.scores, model.predict_proba(shown)[:, 1])
    calls.clear()
    engine.plans(person, np.eye(engine.space.dimension))
    assert calls == []


@pytest.mark.extras
def test_pipelines_of_imblearn():
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    X, y = people()
    for last in (make("histogram"), LogisticRegression(max_iter=2000)):
        steps = piped(last, X)
        classifier = wrapped(make_pipeline(steps[0], RandomOverSampler(random_state=0), steps[-1]), X, y)
        truth = classifier.model.predict_proba(X)[:, 1]
        np.testing.assert_allclose(
            classifier.probability(classifier.space.encode(X)), truth, rtol=0, atol=1e-12
        )
        assert classifier.has_gradient == (read(classifier, classifier.space, X) is None)
