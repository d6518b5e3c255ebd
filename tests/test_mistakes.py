"""The mistakes newcomers make: each simply works, or is one sentence that says what was given and what to do.

``docs/mistakes.md`` shows the same table, in the same order and in the same words; "…" stands for anything.
"""

from __future__ import annotations

import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import reap
import reap.batch

PAGE = Path(__file__).resolve().parents[1] / "docs" / "mistakes.md"
RNG = np.random.default_rng(0)
#: A table of loans and who repaid theirs, with some luck.
X = pd.DataFrame(
    {
        "income": RNG.integers(10, 60, 300) * 100,
        "debts": RNG.integers(0, 6, 300),
        "home": RNG.choice(["own", "rent", "other"], 300),
    }
)
Y = pd.Series((X.income + RNG.normal(0, 400, 300) > 1000 * X.debts + 1000).astype(int), name="paid")
N = X[["income", "debts"]]
GRADE = pd.cut(N.income - 1000 * N.debts, [-np.inf, 0, 2000, np.inf], labels=[0, 1, 2]).astype(int)


def trained(table=X, labels=Y, last=None, sparse=False):
    """A pipeline on raw rows."""
    texts = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=sparse), texts), remainder="passthrough", verbose_feature_names_out=False
    )
    return make_pipeline(columns, last or DecisionTreeClassifier(max_depth=4, random_state=0)).fit(
        table, labels
    )


def tree(table=N, labels=Y):
    return DecisionTreeClassifier(max_depth=4, random_state=0).fit(table, labels)


def space(table=X, **settings):
    return reap.ActionSpace.from_frame(table, **settings)


def engine(model, table=X, labels=None, rules=None, **settings):
    return reap.Recourse(model, rules or space(table), **settings).fit(table, labels)


@cache
def fitted():
    """An engine in which nothing is wrong."""
    return engine(trained())


def refused(row=None):
    """Somebody whom the model refuses, as a Series."""
    x = X[fitted().model.predict(X) == 0].iloc[0]
    return x if row is None else pd.Series({**x, **row})


def plan(row):
    return fitted().plans(row, np.eye(fitted().space.dimension))[0]


class Labels:
    """A model that only knows yes and no."""

    def predict(self, rows):
        return (rows["income"] > 3000).astype(int)


class Network:
    """What a Keras model looks like from outside: fit, predict and a call on arrays, no classes."""

    def fit(self, rows, labels):
        return self

    def predict(self, rows):
        return 1 / (1 + np.exp(3 - np.asarray(rows)[:, :1] / 1000))

    __call__ = predict


def fit_again():
    model = tree()
    made = engine(model, N)
    model.fit(N, 1 - Y)
    return made.recommend(N.head(2))


def at_once():
    """Whether four threads on one engine get the plans that one gets."""
    people = X[fitted().model.predict(X) == 0].head(8)
    A = np.eye(fitted().space.dimension)
    alone = [str(fitted().plans(people.iloc[i], A)[0]) for i in range(8)]
    fresh = engine(fitted().model)
    with ThreadPoolExecutor(4) as pool:
        return alone == list(pool.map(lambda i: str(fresh.plans(people.iloc[i], A)[0]), range(8)))


def accepted_person():
    session = fitted().elicit(X[fitted().model.predict(X) == 1].iloc[0])
    return session.ask() is None and session.recommend().status == "already_accepted"


def unreadable_row():
    table = reap.batch.run(fitted(), X.head(3).assign(home=["boat", "own", "own"]), n_jobs=1)
    return table.recourse_status.iloc[0] == "invalid_row" and table.recourse_status.iloc[1] != "invalid_row"


