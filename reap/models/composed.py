"""Linear models and networks behind preprocessing of raw rows: their logit and gradient as functions of the vector.

One-hot columns, scaling, imputing and ordinal codes are affine in the encoded vector, ``T = E(z) L + b``, so the gradient is
that of the estimator times ``Lᵀ``. ``L`` and ``b`` are not taken from the steps but from what they do to single changes, and
compared with the pipeline on rows at random: what does not agree has no gradient. ``E`` leaves z as it is, but for ordered levels
that are not affine (one-hot, say): between two levels it is interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.pipeline import Pipeline

from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.estimator import Estimator, steps_before
from reap.models.network import network_of
from reap.space import ActionSpace

#: Rows at random on which it is compared with the pipeline.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class Composed(Smooth):
    """A smooth model of transformed columns, as a function of the vector.

    Parameters
    ----------
    inner : Smooth
        Of (n, c) transformed columns.
    matrix, shift : (e, c), (c,)
    steps : tuple of (column, levels)
        Ordered levels that are interpolated; they take as many columns of the expanded vector, behind the others.
    fill : (d,)
        What stands for a missing value.
    """

    inner: Smooth
    matrix: Array
    shift: Array
    steps: tuple[tuple[int, int], ...]
    fill: Array

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        return self.inner.logit(self.transformed(Z))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d); 0 for what is missing."""
        slope = self.inner.gradient(self.transformed(Z)) @ self.matrix.T
        out = slope[:, : Z.shape[1]].copy()
        begin = Z.shape[1]
        for column, levels in self.steps:
            place = np.where(np.isnan(Z[:, column]), 0.0, Z[:, column]) * (levels - 1)
            low = np.clip(np.floor(place), 0, levels - 2).astype(np.intp)
            each = np.arange(len(Z))
            block = slope[:, begin : begin + levels]
            out[:, column] = (block[each, low + 1] - block[each, low]) * (levels - 1)
            begin += levels
        return np.asarray(np.where(np.isnan(Z), 0.0, out))

    def transformed(self, Z: Array) -> Array:
        """Return the transformed columns (n, c)."""
        return np.asarray(
            expanded(np.where(np.isnan(Z), self.fill, Z), self.steps) @ self.matrix + self.shift
        )


def expanded(Z: Array, steps: tuple[tuple[int, int], ...]) -> Array:
    """Return vectors (n, d) with the shares (n, levels) of each interpolated feature's levels behind them."""
    parts = [Z]
    for column, levels in steps:
        away = np.abs(Z[:, [column]] * (levels - 1) - np.arange(levels))
        parts.append(np.maximum(1.0 - away, 0.0))
    return np.concatenate(parts, axis=1)


@dataclass(frozen=True, eq=False)
class Mixture(Smooth):
    """The weighted mean of probabilities: ``∂ logit p̄ = Σ w_i p_i (1 − p_i) ∂ logit p_i / (p̄ (1 − p̄))``."""

    members: tuple[Smooth, ...]
    weights: Array

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        return np.asarray(logit(np.clip(self._mean(Z)[0], 2.0**-53, 1 - 2.0**-53)))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""
        mean, each = self._mean(Z)
        slope = sum(
            w * (p * (1 - p))[:, None] * member.gradient(Z)
            for w, p, member in zip(self.weights, each, self.members, strict=True)
        )
        return np.asarray(slope / np.maximum(mean * (1 - mean), 2.0**-53)[:, None])

    def _mean(self, Z: Array) -> tuple[Array, Array]:
        each = expit(np.stack([member.logit(Z) for member in self.members]))
        return self.weights @ each, each


@dataclass(frozen=True, eq=False)
class Calibrated(Smooth):
    """Platt's sigmoid over the logit of a linear model: ``logit p = −(slope · f + shift)``, its sign by the target."""

    inner: Smooth
    slope: float
    shift: float
    sign: float

    def logit(self, Z: Array) -> Array:
        """Return the logit of the target, (n,)."""
        return np.asarray(-self.sign * (self.slope * self.inner.logit(Z) + self.shift))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""
        return np.asarray(-self.sign * self.slope * self.inner.gradient(Z))


def composed(scorer: Estimator) -> Smooth | None:
    """Return the smooth model behind a scorer of rows in units or of vectors; None where there is none, or not exactly."""
    Z = rows_at_random(scorer.space, np.random.default_rng(1))
    try:
        made = _smooth(scorer.estimator, [], scorer, scorer.index)
        return made if made is not None and scorer.agrees(made, Z) else None
    except (
        ValueError,
        TypeError,
    ):  # rows that the model or its preprocessing refuses, or text where numbers are needed
        return None


