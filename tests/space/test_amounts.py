"""Numbers that a table holds as text."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reap
from reap.space import draft
from reap.space.table import plain_numbers as plain
from reap.space.table import read_amounts as read


@pytest.mark.parametrize(
    ("texts", "values", "unit"),
    [
        (["$1,000", "$250"], [1000, 250], "$"),
        (["$1,000.50", "-$2", "($3.00)"], [1000.5, -2, -3], "$"),
        (["1.000 €", "25.000 €"], [1000, 25000], "€"),
        (["1.000,50 €", "999 €"], [1000.5, 999], "€"),
        (["999,5 €", "1.000 €"], [999.5, 1000], "€"),
        (["EUR 1 000", "500 eur"], [1000, 500], "€"),
        (["12 %", "4.125 %"], [12, 4.125], "%"),
        (["12,5%", "4 %"], [12.5, 4], "%"),
        (["24 months", "6 months"], [24, 6], "months"),
        (["1,234,567", "12"], [1234567, 12], ""),
        (["1'200 CHF", "80 CHF"], [1200, 80], "CHF"),
        ([" 7 ", "8"], [7, 8], ""),
        (["£.5", "£1."], [0.5, 1], "£"),
        (["−5", "+3"], [-5, 3], ""),
    ],
)
def test_how_people_write_amounts(texts, values, unit):
    made = read(pd.Series(texts))
    assert made.values.tolist() == values
    assert made.unit == unit


NOTHING = [
    ["red", "blue"], ["$5", "5 €"], ["1,00,0", "5"], ["1.000,5 €", "1,000.5 €"], ["10th", "9th"], ["id7", "id8"],
    ["2024-01-03", "2024-02-03"], ["03.11.1980", "04.11.1980"], ["01234", "04321"], ["5 m", "6 m"], [7, "8"],
    [None, None], ["(5", "6"],
]  # fmt: skip


@pytest.mark.parametrize("texts", NOTHING)
def test_what_is_no_amount_stays_as_it_is(texts):
    assert read(pd.Series(texts, dtype=object)) is None


def test_a_few_texts_among_amounts_are_missing_and_that_is_said():
    made = read(pd.Series(["$1,000"] * 19 + ["ask Jim"]))
    assert made.values.isna().sum() == 1
    assert made.said.endswith("1 of the texts are no number and count as missing")
    assert read(pd.Series(["$1,000"] * 8 + ["ask Jim"] * 2)) is None


@given(
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=30),
    st.sampled_from(["${:,}", "{:,} €", "{:,}"]),
)
def test_what_was_written_is_read(numbers, form):
    texts = pd.Series([form.format(number) for number in numbers])
    assert read(texts).values.tolist() == numbers


def loans(path):
    """A table with amounts as a spreadsheet shows them."""
    rows = [(f"${1000 + 150 * i:,}", f"{i % 40} %", f"{(i * 37) % 9 + 1}.000 €") for i in range(80)]
    X = pd.DataFrame(rows, columns=["income", "utilisation", "loan"])
    X["decision"] = ["approved" if i > 40 else "denied" for i in range(80)]
    X.to_csv(path, index=False)
    return X


def test_a_batch_reads_them_too(tmp_path):
    table = plain(loans(tmp_path / "loans.csv").drop(columns="decision"))
    space = draft(table).space

    def model(rows):
        return (rows["income"] > 7000).astype(float)

    engine = reap.Recourse(model, space).fit(table)
    plans = reap.batch.run(engine, tmp_path / "loans.csv", n_jobs=1)
    assert not plans["recourse_status"].eq("invalid_row").any()
    assert plans.loc[plans["recourse_status"].eq("ok"), "income"].gt(7000).all()