def written_off(labels=Y):
    """An amount that is known once a loan has failed."""
    return X.assign(written_off=np.where(labels == 1, 0, X.income // 2))


def failed():
    """Who did not repay: fewer than half."""
    return pd.Series((X.income + 1200 < 1000 * X.debts).astype(int), name="default")


texts = X.assign(income=X.income.map("{:,}".format))
dummies = pd.get_dummies(X, dtype=int)
scaled = pd.DataFrame(StandardScaler().fit_transform(N), columns=N.columns)
dated = X.assign(since=pd.date_range("2020-01-01", periods=300))
gaps = N.astype(float).mask(N.income == N.income[3])
yes = np.where(Y == 1, "yes", "no")
PROBABILITIES = (
    " gives no probabilities; say output='score' where it returns points, margins or another number, wrap a classifier in "
    "sklearn.calibration.CalibratedClassifierCV before fitting, or give a function from a frame to probabilities"
)
NOT_FOUND = (
    ", which the action space lacks…; declare it there, or let everybody keep their own value with space.keeping(…), or pass one "
    "person's with reap.models.carrying(…)"
)
FAILS = (
    "; it is given a DataFrame with the columns income, debts: train it on such rows, or say reap.models.on_vectors(model) where "
    "it takes encoded arrays"
)
RAW = (
    "; check target= and threshold=, and give it what it was trained on: put scaling and encoding into one Pipeline with the "
    "model, trained on the raw table"
)
TELLS = " of nearly every row; if it is the label, or known only after the decision, drop it from X and train the model again"
TURNED = (
    "the model prefers people who are worse off ('debts' and 'income'); if 1 is the bad outcome, say target= with the label of "
    "the good one"
)
WORKS = "It works."

#: The mistake; what was typed; what is seen: "It works.", "Warning: …" where fit goes on, else the sentence of the error.
CASES = [
    # the table
    (
        "a NumPy array instead of a frame",
        lambda: space(N.to_numpy()),
        "a pandas DataFrame is needed, not ndarray",
    ),
    ("a polars frame", lambda: engine(trained(), pl.from_pandas(X)), WORKS),
    ("an empty table", lambda: space(X.head(0)), "the table is empty; give at least one row and one column"),
    (
        "column names that are numbers",
        lambda: space(N.set_axis([0, 1], axis=1)),
        "the column name 0 is not text; rename it, for example X.columns.astype(str)",
    ),
    (
        "the same column name twice",
        lambda: space(N.set_axis(["a", "a"], axis=1)),
        "the table has the column 'a' more than once; keep one",
    ),
    (
        "empty cells",
        lambda: space(gaps),
        "'income' is missing in some rows; fill it in, or say missing=['income']",
    ),
    (
        "dates",
        lambda: space(dated),
        "'since' holds datetime64[…]; turn it into a number that people know, such as a year or an age in days",
    ),
    (
        "an ID or a name as a feature",
        lambda: space(X.assign(client=[f"c{i}" for i in range(300)])),
        "'client' has 300 different texts in 300 rows and looks like a name or a date; drop it",
    ),
    (
        "True and False in a column",
        lambda: engine(trained(table := X.assign(member=X.income % 3 == 0)), table),
        WORKS,
    ),
    ("a column of dtype category", lambda: engine(trained(t := X.astype({"home": "category"})), t), WORKS),
    (
        "a category that no row has",
        lambda: engine(
            trained(t := X.assign(home=pd.Categorical(X.home, ["own", "rent", "other", "boat"]))), t
        ),
        "the model fails where 'home' is 'boat', as no row of X is (ValueError: Found unknown categories …); drop that level, "
        "for example with Series.cat.remove_unused_categories(), or train the model to take it",
    ),
    (
        "numbers written as “1,000”",
        lambda: engine(trained(texts, last=LogisticRegression(max_iter=5000)), texts),
        "Warning: 'income' holds numbers as text (…), so each is a category; make them numbers, for example with "
        "pd.read_csv(…, thousands=',')",
    ),
    (
        "a space made after `pd.get_dummies`",
        lambda: engine(tree(dummies), dummies),
        "Warning: exactly one of the columns 'home_other', 'home_own', 'home_rent' is 1 in every row, and a plan may set two of "
        "them; make the space from the table before get_dummies, and train a Pipeline with a OneHotEncoder on it",
    ),
    # the model
    (
        "a frame in the place of the space",
        lambda: reap.Recourse(trained(), X).fit(X),
        "space must be an ActionSpace, not DataFrame; ActionSpace.from_frame(X) makes one",
    ),
    (
        "the name of a model's file",
        lambda: engine("model.joblib"),
        "the model is str; give a fitted classifier, a function that returns probabilities, or reap.models.torch_model(…)",
    ),
    (
        "a class instead of an object",
        lambda: engine(DecisionTreeClassifier, N),
        "the model is the class DecisionTreeClassifier; give a fitted object of it",
    ),
    (
        "a model that is not fitted",
        lambda: engine(LogisticRegression(), N),
        "the model (LogisticRegression) is not fitted; call fit(X, y) first",
    ),
    (
        "a model trained on one class",
        lambda: engine(tree(labels=np.ones(300)), N),
        "the model knows one class only (1.0); train it on accepted and rejected rows",
    ),
    (
        "a model trained on an array, without names",
        lambda: engine(tree(N.to_numpy()), N),
        "the model was trained on an array without column names, so it is not clear whether it takes units or encoded values; "
        "train it on the DataFrame, or say reap.models.on_vectors(model) if values were encoded",
    ),
    (
        "a model trained on other columns",
        lambda: engine(tree(N.rename(columns={"debts": "debt"})), N),
        f"the model was trained on the column 'debt'{NOT_FOUND}",
    ),
    (
        "a model trained on `pd.get_dummies`, a space of the raw table",
        lambda: engine(tree(dummies)),
        f"the model was trained on the column 'home_other'{NOT_FOUND}",
    ),
    (
        "a model trained on the columns in another order",
        lambda: engine(tree(N[["debts", "income"]]), N),
        WORKS,
    ),
    ("a model trained on fewer columns", lambda: engine(tree(N[["income", "debts"]]), X), WORKS),
    (
        "a model trained on scaled values, raw rows handed over",
        lambda: engine(LogisticRegression().fit(scaled, Y), N, Y),
        f"Warning: the model accepts all 300 rows of X, and y refuses …{RAW}",
    ),
    (
        "a model that takes no empty cells",
        lambda: engine(LogisticRegression().fit(N, Y), gaps, rules=space(gaps, missing=list(gaps))),
        f"the model fails on rows of X (ValueError: Input X contains NaN){FAILS}",
    ),
    (
        "a model with `predict` only",
        lambda: engine(Labels(), N),
        f"Labels{PROBABILITIES}",
    ),
    ("`model.predict` as a function", lambda: engine(tree().predict, N), WORKS),
    (
        "a model with `fit` and `predict` that is none of scikit-learn, such as a Keras network",
        lambda: engine(Network(), N),
        f"Network{PROBABILITIES}",
    ),
    (
        "the same in a function",
        lambda: engine(lambda rows: Network().predict(rows)[:, 0], N),
        WORKS,
    ),
    (
        "a function that asks for a column that is not there",
        lambda: engine(lambda rows: rows["salary"] / 6000, N),
        f"the model fails on rows of X (KeyError: 'salary'){FAILS}",
    ),
    (
        "a function that takes arrays",
        lambda: engine(lambda rows: rows[:, 0], N),
        f"the model fails on rows of X (InvalidIndexError: …){FAILS}",
    ),
    (
        "a function that returns logits, points or per cent",
        lambda: engine(lambda rows: rows["income"] / 60, N),
        "the model's function returned …; it must return probabilities between 0 and 1",
    ),
    (
        "a function that returns one number for all rows",
        lambda: engine(lambda rows: 0.3, N),
        "the model's function returned shape () for 300 rows; it must return one probability a row, (300,), or one a row and "
        "class, (300, 2)",
    ),
    ("a regressor", lambda: engine(LinearRegression().fit(N, Y), N), f"LinearRegression{PROBABILITIES}"),
    (
        "a regressor with `output='score'`",
        lambda: engine(LinearRegression().fit(N, Y), N, threshold=0.5, output="score"),
        WORKS,
    ),
    (
        "`LinearSVC`, which has margins only",
        lambda: engine(LinearSVC().fit(N, Y), N),
        f"LinearSVC{PROBABILITIES}",
    ),
    (
        "`LinearSVC` with `output='score'`, the threshold left at 0.5",
        lambda: engine(LinearSVC().fit(N, Y), N, output="score"),
        "Warning: threshold is 0.5 of a margin, whose own boundary is 0; say threshold=0 to decide as the model does",
    ),
    (
        "`GridSearchCV`",
        lambda: engine(GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [4]}).fit(N, Y), N),
        WORKS,
    ),
    (
        "`GridSearchCV(refit=False)`",
        lambda: engine(GridSearchCV(DecisionTreeClassifier(), {"max_depth": [4]}, refit=False).fit(N, Y), N),
        "GridSearchCV was told refit=False and keeps no model; search with refit=True, or give the model",
    ),
    (
        "a pipeline that ends in 'passthrough'",
        lambda: engine(make_pipeline(StandardScaler(), "passthrough").fit(N, Y), N),
        "the pipeline ends in 'passthrough' and decides nothing; give one that ends in a classifier",
    ),
    (
        "a pipeline with `set_output(transform='pandas')`",
        lambda: engine(
            make_pipeline(
                make_column_transformer((OrdinalEncoder(), ["home"]), remainder="passthrough").set_output(
                    transform="pandas"
                ),
                HistGradientBoostingClassifier(max_iter=20, random_state=0),
            ).fit(X, Y)
        ),
        WORKS,
    ),
    ("a one-hot encoder with sparse output", lambda: engine(trained(sparse=True)), WORKS),
    # labels, target, threshold
    ("labels True and False", lambda: engine(trained(labels=Y == 1), labels=Y == 1), WORKS),
    (
        "labels “yes” and “no”",
        lambda: engine(trained(labels=yes)),
        "there is no class 1; the model's classes are 'no', 'yes': choose target= from them",
    ),
    ("labels “yes” and “no” with `target='yes'`", lambda: engine(trained(labels=yes), target="yes"), WORKS),
    (
        "labels “0” and “1”, which are text",
        lambda: engine(trained(labels=Y.astype(str))),
        "there is no class 1; the model's classes are '0', '1': choose target= from them",
    ),
    ("labels 1 and 2 where 2 is good", lambda: engine(trained(labels=Y + 1)), f"Warning: {TURNED}"),
    ("labels of which 1 is the bad outcome", lambda: engine(trained(labels=1 - Y)), f"Warning: {TURNED}"),
    (
        "a label called “default”",
        lambda: engine(tree(X[["debts"]], failed()), X[["debts"]], failed()),
        "Warning: target is 1 of 'default', which looks like the bad outcome; say target= with the label of the good one",
    ),
    (
        "three classes 0, 1, 2",
        lambda: engine(tree(labels=GRADE), N),
        "Warning: target is 1, and the model has the classes 0 to 2; say target=2 if the last is the best, target=0 if the first "
        "is",
    ),
    ("three classes with `target=2`", lambda: engine(tree(labels=GRADE), N, target=2), WORKS),
    (
        "a threshold in per cent",
        lambda: engine(trained(), threshold=50),
        "threshold is 50; give a probability between 0 and 1, or output='score' where the model returns points or another number",
    ),
    (
        "the label left among the features",
        lambda: engine(trained(t := X.assign(paid=Y)), t, Y),
        f"Warning: the column 'paid' alone tells the label y{TELLS}",
    ),
    (
        "the label left among the features, `fit` without y",
        lambda: engine(trained(t := X.assign(paid=Y)), t),
        f"Warning: the column 'paid' alone tells what the model says{TELLS}",
    ),
    (
        "a column that is known only after the decision",
        lambda: engine(trained(written_off()), written_off(), Y),
        f"Warning: the column 'written_off' alone tells the label y{TELLS}",
    ),
    (
        "y of another length",
        lambda: engine(trained(), X, Y.head(10)),
        "y has shape (10,); give one label for each of the 300 rows",
    ),
    (
        "y in another order than X",
        lambda: engine(trained(), X, Y.sample(frac=1, random_state=0)),
        "y has the index of X in another order; give y.loc[X.index]",
    ),
    (
        "y with other labels than the model's",
        lambda: engine(trained(), X, yes),
        "y has the label …, the model the classes 0, 1; give the labels that the model was trained on",
    ),
    (
        "y that does not belong to the model",
        lambda: engine(tree(X[["debts"]]), X[["debts"]], 1 - Y),
        "Warning: the model scores rows with the label 1 lower than the others (AUC …); check target=, and that X and y are in "
        "the units and the order it was trained on",
    ),
    (
        "y of one class, where nothing is retrained",
        lambda: engine(trained(), X, np.ones(300, dtype=int)),
        WORKS,
    ),
    (
        "a model that refuses everybody",
        lambda: engine(lambda rows: rows["income"] / 20_000, N),
        f"Warning: the model accepts none of the 300 rows of X (the best has 30 out of 100, needed is more than 50){RAW}",
    ),
    (
        "`fit` without rows",
        lambda: fitted().fit(X.head(0)),
        "the table has no rows; give at least one",
    ),
    # a person
    (
        "a plan before `fit`",
        lambda: reap.Recourse(trained(), space()).recommend(X),
        "this Recourse is not fitted; call fit(X) with rows of other people first",
    ),
    (
        "the whole table as one person",
        lambda: fitted().elicit(X),
        "one subject is needed, but the table has 300 rows; pick one, for example X.iloc[0]",
    ),
    (
        "`X.loc[7]` where the index repeats",
        lambda: fitted().elicit(X.set_axis([7] * 300).loc[7]),
        "one subject is needed, but the table has 300 rows; pick one, for example X.iloc[0]",
    ),
    (
        "a person as an array",
        lambda: fitted().elicit(X.to_numpy()[0]),
        "give the subject as a pandas Series or a one-row DataFrame; arrays need a space made with groups=",
    ),
    (
        "a person with a further column",
        lambda: plan(refused({"id": 7})),
        "the table has a column 'id' that the action space does not know; drop it or declare it",
    ),
    (
        "a person without a column",
        lambda: plan(refused().drop("home")),
        "the table lacks the column 'home'; needed are: income, debts, home",
    ),
    (
        "a category that the space does not have",
        lambda: plan(refused({"home": "boat"})),
        "there is no level of 'home' 'boat'. There are: other, own, rent",
    ),
    (
        "a person with an empty cell",
        lambda: plan(refused({"income": np.nan})),
        "'income' is missing in row …; fill it in, or declare the feature with missing=True",
    ),
    (
        "a person's number as text",
        lambda: plan(refused({"income": "1,000"})),
        "'income' is '1,000' in the table, a str; it must be a number",
    ),
    ("a person who is accepted already", accepted_person, WORKS),
    (
        "an effort matrix of another size",
        lambda: fitted().plans(refused(), np.eye(3)),
        "effort matrices must be finite and of shape (b, 5, 5); given was (1, 3, 3)",
    ),
    (
        "“yes” as an answer",
        lambda: (session := fitted().elicit(refused()), session.ask(), session.answer("yes")),
        'the answer \'yes\' is not one of A, B, 0 to 1, "same", "neither", "skip"',
    ),
    (
        "an answer before a question",
        lambda: fitted().elicit(refused()).answer("left"),
        "there is no question to answer; call ask() first",
    ),
    (
        "a model that was fitted again after the engine",
        fit_again,
        "the model was fitted again after the engine; call engine.fit(X) again, so that both are of the same model",
    ),
    # many people, threads, files
    (
        "nobody to recommend to",
        lambda: fitted().recommend(X.head(0)),
        "give the subjects as a DataFrame with at least one row",
    ),
    (
        "an index that repeats",
        lambda: list(fitted().recommend(X.head(3).set_axis([7] * 3)).index) == [7] * 3,
        WORKS,
    ),
    ("a batch in which one row cannot be read", unreadable_row, WORKS),
    (
        "a batch with further columns",
        lambda: list(reap.batch.run(fitted(), X.head(3).assign(id=[5, 6, 7]), n_jobs=1)["id"]) == [5, 6, 7],
        WORKS,
    ),
    ("one engine in several threads", at_once, WORKS),
    ("an engine in a pickle", lambda: pickle.loads(pickle.dumps(engine(trained()))), WORKS),
    (
        "a pickle of an engine whose model is a lambda",
        lambda: pickle.dumps(engine(lambda rows: rows["income"] / 6000, N)),
        "Can't …<lambda>…",
    ),
]


