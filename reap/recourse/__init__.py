"""The engines: from the matrices that may be true to plans."""

from reap.recourse.engine import Engine
from reap.recourse.paper.gradient import GradientRecourse
from reap.recourse.paper.graph import GraphRecourse
from reap.recourse.pool import PoolRecourse
from reap.recourse.reasons import Reason
from reap.recourse.recourse import Recourse
from reap.recourse.subject import Candidates, Subject

__all__ = [
    "Candidates",
    "Engine",
    "GradientRecourse",
    "GraphRecourse",
    "PoolRecourse",
    "Reason",
    "Recourse",
    "Subject",
]
