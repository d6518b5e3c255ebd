"""What a service decides about: one engine, people to learn from, and fingerprints of both."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Frame
from reap.recourse import Engine


@dataclass(frozen=True)
class Case:
    """A fitted engine with the names and fingerprints of its model and data.

    Parameters
    ----------
    engine : Engine, fitted
    examples : DataFrame
        Rejected people whom a visitor may take as an example; may be empty.
    title : str
        What is decided, in a few words: "German credit".
    model, data : str
        Fingerprints; a session made with another model or other data is not continued.
    """

    engine: Engine
    examples: Frame
    title: str
    model: str
    data: str

    @classmethod
    def of(cls, engine: Engine, X: Frame, rejected: Frame, title: str = "") -> Case:
        """Return the case of an engine that was fitted on ``X``."""
        scores = engine.classifier_.probability(engine.space.encode(X.iloc[:500]))
        return cls(
            engine,
            rejected.iloc[:50],
            title or engine.space.title or "Your application",
            _digest(type(engine.model).__name__, engine.threshold, np.round(scores, 6).tolist()),
            _digest(engine.space.digest, X.to_csv(index=False)),
        )

    @property
    def threshold(self) -> float:
        """The score that must be exceeded."""
        return float(self.engine.threshold)

    def score(self, z: Array) -> float:
        """Return the model's score of one vector (d,)."""
        return float(self.engine.classifier_.probability(z[None])[0])

    def accepts(self, z: Array) -> bool:
        """Return whether the model accepts one vector (d,)."""
        return bool(self.engine.classifier_.accepts(z[None])[0])


def _digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()
