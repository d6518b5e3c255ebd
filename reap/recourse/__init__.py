"""The engines: from cost matrices to plans."""

from reap.recourse._engine import Candidates, Engine, Subject

__all__ = ["Candidates", "Engine", "Subject"]
