"""The engines: from cost matrices to plans."""

from reap.recourse._engine import Candidates, Engine, Subject
from reap.recourse.graph import GraphRecourse

__all__ = ["Candidates", "Engine", "GraphRecourse", "Subject"]
