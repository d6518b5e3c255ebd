"""Every data set loads, keeps its promises, and its action space fits its rows."""

from __future__ import annotations

import hashlib

import numpy as np
import pandas as pd
import pytest

import reap
from reap.datasets import available, german, load, names, synthetic
from reap.datasets.catalogue import find
from reap.datasets.loading import curated


def test_size_and_label_are_what_the_catalogue_says(name):
    data, entry = load(name), find(name)
    assert data.X.shape == (entry.rows, entry.features)
    assert set(data.y.unique()) == {0, 1}
    assert data.y.dtype == "int64"
    assert data.X.index.equals(data.y.index)
    assert (data.source, data.licence, data.description) == (entry.source, entry.licence, entry.description)


@pytest.mark.parametrize("paper", [False, True])
def test_rows_survive_the_round_trip(name, paper):
    data = load(name, paper=paper)
    again = data.space.decode(data.space.encode(data.X), index=data.X.index)
    pd.testing.assert_frame_equal(again, data.X, check_exact=True)


@pytest.mark.parametrize("paper", [False, True])
def test_ranges_are_those_of_the_whole_table(name, paper):
    data = load(name, paper=paper)
    for feature in data.space.features:
        column = data.X[feature.name]
        if not feature.is_number:
            assert set(column.unique()) == set(feature.levels), feature.name
        elif name == "synthetic" and not paper:
            assert feature.range[0] <= column.min() <= column.max() <= feature.range[1]
        else:
            assert feature.range == (column.min(), column.max()), feature.name


def test_staying_as_one_is_is_always_legal(name):
    data = load(name)
    rows = data.X.iloc[:: max(1, len(data.X) // 500)]
    assert data.space.allows(rows, rows).all()
    z = data.space.vector(rows.iloc[0])
    np.testing.assert_allclose(data.space.project(z, z)[0], z)


def test_the_papers_setting_forbids_nothing_and_has_categories_one_hot(name):
    data, entry = load(name, paper=True), find(name)
    assert list(data.X) == list(entry.paper or data.X)
    assert {feature.kind for feature in data.space.features} <= {"numeric", "categorical"}
    assert all(f.actionable and f.direction == "any" and not f.forbidden for f in data.space.features)
    assert all(f.step is None for f in data.space.features if f.is_number)
    rng = np.random.default_rng(0)
    before, after = (data.X.iloc[rng.integers(len(data.X), size=200)] for _ in range(2))
    assert data.space.allows(before, after).all()


#: what nobody can act on, and what only rises, wherever it occurs
FIXED = {
    "sex", "race", "native-country", "relationship", "two_year_recid", "personal_status", "fnlwgt", "foreign_worker"
}  # fmt: skip
RISING = {"age", "education-num"}


@pytest.mark.parametrize("name", names())
def test_curated_spaces_respect_people(name):
    space = curated(name)
    for feature in space.features:
        assert feature.label != feature.name, f"{feature.name} has no words for people"
        if feature.name in FIXED:
            assert not feature.actionable
        if feature.name in RISING:
            assert feature.direction == "up"
        if feature.direction == "up":
            assert "down" not in feature.phrases
        if feature.direction == "down":
            assert "up" not in feature.phrases
    assert any(feature.actionable for feature in space.features)


@pytest.mark.parametrize("name", names())
def test_every_phrase_reads_as_a_sentence(name):
    for feature in curated(name).features:
        for phrase in feature.phrases.values():
            said = phrase.format(before="b", after="a", unit="u", by="c")
            assert said[0].isupper()
            assert "{" not in said


def test_advice_on_german_credit_reads_well():
    data = load("german")
    x = data.X.iloc[1]
    better = x.copy()
    better["amount"], better["duration"], better["age"], better["other_plans"] = 3200, 24, 23, "none"
    said = [str(change) for change in data.space.changes(data.space.vector(x), data.space.vector(better))]
    assert said == [
        "Repay within 24 months instead of 48",
        "Reduce the loan from 5,951 to 3,200 DM",
        "Wait until you are 23 years old",
    ]
    assert data.space.allows(x, better).all()
    worse = x.copy()
    worse["status"] = "no account"
    assert not data.space.allows(x, worse).any()


def test_german_ships_the_exact_file():
    assert hashlib.sha256(german.raw()).hexdigest() == german.SHA256
    data = load("german", all_columns=True)
    assert data.X.shape == (1000, 20)
    assert data.y.sum() == 700
    assert not data.X.isna().any().any()
    assert data.space.names == curated("german").names


def test_german_equals_the_papers_files():
    entry = find("bank")
    if entry.folder is None or not (entry.folder / "german_small.csv").is_file():
        pytest.skip("german.csv and german_small.csv are not in REAP_DATA")
    small = pd.read_csv(entry.folder / "german_small.csv")
    data = load("german", paper=True)
    assert (data.y == small["label"]).all()
    for ours, theirs in {"duration": "Duration", "amount": "Credit amount", "age": "Age"}.items():
        assert (data.X[ours] == small[theirs]).all()
    codes = small["Personal status"].map(german._CODES)
    assert (data.X["personal_status"] == codes).all()
    status = pd.read_csv(entry.folder / "german.csv")["Status"].map(german._CODES)
    assert (data.X["status"] == status).all()


def test_synthetic_follows_the_papers_rule_and_repeats():
    table = synthetic.table()
    pd.testing.assert_frame_equal(table, synthetic.table())
    assert len(table) == 1000
    for x1, x2, label in table.head(50).itertuples(index=False):
        assert -2 <= x1 <= 4
        assert -2 <= x2 <= 7
        assert label == (x2 >= np.polyval([-1, 1, 2, 1, 1], x1))


def test_names_are_spelt_with_help():
    with pytest.raises(reap.InputError, match="did you mean 'german'"):
        load("germn")
    with pytest.raises(reap.InputError, match="leave out all_columns"):
        load("german", paper=True, all_columns=True)


def test_a_missing_table_says_which_file_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("REAP_DATA", str(tmp_path))
    with pytest.raises(reap.InputError, match=r"put heloc\.csv into a folder .* REAP_DATA"):
        load("heloc")
    places = {entry.name: (entry.present, entry.where) for entry in available()}
    assert places["german"] == (True, "inside the package")
    assert places["gmc"] == (False, "put gmc.csv into the folder REAP_DATA")
    assert places["bank"][1].startswith("from OpenML")
    (tmp_path / "gmc.csv").write_text("")
    assert find("gmc").present
    with pytest.raises(reap.InputError, match=r"gmc\.csv cannot be read"):
        load("gmc")
    monkeypatch.delenv("REAP_DATA")
    assert not find("gmc").present
