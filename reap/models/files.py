"""Models as files: skops, which loads data and never runs code; pickle only where it is asked for by name."""

from __future__ import annotations

import pickle
import warnings
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reap._errors import InputError

#: Classes of ours, and helpers inside scikit-learn's own classifiers, that skops cannot know to be harmless. Trees
#: are left out on purpose: a forged one can make scikit-learn read beyond its arrays, so forests are named each time.
TRUSTED = (
    "reap.models.declared.OnVectors",
    "reap.space.space.ActionSpace",
    "reap.space.encoding.SpaceEncoder",
    "reap.space.feature.Feature",
    "reap.space.limits.Limits",
    "reap.space.words.Meaning",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    "sklearn.utils._bunch.Bunch",
)


def save_model(model: Any, path: str | Path) -> None:
    """Write a trained model to a skops file.

    Parameters
    ----------
    model : fitted scikit-learn classifier or Pipeline
    path : str or Path

    Examples
    --------
    >>> import pathlib, tempfile, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.skops"
    ...     save_model(model, path)
    ...     load_model(path).predict(X)
    array([0, 0, 1, 1])
    """
    _skops().dump(model, path)


def load_model(path: str | Path, *, allow_pickle: bool = False, trusted: Iterable[str] = ()) -> Any:
    """Read a trained model from a file.

    Parameters
    ----------
    path : str or Path
        A skops file; or, with ``allow_pickle``, one that pickle or joblib wrote.
    allow_pickle : bool
        Loading a pickle runs whatever code is in it: only for files of your own. It warns.
    trusted : iterable of str
        Names of further types that a skops file may contain, as the error lists them.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"there is no model file {str(path)!r}")
    if _is_skops(path):
        return _load_skops(path, tuple(trusted))
    if not allow_pickle:
        raise InputError(
            f"{str(path)!r} is not a skops file; a pickle can run any code when it is loaded, so save the model "
            "with reap.models.files.save_model, or, if you made the file yourself, allow pickle "
            "(allow_pickle=True, --allow-pickle)"
        )
    return _load_pickle(path)


def _is_skops(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "schema.json" in archive.namelist()


def _load_skops(path: Path, trusted: tuple[str, ...]) -> Any:
    io = _skops()
    try:
        strange = [name for name in io.get_untrusted_types(file=path) if name not in (*TRUSTED, *trusted)]
        if not strange:
            return io.load(path, trusted=[*TRUSTED, *trusted])
    except Exception as error:  # skops raises many kinds for a damaged file
        raise InputError(f"{str(path)!r} cannot be read as a model: {error}") from None
    raise InputError(
        f"{str(path)!r} contains types that are not known to be harmless: {', '.join(strange)}; if you trust the "
        "file, name them (trusted=[…], --trust NAME)"
    )


def _load_pickle(path: Path) -> Any:
    import joblib

    warnings.warn(f"loading {str(path)!r} runs the code inside it", UserWarning, stacklevel=3)
    try:
        return joblib.load(path)
    except (pickle.UnpicklingError, EOFError, ImportError, AttributeError, KeyError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read as a model: {error}") from None


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise InputError(
            "model files need skops; install it with: pip install 'reap-recourse[cluster]'"
        ) from None
    return skops.io
