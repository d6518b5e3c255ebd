"""Reasons of a refusal: faithful to the model, in words, for any model and any row."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

import reap
from reap.recourse.reasons import may_not_become


def mixed(n=400, gaps=True):
    """Rows with numbers, ordered levels, categories and gaps, and who was good."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame(
        {
            "income": rng.integers(10, 60, n) * 100.0,
            "debts": rng.integers(0, 9, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
            "owner": rng.choice(["no", "yes"], n),
            "years": rng.integers(0, 30, n).astype(float),
        }
    )
    good = X["income"] / 1000 - X["debts"] / 2 + 2 * (X["job"] == "nurse") + X["years"] / 10 > 3
    if gaps:
        X.loc[rng.random(n) < 0.15, "years"] = np.nan
    return X, good.astype(int).to_numpy()


@pytest.fixture(scope="module")
def engines(german, german_model):
    """A logistic regression, a network and two kinds of trees, each with rejected people."""
    X, y = german.X, german.y
    made = {
        "logistic": german_model,
        "network": make_pipeline(
            german.space.encoder(), MLPClassifier((12,), early_stopping=True, random_state=0)
        ),
        "forest": make_pipeline(
            german.space.encoder(), RandomForestClassifier(40, max_depth=6, random_state=0)
        ),
    }
    fitted = {
        name: reap.Recourse(model if name == "logistic" else model.fit(X, y), german.space).fit(X)
        for name, model in made.items()
    }
    rows, good = mixed()
    space = reap.ActionSpace.from_frame(rows, missing=["years"])
    trees = HistGradientBoostingClassifier(
        categorical_features=["job", "owner"], max_iter=40, random_state=0
    ).fit(rows.astype({"job": "category", "owner": "category"}), good)

    def predict(frame):
        levels = {
            "job": pd.CategoricalDtype(["clerk", "nurse", "smith"]),
            "owner": pd.CategoricalDtype(["no", "yes"]),
        }
        return trees.predict_proba(frame.astype(levels))[:, 1]

    fitted["trees with gaps"] = reap.Recourse(predict, space).fit(rows)
    people = dict.fromkeys(made, X) | {"trees with gaps": rows}
    return {
        name: (engine, people[name][~engine.classifier_.accepts(engine.space.encode(people[name]))])
        for name, engine in fitted.items()
    }


def scored_with(engine, row, feature):
    """The score with one feature as in the typical accepted person, by hand and in units."""
    usual = engine.space.decode(engine.typical_[None], like=row)
    changed = row.copy()
    changed[feature] = usual[feature].to_numpy()
    return float(engine.classifier_.probability(engine.space.encode(changed))[0])


def barred(engine, row, feature):
    """Whether the typical value lies against what the space says of a feature: fewer savings, no account any more."""
    mine = engine.space.values(engine.space.vector(row))[feature]
    return may_not_become(engine.space.feature(feature), mine, engine.space.values(engine.typical_)[feature])


@pytest.mark.parametrize("name", ["logistic", "network", "forest", "trees with gaps"])
def test_no_reason_contradicts_itself(engines, name):
    """Not "checking account: 0 to 200 DM (typical: no account)", which nobody may become, nor a value that lowers the score."""
    engine, rejected = engines[name]
    others = 0
    for i in range(30):
        row = rejected.iloc[[i]]
        now = float(engine.classifier_.probability(engine.space.encode(row))[0])
        for reason in engine.reasons(row, n=20):
            feature = engine.space.feature(reason.feature)
            assert not may_not_become(feature, reason.value, reason.better)
            assert reason.score >= now - 1e-9
            assert reason.score > now or reason.contribution == pytest.approx(0, abs=1e-9)
            if reason.better != reason.typical:
                others += 1
                assert barred(engine, row, reason.feature)
                assert f"(better: {feature.show(reason.better)})" in str(reason)
                again = engine.space.decode(engine.space.vector(row)[None], like=row).assign(
                    **{reason.feature: reason.better}
                )
                assert reason.score == pytest.approx(
                    float(engine.classifier_.probability(engine.space.encode(again))[0])
                )
    assert others or name == "trees with gaps"


