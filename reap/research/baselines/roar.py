"""Upadhyay, Joshi and Lakkaraju, "Towards robust and reliable algorithmic recourse" (2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit

from reap import effort
from reap._arrays import zero_missing
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import RowBaseline, above
from reap.space import Limits

#: Points around the subject to which a line is fitted, and the width of their weights, × √d: LIME's.
_POINTS, _WIDTH = 1000, 0.75
#: Adam's usual constants.
_BETA1, _BETA2, _TINY = 0.9, 0.999, 1e-8


@dataclass(eq=False, repr=False, kw_only=True)
class ROAR(RowBaseline):
    """Adam down ``max_δ −log σ((w + δ)ᵀx) + λ·‖x − x0‖₁`` over ``‖δ‖∞ ≤ radius``, the same for every matrix.

    ``w`` is the model near the subject: a line fitted to its log-odds at points around them, each weighted by its
    nearness, as LIME does it. Of a logistic regression that is the model itself. The worst change of the weights, the
    constant among them, takes ``radius · (‖x‖₁ + 1)`` off the log-odds, so the inner problem needs no solver. The row where the
    descent ends is made legal and rounded; where the model does not accept it, there is no plan.

    Parameters
    ----------
    model, space, target, threshold, constraints
        As in ``Baseline``; without constraints, any point of the unit box.
    radius : float
        How much each weight may change.
    weight : float
        λ.
    learning_rate, max_iterations, tolerance : float, int, float
        Adam's step, the steps at most, and the change of the loss at which it ends.
    random_state : int
        Seed of the points around the subject.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"income": np.arange(10, 60) * 100, "debts": np.arange(50) % 6})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = ROAR(model, reap.ActionSpace.from_frame(X)).fit(X)
    >>> engine.plans(pd.Series({"income": 2000, "debts": 3}), np.eye(2))[0].valid
    True
    """

    radius: float = 0.1
    weight: float = 0.1
    learning_rate: float = 0.01
    max_iterations: int = 1000
    tolerance: float = 1e-3

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model; keep the rows, whose spread is that of the points around a subject."""
        above("radius", self.radius, 0.0)
        above("weight", self.weight, 0.0)
        above("learning_rate", self.learning_rate, 0.0, strict=True)
        above("max_iterations", self.max_iterations, 1)
        above("tolerance", self.tolerance, 0.0)
        super().fit(X, y)
        self.spread_ = np.nanstd(self.rows_, axis=0)
        return self

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        slope, constant = self._line(subject.z)
        end = self._descend(subject, slope, constant - self.acceptance_.classifier.boundary)
        plan = self._first(end[None], subject)
        return plan or subject.refused(
            "none_found", "The model does not accept the row where the descent ends."
        )

    def _line(self, z: Array) -> tuple[Array, float]:
        """Return the weights (d,) and the constant of the model's log-odds near a row (d,)."""
        rng = np.random.default_rng(self.random_state)
        offsets = rng.normal(size=(_POINTS, len(z))) * self.spread_
        near = np.exp(
            -((offsets / (_WIDTH * np.sqrt(len(z)) * np.maximum(self.spread_, 1e-9))) ** 2).sum(axis=1) / 2
        )
        root = np.sqrt(near)
        columns = np.column_stack([zero_missing(offsets), np.ones(_POINTS)])
        fitted = np.linalg.lstsq(
            columns * root[:, None], self.acceptance_.classifier.logit(z + offsets) * root, rcond=None
        )[0]
        return fitted[:-1], float(fitted[-1] - fitted[:-1] @ zero_missing(z))

    def _descend(self, subject: Subject, slope: Array, constant: float) -> Array:
        """Return where the descent ends, (d,)."""
        z, first, second, highest = subject.z.copy(), *np.zeros((3, len(subject.z)))
        before = np.inf
        for count in range(1, self.max_iterations + 1):
            change, here = effort.changes(z, subject.z), zero_missing(z)
            worst = slope @ here + constant - self.radius * (np.abs(here).sum() + 1)
            loss = float(np.logaddexp(0, -worst) + self.weight * np.abs(change).sum())
            if abs(before - loss) <= self.tolerance:
                break
            before = loss
            pull = (expit(worst) - 1) * (slope - self.radius * np.sign(here)) + self.weight * np.sign(change)
            first = _BETA1 * first + (1 - _BETA1) * pull
            second = _BETA2 * second + (1 - _BETA2) * pull**2
            highest = np.maximum(highest, second)  # as published: Adam with the highest second moment so far
            rate = self.learning_rate / (1 - _BETA1**count)
            z = z - rate * first / (np.sqrt(highest / (1 - _BETA2**count)) + _TINY)
            z = subject.space.legal.relax(z[None], subject.z)[0] if self.constraints else np.clip(z, 0.0, 1.0)
        return z
