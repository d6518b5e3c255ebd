"""The one interface every model stands behind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from scipy.special import expit, logit

from reap import _clock
from reap._errors import InputError
from reap._typing import Array, Bools
from reap.models.refitted import refitted, state
from reap.scores import Scale
from reap.space import ActionSpace

#: Probabilities of exactly 0 or 1 (a forest gives them) get a finite logit of about ±37.
_SURE = 2.0**-53


class Scorer(Protocol):
    """Anything that gives the target's probability for vectors (n, d)."""

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,)."""


class Smooth(ABC):
    """Anything that gives the target's logit for vectors (n, d), and its gradient."""

    @abstractmethod
    def logit(self, Z: Array) -> Array:
        """Return log(p / (1 − p)) of the target class, (n,)."""

    @abstractmethod
    def gradient(self, Z: Array) -> Array:
        """Return the gradient of the logit, (n, d)."""


@runtime_checkable
class Valued(Protocol):
    """A kernel of scores that are no probabilities: their values, and the logits they are linked to."""

    def value(self, Z: Array) -> Array:
        """Return the scores themselves, (n,)."""

    def logit(self, Z: Array) -> Array:
        """Return the linked logits, (n,)."""


@runtime_checkable
class Staged(Protocol):
    """A kernel that can say sooner than how high a logit is that it is not high enough."""

    def from_least(self, Z: Array, least: float) -> Array:
        """Return the logits that are ``least`` or more, −inf elsewhere, (n,)."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """A trained model as the engines see it: vectors in, the target's probability and gradient out.

    Made by ``reap.models.wrap``. All methods take encoded rows (n, d), or one row (d,), which counts as n = 1.

    Parameters
    ----------
    model : object
        What the user gave.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float
        A row is accepted where its probability is *above* it. Scores that are no probabilities are linked to a
        probability of .5 at their own threshold, which is in the scale.
    kernel : Scorer or Smooth
        Does the arithmetic.
    scale : Scale
        The unit in which the model's scores are said, and which of them are enough.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]}), [0, 0, 1, 1]
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, y)
    >>> classifier = reap.models.wrap(model, space)
    >>> classifier.accepts(space.encode(X))
    array([False, False,  True,  True])
    >>> classifier.has_gradient, classifier.gradient(np.zeros(1)).shape
    (True, (1, 1))
    """

    model: Any
    space: ActionSpace
    target: Hashable
    threshold: float
    kernel: Scorer | Smooth
    scale: Scale = field(default_factory=Scale)

    def __post_init__(self) -> None:
        self._fitted  # noqa: B018 as it is now

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_fitted"}

    @cached_property
    def _fitted(self) -> dict[str, Any]:
        """What fitting has left in the model; a copy out of a file has objects of its own, and begins with these."""
        return state(self.model)

    def check_same_model(self) -> None:
        """Refuse to go on with a model that was fitted again since."""
        if refitted(self._fitted, self.model):
            raise InputError(
                "the model was fitted again after the engine; call engine.fit(X) again, so that both are of the same model"
            )

    @property
    def has_gradient(self) -> bool:
        """Whether ``gradient`` exists."""
        return isinstance(self.kernel, Smooth)

    def describe(self) -> str:
        """Return in a sentence how the model is worked with."""
        name = type(self.model[-1] if hasattr(self.model, "steps") else self.model).__name__
        if self.has_gradient:
            return f"{name}: read as a smooth function; plans are found along its decision boundary."
        if self.scale.output == "score":
            return f"{name}: asked for scores of rows, without a gradient."
        return f"{name}: asked for probabilities of rows, without a gradient."

    @property
    def boundary(self) -> float:
        """The logit of the threshold: a row is accepted where ``logit`` exceeds it."""
        return float(logit(self.threshold))

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,)."""
        Z = self._rows(Z)
        if self._gives_logits:
            p = np.asarray(expit(cast(Smooth, self.kernel).logit(Z)))
        else:
            p = cast(Scorer, self.kernel).probability(Z)
        if np.isnan(p).any():
            raise InputError(
                "the model gives no probability for a row with missing values; fill them in, or use a model "
                "that takes them, such as HistGradientBoostingClassifier"
                if np.isnan(Z).any()
                else "the model gives NaN as a probability; check the model"
            )
        return p

    def score(self, Z: Array) -> Array:
        """Return what the model itself returns, (n,), in the unit of the scale: probabilities, points, …"""
        if isinstance(self.kernel, Valued):
            return self.kernel.value(self._rows(Z))
        return self.probability(Z)

    def logit(self, Z: Array) -> Array:
        """Return log(p / (1 − p)) of the target class, (n,); always finite."""
        if self._gives_logits:
            return cast(Smooth, self.kernel).logit(self._rows(Z))
        return np.asarray(logit(np.clip(self.probability(Z), _SURE, 1.0 - _SURE)))

    def from_least(self, Z: Array, least: float) -> Array:
        """Return the logits (n,) that are ``least`` or more, and anything smaller elsewhere.

        A search wants no more of thousands of rows, and a model of many members knows it after asking some of them.
        """
        return cast(Staged, self.kernel).from_least(self._rows(Z), least) if self._staged else self.logit(Z)

    def linked(self, scores: Array) -> Array:
        """Return the logits (n,) of scores (n,) that ``score`` returned."""
        if self.scale.output == "score":
            return self.scale.logit(scores)
        return np.asarray(logit(np.clip(scores, _SURE, 1.0 - _SURE)))

    def gradient(self, Z: Array) -> Array:
        """Return the gradient (n, d) of the **logit** log(p / (1 − p)) with respect to the encoded row.

        The decision boundary is ``logit(p) = boundary``. The logit, not the probability: it does not fade where the
        model is sure, and where wanted ``∂p = p (1 − p) ∂logit``.
        """
        if not isinstance(self.kernel, Smooth):
            raise InputError(
                f"{type(self.model).__name__} has no gradient; use reap.Recourse, which needs none, or a logistic "
                "regression, scikit-learn MLP or torch module"
            )
        return self.kernel.gradient(self._rows(Z))

    def accepts(self, Z: Array) -> Bools:
        """Return which rows the model accepts, (n,): probability strictly above the threshold."""
        if self.scale.output == "score":  # the logit has digits where the probability has none left
            return np.asarray(self.logit(Z) > self.boundary)
        return np.asarray(self.probability(Z) > self.threshold)

    @cached_property
    def _gives_logits(self) -> bool:
        """Whether the kernel has logits of its own; looking at a protocol takes as long as a small score."""
        return isinstance(self.kernel, Smooth | Valued)

    @cached_property
    def _staged(self) -> bool:
        return isinstance(self.kernel, Staged)

    def _rows(self, Z: Array) -> Array:
        _clock.check()
        rows = np.atleast_2d(np.asarray(Z, dtype=float))
        if rows.ndim != 2 or rows.shape[1] != self.space.dimension:
            raise InputError(
                f"the vectors have shape {np.shape(Z)}; the space has {self.space.dimension} encoded columns"
            )
        return rows
