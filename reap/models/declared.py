"""Models that need one word of explanation: what goes in, or what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from reap._errors import InputError, unknown

Output = Literal["logit", "probability", "score"]


@dataclass(frozen=True)
class OnVectors:
    """A model that takes encoded rows (n, d), not raw frames."""

    model: Any


@dataclass(frozen=True)
class TorchModel:
    """A torch module on encoded tensors, and what it returns."""

    module: Any
    output: Output


@dataclass(frozen=True)
class Carrying:
    """A model that wants columns that the action space leaves out, and one person's values of them."""

    model: Any
    values: Mapping[str, Any]


def carrying(model: Any, values: Mapping[str, Any]) -> Carrying:
    """Declare one person's own values of columns that a model wants and the action space leaves out, such as an ID.

    They go to the model as they are, in every row of the person's plans. An engine with them is this person's.

    Parameters
    ----------
    model : fitted estimator or Pipeline on raw frames, or a function of a raw frame
    values : mapping from column to value

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"id": ["a7", "b2"], "income": [10.0, 40.0]})
    >>> def score(rows):
    ...     return rows["income"] / 80 + 0.3 * (rows["id"] == "b2")
    >>> space = reap.ActionSpace.from_frame(X[["income"]])
    >>> reap.models.wrap(carrying(score, {"id": "b2"}), space).probability(space.encode(X[["income"]]))
    array([0.425, 0.8  ])
    """
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise InputError(f"carrying needs values by column, such as {{'id': 'a7'}}; given was {values!r}")
    return Carrying(model, dict(values))


def on_vectors(model: Callable[..., Any] | Any) -> OnVectors:
    """Declare that a function, or a fitted estimator, takes encoded rows (n, d) as an array.

    Parameters
    ----------
    model : callable or fitted estimator
        A callable returns the probability of class 1, (n,), or of every class, (n, k).

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> space = reap.ActionSpace.from_frame(pd.DataFrame({"income": [0.0, 100.0], "debt": [0.0, 50.0]}))
    >>> rule = reap.models.on_vectors(lambda Z: 0.5 + 0.4 * (Z[:, 0] - Z[:, 1]))
    >>> reap.models.wrap(rule, space).probability(np.array([[1.0, 0.0]]))
    array([0.9])
    """
    if not callable(model) and not hasattr(model, "predict_proba") and not hasattr(model, "predict"):
        raise InputError(
            f"on_vectors needs a function or a fitted classifier or regressor; given was {type(model).__name__}"
        )
    return OnVectors(model)


def torch_model(module: Any, output: Output) -> TorchModel:
    """Declare what a torch module on encoded tensors (n, d) returns.

    Parameters
    ----------
    module : torch.nn.Module
        Returns (n,) or (n, 1) for class 1, or (n, k) for k classes.
    output : {"logit", "probability", "score"}
        Whether that is before or after the sigmoid (k columns: softmax), or a score in a unit of its own, (n,).
    """
    allowed = get_args(Output)
    if output not in allowed:
        raise unknown("output of a torch module", output, allowed)
    if not is_module(module):
        raise InputError(f"torch_model needs a torch.nn.Module; given was {type(module).__name__}")
    return TorchModel(module, output)


def is_module(model: Any) -> bool:
    """Return whether something is a torch module, without importing torch."""
    return any(
        cls.__module__.partition(".")[0] == "torch" and cls.__name__ == "Module"
        for cls in type(model).__mro__
    )
