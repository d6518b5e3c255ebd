"""Learning from everyone: what past sessions teach about the people of the next ones."""

from __future__ import annotations

from reap.learning.checking import Drift, check
from reap.learning.fairness import fairness
from reap.learning.learning import PEOPLE, learn
from reap.learning.reading import Session, read_sessions
from reap.learning.report import describe, gain, plot

__all__ = [
    "PEOPLE",
    "Drift",
    "Session",
    "check",
    "describe",
    "fairness",
    "gain",
    "learn",
    "plot",
    "read_sessions",
]
