"""The quick score of trees: the same numbers as the models', whatever grew the trees, one by one and together."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import reap
from reap.models.durable import retrained
from reap.models.trees import JointTrees, Quick, read
from tests.models.ensembles import blended, make, people, piped


def quick(model, X, y, count=3, **fit):
    """Return a model and its retrainings as they are, and as they were read."""
    space = reap.ActionSpace.from_frame(X, **fit)
    own = reap.models.wrap(model.fit(X, y), space)
    plain = [own, *retrained(own, X, y, count)]
    return plain, [read(one, space, X).classifier for one in plain]


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
    together, Z = JointTrees.of(fast), plain[0].space.encode(X)
    own = np.array([one.logit(Z) for one in plain])
    np.testing.assert_allclose(together.logits(Z), own, rtol=0, atol=1e-7)
    np.testing.assert_allclose(together.logits(Z, 1, 2), own[1:2], rtol=0, atol=1e-7)
    assert together.logits(Z[:0]).shape == (len(fast), 0)


def test_any_other_model_is_not_gone_through_together():
    X, y = people(300)
    plain, fast = quick(piped(make("histogram"), X), X, y, 1)
    other = reap.models.wrap(piped(LogisticRegression(max_iter=2000), X).fit(X, y), plain[0].space)
    assert JointTrees.of([*fast, other]) is None


def test_boosting_of_three_classes_is_scored_for_each():
    X, y = people(300)
    y = y + (X["age"] > 30).to_numpy()
    model = piped(HistGradientBoostingClassifier(max_iter=20, random_state=0), X).fit(X, y)
    for target in (0, 1, 2):
        own = reap.models.wrap(model, reap.ActionSpace.from_frame(X), target=target)
        fast, Z = read(own, own.space, X).classifier, own.space.encode(X)
        assert isinstance(fast.kernel, Quick)
        np.testing.assert_allclose(fast.score(Z), own.score(Z), rtol=0, atol=1e-9)


def test_missing_values_are_scored_together_or_refused_in_the_models_own_words():
    X, y = people(300)
    X.loc[::7, "income"] = np.nan
    plain, fast = quick(piped(make("histogram"), X), X, y, missing=["income"])
    Z = plain[0].space.encode(X)
    np.testing.assert_allclose(
        JointTrees.of(fast).logits(Z), [one.logit(Z) for one in plain], rtol=0, atol=1e-7
    )
    whole = X.dropna()
    plain, fast = quick(piped(make("boosting"), whole), whole, y[X["income"].notna()], 1, missing=["income"])
    with pytest.raises(ValueError, match="NaN"):
        fast[0].score(Z)
    with pytest.raises(ValueError, match="NaN"):
        JointTrees.of(fast).logits(Z)


def test_whoever_was_scored_last_stays_out_of_files():
    X, y = people(300)
    _, (fast, *_) = quick(piped(make("histogram"), X), X, y, 0)
    Z = fast.space.encode(X)
    before = fast.score(Z)
    again = pickle.loads(pickle.dumps(fast))
    assert again.kernel.leaves._known is None
    np.testing.assert_array_equal(again.score(Z), before)
