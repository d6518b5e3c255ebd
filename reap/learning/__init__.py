"""Learning from everyone: what past sessions teach about the people of the next ones."""

from __future__ import annotations

from reap.learning.learning import PEOPLE, Drift, check, learn
from reap.learning.reading import Session, read_sessions
from reap.learning.report import describe, fairness, gain

__all__ = [
    "PEOPLE",
    "Drift",
    "Session",
    "check",
    "describe",
    "fairness",
    "gain",
    "learn",
    "read_sessions",
]
