"""An engine as an MLflow model, in a real tracking folder."""

from __future__ import annotations

import pandas as pd
import pytest

import reap

mlflow = pytest.importorskip("mlflow")
pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]  # MLflow's own warnings


@pytest.fixture
def tracking(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/tracking.db")
    mlflow.set_experiment("recourse")
    yield tmp_path
    mlflow.set_tracking_uri(None)


@pytest.fixture
def rows(german, refused):
    return german.X.loc[[refused]]


def test_a_logged_engine_gives_the_plans_that_it_gave_before(tracking, german_engine, rows):
    with mlflow.start_run():
        logged = reap.mlflow.log_model(german_engine, "loans")
    loaded = mlflow.pyfunc.load_model(logged.model_uri)
    ours = german_engine.recommend(rows)
    theirs = loaded.predict(rows)
    pd.testing.assert_frame_equal(theirs, ours)
    assert bool(theirs["recourse_valid"].iloc[0])


def test_the_engine_itself_comes_back_and_holds_sessions(tmp_path, german_engine, rows):
    reap.mlflow.save_model(german_engine, tmp_path / "model")
    engine = reap.mlflow.load_model(tmp_path / "model")
    assert engine.fingerprint() == german_engine.fingerprint()
    assert str(engine.elicit(rows).ask()) == str(german_engine.elicit(rows).ask())


def test_months_are_said_as_a_parameter(tmp_path, german_engine, rows):
    reap.mlflow.save_model(german_engine, tmp_path / "model")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    within = loaded.predict(rows, params={"within_months": 0})
    limits = german_engine.space.limits(within_months=0)
    pd.testing.assert_frame_equal(within, german_engine.recommend(rows, limits=limits))
    assert (within["recourse_months"] == 0).all()


def test_the_signature_refuses_a_frame_without_a_column(tmp_path, german_engine, rows):
    reap.mlflow.save_model(german_engine, tmp_path / "model")
    loaded = mlflow.pyfunc.load_model(str(tmp_path / "model"))
    with pytest.raises(mlflow.exceptions.MlflowException, match="amount"):
        loaded.predict(rows.drop(columns="amount"))


def test_what_is_no_fitted_engine_is_refused(tmp_path, german_engine):
    with pytest.raises(reap.InputError, match="give a fitted engine"):
        reap.mlflow.save_model(german_engine.model, tmp_path / "model")
    (tmp_path / "empty").mkdir()
    with pytest.raises(reap.InputError, match="holds no engine"):
        reap.mlflow.load_model(tmp_path / "empty")


def test_the_releases_that_a_pickle_needs_are_asked_for_and_can_be_said_otherwise(tmp_path, german_engine):
    import sklearn

    reap.mlflow.save_model(german_engine, tmp_path / "model")
    asked = (tmp_path / "model" / "requirements.txt").read_text().split()
    assert {f"reap-recourse=={reap.__version__}", f"scikit-learn=={sklearn.__version__}"} <= set(asked)
    reap.mlflow.save_model(german_engine, tmp_path / "other", pip_requirements=["reap-recourse", "lightgbm"])
    assert "lightgbm" in (tmp_path / "other" / "requirements.txt").read_text()