def means(shown: str, said: str) -> bool:
    """Whether a sentence is the one that is shown, in which … stands for anything."""
    return bool(re.fullmatch(".*".join(map(re.escape, shown.split("…"))), said))


def holds(made):
    """Whether what was made works: an engine gives plans that its model accepts; anything else says so itself."""
    if not isinstance(made, reap.Recourse):
        return made is True
    table = X[[feature.name for feature in made.space.features if feature.name in X]]
    if "member" in made.space.names:
        table = table.assign(member=X.income % 3 == 0)
    table = table.astype({f.name: f.dtype for f in made.space.features if f.dtype == "category"})
    plans = made.recommend(table[~made.classifier_.accepts(made.space.encode(table))].head(5))
    accepted = made.classifier_.accepts(made.space.encode(plans[list(table)]))
    return len(plans) == 5 and plans.recourse_valid.all() and accepted.all()


@pytest.mark.parametrize(("typed", "shown"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_it_works_or_one_sentence_says_why(typed, shown):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if shown == WORKS:
            assert holds(typed())
        elif shown.startswith("Warning: "):
            typed()
        else:
            with pytest.raises((reap.InputError, pickle.PicklingError, AttributeError)) as error:
                typed()
            said = str(error.value)
            assert means(shown, said), said
            assert isinstance(error.value, reap.InputError) or "<lambda>" in said  # pickle's own sentence
    said = [str(one.message) for one in caught]
    if shown.startswith("Warning: "):
        assert len(said) == 1, said
        assert means(shown.removeprefix("Warning: "), said[0]), said[0]
        assert caught[0].filename == __file__  # the line that called fit
    elif shown == WORKS:
        assert not said


def test_the_page_shows_the_same_in_the_same_order():
    rows = re.findall(
        r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    rows = [row for row in rows if row[0] not in ("you have", "---")]
    assert [row[0] for row in rows] == [name for name, _, _ in CASES]
    assert [row[1].replace("`", "") for row in rows] == [shown.replace("`", "") for _, _, shown in CASES]
    assert all(row[2].strip() for row in rows)


def test_no_alarm_where_a_column_of_failures_was_turned_around():
    good = 1 - failed()
    assert good.name == "default"
    with warnings.catch_warnings():
        warnings.simplefilter("error", reap.InputWarning)
        engine(tree(X[["debts"]], good), X[["debts"]], good)


@pytest.mark.parametrize("name", reap.datasets.names())
@pytest.mark.parametrize("labels", [True, False], ids=["with y", "without y"])
def test_no_alarm_on_tables_that_are_in_order(load, name, labels):
    data = load(name)
    some = data.X.sample(min(len(data.X), 3000), random_state=0).index
    table, y = data.X.loc[some], data.y.loc[some]
    words = list(table.select_dtypes(exclude="number"))
    columns = make_column_transformer((OrdinalEncoder(), words), remainder="passthrough")
    booster = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=30, random_state=0)).fit(
        table, y
    )
    logistic = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(table, y)
    for model in (booster, logistic):
        with warnings.catch_warnings():
            warnings.simplefilter("error", reap.InputWarning)
            assert reap.Recourse(model, data.space).fit(table, y if labels else None)
