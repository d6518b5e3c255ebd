"""How the raw scores of trees become one probability: links, calibrations and votes, none of which falls as a score rises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from reap._typing import Array

Link = Literal["sigmoid", "none"]


@dataclass(frozen=True)
class Calibration:
    """What ``CalibratedClassifierCV`` fitted on one model of two classes.

    Parameters
    ----------
    calibrator : object with ``predict``
        From what the model says of the second class to that class's probability.
    margin : bool
        Whether it takes the model's margin; otherwise its probability.
    first : bool
        Whether the target is the first class.
    """

    calibrator: Any
    margin: bool
    first: bool

    def probability(self, raw: Array, plain: Array) -> Array:
        """Return the target's probability, given its raw score and what it would be without calibration."""
        given = np.asarray(raw if self.margin else plain, dtype=float)
        if self.first:
            given = -given if self.margin else 1.0 - given
        p = np.asarray(self.calibrator.predict(given.ravel())).reshape(given.shape)
        return np.asarray(1.0 - p if self.first else p)


@dataclass(frozen=True)
class Member:
    """The say of some trees in a probability: ``weight · calibrated(link(raw))``, with ``raw = base + Σ value(leaf)``.

    Parameters
    ----------
    base : float
    link : {"sigmoid", "none"}
    weight : float
        Of its vote.
    calibration : Calibration, optional
    """

    base: float
    link: Link
    weight: float = 1.0
    calibration: Calibration | None = None

    @property
    def linear(self) -> bool:
        """Whether raw scores are probabilities as they are: votes of such members can be added up at once."""
        return self.link == "none" and self.calibration is None

    def probability(self, raw: Array) -> Array:
        """Return its share of the probability, for raw scores of any shape."""
        p = raw if self.link == "none" else np.asarray(expit(raw))
        if self.calibration is not None:
            p = self.calibration.probability(raw, p)
        return p if self.weight == 1.0 else self.weight * p
