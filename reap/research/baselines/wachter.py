"""Wachter, Mittelstadt and Russell, "Counterfactual explanations without opening the black box" (2018)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from reap import effort
from reap._arrays import zero_missing
from reap._typing import Array, Bools, Frame
from reap.models.classifier import Classifier, Smooth
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import RowBaseline, above
from reap.space import Limits

#: How much λ falls where nothing was accepted, and never below 0: a negative λ would reward distance.
_LESS = 0.05
#: Steps between two looks at what the model says of the rows passed.
_BLOCK = 100
#: Adam's usual constants.
_BETA1, _BETA2, _TINY = 0.9, 0.999, 1e-8


@dataclass(eq=False, repr=False, kw_only=True)
class Wachter(RowBaseline):
    """The first accepted row on Adam's way down ``−log f(x) + λ·‖x − x0‖²``, the same for every matrix.

    λ starts at ``weight`` and falls by 0.05, never below 0, where no row of a descent is accepted. Rows are judged
    legal and rounded, as they are shown. A model without a gradient lends the slope of a logistic regression fitted
    to its verdicts; which row is accepted is the model's own word. Nothing here is random.

    Parameters
    ----------
    model, space, target, threshold, constraints
        As in ``Baseline``; without constraints, any point of the unit box.
    learning_rate, weight, max_iterations : float, float, int
        Adam's step, the first λ, and the steps for each λ.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"income": np.arange(10, 60) * 100, "debts": np.arange(50) % 6})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = Wachter(model, reap.ActionSpace.from_frame(X)).fit(X)
    >>> engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0].valid
    True
    """

    learning_rate: float = 0.01
    weight: float = 1.0
    max_iterations: int = 1000

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model; where it has no gradient, fit the slope to its verdicts on ``X``."""
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
        weight = float(self.weight)
        while True:
            way = self._descent(subject, weight)
            for begin in range(0, self.max_iterations, _BLOCK):
                passed = [next(way) for _ in range(min(_BLOCK, self.max_iterations - begin))]
                plan = self._first(np.array(passed), subject)
                if plan is not None:
                    return plan.with_(note=f"λ = {weight:g}." if weight != self.weight else "")
            if weight <= 0:
                return subject.refused("none_found", "No row on the way down is accepted, even with λ = 0.")
            weight = max(round(weight - _LESS, 10), 0.0)

    def _descent(self, subject: Subject, weight: float) -> Iterator[Array]:
        """Yield the points (d,) of Adam's way, each made feasible."""
        assert self.slope_ is not None
        start = subject.z[None]
        Z, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
        for count in itertools.count(1):
            outer = expit(self.slope_.logit(Z)) - 1.0
            pull = zero_missing(self.slope_.gradient(Z)) * np.asarray(outer)[:, None]
            total = pull + 2 * weight * effort.changes(Z, start)
            first = _BETA1 * first + (1 - _BETA1) * total
            second = _BETA2 * second + (1 - _BETA2) * total**2
            mean = first / (1 - _BETA1**count)
            spread = np.sqrt(second / (1 - _BETA2**count)) + _TINY
            Z = Z - self.learning_rate * mean / spread
            Z = subject.space.legal.relax(Z, subject.z) if self.constraints else np.clip(Z, 0.0, 1.0)
            yield Z[0]


class Linear(Smooth):
    """A logistic regression of verdicts (n,) on vectors (n, d), for its slope only."""

    def __init__(self, Z: Array, accepted: Bools) -> None:
        fitted = LogisticRegression(C=100.0, max_iter=2000).fit(zero_missing(Z), accepted)
        self.weights, self.constant = fitted.coef_[0], float(fitted.intercept_[0])

    def logit(self, Z: Array) -> Array:
        """Return the logit, (n,)."""
        return np.asarray(zero_missing(Z) @ self.weights + self.constant)

    def gradient(self, Z: Array) -> Array:
        """Return the weights for every row, (n, d)."""
        return np.tile(self.weights, (len(Z), 1))
