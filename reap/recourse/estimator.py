"""scikit-learn's manners for whatever takes rows of an action space and a fitted model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from reap._errors import InputError
from reap._typing import Array
from reap.models import Classifier
from reap.space import ActionSpace


class SpaceEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose rows are those of a space. It is fitted once it has a ``classifier_``."""

    space: ActionSpace
    #: Today's model, behind one interface.
    classifier_: Classifier

    def _check_fitted(self) -> None:
        if not hasattr(self, "classifier_"):
            raise InputError(
                f"this {type(self).__name__} is not fitted; call fit(X) with rows of other people first"
            )

    def __sklearn_clone__(self) -> Self:
        # The model is fitted already and stays; scikit-learn would otherwise clone it unfitted.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        # A frame with the space's columns: texts, levels, empty cells.
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    @property
    def feature_names_in_(self) -> Array:
        """The columns that a row needs, in the space's order (f,); known once the engine is fitted."""
        if not hasattr(self, "classifier_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted")
        return np.array([feature.name for feature in self.space.features], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """How many columns a row needs."""
        return len(self.feature_names_in_)
