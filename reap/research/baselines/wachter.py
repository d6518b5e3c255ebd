"""Wachter, Mittelstadt and Russell, "Counterfactual explanations without opening the black box" (2018)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from reap import effort
from reap._arrays import zero_missing
from reap._errors import unknown
from reap._typing import Array, Bools, Frame
from reap.models.classifier import Classifier, Smooth
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import RowBaseline, above
from reap.space import Limits

Loss = Literal["cross-entropy", "quadratic", "hinge"]
_LOSSES = ("cross-entropy", "quadratic", "hinge")
#: How much λ falls where nothing was accepted, and never below 0: a negative λ would reward distance.
_LESS = 0.05
#: Steps between two looks at what the model says of the rows passed.
_BLOCK = 100
#: Adam's usual constants.
_BETA1, _BETA2, _TINY = 0.9, 0.999, 1e-8
#: How far above the threshold the quadratic loss and the hinge aim.
_MARGIN = 1e-3


@dataclass(eq=False, repr=False, kw_only=True)
class Wachter(RowBaseline):
    """The first accepted row on Adam's way down ``loss(f(x)) + λ·‖x − x0‖²``, the same for every matrix.

    λ starts at ``weight`` and falls by 0.05, never below 0, where no row of a descent is accepted. Rows are judged
    legal and rounded, as they are shown. A model without a gradient lends the slope of a logistic regression fitted
    to its verdicts; which row is accepted is the model's own word.

    Parameters
    ----------
    model, space, target, threshold, constraints
        As in ``Baseline``; without constraints, any point of the unit box.
    loss : {"cross-entropy", "quadratic", "hinge"}
        ``−log f``; ``(f − τ)²``; or how far the logit is below the boundary.
    learning_rate, weight, max_iterations : float, float, int
        Adam's step, the first λ, and the steps for each λ.
    random_state : int
        Not used: nothing here is random.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = make_pipeline(space.encoder(), LogisticRegression()).fit(X, X["income"] > 1000 * X["debts"] + 1000)
    >>> engine = Wachter(model, space, target=True).fit(X)
    >>> engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0].valid
    True
    """

    loss: Loss = "cross-entropy"
    learning_rate: float = 0.01
    weight: float = 1.0
    max_iterations: int = 1000

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model; where it has no gradient, fit the slope to its verdicts on ``X``."""
        if self.loss not in _LOSSES:
            raise unknown("loss", self.loss, _LOSSES)
        above("learning_rate", self.learning_rate, 0.0, strict=True)
        above("weight", self.weight, 0.0)
        above("max_iterations", self.max_iterations, 1)
        super().fit(X, y)
        self.slope_: Smooth | Classifier | None = None
        careful = self.acceptance_.classifier
        if careful.has_gradient:
            self.slope_ = careful
        elif self.accepted_.any() and not self.accepted_.all():
            self.slope_ = Linear(self.rows_, self.accepted_)
        return self

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        if self.slope_ is None:
            return subject.refused(
                "none_found", "The model has no gradient and gives every known row the same verdict."
            )

        def project(Z: Array) -> Array:
            return subject.space.legal.relax(Z, subject.z) if self.constraints else np.clip(Z, 0.0, 1.0)

        weight = float(self.weight)
        while True:
            descent = Adam(self.slope_, project, subject.z[None], self._outer, self.learning_rate, weight)
            for begin in range(0, self.max_iterations, _BLOCK):
                passed = [descent.step()[0] for _ in range(min(_BLOCK, self.max_iterations - begin))]
                plan = self._first(np.array(passed), subject)
                if plan is not None:
                    return plan.with_(note=f"λ = {weight:g}." if weight != self.weight else "")
            if weight <= 0:
                return subject.refused("none_found", "No row on the way down is accepted, even with λ = 0.")
            weight = max(round(weight - _LESS, 10), 0.0)

    def _outer(self, logits: Array) -> Array:
        """Return the slope of the loss in the logit, (n,)."""
        if self.loss == "cross-entropy":
            return np.asarray(expit(logits) - 1.0)
        goal = self.acceptance_.classifier.boundary + _MARGIN
        if self.loss == "hinge":
            return -(logits < goal).astype(float)
        f = expit(logits)
        return np.asarray(2 * (f - expit(goal)) * f * (1 - f))


class Linear(Smooth):
    """A logistic regression on vectors, for its slope only.

    Parameters
    ----------
    Z : (n, d)
    accepted : (n,)
    """

    def __init__(self, Z: Array, accepted: Bools) -> None:
        fitted = LogisticRegression(C=100.0, max_iter=2000).fit(zero_missing(Z), accepted)
        self.weights, self.constant = fitted.coef_[0], float(fitted.intercept_[0])

    def logit(self, Z: Array) -> Array:
        """Return the logit, (n,)."""
        return np.asarray(zero_missing(Z) @ self.weights + self.constant)

    def gradient(self, Z: Array) -> Array:
        """Return the weights for every row, (n, d)."""
        return np.tile(self.weights, (len(Z), 1))


class Adam:
    """Adam on ``loss(f(x)) + λ·‖x − x0‖²`` from n starts at once, projected after every step.

    Parameters
    ----------
    slope : Smooth
    project : callable
        Points (n, d) to feasible ones.
    starts : (n, d)
    outer : callable
        The loss's slope in the logit, (n,) to (n,).
    rate, weight : float
        Learning rate and λ.
    """

    def __init__(
        self,
        slope: Smooth | Classifier,
        project: Callable[[Array], Array],
        starts: Array,
        outer: Callable[[Array], Array],
        rate: float,
        weight: float,
    ) -> None:
        self.slope, self.project, self.outer = slope, project, outer
        self.rate, self.weight = rate, weight
        self.starts, self.points = starts, starts.copy()
        self.first, self.second, self.count = np.zeros_like(starts), np.zeros_like(starts), 0

    def step(self) -> Array:
        """Take one step; return the points (n, d)."""
        Z = self.points
        pull = zero_missing(self.slope.gradient(Z)) * self.outer(self.slope.logit(Z))[:, None]
        total = pull + 2 * self.weight * effort.changes(Z, self.starts)
        self.count += 1
        self.first = _BETA1 * self.first + (1 - _BETA1) * total
        self.second = _BETA2 * self.second + (1 - _BETA2) * total**2
        mean = self.first / (1 - _BETA1**self.count)
        spread = np.sqrt(self.second / (1 - _BETA2**self.count)) + _TINY
        self.points = self.project(Z - self.rate * mean / spread)
        return self.points
