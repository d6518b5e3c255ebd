"""Layers of a network in NumPy: the logit of a class and its gradient, for whole batches.

A logistic regression is a network without hidden layers, so linear models and scikit-learn's MLP share one
kernel. It skips the checks of ``predict_proba``, which cost more than the arithmetic for small batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, logsumexp, softmax
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.estimator import Estimator


def _relu(h: Array) -> Array:
    return np.maximum(h, 0.0, out=h)


def _same(h: Array) -> Array:
    return h


#: activation (may work in place), and its derivative as a function of the activation's value
ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "relu": (_relu, lambda a: (a > 0).astype(float)),
    "tanh": (lambda h: np.tanh(h, out=h), lambda a: 1.0 - a**2),
    "logistic": (lambda h: np.asarray(expit(h, out=h)), lambda a: a * (1.0 - a)),
    "identity": (_same, np.ones_like),
}


@dataclass(frozen=True, eq=False)
class Network(Smooth):
    """Layers ``h ← act(h W + b)``, the last one without activation; sigmoid or softmax on top.

    Parameters
    ----------
    weights, biases : sequences of (m, k) and (k,)
    activation : {"relu", "tanh", "logistic", "identity"}
    index : int
        The target's place among the classes. With one output o the logit is o for class 1 and −o for class 0; with
        k outputs it is ``o_i − log Σ_{j≠i} exp o_j``.

    Examples
    --------
    >>> net = Network([np.array([[2.0], [0.0]])], [np.array([-1.0])], "identity", 1)
    >>> net.logit(np.array([[1.0, 5.0]])), net.gradient(np.array([[1.0, 5.0]]))
    (array([1.]), array([[2., 0.]]))
    """

    weights: Sequence[Array]
    biases: Sequence[Array]
    activation: str
    index: int

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        return self._head(self._forward(Z)[-1])

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d), by backpropagation of the whole batch."""
        layers = self._forward(Z)
        slope = self._head_slope(layers[-1]) @ self.weights[-1].T
        derivative = ACTIVATIONS[self.activation][1]
        for weight, a in zip(reversed(self.weights[:-1]), reversed(layers[:-1]), strict=True):
            slope = (slope * derivative(a)) @ weight.T
        return slope

    def scaled(self, scale: Array, shift: Array) -> Network:
        """Return the network of ``scale · z + shift``: the scaling goes into the first layer."""
        first = scale[:, None] * self.weights[0]
        bias = self.biases[0] + shift @ self.weights[0]
        return Network([first, *self.weights[1:]], [bias, *self.biases[1:]], self.activation, self.index)

    def _forward(self, Z: Array) -> list[Array]:
        activate = ACTIVATIONS[self.activation][0]
        layers: list[Array] = []
        h = Z
        for weight, bias in zip(self.weights, self.biases, strict=True):
            h = h @ weight
            h += bias
            if len(layers) < len(self.weights) - 1:
                h = activate(h)
            layers.append(h)
        return layers

    def _head(self, out: Array) -> Array:
        if out.shape[1] == 1:
            return np.asarray(out[:, 0] if self.index == 1 else -out[:, 0])
        rest = np.delete(out, self.index, axis=1)
        return np.asarray(out[:, self.index] - logsumexp(rest, axis=1))

    def _head_slope(self, out: Array) -> Array:
        if out.shape[1] == 1:
            return np.full((len(out), 1), 1.0 if self.index == 1 else -1.0)
        slope = np.empty_like(out)
        rest = np.delete(np.arange(out.shape[1]), self.index)
        slope[:, self.index] = 1.0
        slope[:, rest] = -softmax(out[:, rest], axis=1)
        return slope


def network_of(estimator: Any, index: int) -> Network | None:
    """Return the layers of a fitted scikit-learn classifier or regressor; None where it has none that we know."""
    from sklearn.base import is_regressor
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, SGDClassifier
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    if isinstance(estimator, MLPClassifier | MLPRegressor):
        return Network(
            [np.asarray(w, dtype=float) for w in estimator.coefs_],
            [np.asarray(b, dtype=float) for b in estimator.intercepts_],
            estimator.activation,
            index,
        )
    linear = isinstance(estimator, LogisticRegression | LinearDiscriminantAnalysis | SGDClassifier)
    if linear or (
        is_regressor(estimator) and hasattr(estimator, "coef_") and hasattr(estimator, "intercept_")
    ):
        coefficients = np.asarray(estimator.coef_, dtype=float)
        weight = coefficients.reshape(-1, coefficients.shape[-1]).T
        bias = np.broadcast_to(np.asarray(estimator.intercept_, dtype=float).ravel(), weight.shape[1:])
        return Network([weight], [bias], "identity", index)
    return None


def network_behind(scorer: Estimator) -> Network | None:
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
    Z = np.random.default_rng(0).random((16, scorer.space.dimension))
    return network if scorer.agrees(network, Z) else None


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
