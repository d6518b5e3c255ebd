"""What a service decides about: one engine, people to learn from, and fingerprints of both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from reap._arrays import some_rows
from reap._typing import Array, Frame
from reap.language import _
from reap.recourse import Engine
from reap.scores import Scale
from reap.space.table import doubtful

#: People whose score is remembered.
_KEPT = 1_024
#: People on whom it is seen what a trait does to the score, and what counts as nothing.
_PEOPLE, _SAME = 500, 1e-9


@dataclass(frozen=True)
class Case:
    """A fitted engine with the names and fingerprints of its model and data.

    Parameters
    ----------
    engine : Engine, fitted
    examples : DataFrame
        Rejected people whom a visitor may take as an example; may be empty.
    title : str
        What is decided, in a few words: "German credit"; empty: what the space says.
    model, data : str
        Fingerprints: of the engine, its settings and the scores of every row; of the space and the data. A session made
        with another model or other data is not continued.
    traits : mapping of feature to number
        How far each feature that looks protected moves the score, on average; those that do not are not in it.
    """

    engine: Engine
    examples: Frame
    title: str
    model: str
    data: str
    traits: Mapping[str, float] = field(default_factory=dict, compare=False)
    _known: dict[bytes, tuple[float, bool]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, engine: Engine, X: Frame, rejected: Frame, title: str = "") -> Case:
        """Return the case of an engine that was fitted on ``X``."""
        scores = engine.classifier_.score(engine.space.encode(X))
        settings = engine.fingerprint()["settings"]
        return cls(
            engine,
            rejected.iloc[:50],
            title,
            _digest(
                type(engine).__name__,
                sorted(settings.items()),
                type(engine.model).__name__,
                np.round(scores, 6).tolist(),
            ),
            _digest(engine.space.digest, X.to_csv(index=False)),
            moved_by_traits(engine, X),
        )

    @property
    def heading(self) -> str:
        """What is decided, in a few words and in the language in use."""
        return self.title or self.engine.space.heading or _("Your application")

    @property
    def scale(self) -> Scale:
        """What scores mean, and which are enough."""
        return self.engine.classifier_.scale

    def score(self, z: Array) -> float:
        """Return the model's score of one vector (d,)."""
        return self._said(z)[0]

    def rough(self, z: Array) -> float:
        """Return the score as it is shown, rounded so that it stays on its side of the threshold.

        An exact score of any row gives the model away: a logistic one of d columns after d + 1 rows.
        """
        return self.scale.rough(self.score(z))

    def accepts(self, z: Array) -> bool:
        """Return whether the model accepts one vector (d,)."""
        return self._said(z)[1]

    def _said(self, z: Array) -> tuple[float, bool]:
        """Return the score of one vector (d,) and whether it is accepted.

        Every answer is followed by both, of the same person: a pipeline on frames takes 17 ms for what is known already.
        """
        key = z.tobytes()
        known = self._known.get(key)
        if known is None:
            model = self.engine.classifier_
            known = float(model.score(z[None])[0]), bool(model.accepts(z[None])[0])
            self._known[key] = known
            while len(self._known) > _KEPT:
                self._known.pop(next(iter(self._known), key), None)  # another thread may have been first
        return known


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def moved_by_traits(engine: Engine, X: Frame) -> dict[str, float]:
    """Return how far each feature that looks protected moves the score: the mean difference where somebody has another's value.

    Features that the model does not look at are left out.
    """
    space, found = engine.space, dict[str, float]()
    Z = some_rows(space.encode(X), _PEOPLE, seed=0)
    scores = engine.classifier_.score(Z)
    for feature in doubtful(space.features):
        other, columns = Z.copy(), space.slices[feature.name]
        other[:, columns] = np.random.default_rng(0).permutation(Z[:, columns])
        moved = float(np.abs(engine.classifier_.score(other) - scores).mean())
        if moved > _SAME:
            found[feature.name] = moved
    return found