def test_what_is_better_against_all_sense_is_no_reason():
    """A model that likes small savings is told by its typical people; nobody is told to have less."""
    X = pd.DataFrame({"savings": ["none", "some", "much"] * 20, "income": [1.0, 2.0, 3.0, 4.0] * 15})
    savings = reap.Feature("savings", "ordinal", levels=("none", "some", "much"), direction="up")
    space = reap.ActionSpace([savings, reap.Feature("income", range=(1, 4), direction="up")])
    engine = reap.Recourse(lambda f: 0.3 * (f["savings"] == "none") + f["income"] / 10, space).fit(X)
    assert space.values(engine.typical_)["savings"] == "none"
    found = engine.reasons(pd.Series({"savings": "some", "income": 1.0}))
    assert [reason.feature for reason in found] == ["income"]


@pytest.mark.parametrize("name", ["logistic", "network", "forest", "trees with gaps"])
def test_no_other_single_factor_moves_the_score_more(engines, name):
    engine, rejected = engines[name]
    assert len(rejected) >= 10
    for i in range(10):
        row = rejected.iloc[[i]]
        now = float(engine.classifier_.probability(engine.space.encode(row))[0])
        by_hand = {feature: scored_with(engine, row, feature) for feature in engine.space.names}
        found = engine.reasons(row, n=len(by_hand))
        moving = [reason for reason in found if reason.contribution > 1e-9]
        assert moving, "a rejected person whose score no single factor moves: choose other rows"
        usual = [reason for reason in moving if reason.better == reason.typical]
        open_ = {feature: score for feature, score in by_hand.items() if not barred(engine, row, feature)}
        assert usual[0].score == pytest.approx(max(open_.values()))
        assert [r.score for r in moving] == sorted((r.score for r in moving), reverse=True)
        for reason in usual:
            assert reason.score == pytest.approx(by_hand[reason.feature])
        named = {reason.feature for reason in moving}
        assert all(score <= now + 1e-9 for feature, score in open_.items() if feature not in named)


def test_contributions_of_an_additive_model_are_exact_and_add_up(german, german_engine, german_rejected):
    z = german.space.vector(german_rejected.iloc[[3]])
    typical, model = german_engine.typical_, german_engine.classifier_
    weight = model.gradient(z[None])[0]
    every = {
        f.name: weight[german.space.slices[f.name]] @ (typical - z)[german.space.slices[f.name]]
        for f in german.space.features
    }
    found = german_engine.reasons(german_rejected.iloc[[3]], n=20)
    for reason in found:
        if reason.better == reason.typical:
            assert reason.contribution == pytest.approx(every[reason.feature])
    assert sum(every.values()) == pytest.approx(
        float(model.logit(typical[None])[0] - model.logit(z[None])[0])
    )
    usual = [r.feature for r in found if r.better == r.typical]
    open_ = [name for name in every if not barred(german_engine, german_rejected.iloc[[3]], name)]
    assert usual == sorted((name for name in open_ if every[name] > 1e-9), key=lambda name: -every[name])


def test_typical_person_is_accepted_and_has_usual_values(engines):
    for engine, _ in engines.values():
        assert engine.classifier_.accepts(engine.typical_[None])[0]
        again = engine.space.encode(engine.space.decode(engine.typical_[None]))[0]
        assert np.allclose(again, engine.typical_, equal_nan=True)


def test_factors_that_count_only_together_are_named(capsys):
    X = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0] * 5, "b": [0.0, 1.0, 0.0, 1.0] * 5, "c": range(20)})
    space = reap.ActionSpace.from_frame(X)
    engine = reap.Recourse(lambda frame: 0.1 + 0.8 * ((frame["a"] > 0.5) & (frame["b"] > 0.5)), space).fit(X)
    found = engine.reasons(pd.Series({"a": 0.0, "b": 0.0, "c": 2}))
    assert [reason.feature for reason in found] == ["a", "b"]
    assert [reason.contribution for reason in found] == [0, 0]


