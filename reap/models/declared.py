"""Models that need one word of explanation: what goes in, or what comes out."""

from __future__ import annotations

from collections.abc import Callable
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

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> model = reap.models.torch_model(torch.nn.Linear(4, 1), output="logit")  # doctest: +SKIP
    >>> reap.GradientRecourse(model, space)  # doctest: +SKIP
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
