"""What many tests share: the embedded data, a trained model, fitted engines, and real data where it is at hand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

import reap

# On a build machine the same examples every time; elsewhere new ones are tried with every run.
settings.register_profile("ci", derandomize=True)


def pytest_configure(config):
    if os.environ.get("CI"):
        settings.load_profile("ci")
    # Commands retrain the model so that plans hold; tests of that say so themselves, the others have no time for it.
    os.environ.setdefault("REAP_DURABILITY", "0")
    # Real data sets lie beside the project in some places; a user may point elsewhere.
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    if "REAP_DATA" not in os.environ and beside.is_dir():
        os.environ["REAP_DATA"] = str(beside)


@pytest.fixture(scope="session")
def load():
    """Load a data set by name, or skip with the reason where its files are absent."""

    def loader(name, **options):
        try:
            return reap.datasets.load(name, **options)
        except reap.InputError as error:
            pytest.skip(f"{name} is not at hand: {error}")

    return loader


@pytest.fixture(scope="session")
def german():
    return reap.datasets.load("german")


@pytest.fixture(scope="session")
def german_model(german):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(german.space.encoder(), LogisticRegression(max_iter=1000)).fit(german.X, german.y)


@pytest.fixture(scope="session")
def german_rejected(german, german_model):
    return german.X[german_model.predict(german.X) == 0]


@pytest.fixture(scope="session")
def german_engine(german, german_model):
    """The engine for people."""
    return reap.Recourse(german_model, german.space).fit(german.X)


@pytest.fixture(scope="session")
def german_graph(german, german_model):
    """The paper's engine, whose plans are paths."""
    return reap.GraphRecourse(german_model, german.space).fit(german.X)
