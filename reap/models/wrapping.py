"""What did the user give? Finds out, and puts it behind ``Classifier``."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from reap._errors import InputError, said
from reap.models.classifier import Classifier, Smooth
from reap.models.declared import Carrying, OnVectors, TorchModel, is_module
from reap.models.estimator import Estimator, Function, asked, ignored, rows_at_random
from reap.models.gradients import TorchKernel, smooth
from reap.scores import Output, Scale, Threshold
from reap.space import ActionSpace
from reap.space.encoding import SpaceEncoder

#: A feature with more levels, such as an ID that everybody keeps, is not taken apart: each level would be tried.
_LEVELS = 1000
#: Rows at random from which the spread of scores is taken, the shares between which most lie, and how many logits that is.
_ROWS, _MOST, _LOGITS = 256, (0.1, 0.9), 5.0


def wrap(
    model: Any,
    space: ActionSpace,
    *,
    target: Hashable = 1,
    threshold: Threshold = 0.5,
    output: Output = "probability",
    unit: str = "",
    spread: float | None = None,
) -> Classifier:
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
    threshold : float, or (low, high)
        Rows with a score above it are accepted. A range, for ``output="score"``: rows from low to high, ends included;
        one of them may be None.
    output : {"probability", "score"}
        "score": points, margins, a regression. A regressor's ``predict`` is used, a classifier's ``decision_function``, or what
        a function returns, one number a row.
    unit : str
        Said behind a score: "points", "EUR".
    spread : float, optional
        How much of a score counts as one logit; by default from how scores spread over rows at random.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [10, 20, 30, 40]})
    >>> tree = DecisionTreeClassifier().fit(X, ["no", "no", "yes", "yes"])
    >>> space = reap.ActionSpace.from_frame(X)
    >>> reap.models.wrap(tree, space, target="yes").probability(space.encode(X))
    array([0., 0., 1., 1.])
    >>> card = lambda frame: 500 + 4 * frame["income"]
    >>> points = reap.models.wrap(card, space, threshold=620, output="score", unit="points")
    >>> points.score(space.encode(X)), points.accepts(space.encode(X))
    (array([540., 580., 620., 660.]), array([False, False, False,  True]))
    """
    if isinstance(model, Classifier):
        model = model.model
    if output == "score":
        kernel = _kernel(model, space, target, output)
        scale = _scale_of(kernel, space, threshold, unit, spread)
        return Classifier(model, space, target, 0.5, kernel, scale)
    scale = Scale(threshold, output, unit)
    return Classifier(model, space, target, scale.ends[0], _kernel(model, space, target, output), scale)


def _scale_of(
    kernel: Any, space: ActionSpace, threshold: Threshold, unit: str, spread: float | None
) -> Scale:
    """Return the scale of a model's scores: how far they spread over rows at random says what counts as one logit."""
    Scale(threshold, "score", unit)  # says what is wrong before the model is asked
    Z = rows_at_random(space, np.random.default_rng(0), _ROWS)
    try:
        given = np.asarray(kernel.logit(Z) if isinstance(kernel, Smooth) else kernel.score(Z), dtype=float)
    except InputError:
        raise
    except Exception:  # a rule of thumb may refuse rows that nobody has; people's own rows are scored later
        given = np.zeros(0)
    given = given[np.isfinite(given)]
    low, high = np.quantile(given, _MOST) if len(given) else (0.0, 0.0)
    ends = [end for end in Scale(threshold, "score").ends if np.isfinite(end)]
    wide = float(high - low) or float(np.ptp(given) if len(given) else 0.0) or max(1.0, *map(abs, ends))
    shown = min(low, *ends) - wide / _LOGITS, max(high, *ends) + wide / _LOGITS
    return Scale(threshold, "score", unit, spread or wide / _LOGITS, (float(shown[0]), float(shown[1])))


