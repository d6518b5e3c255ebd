"""What people hand in by mistake: each ends in one clear sentence that says what was given and what is allowed.

Those that only a space can refuse are in ``tests/space/test_bad_input.py``, those of the first ten minutes in
``tests/test_mistakes.py``; here is the way of a lender's engineer, from a table to a plan. Impossible people
(``docs/space.md``) come first.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import reap
from reap.space import draft

X = pd.DataFrame({"age": [20, 30, 40, 50], "income": [1.0, 2.5, 3.0, 4.0]})


class Given:
    """What a case may use: a fitted engine on German credit and a rejected person."""

    def __init__(self, engine, rejected):
        self.engine, self.space, self.x = engine, engine.space, rejected.iloc[[0]]
        self.row = self.space.values(self.space.vector(self.x))
        self.I = np.eye(self.space.dimension)

    def plan(self, **changed):
        return self.engine.plans(self.row | changed, self.I)

    def limited(self, **limits):
        return self.engine.plans(self.x, self.I, self.space.limits(**limits))

    def made(self, model=None, table=X, **settings):
        return reap.Recourse(model or self.engine.model, reap.ActionSpace.from_frame(table), **settings).fit(
            table
        )


def inferred(table=X, **settings):
    return reap.ActionSpace.from_frame(table, **settings)


CASES = {
    # impossible people
    "an age below nothing": (
        lambda g: g.plan(age=-3),
        "'age' is -3; the action space allows 18 to 100 years",
    ),
    "150 years": (lambda g: g.plan(age=150), "'age' is 150; the action space allows 18 to 100 years"),
    "a loan of 10^12": (
        lambda g: g.plan(amount=10**12),
        "'amount' is 1,000,000,000,000; the action space allows",
    ),
    "minus five months": (
        lambda g: g.engine.elicit(g.row | {"duration": -5}),
        "'duration' is -5; the action space",
    ),
    "a list for a number": (
        lambda g: g.plan(amount=[5]),
        "'amount' is [5] in the table, a list; it must be a number",
    ),
    # tables
    "a list of rows": (
        lambda g: g.engine.recommend([1, 2]),
        "give the subjects as a DataFrame with at least one row",
    ),
    "a polars frame with a slip": (
        lambda g: inferred().encode(pl.DataFrame({"age": [1], "incom": [2.0]})),
        "the table lacks the column 'income'; there is 'incom': rename it if it is that",
    ),
    "nothing to draft from": (
        lambda g: draft([1, 2]),
        "a table with at least one row and one column is needed",
    ),
    # what was meant by a name
    # time
    "half a month": (
        lambda g: g.limited(within_months=2.5),
        "within_months is 2.5; give a whole number of at least 0",
    ),
    "a day that is none": (
        lambda g: g.space.time.when(3, start="tomorrow"),
        "the start is 'tomorrow'; give a day, such as",
    ),
    # limits and effort
    "a negative matrix": (
        lambda g: g.engine.plans(g.x, -g.I),
        "an effort matrix is not positive semidefinite, so some",
    ),
    "a matrix in words": (
        lambda g: g.engine.plans(g.x, "easy"),
        "effort matrices are numbers of shape (b, 22, 22)",
    ),
    # models
    "a function that answers in words": (
        lambda g: g.made(lambda rows: ["yes"] * len(rows)),
        "the model's function returned 'yes'; it must return probabilities, numbers between 0 and 1",
    ),
    "a function that answers for others": (
        lambda g: g.made(lambda rows: np.zeros(2)),
        "the model's function returned shape (2,) for 4 rows; it must return one probability a row",
    ),
    # sessions
    "questions in words": (
        lambda g: g.engine.elicit(g.x, questions="five"),
        "questions is 'five'; give a whole number",
    ),
    "a wish about a clock": (
        lambda g: g.engine.elicit(g.x).constrain("age", at_most=3),
        "no plan advises to change 'age'",
    ),
}


@pytest.fixture(scope="module")
def given(german_engine, german_rejected):
    return Given(german_engine, german_rejected)


@pytest.mark.parametrize("name", CASES)
def test_one_clear_sentence(given, name):
    call, sentence = CASES[name]
    with pytest.raises(reap.InputError) as caught:
        call(given)
    said = str(caught.value)
    assert sentence in said
    assert "\n" not in said
    assert not said.endswith(".")  # one sentence, which whoever prints it may go on with


def test_frames_of_polars_are_taken_everywhere_a_frame_is(given):
    table, one = pl.from_pandas(X), pl.from_pandas(given.x)
    assert inferred(table) == inferred()
    np.testing.assert_array_equal(inferred().encode(table), inferred().encode(X))
    assert draft(table).space.names == draft(X).space.names
    wanted = given.engine.plans(given.x, given.I)[0]
    for made in (given.engine.plans(one, given.I)[0], given.engine.plans(one.row(0, named=True), given.I)[0]):
        np.testing.assert_array_equal(made.path, wanted.path)
    frame = given.engine.recommend(one)
    assert isinstance(frame, pl.DataFrame)  # it goes out as it came in
    assert frame["recourse_valid"].to_list() == [True]
    pd.testing.assert_frame_equal(
        frame.to_pandas(), given.engine.recommend(given.x).reset_index(drop=True), check_dtype=False
    )
    arrow = given.engine.recommend(one.to_arrow())
    assert isinstance(arrow, pa.Table)
    assert arrow["recourse_valid"].to_pylist() == [True]
    fitted = reap.Recourse(lambda rows: rows["income"] / 5, inferred()).fit(table)
    assert fitted.plans(table[0], np.eye(2))[0].valid
