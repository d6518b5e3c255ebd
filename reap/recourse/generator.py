"""What every engine answers: ``fit``, ``plans``, ``robust``, ``candidates``; and the checks that it begins with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

from reap._clock import deadline
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.models import Classifier, wrap
from reap.plan import Plan
from reap.recourse.acceptance import Acceptance
from reap.recourse.robust import Objective
from reap.recourse.subject import Candidates, Subject
from reap.scores import Threshold
from reap.space import ActionSpace, Limits


class Generator(BaseEstimator, ABC):  # type: ignore[misc]
    """What a recourse generator answers, and what all of them need for it."""

    model: Any
    space: ActionSpace
    target: Any
    threshold: Threshold
    random_state: int
    #: Today's model, behind one interface; an engine is fitted once it has it.
    classifier_: Classifier
    #: Who must accept a plan: set by ``_accept``, as ``classifier_`` is.
    acceptance_: Acceptance
    #: The typical accepted person (d,), kept by ``fit``; None where there is nobody.
    typical_: Array | None = None

    @abstractmethod
    def fit(self, X: Frame, y: Any = None) -> Self:
        """Learn from rows of other people; returns self."""

    @abstractmethod
    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the plan of least effort for each matrix (b, d, d), or for each of some efforts."""

    @abstractmethod
    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort over a confidence set is least."""

    @abstractmethod
    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted legal rows as one-step plans."""

    # for subclasses ----------------------------------------------------------------------------------

    def _accept(self, X: Frame | None = None, y: Any = None) -> Acceptance:
        """Learn who must accept a plan, from the engine's settings; call it first in ``fit``."""
        self.classifier_ = self._wrap()
        names = ("durability", "refits", "models", "margin", "n_jobs", "verbose", "random_state")
        settings = {name: getattr(self, name) for name in names if hasattr(self, name)}
        self.acceptance_ = Acceptance.learnt(self.classifier_, X, y, **settings)
        return self.acceptance_

    @property
    def refits_(self) -> Sequence[Classifier]:
        """The models that should accept a plan beside today's: its retrainings, or those given."""
        return self.acceptance_.others if hasattr(self, "acceptance_") else ()

    def _wrap(self) -> Classifier:
        """Return the model behind one interface."""
        if not isinstance(self.space, ActionSpace):
            raise InputError(
                f"space must be an ActionSpace, not {type(self.space).__name__}; ActionSpace.from_frame(X) makes one"
            )
        return wrap(
            self.model,
            self.space,
            target=self.target,
            threshold=self.threshold,
            output=getattr(self, "output", "probability"),
            unit=getattr(self, "unit", ""),
        )

    def _check_fitted(self) -> None:
        if not hasattr(self, "classifier_"):
            raise InputError(
                f"this {type(self).__name__} is not fitted; call fit(X) with rows of other people first"
            )
        self.classifier_.check_same_model()

    def _subject(self, x: Any, limits: Limits | None = None) -> Subject:
        """Return the subject checked, scored, and the space within their limits; the engine must be fitted."""
        self._check_fitted()
        z, codes = self.space.read(x)
        return self._scored(z[None], limits, codes[None])[0]

    def _scored(self, Z: Array, limits: Limits | None, codes: Array | None = None) -> list[Subject]:
        """Return the subjects of vectors (n, d), scored together; codes (n, f) hold their own numbers to the bit."""
        space, scores, scale = self.space.tighten(limits), self._scores(Z), self.classifier_.scale
        return [
            Subject(
                z,
                space if codes is None else space.at(z, codes[i]),
                float(score),
                scale,
                bool(yes),
                None if yes else space.obstacle(z),
            )
            for i, (z, score, yes) in enumerate(zip(Z, scores, scale.enough(scores), strict=True))
        ]

    def _scores(self, Z: Array) -> Array:
        """Return what the model returns of vectors (n, d), (n,)."""
        return self.classifier_.score(Z)

    def _deadline(self) -> float:
        """Return the time of ``time.monotonic`` at which a call that begins now has to end; refuse a wrong limit."""
        return deadline(getattr(self, "time_limit", None))

    def _efforts(self, given: Array | Efforts) -> Efforts:
        """Return efforts, or matrices (b, d, d) or (d, d), as efforts: checked, symmetric."""
        return Efforts.checked(given, self.space.dimension)

    # scikit-learn's manners ---------------------------------------------------------------------------

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
