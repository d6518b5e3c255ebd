"""Many models on the same rows at once: networks of one shape go through a layer together, in one product.

Scored one after the other, small batches cost mostly the calls: twenty linear models cost ten times what one product costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.network import ACTIVATIONS, Network

#: Rows that go through at a time, so that the layers of all members stay in the processor's cache.
_BLOCK = 256


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Members of any kinds: what has a ``logit``."""

    members: Sequence[Any]

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        return np.stack([member.logit(Z) for member in self.members])

    def pull(self, Z: Array, weights: Array) -> Array:
        """Return `Σ_i w_i ∂logit_i` (n, d) for weights (m, n), of members that have gradients."""
        slope = np.zeros(np.shape(Z))
        for weight, member in zip(weights, self.members, strict=True):
            if (rows := np.flatnonzero(weight)).size:
                slope[rows] += weight[rows, None] * member.gradient(Z[rows])
        return slope


@dataclass(frozen=True, eq=False)
class Stacked:
    """Networks of one shape with one output.

    Parameters
    ----------
    first : (d, m·k) array
        The first layers, side by side.
    weights : sequence of (m, j, k) arrays
        The layers after it.
    biases : sequence of (m, 1, k) arrays
    signs : (m,) array
        −1 where the target is the first class.
    activation : str
    """

    first: Array
    weights: Sequence[Array]
    biases: Sequence[Array]
    signs: Array
    activation: str

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        Z = Z.astype(self.first.dtype, copy=False)
        outs = [self._forward(Z[rows])[-1][:, :, 0] for rows in _blocks(len(Z))]
        return self.signs[:, None] * np.concatenate(outs, axis=1)

    def rounded(self) -> Stacked:
        """Return the same in single precision, for logits to six digits in half the time."""
        single: Any = np.float32
        first, *weights = (weight.astype(single) for weight in (self.first, *self.weights))
        return replace(
            self, first=first, weights=weights, biases=[bias.astype(single) for bias in self.biases]
        )

    def pull(self, Z: Array, weights: Array) -> Array:
        """Return `Σ_i w_i ∂logit_i` (n, d) for weights (m, n), by backpropagation through all members together."""
        parts = [self._back(Z[rows], weights[:, rows]) for rows in _blocks(len(Z))]
        return np.concatenate(parts)

    def _forward(self, Z: Array) -> list[Array]:
        activate = ACTIVATIONS[self.activation][0]
        members = len(self.signs)
        side_by_side = (Z @ self.first).reshape(len(Z), members, self.first.shape[1] // members)
        h = side_by_side.transpose(1, 0, 2) + self.biases[0]
        layers = [h]
        for weight, bias in zip(self.weights, self.biases[1:], strict=True):
            layers[-1] = activate(h)
            h = layers[-1] @ weight
            h += bias
            layers.append(h)
        return layers

    def _back(self, Z: Array, weights: Array) -> Array:
        derivative = ACTIVATIONS[self.activation][1]
        slope = (self.signs[:, None] * weights)[:, :, None]
        if self.weights:
            layers = self._forward(Z)[:-1]
            for weight, a in zip(reversed(self.weights), reversed(layers), strict=True):
                slope = (slope @ weight.transpose(0, 2, 1)) * derivative(a)
        return np.asarray(slope.transpose(1, 0, 2).reshape(len(Z), self.first.shape[1]) @ self.first.T)


def together(members: Sequence[Smooth]) -> OneByOne | Stacked:
    """Return members as they are scored on the same rows: networks of one shape at once, any others one after the other.

    Examples
    --------
    >>> one = Network([np.array([[2.0], [0.0]])], [np.array([-1.0])], "identity", 1)
    >>> other = Network([np.array([[0.0], [1.0]])], [np.array([0.0])], "identity", 0)
    >>> both = together([one, other])
    >>> both.logits(np.array([[1.0, 5.0]])).tolist()
    [[1.0], [-5.0]]
    """
    networks = [member for member in members if isinstance(member, Network)]
    shapes = {(one.activation, *(weight.shape for weight in one.weights)) for one in networks}
    if len(networks) < len(members) or len(shapes) != 1 or networks[0].weights[-1].shape[1] != 1:
        return OneByOne(members)
    return Stacked(
        np.concatenate([one.weights[0] for one in networks], axis=1),
        [np.stack(layer) for layer in zip(*(one.weights[1:] for one in networks), strict=True)],
        [np.stack(layer)[:, None] for layer in zip(*(one.biases for one in networks), strict=True)],
        np.array([1.0 if one.index == 1 else -1.0 for one in networks]),
        networks[0].activation,
    )


def _blocks(count: int) -> list[slice]:
    """Return slices that cover rows; one where there are none."""
    return [slice(start, start + _BLOCK) for start in range(0, max(count, 1), _BLOCK)]