def test_where_the_mixture_is_refused_the_nearest_accepted_person_is_typical():
    X = pd.DataFrame({"a": [0.0, 0.1, 0.9, 1.0, 1.0], "b": [1.0, 0.9, 0.1, 0.0, 0.0]})
    space = reap.ActionSpace.from_frame(X)
    extremes = reap.Recourse(lambda f: 0.1 + 0.8 * ((f["a"] - f["b"]).abs() > 0.85), space).fit(X)
    assert extremes.classifier_.accepts(extremes.typical_[None])[0]


def test_words_use_labels_units_and_levels(german_engine, german_rejected):
    found = german_engine.reasons(german_rejected.iloc[[0]])
    assert 1 <= len(found) <= 4
    for reason in found:
        feature = german_engine.space.feature(reason.feature)
        said = "people who get a yes usually have" if reason.better == reason.typical else "better"
        assert str(reason) == (
            f"{feature.label}: {feature.show(reason.value)} ({said}: {feature.show(reason.better)})"
        )
        assert reason.value != reason.better


def test_a_value_that_is_missing_can_be_a_reason():
    X, _ = mixed()
    space = reap.ActionSpace.from_frame(X, missing=["years"])
    engine = reap.Recourse(lambda f: 0.2 + 0.6 * f["years"].notna(), space).fit(X)
    (reason,) = engine.reasons(X[X["years"].isna()].iloc[[0]])
    assert reason.feature == "years"
    assert reason.value is None
    assert "not known" in str(reason) or "missing" in str(reason)


def test_what_cannot_change_is_a_reason_too():
    X, _ = mixed(gaps=False)
    space = reap.ActionSpace.from_frame(X, immutable=["years"])
    engine = reap.Recourse(lambda f: f["years"] / 60 + 0.3, space).fit(X)
    assert [r.feature for r in engine.reasons(X[X["years"] < 5].iloc[[0]])] == ["years"]


def test_one_hot_tables_are_read_as_features():
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 200)
    X = pd.DataFrame(np.eye(3)[job], columns=["job_a", "job_b", "job_c"]).assign(pay=rng.random(200))
    space = reap.ActionSpace.from_frame(X, groups={"job": ["job_a", "job_b", "job_c"]})
    y = (job == 2).astype(int)
    model = LogisticRegression().fit(space.encode(X), y)
    engine = reap.Recourse(model, space).fit(X)
    (first, *_) = engine.reasons(X[job == 0].iloc[[0]])
    assert first.feature == "job"
    assert "job_c" in str(first)


def test_every_engine_answers_alike(german, german_model, german_engine, german_rejected):
    others = [
        reap.GraphRecourse(german_model, german.space).fit(german.X),
        reap.GradientRecourse(german_model, german.space).fit(german.X),
        reap.PoolRecourse(german.X.head(50), german_model, german.space).fit(german.X),
        pickle.loads(pickle.dumps(german_engine)),
    ]
    row = german_rejected.iloc[[1]]
    for other in others:
        assert other.reasons(row) == german_engine.reasons(row)


def test_nobody_is_refused_reasons_without_a_word(german, german_model, german_engine, german_rejected):
    accepted = german.X[german_model.predict(german.X) == 1].iloc[[0]]
    assert german_engine.reasons(accepted) == []
    nobody = reap.Recourse(german_model, german.space).fit(german_rejected)
    with pytest.raises(reap.InputError, match="knows nobody who is accepted"):
        nobody.reasons(german_rejected.iloc[[0]])
    with pytest.raises(reap.InputError, match="n is 0; give the number of reasons"):
        german_engine.reasons(german_rejected.iloc[[0]], n=0)
    with pytest.raises(reap.InputError, match="not fitted"):
        reap.Recourse(german_model, german.space).reasons(accepted)


@given(st.integers(0, 200), st.integers(1, 8))
def test_the_same_person_has_the_same_reasons_and_fewer_are_the_first_of_them(
    german_engine, german_rejected, i, n
):
    row = german_rejected.iloc[[i % len(german_rejected)]]
    found = german_engine.reasons(row, n)
    assert found == german_engine.reasons(row, n)
    assert found == german_engine.reasons(row, n + 1)[:n]