def _kernel(model: Any, space: ActionSpace, target: Any, output: Output) -> Any:
    """Return the arithmetic of a model: of probabilities, or of its scores as they are."""
    scores = output == "score"
    if isinstance(model, type):
        raise InputError(f"the model is the class {model.__name__}; give a fitted object of it")
    if isinstance(model, TorchModel):
        if scores != (model.output == "score") and not (scores and model.output == "logit"):
            raise InputError(
                f"the torch module was declared to return a {model.output}, and output is {output!r}; let both agree"
            )
        kernel = TorchKernel(model, 1 if model.output == "score" else target)
        kernel.logit(np.zeros((2, space.dimension)))  # says now what is wrong, not in the middle of a session
        return kernel
    vectors = space.encoded or isinstance(model, OnVectors)
    carried: dict[str, Any] = {}
    if isinstance(model, Carrying):
        carried, model = dict(model.values), model.model
    if isinstance(model, OnVectors):
        model = model.model
    if is_module(model):
        raise InputError(
            "say what the torch module returns: reap.models.torch_model(module, output='logit'), 'probability' or 'score'"
        )
    if hasattr(model, "best_estimator_"):
        model = model.best_estimator_
    predicts = hasattr(model, "predict") and (scores or not callable(model))
    if predicts or hasattr(model, "fit") or hasattr(model, "predict_proba"):
        return _estimator(model, space, target, vectors, output, carried)
    if callable(model):
        return Function(model, space, target, output, not vectors, carried)
    raise InputError(
        f"the model is {type(model).__name__}; give a fitted classifier, a function that returns probabilities, or "
        "reap.models.torch_model(module, output=…)"
    )


def _estimator(
    model: Any, space: ActionSpace, target: Any, vectors: bool, output: Output, carried: dict[str, Any]
) -> Any:
    index = _index(model, target, output)
    if _starts_with(model, space):
        vectors, model = True, model[1:]
    names = asked(model)
    if names is not None and not vectors:  # what the model drops at once may be anything
        carried = {name: None for name in ignored(model) if name not in space.encoding.table} | carried
    ours = None if names is None else [name for name in names if name not in carried]
    raw = not vectors and _takes_rows(model, space, ours)
    known = space.encoding.table if raw else space.columns
    for name in ours or ():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f" (there is {near[0]!r}: rename it if it is that)" if near else ""
            raise InputError(
                f"the model was trained on the column {name!r}, which the action space lacks{hint}; declare it there, or let "
                f"everybody keep their own value with space.keeping(X[[{name!r}]]), or pass one person's with "
                f"reap.models.carrying(model, {{{name!r}: …}})"
            )
    scorer = Estimator(model, space, index, output, raw, names, carried if raw else {})
    if any(len(feature.levels) > _LEVELS for feature in space.features):
        return scorer
    return smooth(scorer) or scorer


def _index(model: Any, target: Any, output: Output) -> int:
    """Return the target's place among the classes; of scores 1, or 0 where they count against the first of two classes."""
    name, classes = type(model).__name__, _classes(model)
    if output == "score":
        if classes is None and not hasattr(model, "predict"):
            raise InputError(
                f"{name} has no predict; give a fitted regressor, or a function that returns scores"
            )
        if classes is not None and (not hasattr(model, "decision_function") or len(classes) != 2):
            raise InputError(
                f"{name} is a classifier without a margin for two classes; use output='probability', or give a function that "
                "returns its scores"
            )
        return 1 if classes is None else _place(classes, target)
    if not hasattr(model, "predict_proba"):
        if getattr(model, "refit", True) is False:
            raise InputError(
                f"{name} was told refit=False and keeps no model; search with refit=True, or give the model"
            )
        if isinstance(model, Pipeline) and model.steps[-1][1] in (None, "passthrough"):
            raise InputError(
                "the pipeline ends in 'passthrough' and decides nothing; give one that ends in a classifier"
            )
        raise InputError(
            f"{name} gives no probabilities; say output='score' where it returns points, margins or another number, "
            "wrap a classifier in sklearn.calibration.CalibratedClassifierCV before fitting, or give a function from a frame "
            "to probabilities"
        )
    if classes is None:
        raise InputError(f"the model ({name}) has no classes_; is it fitted, and a classifier?")
    if len(classes) < 2:
        raise InputError(
            f"the model knows one class only ({said(next(iter(classes)))}); train it on accepted and rejected rows"
        )
    return _place(classes, target)


def _classes(model: Any) -> Any:
    """Return the classes of a fitted model; None where it has none."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(f"the model ({type(model).__name__}) is not fitted; call fit(X, y) first") from None
    except (TypeError, AttributeError):  # not a scikit-learn estimator, but one that behaves like it
        pass
    return getattr(model, "classes_", None)


def _place(classes: Any, target: Any) -> int:
    for index, label in enumerate(classes):
        if label == target:
            return index
    listed = ", ".join(map(said, classes))
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
