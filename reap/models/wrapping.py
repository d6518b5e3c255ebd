"""What did the user give? Finds out, and puts it behind ``Classifier``."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from reap._errors import InputError
from reap.models.classifier import Classifier, Scorer, Smooth
from reap.models.composed import composed
from reap.models.declared import OnVectors, TorchModel, is_module
from reap.models.estimator import Estimator, Function
from reap.models.network import Network, network_of
from reap.space import ActionSpace
from reap.space.encoder import SpaceEncoder


def wrap(model: Any, space: ActionSpace, *, target: Hashable = 1, threshold: float = 0.5) -> Classifier:
    """Return any trained model as a ``Classifier`` on the vectors of a space.

    Parameters
    ----------
    model : object
        A fitted scikit-learn classifier, Pipeline or search (xgboost and lightgbm through that interface), trained on
        raw frames; a Pipeline that starts with ``space.encoder()``, whose rest is then used on vectors directly; a
        function from a raw frame to probabilities; for an encoded space, an estimator or function on its arrays;
        ``reap.models.on_vectors(…)``; ``reap.models.torch_model(module, output=…)``.
    space : ActionSpace
    target : hashable
        Label of the favourable class, as in the model's ``classes_``.
    threshold : float
        Rows with a probability above it are accepted.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [10, 20, 30, 40]})
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "yes"])
    >>> space = reap.ActionSpace.from_frame(X)
    >>> reap.models.wrap(tree, space, target="yes").probability(space.encode(X))
    array([0., 0., 1., 1.])
    """
    if isinstance(model, Classifier):
        model = model.model
    if not (isinstance(threshold, int | float | np.number) and 0 < threshold < 1):
        raise InputError(f"threshold is {threshold!r}; give a probability between 0 and 1")
    return Classifier(model, space, target, float(threshold), _kernel(model, space, target))


def _kernel(model: Any, space: ActionSpace, target: Any) -> Scorer | Smooth:
    if isinstance(model, type):
        raise InputError(f"the model is the class {model.__name__}; give a fitted object of it")
    if isinstance(model, TorchModel):
        from reap.models.torch_module import TorchKernel

        kernel = TorchKernel(model, target)
        kernel.logit(
            np.zeros((2, space.dimension))
        )  # says now what is wrong, not in the middle of a dialogue
        return kernel
    vectors = space.encoded or isinstance(model, OnVectors)
    if isinstance(model, OnVectors):
        model = model.model
    if is_module(model):
        raise InputError(
            "say what the torch module returns: reap.models.torch_model(module, output='logit') or output='probability'"
        )
    if hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    if hasattr(model, "fit") or hasattr(model, "predict_proba"):
        return _estimator(model, space, target, vectors)
    if callable(model):
        return Function(model, space, target, raw=not vectors)
    raise InputError(
        f"the model is {type(model).__name__}; give a fitted classifier, a function that returns probabilities, or "
        "reap.models.torch_model(module, output=…)"
    )


def _estimator(model: Any, space: ActionSpace, target: Any, vectors: bool) -> Scorer | Smooth:
    index = _target_index(model, target)
    if _starts_with(model, space):
        vectors, model = True, model[1:]
    names = getattr(_flat(model)[0], "feature_names_in_", None)
    names = None if names is None else [str(name) for name in names]
    raw = not vectors and _takes_rows(model, space, names)
    known = [c for f in space.features for c in (f.columns or (f.name,))] if raw else space.columns
    for name in names or ():
        if name not in known:
            raise InputError(
                f"the model was trained on the column {name!r}, which the action space lacks; declare it there "
                "(actionable=False where nobody can change it)"
            )
    scorer = Estimator(model, space, index, raw, names)
    if raw or (names is not None and names != list(space.columns)):
        return composed(scorer) or scorer
    return _smooth(scorer) or composed(scorer) or scorer


def _target_index(model: Any, target: Any) -> int:
    name = type(model).__name__
    try:
        check_is_fitted(model)
        classes = getattr(model, "classes_", None)
    except TypeError:  # not a scikit-learn estimator, but one that behaves like it
        classes = getattr(model, "classes_", None)
    except NotFittedError:
        raise InputError(f"the model ({name}) is not fitted; call fit(X, y) first") from None
    if not hasattr(model, "predict_proba"):
        raise InputError(
            f"{name} gives no probabilities; use a classifier that does, or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV before fitting"
        )
    if classes is None:
        raise InputError(f"the model ({name}) has no classes_; is it fitted, and a classifier?")
    if len(classes) < 2:
        raise InputError(
            f"the model knows one class only ({next(iter(classes))!r}); train it on accepted and rejected rows"
        )
    for index, label in enumerate(classes):
        if label == target:
            return index
    listed = ", ".join(repr(c.item() if isinstance(c, np.generic) else c) for c in classes)
    raise InputError(
        f"there is no class {target!r}; the model's classes are {listed}: choose target= from them"
    )


def _starts_with(model: Any, space: ActionSpace) -> bool:
    """Return whether a pipeline starts with the encoder of this space (limits aside)."""
    if not isinstance(model, Pipeline) or len(model) < 2 or not isinstance(model[0], SpaceEncoder):
        return False
    theirs = model[0].space
    meaning = [
        [(f.name, f.kind, f.origin, f.scale, f.levels, f.columns) for f in s.features]
        for s in (theirs, space)
    ]
    return meaning[0] == meaning[1]


def _takes_rows(model: Any, space: ActionSpace, names: Sequence[str] | None) -> bool:
    """Return whether a model takes rows in units (else vectors), by what it was trained on."""
    if names is not None:
        return set(names) <= set(space.names) or not set(names) <= set(space.columns)
    count = getattr(model, "n_features_in_", None)
    rows, columns = len(space.names), space.dimension
    if isinstance(model, Pipeline) and isinstance(model[0], SpaceEncoder):
        return True
    if count == rows == columns:
        raise InputError(
            "the model was trained on an array without column names, so it is not clear whether it takes units or "
            "encoded values; train it on the DataFrame, or say reap.models.on_vectors(model) if values were encoded"
        )
    if count not in (None, rows, columns):
        raise InputError(
            f"the model was trained on {count} columns; the action space has {rows} features and {columns} encoded columns"
        )
    return count != columns


def _smooth(scorer: Estimator) -> Smooth | None:
    """Return the layers of scaler, …, scaler, network; None where a step is unknown or the two disagree."""
    *scalers, last = _flat(scorer.estimator)
    network = network_of(last, scorer.index)
    if network is None:
        return None
    for scaler in reversed(scalers):
        if not isinstance(scaler, StandardScaler | MinMaxScaler | MaxAbsScaler | RobustScaler) or getattr(
            scaler, "clip", False
        ):
            return None
        network = network.scaled(*_affine(scaler))
    return network if _agrees(network, scorer) else None


def _flat(estimator: Any) -> list[Any]:
    if not isinstance(estimator, Pipeline):
        return [estimator]
    return [
        inner for _, step in estimator.steps if step not in (None, "passthrough") for inner in _flat(step)
    ]


def _affine(scaler: Any) -> Any:
    """Return (scale, shift) of a scaler that acts on each column alone, from where it sends 0 and 1."""
    names = getattr(scaler, "feature_names_in_", None)
    ends = np.stack([np.zeros(scaler.n_features_in_), np.ones(scaler.n_features_in_)])
    if names is not None:
        ends = pd.DataFrame(ends, columns=names)
    zero, one = np.asarray(scaler.transform(ends), dtype=float)
    return one - zero, zero


def _agrees(network: Network, scorer: Estimator) -> bool:
    # A subclass, a solver or a loss may define probabilities its own way: what the model says goes.
    Z = np.random.default_rng(0).random((16, scorer.space.dimension))
    ours = Classifier(scorer.estimator, scorer.space, None, 0.5, network).probability(Z)
    return bool(np.allclose(ours, scorer.probability(Z), rtol=0, atol=1e-9))
