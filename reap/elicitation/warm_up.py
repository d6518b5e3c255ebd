"""The warm-up: a first question that does not count, because first answers are the noisiest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap._typing import Array
from reap.elicitation.prediction import Predicting


def warm_up(
    burden: Array, moves: Sequence[Array], belief: Predicting, spared: Sequence[int]
) -> tuple[int, int] | None:
    """Return the easiest question that is not worth asking: fewest rows, then the one that most people answer alike.

    Parameters
    ----------
    burden : (n, n)
        Rows in which two options differ; infinite for two that must not stand together.
    moves : n arrays (s, d)
    belief : Predicting
    spared : sequence of int
        The options of the first question that counts. The warm-up leaves one of them out at least, so it takes
        nothing away.

    Examples
    --------
    >>> from reap import Posterior
    >>> plans = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    >>> rows = np.where(np.eye(3, dtype=bool), np.inf, 2.0)
    >>> 2 in warm_up(rows, plans, Posterior(3), spared=(0, 1))
    True
    """
    first, second = np.nonzero(np.triu(np.isfinite(burden), 1))
    kept = ~(np.isin(first, spared) & np.isin(second, spared))
    first, second = first[kept], second[kept]
    if not len(first):
        return None
    efforts = belief.efforts(moves)
    decided = np.abs((efforts[:, first] < efforts[:, second]).mean(axis=0) - 0.5)
    best = np.lexsort((-decided, burden[first, second]))[0]
    return int(first[best]), int(second[best])
