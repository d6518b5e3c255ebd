"""Engines as MLflow models: a frame of refused people in, a plan for each of them out. ``reap.mlflow.log_model(engine)``.

What is logged is a fitted engine with its action space. It is loaded as any MLflow model is, ``mlflow.pyfunc.load_model``, and
served, registered and applied to batches in the same way; ``reap.mlflow.load_model`` gives the engine itself, which also holds
sessions. An engine is stored by pickle, so load only models whose origin you trust.
"""

from __future__ import annotations

import pickle
import tempfile
from importlib.metadata import version as release
from pathlib import Path
from typing import Any

import cloudpickle
import mlflow
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema
from mlflow.types.schema import AnyType

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame
from reap.recourse import Engine

#: The file of the engine in the folder of a model, and who loads it.
_FILE, _LOADER = "engine.pickle", "reap.doors.mlflow"
#: Whose releases a pickled engine depends on, beside those of its model, and what may be said when it predicts.
_PINNED = ("cloudpickle", "numpy", "pandas", "scikit-learn")
_PARAMETERS = ParamSchema([ParamSpec("within_months", "long", -1)])


def log_model(engine: Engine, name: str = "recourse", **settings: Any) -> Any:
    """Log a fitted engine to the active run, or to a new one.

    Parameters
    ----------
    engine : Engine
        Fitted.
    name : str
        Of the model in the run.
    **settings
        What else ``mlflow.pyfunc.log_model`` takes: ``registered_model_name``, ``input_example``, ``tags`` … By default the
        model asks for the releases at hand of ReAP, scikit-learn, pandas and numpy; a model of another library needs it
        named in ``pip_requirements``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        Its ``model_uri`` is what ``load_model`` takes.
    """
    with tempfile.TemporaryDirectory() as folder:
        return mlflow.pyfunc.log_model(name=name, **{**_model(engine, Path(folder)), **settings})


def save_model(engine: Engine, path: str | Path, **settings: Any) -> None:
    """Write a fitted engine as an MLflow model into a new folder, without a run."""
    with tempfile.TemporaryDirectory() as folder:
        mlflow.pyfunc.save_model(path=str(path), **{**_model(engine, Path(folder)), **settings})


def load_model(uri: str | Path) -> Engine:
    """Return the engine that was logged or saved: by it plans are made and sessions held."""
    folder = Path(mlflow.artifacts.download_artifacts(str(uri)))
    found = sorted(folder.rglob(_FILE))
    if not found:
        raise InputError(f"{uri} holds no engine of ReAP; name a model that reap.mlflow.log_model wrote")
    return _read(found[0])


def signature(engine: Engine) -> ModelSignature:
    """Return what the model takes, the columns of the space, and what it gives back for each row."""
    # values of any type: the space itself checks them, and says what is wrong in words; MLflow takes no 12 for a 12.0
    columns = [ColSpec(AnyType(), feature.name) for feature in engine.space.features]
    told = {"valid": "boolean", "effort": "double", "status": "string", "changes": "long", "months": "long"}
    given = [ColSpec(kind, f"recourse_{what}") for what, kind in told.items()]
    return ModelSignature(Schema(columns), Schema([*columns, *given]), _PARAMETERS)


class Recommending:
    """What MLflow calls: ``predict`` takes refused people and returns what ``engine.recommend`` returns.

    Parameters
    ----------
    engine : Engine
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def predict(self, rows: Frame, params: dict[str, Any] | None = None) -> Frame:
        """Return a plan for every row: the target's columns, then validity, effort, status, changes and months.

        ``params={"within_months": 12}`` asks for plans that are done by then.
        """
        months = (params or {}).get("within_months", -1)
        limits = None if months is None or months < 0 else self.engine.space.limits(within_months=int(months))
        return self.engine.recommend(rows, limits=limits)

    def get_raw_model(self) -> Engine:
        """Return the engine."""
        return self.engine


def _load_pyfunc(path: str) -> Recommending:
    """Load what ``log_model`` wrote; MLflow calls it by this name."""
    file = Path(path)
    return Recommending(_read(file / _FILE if file.is_dir() else file))


def _read(file: Path) -> Engine:
    with file.open("rb") as opened:
        engine = pickle.load(opened)
    if not isinstance(engine, Engine):
        raise InputError(f"{file} holds a {type(engine).__name__}, not an engine of ReAP")
    return engine


def _model(engine: Engine, folder: Path) -> dict[str, Any]:
    """Return what MLflow is told of an engine, which is written into a folder."""
    if not isinstance(engine, Engine):
        raise InputError(
            f"give a fitted engine, such as reap.Recourse(model, space).fit(X), not {type(engine).__name__}"
        )
    engine.fingerprint()  # an engine that is not fitted says so
    try:
        text = cloudpickle.dumps(engine)
    except Exception as error:
        raise InputError(f"the engine cannot be stored, because of its model: {error}") from None
    (folder / _FILE).write_bytes(text)
    return {
        "loader_module": _LOADER,
        "data_path": str(folder / _FILE),
        "pip_requirements": [
            f"reap-recourse=={__version__}",
            *(f"{name}=={release(name)}" for name in _PINNED),
        ],
        "signature": signature(engine),
    }
