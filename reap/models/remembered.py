"""What a model said of the rows it was asked about last: in a dialogue the same rows come again with every question."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from cachetools import LRUCache

from reap._typing import Array
from reap.models.classifier import Classifier

#: Rows remembered, and rows of one call beyond which looking them up is not worth it.
_KEPT, _MANY = 8_192, 512


class Remembered:
    """The scores of a classifier; a row among the last ones is not asked about again.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [10, 20, 30, 40]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> tree = reap.models.wrap(DecisionTreeClassifier().fit(X, [0, 0, 1, 1]), space)
    >>> Remembered(tree).score(space.encode(X))
    array([0., 0., 1., 1.])
    """

    def __init__(self, classifier: Classifier) -> None:
        self.classifier = classifier
        self._known: LRUCache[bytes, float] = LRUCache(_KEPT)
        self._lock = threading.Lock()

    def knows(self, z: Array) -> bool:
        """Return whether a vector (d,) is among the last ones."""
        with self._lock:
            return np.ascontiguousarray(z).tobytes() in self._known

    def score(self, Z: Array) -> Array:
        """Return what the model returns of vectors (n, d), (n,); see ``Classifier.score``."""
        if len(Z) > _MANY:
            return self.classifier.score(Z)
        keys = [np.ascontiguousarray(z).tobytes() for z in Z]
        with self._lock:
            known: dict[bytes, Any] = {key: self._known.get(key) for key in keys}
        new = {key: i for i, key in enumerate(keys) if known[key] is None}
        if new:
            scores = self.classifier.score(Z[list(new.values())]).tolist()
            fresh = dict(zip(new, scores, strict=True))
            known.update(fresh)
            with self._lock:
                self._known.update(fresh)
        return np.array([known[key] for key in keys], dtype=float)