def _smooth(model: Any, before: list[Any], scorer: Estimator, index: int) -> Smooth | None:
    """Return a fitted model behind some preprocessing as a function of vectors; not yet compared with it."""
    if isinstance(model, Pipeline):
        return _smooth(model[-1], [*before, *steps_before(model)], scorer, index)
    members: list[Smooth | None]
    if isinstance(model, VotingClassifier) and model.voting == "soft":
        members = [_smooth(member, before, scorer, index) for member in model.estimators_]
        return _mixture(members, model._weights_not_none)
    if isinstance(model, CalibratedClassifierCV) and len(model.classes_) == 2 and model.method == "sigmoid":
        members, sign = [], 1.0 if index == 1 else -1.0
        for member in model.calibrated_classifiers_:
            inner, sigmoid = _smooth(member.estimator, before, scorer, 1), member.calibrators[0]
            known = None if inner is None else Calibrated(inner, float(sigmoid.a_), float(sigmoid.b_), sign)
            members.append(known)
        return _mixture(members, None)
    network = network_of(model, index)
    return None if network is None else _fitted(before, network, scorer)


def _mixture(members: list[Smooth | None], weights: Any) -> Smooth | None:
    known = tuple(member for member in members if member is not None)
    share = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
    return Mixture(known, share / share.sum()) if len(known) == len(members) else None


def _fitted(before: list[Any], inner: Smooth, scorer: Estimator) -> Composed:
    """Return the composition, by what the preprocessing does to one change at a time."""
    space, rng = scorer.space, np.random.default_rng(0)

    def transform(Z: Array) -> Array:
        out = scorer.rows(Z)
        for step in before:
            out = step.transform(out)
        return np.asarray(out.toarray() if hasattr(out, "toarray") else out, dtype=float)

    base = rows_at_random(space, rng)[0]
    bent: list[tuple[int, int]] = []
    tried, where = [base], []
    for feature in space.features:
        columns = space.slices[feature.name]
        count = feature.width if feature.kind == "categorical" else len(feature.levels) or 2
        values = np.eye(count) if feature.kind == "categorical" else np.linspace(0, 1, count)[:, None]
        if feature.kind == "integer" and feature.range is not None and not space.encoded:
            low, high = feature.range
            values = (np.array([[np.ceil(low)], [np.floor(high)]]) - low) / ((high - low) or 1.0)
        missing = [np.zeros(count) if feature.kind == "categorical" else np.array([np.nan])] * feature.missing
        where.append((columns, np.array([*values, *missing])))
        for block in where[-1][1]:
            row = base.copy()
            row[columns] = block
            tried.append(row)
    T = transform(np.array(tried))
    L, fill = np.zeros((space.dimension, T.shape[1])), np.zeros(space.dimension)
    extra: list[Array] = []
    at = 1
    shift = T[0].copy()
    for feature, (columns, values) in zip(space.features, where, strict=True):
        seen = T[at : at + len(values)]
        at += len(values)
        gap = seen[-1] if feature.missing else None
        known = seen[:-1] if feature.missing else seen
        own = known[int(base[columns].argmax())] if feature.kind == "categorical" else None
        if own is not None:
            ground = known[0] if gap is None else gap
            L[columns] = known - ground
            shift += ground - own
            continue
        z = values[: len(known), 0]
        start = columns.start
        slope = (known[-1] - known[0]) / ((z[-1] - z[0]) or 1.0)
        flat = known[0] - z[0] * slope
        if np.allclose(known, flat + z[:, None] * slope, rtol=0, atol=1e-9):
            L[start] = slope
            shift -= base[start] * slope
        else:
            bent.append((start, len(feature.levels)))
            own_level = int(np.rint(base[start] * (len(known) - 1)))
            extra.append(known - known[own_level])
        if gap is not None:
            j = int(np.abs(slope).argmax())
            fill[start] = (gap[j] - flat[j]) / slope[j] if slope[j] else base[start]
    matrix = np.concatenate([L, *extra])
    return Composed(inner, matrix, shift, tuple(bent), fill)


def rows_at_random(space: ActionSpace, rng: np.random.Generator, count: int = _ROWS) -> Array:
    """Return vectors (n, d) of rows at random: levels as they are, numbers a little beyond their range, some missing."""
    Z = np.zeros((count, space.dimension))
    for feature in space.features:
        columns, n = space.slices[feature.name], np.arange(count)
        if feature.kind == "categorical":
            Z[n, columns.start + rng.integers(feature.width, size=count)] = 1.0
        elif feature.is_number:
            value = rng.uniform(-0.25, 1.25, count)
            if feature.kind == "integer" and feature.range is not None and not space.encoded:
                low, high = feature.range
                value = (np.rint(low + value * (high - low)) - low) / ((high - low) or 1.0)
            Z[:, columns.start] = value
        else:
            last = max(len(feature.levels) - 1, 1)
            Z[:, columns.start] = rng.integers(len(feature.levels), size=count) / last
        if feature.missing:
            gone = np.flatnonzero(rng.random(count) < 0.15)
            gone = gone[gone > 0]  # the first row is known
            Z[gone, columns] = 0.0 if feature.kind == "categorical" else np.nan
    return Z
