"""Models with a gradient: linear models, networks and torch modules, as functions of the encoded vector.

A linear model is a network without hidden layers, so both share one kernel, which skips the checks of ``predict_proba``: for
small batches they cost more than the arithmetic. Preprocessing of raw rows (one-hot columns, scaling, imputing, ordinal codes) is
affine in the encoded vector, ``T = E(z) L + b``, and goes into the first layer. ``L`` and ``b`` are not taken from the steps but
from what they do to single changes, and the whole is compared with the pipeline on rows at random: what does not agree has no
gradient. ``E`` leaves z as it is, but for ordered levels that are not affine (one-hot, say): between two of them it interpolates.

Votes and calibrations of such models go on by scikit-learn's own code (``parts``), and have their gradient by differences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, softmax
from sklearn.base import is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor

from reap._errors import InputError
from reap._typing import Array
from reap.models.classifier import Smooth, log_odds
from reap.models.declared import TorchModel
from reap.models.estimator import Estimator, rows_at_random, said_of
from reap.models.parts import Block, numbers, rewired

#: Rows at random on which a reading is compared with the model.
_ROWS = 64


def _relu(h: Array) -> Array:
    return np.maximum(h, 0.0, out=h)


#: activation (may work in place), and its derivative as a function of the activation's value
ACTIVATIONS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "relu": (_relu, lambda a: (a > 0).astype(float)),
    "tanh": (lambda h: np.tanh(h, out=h), lambda a: 1.0 - a**2),
    "logistic": (lambda h: np.asarray(expit(h, out=h)), lambda a: a * (1.0 - a)),
    "identity": (lambda h: h, np.ones_like),
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
        out = self.outputs(Z)
        if out.shape[1] == 1:
            return np.asarray(out[:, 0] if self.index == 1 else -out[:, 0])
        return np.asarray(out[:, self.index] - logsumexp(np.delete(out, self.index, axis=1), axis=1))

    def outputs(self, Z: Array) -> Array:
        """Return the last layer, (n, k)."""
        return self._forward(Z)[-1]

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d), by backpropagation of the whole batch; 0 for what is missing."""
        layers = self._forward(Z)
        slope = np.full_like(layers[-1], 1.0 if self.index == 1 else -1.0)
        if slope.shape[1] > 1:
            rest = np.delete(np.arange(slope.shape[1]), self.index)
            slope[:, self.index] = 1.0
            slope[:, rest] = -softmax(layers[-1][:, rest], axis=1)
        slope = slope @ self.weights[-1].T
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


