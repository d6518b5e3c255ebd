"""The one interface every model stands behind."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from cachetools import LRUCache
from scipy.special import expit, logit
from sklearn.pipeline import Pipeline

from reap import _clock
from reap._errors import InputError
from reap._typing import Array, Bools
from reap.models.declared import Carrying, OnVectors
from reap.scores import Scale
from reap.space import ActionSpace

#: Probabilities of exactly 0 or 1 get a finite logit of about ±37; the step of differences.
_SURE, _STEP = 2.0**-53, 1e-5
#: Rows whose scores are remembered, and rows of one call beyond which looking them up is not worth it.
_KEPT, _MANY = 8_192, 512


class Smooth(ABC):
    """Anything with a gradient: the target's logit, or a score that is no probability, of vectors (n, d)."""

    @abstractmethod
    def logit(self, Z: Array) -> Array:
        """Return log(p / (1 − p)) of the target class, or the score, (n,)."""

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of that, (n, d), 0 for what is missing: central differences, where a kernel knows no better."""
        steps = _STEP * np.eye(Z.shape[1])
        rows = np.concatenate([Z[:, None] + steps, Z[:, None] - steps])
        up, down = self.logit(rows.reshape(-1, len(steps))).reshape(2, *Z.shape)
        return np.asarray((up - down) / (2 * _STEP))


def log_odds(p: Array) -> Array:
    """Return log(p / (1 − p)) of probabilities (n,), finite also for 0 and 1, which a forest gives."""
    return np.asarray(logit(np.clip(p, _SURE, 1.0 - _SURE)))


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
        A row is accepted where its probability is *above* it. Scores that are no probabilities are linked to logits,
        ``(score − threshold) / spread`` (``reap.scores.Scale``), with a probability of .5 at their own threshold.
    kernel : Smooth, or anything whose ``score`` takes vectors (n, d)
        Does the arithmetic, in the model's own unit: the logit of a Smooth one, the probability or score of any other.
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
    kernel: Any
    scale: Scale = field(default_factory=Scale)

    def __post_init__(self) -> None:
        self._fitted  # noqa: B018 as it is now

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_fitted"}

    @cached_property
    def _fitted(self) -> dict[str, Any]:
        """What fitting has left in the model; a copy out of a file has objects of its own, and begins with these."""
        return fitted_state(self.model)

    def check_same_model(self) -> None:
        """Refuse to go on with a model that was fitted again since: half of the answers would be those of another model.

        Training in place is seen by its counters.
        """
        now = fitted_state(self.model)
        for name, value in self._fitted.items():
            if name in now and (
                now[name] is value or (isinstance(value, str | int | float) and now[name] == value)
            ):
                continue
            raise InputError(
                "the model was fitted again after the engine; call engine.fit(X) again, so that both are of the same model"
            )

    @property
    def boundary(self) -> float:
        """The logit of the threshold: a row is accepted where ``logit`` exceeds it."""
        return float(logit(self.threshold))

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,); .5 at the threshold of scores that are none."""
        return self.score(Z) if self.scale.output == "probability" else np.asarray(expit(self.logit(Z)))

    def score(self, Z: Array) -> Array:
        """Return what the model itself returns, (n,), in the unit of the scale: probabilities, points, …"""
        Z, probable = self._rows(Z), self.scale.output == "probability"
        scores = self.kernel.logit(Z) if self.has_gradient else self.kernel.score(Z)
        if probable and self.has_gradient:
            scores = np.asarray(expit(scores))
        if not np.isfinite(scores).all():
            what, wrong = "probability" if probable else "score", scores[~np.isfinite(scores)][0]
            raise InputError(
                f"the model gives no {what} for a row with missing values; fill them in, or use a model that takes them, such as "
                "HistGradientBoostingClassifier"
                if np.isnan(Z).any()
                else f"the model gives {'NaN' if np.isnan(wrong) else wrong} as a {what}; check the model"
            )
        return np.asarray(scores)

    def logit(self, Z: Array) -> Array:
        """Return log(p / (1 − p)) of the target class, (n,); always finite."""
        if self.scale.output == "probability" and self.has_gradient:
            return np.asarray(self.kernel.logit(self._rows(Z)))
        return self.linked(self.score(Z))

    def linked(self, scores: Array) -> Array:
        """Return the logits (n,) of scores (n,) that ``score`` returned."""
        if self.scale.output == "score":
            return self.scale.logit(scores)
        return log_odds(scores)

    def gradient(self, Z: Array) -> Array:
        """Return the gradient (n, d) of the **logit** log(p / (1 − p)) with respect to the encoded row.

        The decision boundary is ``logit(p) = boundary``. The logit, not the probability: it does not fade where the
        model is sure, and where wanted ``∂p = p (1 − p) ∂logit``.
        """
        if not self.has_gradient:
            raise InputError(
                f"{type(self.model).__name__} has no gradient; use reap.Recourse, which needs none, or a logistic "
                "regression, scikit-learn MLP or torch module"
            )
        Z = self._rows(Z)
        slope = np.asarray(self.kernel.gradient(Z))
        if self.scale.output == "probability":
            return slope
        return np.asarray(self.scale.slope(self.kernel.logit(Z))[:, None] * slope)

    def accepts(self, Z: Array) -> Bools:
        """Return which rows the model accepts, (n,): probability strictly above the threshold."""
        if self.scale.output == "score":  # the logit has digits where the probability has none left
            return np.asarray(self.logit(Z) > self.boundary)
        return np.asarray(self.probability(Z) > self.threshold)

    @cached_property
    def has_gradient(self) -> bool:
        """Whether ``gradient`` exists."""
        return isinstance(self.kernel, Smooth)

    def _rows(self, Z: Array) -> Array:
        _clock.check()
        rows = np.atleast_2d(np.asarray(Z, dtype=float))
        if rows.ndim != 2 or rows.shape[1] != self.space.dimension:
            raise InputError(
                f"the vectors have shape {np.shape(Z)}; the space has {self.space.dimension} encoded columns"
            )
        return rows


def fitted_state(model: Any) -> dict[str, Any]:
    """Return what fitting left in a model, by name: what ends in "_" in scikit-learn, and a booster."""
    if isinstance(model, OnVectors | Carrying):
        return fitted_state(model.model)
    model = getattr(model, "best_estimator_", model)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return {
        f"{i} {name}": value
        for i, step in enumerate(steps)
        for name, value in getattr(step, "__dict__", {}).items()
        if (name.endswith("_") and not name.startswith("__")) or name == "_Booster"
    }


class Remembered:
    """The scores of a classifier; a row among the last ones is not asked about again.

    In a session the same few rows come with every question, and a pipeline takes milliseconds for one row: plans for 9 more
    matrices take 27 ms instead of 36 (German, boosting).
    """

    def __init__(self, classifier: Classifier) -> None:
        self.classifier = classifier
        self._known: LRUCache[bytes, float] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def score(self, Z: Array) -> Array:
        """Return what the model returns of vectors (n, d), (n,); see ``Classifier.score``."""
        if len(Z) > _MANY:
            return self.classifier.score(Z)
        keys = [z.tobytes() for z in Z]
        with self._lock:
            known = {key: self._known[key] for key in keys if key in self._known}
        new = {key: i for i, key in enumerate(keys) if key not in known}
        if new:
            fresh = dict(zip(new, self.classifier.score(Z[list(new.values())]).tolist(), strict=True))
            known |= fresh
            with self._lock:
                self._known.update(fresh)
        return np.array([known[key] for key in keys], dtype=float)
