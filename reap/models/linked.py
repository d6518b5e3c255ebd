"""Models whose scores are no probabilities, behind the interface of those that are: points, margins, regressions.

A score ``s`` becomes the logit ``(s − threshold) / spread`` of ``reap.scores.Scale``, so every engine sees a boundary at 0 and,
where the model has one, a gradient. What people read stays in the model's own unit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import expit

from reap._errors import InputError
from reap._typing import Array
from reap.models.classifier import Smooth
from reap.models.composed import rows_at_random
from reap.models.estimator import Estimator
from reap.scores import Scale, Threshold
from reap.space import ActionSpace

#: Rows at random from which the spread of the scores is taken, and the shares of them between which most scores lie.
_ROWS, _MOST = 256, (0.1, 0.9)
#: The range of most scores counts as this many logits.
_LOGITS = 5.0


class Scores(Protocol):
    """Anything that gives scores for vectors (n, d)."""

    def value(self, Z: Array) -> Array:
        """Return the scores, (n,)."""


@dataclass(frozen=True, eq=False)
class Linked:
    """Scores without a gradient, linked to logits by a scale."""

    scores: Scores
    scale: Scale

    def value(self, Z: Array) -> Array:
        """Return the scores themselves, (n,)."""
        return finite(self.scores.value(Z), Z)

    def logit(self, Z: Array) -> Array:
        """Return the linked logits, (n,)."""
        return self.scale.logit(self.value(Z))

    def probability(self, Z: Array) -> Array:
        """Return what stands for a probability, (n,): .5 at the threshold."""
        return np.asarray(expit(self.logit(Z)))


@dataclass(frozen=True, eq=False)
class SmoothLinked(Smooth):
    """Scores with a gradient, linked to logits by a scale; ``inner.logit`` is the score."""

    inner: Smooth
    scale: Scale

    def value(self, Z: Array) -> Array:
        """Return the scores themselves, (n,)."""
        return finite(self.inner.logit(Z), Z)

    def logit(self, Z: Array) -> Array:
        """Return the linked logits, (n,)."""
        return self.scale.logit(self.value(Z))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the linked logit, (n, d)."""
        return np.asarray(self.scale.slope(self.inner.logit(Z))[:, None] * self.inner.gradient(Z))


@dataclass(frozen=True, eq=False)
class Values(Estimator):
    """``predict`` of a fitted regressor, or ``decision_function`` of a fitted classifier of two classes."""

    def value(self, Z: Array) -> Array:
        """Return the scores, (n,)."""
        rows = self.rows(Z)
        if hasattr(self.estimator, "classes_"):
            sign = 1.0 if self.index == 1 else -1.0
            return sign * np.asarray(self.estimator.decision_function(rows), dtype=float).reshape(len(Z))
        return np.asarray(self.estimator.predict(rows), dtype=float).reshape(len(Z))

    def agrees(self, smooth: Smooth, Z: Array) -> bool:
        """Return whether a reading of the model says what the model says."""
        own = self.value(Z)
        return bool(np.allclose(smooth.logit(Z), own, rtol=1e-9, atol=1e-9 * (1 + np.ptp(own))))


@dataclass(frozen=True, eq=False)
class ScoreFunction:
    """A function that returns scores, (n,)."""

    function: Callable[[Any], Any]
    space: ActionSpace
    raw: bool

    def value(self, Z: Array) -> Array:
        """Return the scores, (n,)."""
        given = np.asarray(self.function(self.space.decode(Z) if self.raw else Z), dtype=float)
        if given.shape == (len(Z), 1):
            given = given[:, 0]
        if given.shape != (len(Z),):
            raise InputError(
                f"the model's function returned shape {given.shape} for {len(Z)} rows; it must return one score a row, "
                f"({len(Z)},)"
            )
        return given


def finite(scores: Array, Z: Array) -> Array:
    """Return scores (n,), refused where one is none."""
    if not np.isfinite(scores).all():
        wrong = scores[~np.isfinite(scores)][0]
        raise InputError(
            "the model gives no score for a row with missing values; fill them in, or use a model that takes them"
            if np.isnan(Z).any()
            else f"the model gives {wrong} as a score; check the model"
        )
    return scores


def scale_of(
    scores: Scores | Smooth, space: ActionSpace, threshold: Threshold, unit: str, spread: float | None = None
) -> Scale:
    """Return the scale of a model's scores: how far they spread over rows at random says what counts as one logit."""
    Scale(threshold, "score", unit)  # says what is wrong before the model is asked
    Z = rows_at_random(space, np.random.default_rng(0), _ROWS)
    try:
        given = np.asarray(scores.logit(Z) if isinstance(scores, Smooth) else scores.value(Z), dtype=float)
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
