"""Models with a gradient: linear models, networks and torch modules, as functions of the encoded vector.

A linear model is a network without hidden layers, so both share one kernel, which skips the checks of ``predict_proba``: for
small batches they cost more than the arithmetic. Preprocessing of raw rows (one-hot columns, scaling, imputing, ordinal codes) is
affine in the encoded vector, ``T = E(z) L + b``, and goes into the first layer. ``L`` and ``b`` are not taken from the steps but
from what they do to single changes, and the whole is compared with the pipeline on rows at random: what does not agree has no
gradient. ``E`` leaves z as it is, but for ordered levels that are not affine (one-hot, say): between two of them it interpolates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax
from sklearn.base import is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline

from reap._errors import InputError
from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.declared import TorchModel
from reap.models.estimator import Estimator, rows_at_random
from reap.models.forests import numbers, steps_before

#: Rows at random on which a reading is compared with the model.
_ROWS = 64


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
    bent : tuple of (column, levels)
        Ordered levels between which rows are interpolated; they take as many inputs of the first layer, behind all columns.
    fill : (d,), optional
        What stands for a missing value.

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
    bent: tuple[tuple[int, int], ...] = ()
    fill: Array | None = None

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        out = self._forward(Z)[-1]
        if out.shape[1] == 1:
            return np.asarray(out[:, 0] if self.index == 1 else -out[:, 0])
        return np.asarray(out[:, self.index] - logsumexp(np.delete(out, self.index, axis=1), axis=1))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d), by backpropagation of the whole batch; 0 for what is missing."""
        layers = self._forward(Z)
        slope = self._head_slope(layers[-1]) @ self.weights[-1].T
        derivative = ACTIVATIONS[self.activation][1]
        for weight, a in zip(reversed(self.weights[:-1]), reversed(layers[:-1]), strict=True):
            slope = (slope * derivative(a)) @ weight.T
        out, begin, each = slope[:, : Z.shape[1]], Z.shape[1], np.arange(len(Z))
        for column, levels in self.bent:
            place = np.where(np.isnan(Z[:, column]), 0.0, Z[:, column]) * (levels - 1)
            low = begin + np.clip(np.floor(place), 0, levels - 2).astype(np.intp)
            out[:, column] = (slope[each, low + 1] - slope[each, low]) * (levels - 1)
            begin += levels
        return out if self.fill is None else np.where(np.isnan(Z), 0.0, out)

    def inputs(self, Z: Array) -> Array:
        """Return what the first layer is given of vectors (n, d): behind them the shares of interpolated levels."""
        if self.fill is not None:
            Z = np.where(np.isnan(Z), self.fill, Z)
        shares = [1.0 - np.abs(Z[:, [c]] * (levels - 1) - np.arange(levels)) for c, levels in self.bent]
        return np.concatenate([Z, *(np.maximum(s, 0.0) for s in shares)], axis=1) if shares else Z

    def _forward(self, Z: Array) -> list[Array]:
        activate, layers, h = ACTIVATIONS[self.activation][0], list[Array](), self.inputs(Z)
        for weight, bias in zip(self.weights, self.biases, strict=True):
            h = h @ weight
            h += bias
            if len(layers) < len(self.weights) - 1:
                h = activate(h)
            layers.append(h)
        return layers

    def _head_slope(self, out: Array) -> Array:
        if out.shape[1] == 1:
            return np.full((len(out), 1), 1.0 if self.index == 1 else -1.0)
        slope = np.empty_like(out)
        rest = np.delete(np.arange(out.shape[1]), self.index)
        slope[:, self.index] = 1.0
        slope[:, rest] = -softmax(out[:, rest], axis=1)
        return slope


@dataclass(frozen=True, eq=False)
class Mixture(Smooth):
    """The weighted mean of probabilities: ``∂ logit p̄ = Σ w_i p_i (1 − p_i) ∂ logit p_i / (p̄ (1 − p̄))``."""

    members: Sequence[Smooth]
    weights: Array

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        return np.asarray(logit(np.clip(self.weights @ self._each(Z), 2.0**-53, 1 - 2.0**-53)))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""
        each, slope = self._each(Z), np.zeros(np.shape(Z))
        for w, p, member in zip(self.weights, each, self.members, strict=True):
            slope += w * (p * (1 - p))[:, None] * member.gradient(Z)
        mean = self.weights @ each
        return np.asarray(slope / np.maximum(mean * (1 - mean), 2.0**-53)[:, None])

    def _each(self, Z: Array) -> Array:
        return np.asarray(expit(np.stack([member.logit(Z) for member in self.members])))


# what an estimator is ----------------------------------------------------------------------------------------


def smooth(scorer: Estimator) -> Smooth | None:
    """Return a fitted estimator as a function with a gradient; None where it has none, or not exactly."""
    rng, space = np.random.default_rng(1), scorer.space
    if not scorer.raw and not _takes_gaps(scorer):  # affine in any vector, perhaps
        found = _agreed(scorer, rng.uniform(-1, 2, (16, space.dimension)), _of_vectors)
        if found is not None:
            return found
    return _agreed(scorer, rows_at_random(space, rng, _ROWS), _of_rows)


