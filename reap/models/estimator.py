"""Fitted classifiers and functions that give probabilities, on vectors or on rows in the user's units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from reap._errors import InputError
from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.frames import Frames
from reap.space import ActionSpace


@dataclass(frozen=True, eq=False)
class Estimator:
    """``predict_proba`` of a fitted classifier.

    Parameters
    ----------
    estimator : fitted classifier
    space : ActionSpace
    index : int
        The target's place among the classes.
    raw : bool
        Whether the model takes rows in units (decoded first) or vectors.
    columns : sequence of str, or None
        What the model was trained on, by name and in its order; None: an array without names.
    carried : mapping
        The person's own values of columns that the space leaves out.
    """

    estimator: Any
    space: ActionSpace
    index: int
    raw: bool
    columns: Sequence[str] | None
    carried: Mapping[str, Any] = field(default_factory=dict)

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,)."""
        return np.asarray(self.estimator.predict_proba(self.rows(Z))[:, self.index], dtype=float)

    def agrees(self, smooth: Smooth, Z: Array) -> bool:
        """Return whether a reading of the model says what the model says: a subclass may go its own way."""
        return bool(np.allclose(expit(smooth.logit(Z)), self.probability(Z), rtol=0, atol=1e-9))

    def rows(self, Z: Array) -> Any:
        """Return vectors (n, d) as the model wants them."""
        if not self.raw and self.columns is None:
            return Z
        if self.raw and self.columns is not None:
            return self._frames.of(Z)
        frame = self.space.decode(Z) if self.raw else pd.DataFrame(Z, columns=list(self.space.columns))
        return frame.to_numpy() if self.columns is None else frame[list(self.columns)]

    @cached_property
    def _frames(self) -> Frames:
        return Frames(self.space, self.columns or (), self.carried)


@dataclass(frozen=True, eq=False)
class Function:
    """A function that returns probabilities: (n,) of class 1, or (n, k) of the classes 0 … k − 1."""

    function: Callable[[Any], Any]
    space: ActionSpace
    target: Any
    raw: bool

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,)."""
        given = self.function(self.space.decode(Z) if self.raw else Z)
        try:
            p = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            first = next(iter(given), given) if hasattr(given, "__iter__") else given
            raise InputError(
                f"the model's function returned {first!r}; it must return probabilities, numbers between 0 and 1"
            ) from None
        if p.shape == (len(Z), 1):
            p = p[:, 0]
        if p.shape[:1] != (len(Z),) or p.ndim > 2:
            raise InputError(
                f"the model's function returned shape {p.shape} for {len(Z)} rows; it must return one probability a "
                f"row, ({len(Z)},), or one a row and class, ({len(Z)}, 2)"
            )
        wrong = (p < -1e-9) | (p > 1 + 1e-9)
        if wrong.any():
            raise InputError(
                f"the model's function returned {p[wrong][0]:g}; it must return probabilities between 0 and 1"
            )
        classes = p.shape[1] if p.ndim == 2 else 2
        if self.target not in range(classes):
            raise InputError(
                f"there is no class {self.target!r}; the model's function has the classes {list(range(classes))}"
            )
        if p.ndim == 2:
            return np.asarray(p[:, int(self.target)])
        return p if self.target == 1 else 1.0 - p


def steps_before(pipeline: Any) -> list[Any]:
    """Return the fitted steps that a row passes before the last one; samplers of imblearn act in training only."""
    steps = [step for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]
    return [step for step in steps if not hasattr(step, "fit_resample")]
