"""The engines: from cost matrices to plans."""

from reap.recourse._engine import Candidates, Engine, Subject
from reap.recourse.gradient import GradientRecourse
from reap.recourse.graph import GraphRecourse
from reap.recourse.pool import PoolRecourse

__all__ = ["Candidates", "Engine", "GradientRecourse", "GraphRecourse", "PoolRecourse", "Subject"]
