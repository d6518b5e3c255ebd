"""One learning: pooled start, then twice marginal likelihood, shares and shrinkage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._typing import Array
from reap.belief.answers import people
from reap.belief.learned_prior import PLAIN
from reap.belief.learning.climbing import climb
from reap.belief.learning.coordinates import Coordinates
from reap.belief.learning.marginal import Marginal, mixed
from reap.belief.learning.past import Past
from reap.belief.learning.pooled import pooled
from reap.belief.learning.shares import FAMILIES, Shares
from reap.belief.learning.shrinkage import covariance, evidence, penalty, variances

#: Fixed matrices on which the marginal likelihood is taken, over all families.
MATRICES = 540
_ROUNDS, _STEPS = 2, 8


@dataclass(frozen=True, eq=False)
class Fit:
    """What answers taught: θ `(k,)` and K `(k, k)`, each with its standard deviation, and the shares.

    Parameters
    ----------
    scales, scales_sd : (k,) arrays
    directions, directions_sd : (k, k) arrays
    shares : Shares
    """

    scales: Array
    scales_sd: Array
    directions: Array
    directions_sd: Array
    shares: Shares

    @property
    def root(self) -> Array:
        """`R = diag(e^{θ/2})(I + K)` `(k, k)`."""
        root: Array = np.exp(self.scales / 2)[:, None] * (np.eye(len(self.scales)) + self.directions)
        return root

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists, for a file from which an interrupted learning goes on."""
        said = {name: getattr(self, name).tolist() for name in _ARRAYS}
        return {**said, "families": self.shares.families.tolist(), "kinds": self.shares.kinds.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Fit:
        """Undo ``to_dict``."""
        shares = Shares(np.array(data["families"]), np.array(data["kinds"]))
        arrays = {name: np.array(data[name], dtype=float) for name in _ARRAYS}
        return cls(shares=shares, **arrays)


_ARRAYS = ("scales", "scales_sd", "directions", "directions_sd")


def fit(
    past: Past,
    *,
    directions: bool,
    matrices: int = MATRICES,
    seed: int = 0,
    tick: Callable[[], None] = lambda: None,
) -> Fit:
    """Learn what people share from their answers.

    Parameters
    ----------
    past : Past
    directions : bool
        Whether to learn K beside θ.
    matrices : int
        On how many the marginal likelihood is taken.
    seed : int
    tick : callable
        Called when a step is done, ``STEPS`` times in all.
    """
    shape = Coordinates(past.dimension, directions)
    p, taus = pooled(past, shape)
    tick()
    marginal = Marginal(past, list(FAMILIES), matrices, seed)
    start, who = Shares.start(), people()
    plain = mixed(marginal.at(np.eye(past.dimension), who).logs, *_both(Shares.default()))
    shares = start.learnt(marginal.at(shape.root(p), who).logs)
    slopes = np.zeros((len(past), shape.size))
    for round_ in range(_ROUNDS):

        def value(p: Array, shares: Shares = shares) -> tuple[Array, Array]:
            found = marginal.at(shape.root(p), who._replace(share=shares.kinds), shares.families)
            assert found.by_root is not None
            learnt = mixed(found.logs, *_both(shares)) + np.log1p(-PLAIN)
            # A few are as the default says, whatever R is: whoever they explain better moves R less.
            total = np.logaddexp(learnt, plain + np.log(PLAIN))
            return total, np.exp(learnt - total)[:, None] * shape.pull(p, found.by_root)

        p, slopes = climb(value, p, shape, taus, _STEPS)
        if round_ < _ROUNDS - 1:
            taus = evidence(p, slopes, shape.groups, taus)
        shares = start.learnt(marginal.at(shape.root(p), who).logs)
        tick()
    precision, k = penalty(shape.groups, taus), past.dimension
    spread = np.sqrt(variances(slopes, precision))
    # Answers do not depend on the size of A, so scales count by their distance from the mean, and so does their spread.
    centred = np.eye(k) - 1 / k
    scales_sd = np.sqrt(np.diag(centred @ covariance(slopes, precision, k) @ centred))
    scales, K = shape.split(p)
    return Fit(scales - scales.mean(), scales_sd, K, shape.square(spread), shares)


#: Steps of one learning, for a progress bar.
STEPS = 1 + _ROUNDS


def _both(shares: Shares) -> tuple[Array, Array]:
    return shares.families, shares.kinds
