"""A table of one's own is a data set like any other."""

from __future__ import annotations

import pandas as pd
import pytest

import reap
from reap.datasets import from_csv


@pytest.fixture
def loans(tmp_path):
    table = pd.DataFrame(
        {
            "id": range(6),
            "income": [100, 50, 80, 30, 70, 20],
            "home": ["own", "rent", "own", "rent", "own", "rent"],
            "paid": ["yes", "no", "yes", "no", "yes", "no"],
        }
    )
    path = tmp_path / "loans.csv"
    table.to_csv(path, index=False)
    return path, table


def test_the_space_is_inferred_or_given(loans, tmp_path):
    path, table = loans
    data = from_csv(path, label="paid", favourable="yes")
    assert data.name == "loans"
    assert list(data.X) == ["income", "home"]  # the draft leaves out what names a row
    assert data.space.feature("income").direction == "up"
    assert data.y.tolist() == [1, 0, 1, 0, 1, 0]
    space = reap.ActionSpace.from_frame(table[["home", "income"]], immutable=["home"])
    space.save(tmp_path / "loans.toml")
    for given in (space, tmp_path / "loans.toml", str(tmp_path / "loans.toml")):
        data = from_csv(path, label="paid", favourable="yes", space=given)
        assert list(data.X) == ["home", "income"]
        assert data.space == space
        pd.testing.assert_frame_equal(data.X, table[["home", "income"]])


@pytest.mark.parametrize(
    ("change", "settings", "said"),
    [
        ({}, {"label": "payed"}, "did you mean 'paid'"),
        ({}, {"label": "paid"}, "no row has 1 in 'paid'"),
        ({"paid": "yes"}, {"label": "paid", "favourable": "yes"}, "both decisions are needed"),
        (
            {"paid": ["yes", "no", None, "no", "yes", "no"]},
            {"label": "paid", "favourable": "yes"},
            "is missing",
        ),
    ],
)
def test_bad_labels(loans, change, settings, said):
    path, table = loans
    table.assign(**change).to_csv(path, index=False)
    with pytest.raises(reap.InputError, match=said):
        from_csv(path, **settings)


def test_bad_files(loans, tmp_path):
    path, table = loans
    with pytest.raises(reap.InputError, match="there is no file"):
        from_csv(tmp_path / "nowhere.csv", label="paid")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(reap.InputError, match="cannot be read"):
        from_csv(tmp_path / "empty.csv", label="paid")
    (tmp_path / "semicolons.csv").write_text("income;paid\n10,5;1\n")
    with pytest.raises(reap.InputError, match="separated by semicolons; save it with commas"):
        from_csv(tmp_path / "semicolons.csv", label="paid")
    wide = reap.ActionSpace.from_frame(table.drop(columns="paid").assign(debt=range(6)))
    with pytest.raises(reap.InputError, match="lacks the column 'debt'"):
        from_csv(path, label="paid", favourable="yes", space=wide)