@dataclass(frozen=True, eq=False)
class Blend(Smooth):
    """A vote or calibration of networks: a model of blocks, which are given what the networks return."""

    scorer: Estimator
    model: Any
    networks: Sequence[Network]

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, or the score, (n,)."""
        outputs = np.concatenate([network.outputs(Z) for network in self.networks], axis=1)
        said = said_of(self.model, outputs, self.scorer.index, self.scorer.output)
        return log_odds(said) if self.scorer.output == "probability" else said


def smooth(scorer: Estimator) -> Smooth | None:
    """Return a fitted estimator as a function with a gradient; None where it has none, or not exactly."""
    rng, space = np.random.default_rng(1), scorer.space
    rows, missing = rows_at_random(space, rng, _ROWS), any(feature.missing for feature in space.features)
    tries = [(rows, False, missing)]
    if not scorer.raw:  # any vector, perhaps; the model may refuse those in which something is missing
        free = rng.uniform(-1, 2, rows.shape)
        tries = [(np.where(np.isnan(rows), np.nan, free), True, missing), (free, True, False), *tries]
    for Z, any_vector, filled in tries:
        try:
            made = _smooth(scorer, any_vector, filled)
            if made is None or _agree(scorer, made, Z):
                return made
        except (ValueError, TypeError):  # rows that the model refuses, or text where numbers are needed
            pass
    return None


def _agree(scorer: Estimator, made: Smooth, Z: Array) -> bool:
    own, ours = scorer.score(Z), made.logit(Z)
    if scorer.output == "probability":
        return np.allclose(expit(ours), own, rtol=0, atol=1e-9)
    return np.allclose(ours, own, rtol=1e-9, atol=1e-9 * (1 + np.ptp(own)))


def _smooth(scorer: Estimator, free: bool, gaps: bool) -> Smooth | None:
    """Return a fitted model as a function of vectors; not yet compared with it.

    ``free``: of any vectors, not of rows alone; ``gaps``: also of those in which something is missing.
    """
    networks, at = list[Network](), 0

    def block(steps: tuple[Any, ...], last: Any) -> Any:
        nonlocal at
        layers = _layers(last)
        if layers is None:
            raise TypeError("no network")
        networks.append(_behind(steps, Network(*layers, scorer.index), scorer, free, gaps))
        begin, at = at, at + len(layers[1][-1])
        return Block(last, slice(begin, at), link="logistic" if at - begin == 1 else "softmax")

    model = rewired(scorer.estimator, block)
    if isinstance(model, Block):
        return networks[0]
    parameters = (scorer.estimator, *scorer.estimator.get_params().values())
    if any(
        isinstance(one, StackingClassifier) or (isinstance(one, str) and one == "isotonic")
        for one in parameters
    ):
        return None  # steps, or what nobody knows
    return Blend(scorer, model, networks)


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


def _behind(steps: tuple[Any, ...], inner: Network, scorer: Estimator, free: bool, gaps: bool) -> Network:
    """Return a network behind some steps as one of vectors, by what the steps do to one change of a row, or of 0, at a time."""
    space = scorer.space
    base = np.zeros(space.dimension) if free else rows_at_random(space, np.random.default_rng(0), 1)[0]
    tried, where = [base], []
    for feature in space.features:
        columns, blank = space.slices[feature.name], 0.0 if feature.kind == "categorical" else np.nan
        values = np.linspace(0, 1, 2 if free else len(feature.levels) or 2)[:, None]
        values = np.eye(feature.width) if feature.kind == "categorical" else values
        gap = (gaps and feature.missing) or (feature.kind == "categorical" and free)
        where.append((feature, columns, len(values), gap))
        for block in np.concatenate([values, np.full((int(gap), values.shape[1]), blank)]):
            tried.append(base.copy())
            tried[-1][columns] = block
    Z = np.array(tried)
    Z = Z if free or space.encoded else space.encode(space.decode(Z))  # whole numbers are whole
    T = scorer.rows(Z)
    for step in steps:
        T = step.transform(T)
    T = numbers(T)
    L, fill = np.zeros((space.dimension, T.shape[1])), np.full(space.dimension, np.nan)
    shift, at, bent, extra = T[0].copy(), 1, list[tuple[int, int]](), list[Array]()
    for feature, columns, count, gap in where:
        known, missing, start = T[at : at + count], T[at + count] if gap else None, columns.start
        z, at = Z[at : at + count, start], at + count + gap
        if feature.kind == "categorical":
            ground = known[0] if missing is None else missing
            L[columns] = known - ground
            shift += ground - T[0]
            continue
        slope = (known[-1] - known[0]) / ((z[-1] - z[0]) or 1.0)
        flat = known[0] - z[0] * slope
        if np.allclose(known, flat + z[:, None] * slope, rtol=0, atol=1e-9):
            L[start] = slope
            shift += flat - T[0]
        else:
            bent.append((start, count))
            extra.append(known - T[0])
        if missing is not None:
            j = int(np.abs(slope).argmax())
            fill[start] = (missing[j] - flat[j]) / slope[j] if slope[j] else base[start]
    first = inner.weights[0]
    return replace(
        inner,
        weights=[np.concatenate([L, *extra]) @ first, *inner.weights[1:]],
        biases=[inner.biases[0] + shift @ first, *inner.biases[1:]],
        bent=tuple(bent),
        fill=fill if gaps else None,
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
