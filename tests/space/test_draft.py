"""A first space for a table nobody has looked at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from reap._errors import InputError
from reap.space import ActionSpace, draft
from reap.space.table import plain_numbers as plain
from tests.space.generators import random_space, seeds


def messy(n=120, seed=0):
    """A table as it comes out of a lender's system."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "customer_id": [f"C{i}" for i in range(n)],
            "Unnamed: 0": range(n),
            "row": np.arange(1, n + 1),
            "applied_on": pd.date_range("2024-01-03", periods=n).strftime("%Y-%m-%d"),
            "born": ["03.11.1980"] * n,
            "opened": pd.date_range("2001-01-01", periods=n),
            "age": rng.integers(18, 75, n),
            "sex": rng.choice(["f", "m"], n),
            "annual_income_eur": rng.lognormal(10, 0.5, n).round(-2),
            "cardDebt": rng.gamma(2, 3000, n).round(2),
            "term_months": rng.choice([12, 24, 36, 48], n),
            "education": rng.choice(["High School", "primary", "Master's", "bachelor"], n),
            "size": rng.choice(["small", "large", "medium"], n),
            "risk": rng.choice(["none", "low", "high"], n),
            "owns_home": rng.choice([True, False], n),
            "insured": rng.choice(["yes", "no", None], n),
            "accounts": np.where(rng.random(n) < 0.2, np.nan, rng.poisson(3, n)),
            "utilisation_pct": rng.uniform(0, 100, n).round(1),
            "fee": [f"$1,{i:03d}" for i in range(n)],
            "rate": ["4.5 %", "5 %"] * (n // 2),
            "months_since_default": rng.integers(0, 60, n),
            "branch_code": rng.integers(1, 9, n),
            "notes": [f"called at {i} o'clock" for i in range(n)],
            "tags": [["a"]] * n,
            "empty": np.nan,
            "constant": 7,
            "decision": rng.choice(["approved", "denied"], n),
        }
    )
    X[2024] = rng.normal(size=n)
    return X


def test_a_messy_table():
    made = draft(messy(), label="decision", drop=["size"], fixed=["owns_home"])
    assert {name: why.split(":")[0] for name, why in made.left_out.items()} == {
        "customer_id": "it names a row",
        "Unnamed: 0": "it names a row",
        "row": "it numbers the rows",
        "applied_on": "it holds dates",
        "born": "it is the same in every row",
        "opened": "it holds dates",
        "notes": "it has 120 different texts in 120 rows, like a name",
        "tags": "it holds a list in a cell",
        "empty": "it is empty",
        "constant": "it is the same in every row",
    }
    space = made.space
    by_name = {f.name: f for f in space.features}
    assert set(by_name) == {
        "age", "sex", "annual_income_eur", "cardDebt", "term_months", "education", "risk", "owns_home", "insured",
        "accounts", "utilisation_pct", "months_since_default", "branch_code", "2024", "fee", "rate",
    }  # fmt: skip
    income = by_name["annual_income_eur"]
    assert (income.label, income.unit, income.kind, income.step) == ("Annual income", "€", "integer", 100)
    assert income.direction == "up"
    assert income.span is not None
    assert (by_name["cardDebt"].label, by_name["cardDebt"].direction) == ("Card debt", "down")
    assert (by_name["term_months"].step, by_name["term_months"].unit) == (12, "months")
    assert by_name["education"].levels == ("primary", "High School", "bachelor", "Master's")
    assert by_name["risk"].levels == ("none", "low", "high")
    assert (by_name["insured"].levels, by_name["insured"].missing) == (("no", "yes"), True)
    assert (by_name["accounts"].kind, by_name["accounts"].missing) == ("integer", True)
    assert by_name["utilisation_pct"].unit == "%"
    assert (by_name["age"].clock, by_name["months_since_default"].clock) == ("years", "months")
    assert not by_name["sex"].actionable
    assert not by_name["owns_home"].actionable
    assert by_name["branch_code"].kind == "categorical"
    text = made.to_toml()
    assert ActionSpace.from_toml(text) == space
    assert "# check: written as text: '$1,000' is read as 1,000" in text
    assert "# check: written as text: '4.5 %' is read as 4.5" in text
    assert (space.feature("fee").unit, space.feature("fee").kind) == ("$", "integer")
    assert (space.feature("rate").unit, space.feature("rate").range) == ("%", (4.5, 5.0))
    guesses = sum(len(said) for said in made.checks.values())
    assert text.count("\n# check: ") == guesses > 20
    space.encode(plain(messy())[[f.name for f in space.features if f.name != "2024"]].assign(**{"2024": 0.5}))


def test_every_feature_left_open_is_marked():
    made = draft(messy(), label="decision")
    for feature in made.space.features:
        if feature.is_action:
            assert any("how long does it take?" in said for said in made.checks[feature.name]), feature.name
            asked = [said for said in made.checks[feature.name] if "may " in said]
            assert asked, feature.name


def test_nothing_left_and_wrong_names():
    with pytest.raises(InputError, match=r"no column of the table can be a feature .*'id': it names a row"):
        draft(pd.DataFrame({"id": [1, 2], "nothing": [None, None]}))
    with pytest.raises(InputError, match="did you mean 'decision'"):
        draft(messy(), label="decison")


@settings(max_examples=40, deadline=None)
@given(seeds())
def test_any_table_of_a_space_can_be_drafted(rng):
    _, X = random_space(rng, rows=40)
    X = X.assign(one=np.arange(len(X)) % 7)  # at least one column varies
    made = draft(X)
    rows = X[[f.name for f in made.space.features]]
    assert made.space.encode(rows).shape == (40, made.space.dimension)
    assert len(made.space.features) + len(made.left_out) == X.shape[1]
