"""What OpenML has becomes the table we would have read; without a network there is a sentence."""

from __future__ import annotations

import socket

import pandas as pd
import pytest

import reap
from reap.datasets import openml
from reap.datasets.loading import curated

ADULT = pd.DataFrame(
    {
        "age": [39, 50, 17],
        "workclass": ["State-gov", "Private", None],
        "fnlwgt": [77516, 83311, 20000],
        "education": ["Bachelors", "Masters", "9th"],
        "education-num": [13, 14, 5],
        "marital-status": ["Never-married", "Married-civ-spouse", "Divorced"],
        "occupation": ["Adm-clerical", "Craft-repair", None],
        "relationship": ["Not-in-family", "Husband", "Own-child"],
        "race": ["White", "Black", "White"],
        "sex": ["Male", "Male", "Female"],
        "capital-gain": [2174, 0, 0],
        "capital-loss": [0, 0, 0],
        "hours-per-week": [40, 13, 20],
        "native-country": ["United-States", "Mexico", "United-States"],
        "class": ["<=50K", ">50K", "<=50K"],
    }
)
ADULT = ADULT.astype({c: "category" for c in ADULT if ADULT[c].dtype.kind not in "i"})

BANK = pd.DataFrame(
    [
        [30, "unemployed", "married", "primary", "no", 1787, "no", "no", "cellular", 19, "oct", 79, 1, -1, 0, "unknown", "1"],
        [33, "services", "married", "secondary", "no", 4789, "yes", "yes", "cellular", 11, "may", 220, 1, 339, 4, "failure", "2"],
    ],
    columns=[*(f"V{i}" for i in range(1, 17)), "Class"],
)  # fmt: skip


@pytest.mark.parametrize(("name", "frame"), [("adult", ADULT), ("bank", BANK)])
def test_converted_tables_fit_the_curated_space(name, frame):
    made = openml.convert(name, frame)
    space = curated(name)
    assert set(made.columns) == {*space.names, "label"}
    assert space.encode(made.drop(columns="label")).shape == (len(frame), space.dimension)
    assert made["label"].sum() == 1


def test_categories_are_simplified_as_in_the_file():
    first = openml.convert("adult", ADULT).iloc[0]
    said = ["workclass", "marital-status", "occupation", "relationship", "race", "native-country"]
    expected = ["Non-Private", "Non-Married", "Managerial-Specialist", "Non-Husband", "White", "US"]
    assert first[said].tolist() == expected


@pytest.mark.filterwarnings("ignore:A network error occurred")
def test_offline_is_one_clear_sentence(tmp_path, monkeypatch):
    def nowhere(*_):
        raise socket.gaierror("no network")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    monkeypatch.setenv("REAP_DATA", str(tmp_path))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    for variable in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(reap.InputError, match=r"OpenML cannot be reached .* put adult\.csv into the folder"):
        reap.datasets.load("adult")
