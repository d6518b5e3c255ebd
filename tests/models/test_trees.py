"""Tree ensembles read through their pipelines, against what the models themselves say."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, QuantileTransformer
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array

import reap
from reap.models.trees import Quick, put, read, units
from tests.models.ensembles import BLENDS, EVERY, blended, make, people, piped, shares_with_outliers


def anybody(space, X, seed=0, count=300):
    """Return vectors (n, d) that nobody has: of every feature the value of somebody else."""
    rng = np.random.default_rng(seed)
    codes = space.encoding.codes_of(space.encode(X))
    return space.encoding.vectors(np.column_stack([rng.choice(column, count) for column in codes.T]))


def agrees(reading, classifier, X):
    """Whether scores without the pipeline are the model's, and the model's the same for all values between two edges."""
    single = "xgboost" in repr(type(classifier.model)) or "XGB" in repr(
        classifier.model
    )  # it adds up in single precision
    off = 2e-6 if single else 1e-9
    space = classifier.space
    Z = np.concatenate([space.encode(X), anybody(space, X)])
    own = classifier.score(Z)
    np.testing.assert_allclose(reading.classifier.score(Z), own, rtol=0, atol=off)
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
    return True


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", EVERY)
def test_every_ensemble_is_read_behind_a_column_transformer(name, target):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(make(name), X).fit(X, y), space, target=target)
    reader = read(classifier, space, X)
    assert reader is not None
    assert agrees(reader, classifier, X)
    assert isinstance(reader.classifier.kernel, Quick)


@pytest.mark.parametrize("name", ["histogram", *EVERY[-2:]])
def test_splits_on_categories_are_read(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(make(name, native=True).fit(X, y), space)
    reader = read(classifier, space, X)
    assert reader is not None
    assert agrees(reader, classifier, X)


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", BLENDS)
def test_votes_and_calibrated_trees_are_read(name, target):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(blended(name, X).fit(X, y), space, target=target)
    reader = read(classifier, space, X)
    assert reader is not None
    assert agrees(reader, classifier, X)
    assert isinstance(reader.classifier.kernel, Quick)


def test_stacks_and_calibrations_of_any_kind_are_read():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    upside_down = CalibratedClassifierCV(piped(make("tree"), X), cv=2).fit(X, y)
    for copy in upside_down.calibrated_classifiers_:
        copy.calibrators[0].a_ *= -1
    over_a_vote = CalibratedClassifierCV(blended("voting", X), cv=2).fit(X, y)
    members = [("a", piped(make("histogram"), X)), ("b", piped(make("forest"), X))]
    stack = StackingClassifier(members, final_estimator=LogisticRegression(), cv=2).fit(X, y)
    for model in (upside_down, over_a_vote, stack):
        classifier = reap.models.wrap(model, space)
        reader = read(classifier, space, X)
        assert agrees(reader, classifier, X)
        assert isinstance(reader.classifier.kernel, Quick)


def test_a_stack_that_looks_at_the_rows_again_is_not_read():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    stack = StackingClassifier(
        [("a", make("histogram"))], final_estimator=LogisticRegression(max_iter=2000), cv=2, passthrough=True
    )
    assert read(reap.models.wrap(piped(stack, X).fit(X, y), space), space, X) is None


def test_scores_of_regressions_and_margins_are_read():
    X, _ = people()
    space = reap.ActionSpace.from_frame(X)
    amount = X["income"] * (1 + X["owner"]) - 50 * X["age"]
    points = piped(HistGradientBoostingRegressor(max_iter=30, random_state=0), X).fit(X, amount)
    margin = piped(make("boosting"), X).fit(X, (amount > 0).astype(int))
    for model, threshold in ((points, 500.0), (margin, 0.0)):
        classifier = reap.models.wrap(model, space, threshold=threshold, output="score")
        assert agrees(read(classifier, space, X), classifier, X)


@pytest.mark.extras
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
def test_catboost_is_read_where_it_splits_on_numbers(policy):
    pytest.importorskip(
        "catboost", reason="CatBoost is a wheel of 97 MB: pip install reap-recourse[catboost]"
    )
    X, y = people()
    X.loc[::7, "income"] = np.nan
    space = reap.ActionSpace.from_frame(X, missing=["income"])
    model = piped(make("catboost").set_params(grow_policy=policy), X).fit(X, y)
    for target in (0, 1):
        classifier = reap.models.wrap(model, space, target=target)
        reader = read(classifier, space, X)
        assert reader is not None
        assert agrees(reader, classifier, X)
    native = make("catboost").set_params(cat_features=["housing", "grade"])
    plain = X.astype({"housing": str, "grade": str})
    space = reap.ActionSpace.from_frame(plain, missing=["income"])
    classifier = reap.models.wrap(native.fit(plain, y), space)
    np.testing.assert_allclose(
        classifier.probability(space.encode(plain)), native.predict_proba(plain)[:, 1], atol=1e-9
    )
    assert read(classifier, space, plain) is None


def test_missing_values_go_where_the_model_sends_them():
    X, y = people()
    X.loc[::7, "income"] = np.nan
    space = reap.ActionSpace.from_frame(X, missing=["income"])
    classifier = reap.models.wrap(
        HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype").fit(X, y), space
    )
    assert np.isnan(space.encode(X)).any()
    assert agrees(read(classifier, space, X), classifier, X)


def test_what_the_preprocessing_refuses_is_refused():
    X, y = people()
    space = reap.ActionSpace.from_frame(X, missing=["income"])
    model = piped(make("forest"), X)
    model[0].set_params(standardscaler=FunctionTransformer(check_array))
    classifier = reap.models.wrap(model.fit(X, y), space)
    reader, Z = read(classifier, space, X), space.encode(X)
    assert agrees(reader, classifier, X)
    Z[0, space.slices["income"].start] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        reader.classifier.score(Z)


def test_a_forest_of_three_classes_is_read_for_each():
    X, y = people()
    y = y + (X["age"] > 30).to_numpy()
    space = reap.ActionSpace.from_frame(X)
    model = piped(RandomForestClassifier(10, random_state=0), X).fit(X, y)
    for target in (0, 1, 2):
        classifier = reap.models.wrap(model, space, target=target)
        assert agrees(read(classifier, space, X), classifier, X)


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
    space = reap.ActionSpace.from_frame(X)
    pipeline = make_pipeline(
        make_column_transformer((step, ["income"]), remainder="passthrough"),
        RandomForestClassifier(20, random_state=0),
    )
    classifier = reap.models.wrap(pipeline.fit(X, y), space)
    assert agrees(read(classifier, space, X), classifier, X)


def test_edges_are_where_the_model_turns():
    X = pd.DataFrame({"income": np.arange(0.0, 100.0), "age": np.arange(100) % 50})
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X["income"] > 41)
    space = reap.ActionSpace.from_frame(X)
    reader = read(reap.models.wrap(tree, space, target=True), space, X)
    np.testing.assert_allclose(reader.edges[0], [41.5], atol=1e-5)
    assert len(reader.edges[1]) == 0


def test_a_hair_below_one_is_told_from_one_whatever_the_range():
    X, y = shares_with_outliers()
    space = reap.ActionSpace.from_frame(X)
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    classifier = reap.models.wrap(model, space)
    reader, Z = read(classifier, space, X), space.encode(X)
    np.testing.assert_allclose(reader.classifier.probability(Z), classifier.probability(Z), atol=1e-9)
    assert ((reader.edges[0] > 0.9999999) & (reader.edges[0] < 1.0)).any()


def test_edges_of_a_few_extreme_people_are_read():
    X, _ = shares_with_outliers()
    X["share"] = X["share"].clip(0, 1)
    X.loc[7, "share"], X.loc[13, "share"] = 1.5, 3.0  # not among the rows on which the reading is tried
    y = (X["share"] > 2).astype(int)
    space = reap.ActionSpace.from_frame(X.drop(index=[7, 13]))
    classifier = reap.models.wrap(DecisionTreeClassifier(random_state=0).fit(X, y), space)
    reader, Z = read(classifier, space, X), space.encode(X)
    np.testing.assert_allclose(reader.classifier.probability(Z), classifier.probability(Z), atol=1e-9)


def ratio(frame):
    return np.column_stack([frame["income"] / (1 + frame["cards"]), frame["age"]])


def test_what_mixes_features_or_has_no_trees_is_not_read():
    X, y = people()
    X = X[["age", "income", "cards"]]
    space = reap.ActionSpace.from_frame(X)
    mixing = make_pipeline(FunctionTransformer(ratio), DecisionTreeClassifier(max_depth=4)).fit(X, y)
    assert read(reap.models.wrap(mixing, space), space, X) is None
    linear = LogisticRegression(max_iter=1000).fit(X, y)
    assert read(reap.models.wrap(linear, space), space, X) is None
    assert read(reap.models.wrap(lambda frame: frame["age"] / 100, space), space, X) is None


class Louder(RandomForestClassifier):
    """A forest whose probabilities are not what its trees say."""

    def predict_proba(self, X):
        p = super().predict_proba(X) ** 2
        return p / p.sum(axis=1, keepdims=True)


def test_a_model_that_says_otherwise_than_its_trees_is_believed():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(Louder(10, random_state=0), X).fit(X, y), space)
    assert agrees(read(classifier, space, X), classifier, X)


def test_a_reader_pickles():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(make("histogram"), X).fit(X, y), space)
    reader = read(classifier, space, X)
    reader.classifier.score(space.encode(X)[:5])
    again = pickle.loads(pickle.dumps(reader))
    assert again.classifier.kernel.leaves._known is None  # whoever was scored last stays out of files
    assert agrees(again, classifier, X)


def test_an_encoder_in_front_is_read_too():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(make_pipeline(space.encoder(), make("forest")).fit(X, y), space)
    assert agrees(read(classifier, space, X), classifier, X)


@pytest.fixture(scope="module")
def histogram():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(make("histogram"), X).fit(X, y), space)
    return classifier, read(classifier, space, X), X


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(0, 300))
def test_any_mixture_of_rows_is_scored_alike(histogram, seed, count):
    classifier, reader, X = histogram
    Z = anybody(classifier.space, X, seed, count)
    assert np.allclose(reader.classifier.score(Z), classifier.score(Z) if count else [], rtol=0, atol=1e-9)


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
