"""The start: everybody alike. `c = |Rv|²` for all, answers by one logistic of unknown sharpness; the most likely R, shrunk.

People differ, so the sharpness comes out low: it stands for all that one matrix cannot explain.
"""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.belief.answers import People
from reap.belief.learning.climbing import climb
from reap.belief.learning.coordinates import Coordinates
from reap.belief.learning.marginal import Marginal
from reap.belief.learning.past import Past
from reap.belief.learning.shrinkage import START, evidence

#: Sharpness to choose from, and the chance of a slip.
_SHARPNESS = np.geomspace(1.0, 40.0, 11)
_SLIP = 0.05
_ROUNDS, _STEPS = 3, 40


def pooled(past: Past, shape: Coordinates) -> tuple[Array, dict[str, float]]:
    """Return the parameters `(p,)` and the standard deviations of their groups.

    Examples
    --------
    >>> from reap.belief.learning.past import Comparison
    >>> easy, hard = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    >>> past = Past.of([[Comparison((easy, hard))]] * 9 + [[Comparison((hard, easy))]], 2)
    >>> scales, _ = pooled(past, Coordinates(2, directions=False))
    >>> bool(scales[0] < 0 < scales[1])
    True
    """
    alike = Marginal.alike(past)
    p, taus = np.zeros(shape.size), {name: START[name] for name in shape.groups}
    for round_ in range(_ROUNDS):
        logs = [alike.at(shape.root(p), _who(sharpness)).logs.sum() for sharpness in _SHARPNESS]
        who = _who(float(_SHARPNESS[int(np.argmax(logs))]))

        def value(p: Array, who: People = who) -> tuple[Array, Array]:
            found = alike.at(shape.root(p), who, shares=np.zeros((1, 1, 1)))
            assert found.by_root is not None
            assert found.by_weight is not None
            return found.logs[:, 0, 0, 0], shape.pull(p, found.by_root, found.by_weight)

        p, slopes = climb(value, p, shape, taus, _STEPS)
        if round_ == _ROUNDS - 2:
            taus = evidence(p, slopes, shape.groups, taus)
    return p, taus


def _who(sharpness: float) -> People:
    return People(np.array([float(sharpness)]), np.array([_SLIP]), np.ones(1))
