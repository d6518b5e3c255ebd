"""The space as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from reap._typing import Array, Frame

if TYPE_CHECKING:
    from reap.space.action_space import ActionSpace


class SpaceEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows in units → vectors, for a Pipeline: numbers over their span, one-hot categories, ordinals as scaled integers.

    A function of the space alone: ``fit`` checks its input and learns nothing, so a category or a range that is
    missing from a training split changes nothing.

    Parameters
    ----------
    space : ActionSpace

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "b", "c"]})
    >>> encoder = reap.ActionSpace.from_frame(X).encoder()
    >>> encoder.fit_transform(X)[1]
    array([0.5, 0. , 1. , 0. ])
    >>> encoder.inverse_transform(encoder.transform(X)).equals(X)
    True
    """

    def __init__(self, space: ActionSpace) -> None:
        self.space = space

    def fit(self, X: Frame, y: Any = None) -> SpaceEncoder:
        """Check ``X``; nothing is learned."""
        self.transform(X)
        self.n_features_in_ = np.shape(X)[1]
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        return self

    def transform(self, X: Frame) -> Array:
        """Return the vectors (n, d) of a frame."""
        return self.space.encode(X)

    def inverse_transform(self, Z: Array) -> Frame:
        """Return the rows of vectors (n, d), with dtypes, categories and steps as they were."""
        return self.space.decode(np.asarray(Z, dtype=float))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the encoded columns."""
        return np.asarray(self.space.columns, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True  # nothing is learned, so nothing can be missing
