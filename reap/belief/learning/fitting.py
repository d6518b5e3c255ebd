"""One learning: pooled start, then twice marginal likelihood, shares and shrinkage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from reap._typing import Array
from reap.belief.answers import people
from reap.belief.learned_prior import PLAIN, Learnt
from reap.belief.learning.climbing import climb
from reap.belief.learning.coordinates import Coordinates
from reap.belief.learning.marginal import Marginal
from reap.belief.learning.past import Past
from reap.belief.learning.pooled import pooled
from reap.belief.learning.shares import FAMILIES, Shares
from reap.belief.learning.shrinkage import START, covariance, evidence, penalty, variances

#: Fixed matrices on which the marginal likelihood is taken, over all families.
MATRICES = 540
#: Steps enough to arrive: where a climb stops on the way, one person more or less moves the end by more than they say.
_ROUNDS, _STEPS = 2, 20


@dataclass(frozen=True, eq=False)
class Fit:
    """What answers taught, each with its standard deviation.

    Parameters
    ----------
    scales, scales_sd : (k,) arrays
        θ.
    directions, directions_sd : (k, k) arrays
        K.
    shares, shares_sd : Shares
    weights, weights_sd : (e,) arrays
        μ, the logarithms of typical weights of the columns beside.
    """

    scales: Array
    scales_sd: Array
    directions: Array
    directions_sd: Array
    shares: Shares
    shares_sd: Shares
    weights: Array = field(default_factory=lambda: np.zeros(0))
    weights_sd: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def root(self) -> Array:
        """`R = diag(e^{θ/2})(I + K)` `(k, k)`."""
        root: Array = np.exp(self.scales / 2)[:, None] * (np.eye(len(self.scales)) + self.directions)
        return root

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, for a file from which an interrupted learning goes on."""
        said = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return {**said, **{name: _written(getattr(self, name)) for name in _SHARES}}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Fit:
        """Undo ``to_dict``."""
        said: dict[str, Any] = {name: np.array(data[name], dtype=float) for name in _ARRAYS}
        said |= {name: _read(data[name]) for name in _SHARES}
        return cls(**said)


_ARRAYS = ("scales", "scales_sd", "directions", "directions_sd", "weights", "weights_sd")
_SHARES = ("shares", "shares_sd")


def _written(shares: Shares) -> list[Any]:
    parts = shares.families, shares.kinds, shares.minders
    return [*(part.tolist() for part in parts), shares.guessing, shares.places]


def _read(written: list[Any]) -> Shares:
    *parts, guessing, places = written
    families, kinds, minders = (np.array(part, dtype=float) for part in parts)
    return Shares(families, kinds, guessing, minders, places)


def fit(
    past: Past,
    learnt: Learnt,
    *,
    matrices: int = MATRICES,
    seed: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Fit:
    """Learn what people share from their answers.

    Parameters
    ----------
    past : Past
    learnt : {"nothing", "scales", "directions"}
        θ, or θ and K; "nothing": only shares, and the weights of columns beside.
    matrices : int
        On how many the marginal likelihood is taken.
    seed : int
    tick : callable
        Called when a step is done, ``STEPS`` times in all.
    """
    k, extra = past.dimension, past.extra
    shape = Coordinates(k, learnt == "directions", learnt != "nothing", extra)
    p, taus = np.zeros(shape.size), {name: START[name] for name in shape.groups}
    if shape.scales:
        alike, spread = pooled(past, Coordinates(k, shape.directions))
        p[: len(alike)] = alike
        taus |= spread
    tick()
    marginal = Marginal(past, list(FAMILIES), matrices, seed)
    start, who = Shares.start(extra), people()
    plain = Shares.default(extra).mixed(marginal.at(np.eye(k), who).logs)

    def logs(p: Array) -> Array:
        return marginal.at(shape.root(p), who, sizes=shape.split(p)[2]).logs

    shares = start.learnt(logs(p), past.guessed)
    slopes = np.zeros((len(past), shape.size))
    for round_ in range(_ROUNDS if shape.size else 0):

        def value(p: Array, shares: Shares = shares) -> tuple[Array, Array]:
            found = marginal.at(shape.root(p), who, sizes=shape.split(p)[2], shares=shares.logs)
            assert found.by_root is not None
            assert found.by_weight is not None
            looked = shares.mixed(found.logs) + np.log1p(-PLAIN - shares.guessing)
            # A few are as the default says, whatever R is, and some guess: whom these explain better moves R less.
            blind = np.logaddexp.reduce(shares.blind(past.guessed), axis=1) + np.log(shares.guessing)
            others = np.logaddexp(plain + np.log(PLAIN), blind)
            total = np.logaddexp(looked, others)
            return total, np.exp(looked - total)[:, None] * shape.pull(p, found.by_root, found.by_weight)

        p, slopes = climb(value, p, shape, taus, _STEPS)
        if round_ < _ROUNDS - 1:
            taus = evidence(p, slopes, shape.groups, taus)
        shares = start.learnt(logs(p), past.guessed)
        tick()
    return _with_spread(shape, p, slopes, taus, shares, shares.spread(logs(p), past.guessed))


def _with_spread(
    shape: Coordinates, p: Array, slopes: Array, taus: dict[str, float], shares: Shares, shares_sd: Shares
) -> Fit:
    """Return parameters with their standard deviations, by the curvature where they are."""
    k = shape.columns
    precision = penalty(shape.groups, taus) if shape.size else np.zeros(0)
    spread = np.sqrt(variances(slopes, precision)) if shape.size else np.zeros(0)
    scales, K, weights = shape.split(p)
    scales_sd = np.zeros(k)
    if shape.scales:
        # Answers do not depend on the size of A, so scales count by their distance from the mean, and so does their spread.
        centred = np.eye(k) - 1 / k
        scales_sd = np.sqrt(np.diag(centred @ covariance(slopes, precision, k) @ centred))
    return Fit(
        scales - scales.mean(),
        scales_sd,
        K,
        shape.square(spread),
        shares,
        shares_sd,
        weights,
        spread[shape.size - shape.extra :],
    )


#: Steps of one learning, for a progress bar.
STEPS = 1 + _ROUNDS