def _takes_gaps(scorer: Estimator) -> bool:
    """Return whether an estimator answers for values that are missing, so that something in it fills them in."""
    gaps = [scorer.space.slices[f.name].start for f in scorer.space.features if f.missing and f.is_number]
    if not gaps:
        return False
    row = rows_at_random(scorer.space, np.random.default_rng(0), 1)
    row[:, gaps] = np.nan
    try:
        return bool(np.isfinite(scorer.score(row)).all())
    except (ValueError, TypeError):
        return False


#: From the steps before a network to that network as a function of vectors.
_Compose = Callable[[tuple[Any, ...], Network, Estimator], Network]


def _agreed(scorer: Estimator, Z: Array, compose: _Compose) -> Smooth | None:
    """Return what an estimator is as a function of vectors; None where it says something else of some (n, d)."""
    try:
        made = _smooth(scorer.estimator, (), scorer, scorer.index, compose)
        if made is None:
            return None
        own, ours = scorer.score(Z), made.logit(Z)
    except (ValueError, TypeError):  # rows that the model refuses, or text where numbers are needed
        return None
    if scorer.output == "probability":
        return made if np.allclose(expit(ours), own, rtol=0, atol=1e-9) else None
    return made if np.allclose(ours, own, rtol=1e-9, atol=1e-9 * (1 + np.ptp(own))) else None


def _smooth(
    model: Any, before: tuple[Any, ...], scorer: Estimator, index: int, compose: _Compose
) -> Smooth | None:
    """Return a fitted model behind some preprocessing as a function of vectors; not yet compared with it."""
    if isinstance(model, Pipeline):
        return _smooth(model[-1], (*before, *steps_before(model)), scorer, index, compose)
    if isinstance(model, VotingClassifier) and model.voting == "soft":
        members = [_smooth(member, before, scorer, index, compose) for member in model.estimators_]
        return _mixture(members, model._weights_not_none)
    if isinstance(model, CalibratedClassifierCV) and len(model.classes_) == 2 and model.method == "sigmoid":
        members = []
        for copy in model.calibrated_classifiers_:
            inner = _smooth(copy.estimator, before, scorer, 1, compose)
            members.append(_calibrated(inner, copy.calibrators[0], 1.0 if index == 1 else -1.0))
        return _mixture(members, None)
    layers = _layers(model)
    if layers is None:
        return None
    weights, biases, activation = layers
    return compose(before, Network(weights, biases, activation, index), scorer)


def _layers(model: Any) -> tuple[list[Array], list[Array], str] | None:
    """Return (weights, biases, activation) of a fitted linear model or network; None where it has none that we know."""
    if isinstance(model, MLPClassifier | MLPRegressor):
        weights, biases = (
            [np.asarray(w, dtype=float) for w in each] for each in (model.coefs_, model.intercepts_)
        )
        return weights, biases, str(model.activation)
    linear = isinstance(model, LogisticRegression | LinearDiscriminantAnalysis | SGDClassifier)
    if linear or (is_regressor(model) and hasattr(model, "coef_") and hasattr(model, "intercept_")):
        coefficients = np.asarray(model.coef_, dtype=float)
        weight = coefficients.reshape(-1, coefficients.shape[-1]).T
        bias = np.broadcast_to(np.asarray(model.intercept_, dtype=float).ravel(), weight.shape[1:])
        return [weight], [bias], "identity"
    return None


def _calibrated(inner: Smooth | None, platt: Any, sign: float) -> Smooth | None:
    """Return a network under Platt's sigmoid, ``logit p = −(a · f + b)``, which goes into its last layer."""
    if not isinstance(inner, Network) or inner.weights[-1].shape[1] != 1:
        return None
    a, b = -sign * float(platt.a_), -sign * float(platt.b_)
    weights = [*inner.weights[:-1], a * inner.weights[-1]]
    return replace(inner, weights=weights, biases=[*inner.biases[:-1], a * inner.biases[-1] + b])


def _mixture(members: list[Smooth | None], weights: Any) -> Smooth | None:
    known = [member for member in members if member is not None]
    share = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
    return Mixture(known, share / share.sum()) if len(known) == len(members) else None


def _transformed(before: tuple[Any, ...], scorer: Estimator, Z: Array) -> Array:
    """Return vectors (n, d) as the network behind some steps is given them, (n, c)."""
    out = scorer.rows(Z)
    for step in before:
        out = step.transform(out)
    return numbers(out)


def _of_vectors(before: tuple[Any, ...], inner: Network, scorer: Estimator) -> Network:
    """Return a network behind steps that are affine in the vector, by what they do to 0 and to each column's 1."""
    d = scorer.space.dimension
    T = _transformed(before, scorer, np.concatenate([np.zeros((1, d)), np.eye(d)]))
    return _first_layer(inner, T[1:] - T[0], T[0])


