"""Scores from what was read of an ensemble, against the model's own, and how little they ask of the pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import reap
from reap.models.trees import read, scoring
from tests.models.ensembles import EVERY, make, people, piped


def reader_of(model, X, y, **settings):
    space = reap.ActionSpace.from_frame(X, **settings)
    classifier = reap.models.wrap(model.fit(X, y), space)
    return classifier, read(classifier, space, X)


@pytest.mark.parametrize("name", EVERY)
def test_scores_are_the_models_own(name):
    X, y = people()
    classifier, reader = reader_of(piped(make(name), X), X, y)
    Z = reader.space.encode(X)
    assert np.abs(reader.classifier.probability(Z) - classifier.probability(Z)).max() <= reader.tolerance
    assert reader.classifier.probability(Z[:0]).shape == (0,)


@pytest.mark.parametrize("words", [0, 10_000])
def test_deep_trees_take_several_words_or_are_asked_themselves(monkeypatch, words):
    X, y = people(2_000)
    y = np.random.default_rng(9).integers(0, 2, len(y))  # noise makes trees of hundreds of leaves
    monkeypatch.setattr(scoring, "_WORDS", words)
    classifier, reader = reader_of(piped(RandomForestClassifier(5, random_state=0), X), X, y)
    leaves = np.add.reduceat(reader.forest.leaf.astype(int), reader.forest.roots)
    assert leaves.min() > 128
    assert reader.quick == bool(words)
    Z = reader.space.encode(X)
    assert np.abs(reader.classifier.probability(Z) - classifier.probability(Z)).max() <= 1e-9


@pytest.mark.parametrize(("leaves", "word"), [(31, np.uint32), (33, np.uint64), (80, np.uint64)])
def test_trees_of_few_leaves_take_half_as_long_words(leaves, word):
    X, y = people(2_000)
    y = np.random.default_rng(9).integers(0, 2, len(y))
    model = HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=leaves, random_state=0)
    classifier, reader = reader_of(piped(model, X), X, y)
    words = reader.scoring.words
    assert words.always.dtype == word
    assert {table.dtype for table in words.tables if table is not None} == {np.dtype(word)}
    Z = reader.space.encode(X)
    assert np.abs(reader.classifier.probability(Z) - classifier.probability(Z)).max() <= 1e-9


def test_a_missing_value_is_scored_as_the_model_does():
    X, y = people()
    X.loc[::7, "income"] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20, categorical_features="from_dtype")
    classifier, reader = reader_of(model, X, y, missing=["income"])
    Z = reader.space.encode(X)
    assert np.isnan(Z).any()
    assert np.abs(reader.classifier.probability(Z) - classifier.probability(Z)).max() <= 1e-9


@pytest.fixture(scope="module")
def histogram():
    X, y = people()
    return *reader_of(piped(make("histogram"), X), X, y), X


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 300))
def test_any_mixture_of_rows_is_scored_alike(histogram, seed, count):
    classifier, reader, X = histogram
    rng = np.random.default_rng(seed)
    codes = reader.space.encoding.codes_of(reader.space.encode(X))
    mixed = np.column_stack([rng.choice(column, count) for column in codes.T])
    Z = reader.space.encoding.vectors(mixed)
    assert np.abs(reader.classifier.probability(Z) - classifier.probability(Z)).max() <= 1e-9


def test_a_plan_asks_the_pipeline_about_what_is_shown_alone(monkeypatch):
    X, y = people()
    model = piped(make("histogram"), X).fit(X, y)
    engine = reap.Recourse(model, reap.ActionSpace.from_frame(X)).fit(X)
    calls = []
    real = type(engine.classifier_.kernel).probability

    def counted(self, Z):
        calls.append(len(Z))
        return real(self, Z)

    monkeypatch.setattr(type(engine.classifier_.kernel), "probability", counted)
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
