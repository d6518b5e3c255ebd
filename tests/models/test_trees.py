"""Tree ensembles read through their pipelines, against what the models themselves say."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, QuantileTransformer
from sklearn.tree import DecisionTreeClassifier

import reap
from reap.models.trees import read
from tests.models.ensembles import BLENDS, EVERY, blended, make, people, piped, shares_with_outliers


def agrees(reader, classifier, Z):
    """Whether scores put together from cells are the model's, at the values that people have."""
    read_off = reader.forest.probability(reader.compose(reader.places(Z)))
    assert np.abs(read_off - classifier.probability(Z)).max() <= reader.tolerance
    return True


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", EVERY)
def test_every_ensemble_is_read_behind_a_column_transformer(name, target):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(make(name), X).fit(X, y), space, target=target)
    reader = read(classifier, space, X)
    assert reader is not None
    assert agrees(reader, classifier, space.encode(X))
    assert reader.tolerance <= (1e-9 if name != "xgboost" else 2e-6)


@pytest.mark.parametrize("name", ["histogram", *EVERY[-2:]])
def test_splits_on_categories_are_read(name):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(make(name, native=True).fit(X, y), space)
    reader = read(classifier, space, X)
    assert reader is not None
    assert len(reader.forest.categorical) > 0
    assert agrees(reader, classifier, space.encode(X))


@pytest.mark.parametrize("target", [0, 1])
@pytest.mark.parametrize("name", BLENDS)
def test_votes_and_calibrated_trees_are_read(name, target):
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(blended(name, X).fit(X, y), space, target=target)
    reader = read(classifier, space, X)
    assert reader is not None
    assert agrees(reader, classifier, space.encode(X))
    Z = space.encode(X)
    np.testing.assert_allclose(reader.classifier.probability(Z), classifier.probability(Z), rtol=0, atol=1e-9)
    assert len(reader.forest.members) == {
        "calibrated": 3,
        "isotonic": 2,
        "voting": 2,
        "voted-calibrated": 3,
    }.get(name, 1)


def test_what_falls_or_mixes_under_a_calibrator_is_asked():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    upside_down = CalibratedClassifierCV(piped(make("tree"), X), cv=2).fit(X, y)
    for copy in upside_down.calibrated_classifiers_:
        copy.calibrators[0].a_ *= -1
    over_a_vote = CalibratedClassifierCV(blended("voting", X), cv=2).fit(X, y)
    for model in (upside_down, over_a_vote):
        assert read(reap.models.wrap(model, space), space, X) is None


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
        assert agrees(reader, classifier, space.encode(X))
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
    Z = space.encode(X)
    reader = read(classifier, space, X)
    assert reader is not None
    ours = reader.forest.probability(reader.transform(Z))
    np.testing.assert_allclose(ours, classifier.probability(Z), rtol=0, atol=1e-9)


def test_a_forest_of_three_classes_is_read_for_each():
    X, y = people()
    y = y + (X["age"] > 30).to_numpy()
    space = reap.ActionSpace.from_frame(X)
    model = piped(RandomForestClassifier(10, random_state=0), X).fit(X, y)
    for target in (0, 1, 2):
        classifier = reap.models.wrap(model, space, target=target)
        assert agrees(read(classifier, space, X), classifier, space.encode(X))


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
    assert agrees(read(classifier, space, X), classifier, space.encode(X))


def test_edges_are_where_the_model_turns():
    X = pd.DataFrame({"income": np.arange(0.0, 100.0), "age": np.arange(100) % 50})
    tree = DecisionTreeClassifier(max_depth=1).fit(X, X["income"] > 41)
    space = reap.ActionSpace.from_frame(X)
    reader = read(reap.models.wrap(tree, space, target=True), space, X)
    np.testing.assert_allclose(reader.cells[0].edges, [41.5], atol=1e-5)
    assert len(reader.cells[1].edges) == 0
    assert reader.cells[0].of(np.array([41.0, 42.0])).tolist() == [0, 1]


def test_a_hair_below_one_is_told_from_one_whatever_the_range():
    X, y = shares_with_outliers()
    space = reap.ActionSpace.from_frame(X)
    model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
    classifier = reap.models.wrap(model, space)
    reader, Z = read(classifier, space, X), space.encode(X)
    np.testing.assert_allclose(reader.classifier.probability(Z), classifier.probability(Z), atol=1e-9)
    below, at = reader.cells[0].of(np.array([0.9999999, 1.0]))
    assert below < at


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


def test_a_model_that_says_otherwise_than_its_trees_is_not_read():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    model = piped(Louder(10, random_state=0), X).fit(X, y)
    assert read(reap.models.wrap(model, space), space, X) is None


def test_a_reader_pickles():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(piped(make("histogram"), X).fit(X, y), space)
    again = pickle.loads(pickle.dumps(read(classifier, space, X)))
    assert agrees(again, classifier, space.encode(X))


def test_an_encoder_in_front_is_read_too():
    X, y = people()
    space = reap.ActionSpace.from_frame(X)
    classifier = reap.models.wrap(make_pipeline(space.encoder(), make("forest")).fit(X, y), space)
    assert agrees(read(classifier, space, X), classifier, space.encode(X))