def _first_layer(inner: Network, L: Array, shift: Array) -> Network:
    """Return a network of ``E L + shift`` as one of E."""
    first = inner.weights[0]
    biases = [inner.biases[0] + shift @ first, *inner.biases[1:]]
    return replace(inner, weights=[L @ first, *inner.weights[1:]], biases=biases)


def _of_rows(before: tuple[Any, ...], inner: Network, scorer: Estimator) -> Network:
    """Return a network behind the preprocessing of rows, by what that does to one change at a time."""
    space = scorer.space
    base = rows_at_random(space, np.random.default_rng(0), _ROWS)[0]
    tried, where = [base], []
    for feature in space.features:
        columns = space.slices[feature.name]
        count = feature.width if feature.kind == "categorical" else len(feature.levels) or 2
        values = np.eye(count) if feature.kind == "categorical" else np.linspace(0, 1, count)[:, None]
        if feature.kind == "integer" and feature.range is not None and not space.encoded:
            low, high = feature.range
            values = (np.array([[np.ceil(low)], [np.floor(high)]]) - low) / ((high - low) or 1.0)
        gone = np.full(
            (int(feature.missing), values.shape[1]), 0.0 if feature.kind == "categorical" else np.nan
        )
        where.append((feature, columns, values))
        for block in np.concatenate([values, gone]):
            row = base.copy()
            row[columns] = block
            tried.append(row)
    T = _transformed(before, scorer, np.array(tried))
    L, fill = np.zeros((space.dimension, T.shape[1])), np.zeros(space.dimension)
    shift, at, bent, extra = T[0].copy(), 1, list[tuple[int, int]](), list[Array]()
    for feature, columns, values in where:
        known = T[at : at + len(values)]
        at += len(values) + feature.missing
        gap, start = T[at - 1] if feature.missing else None, columns.start
        if feature.kind == "categorical":
            ground = known[0] if gap is None else gap
            L[columns] = known - ground
            shift += ground - known[int(base[columns].argmax())]
            continue
        z = values[:, 0]
        slope = (known[-1] - known[0]) / ((z[-1] - z[0]) or 1.0)
        flat = known[0] - z[0] * slope
        if np.allclose(known, flat + z[:, None] * slope, rtol=0, atol=1e-9):
            L[start] = slope
            shift -= base[start] * slope
        else:
            bent.append((start, len(values)))
            extra.append(known - known[int(np.rint(base[start] * (len(known) - 1)))])
        if gap is not None:
            j = int(np.abs(slope).argmax())
            fill[start] = (gap[j] - flat[j]) / slope[j] if slope[j] else base[start]
    return replace(
        _first_layer(inner, np.concatenate([L, *extra]), shift),
        bent=tuple(bent),
        fill=fill if any(feature.missing for feature in space.features) else None,
    )


# torch -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TorchKernel(Smooth):
    """The logit of a torch module and its gradient by autograd. Torch is imported only where a module was given.

    Parameters
    ----------
    model : TorchModel
        The module, returning (n,) or (n, 1) for class 1 or (n, k) for k classes, and what it returns.
    index : int
        The target class.
    """

    model: TorchModel
    index: int

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        import torch

        with torch.no_grad():
            return self._numpy(self._logit(self._tensor(Z)))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""
        import torch

        # Rows do not mix (the module is in eval mode), so the gradient of the sum is every row's own.
        inputs = self._tensor(Z).requires_grad_(True)
        with torch.enable_grad():
            (slope,) = torch.autograd.grad(self._logit(inputs).sum(), inputs)
        return self._numpy(slope)

    def _tensor(self, Z: Array) -> Any:
        import torch

        like = next(self.model.module.parameters(), None)
        dtype, device = (torch.float32, "cpu") if like is None else (like.dtype, like.device)
        return torch.tensor(np.asarray(Z), dtype=dtype, device=device)

    def _logit(self, inputs: Any) -> Any:
        import torch

        module = self.model.module
        if module.training:
            module.eval()  # dropout and batch statistics would make the answer depend on chance and company
        out = module(inputs)
        if out.ndim == 2 and out.shape[1] == 1:
            out = out[:, 0]
        classes = 2 if out.ndim == 1 else out.shape[1]
        if out.ndim > 2 or len(out) != len(inputs):
            raise InputError(f"the torch module returned shape {tuple(out.shape)} for {len(inputs)} rows")
        if self.index not in range(classes):
            raise InputError(f"there is no class {self.index!r}; the torch module has {classes}")
        if self.model.output == "probability":
            tiny = torch.finfo(out.dtype).eps / 2
            p = out if out.ndim == 1 else out[:, self.index]
            value = torch.logit(p, eps=tiny)
            return value if out.ndim == 2 or self.index == 1 else -value
        if out.ndim == 1:
            return out if self.index == 1 else -out
        others = torch.arange(classes, device=out.device) != self.index
        return out[:, self.index] - torch.logsumexp(out[:, others], dim=1)

    @staticmethod
    def _numpy(tensor: Any) -> Array:
        return np.asarray(tensor.detach().cpu().numpy(), dtype=float)
