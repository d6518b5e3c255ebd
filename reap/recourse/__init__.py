"""The engines: from the matrices that may be true to plans."""

from reap.recourse.acceptance import Durability
from reap.recourse.engine import Candidates, Engine, Subject
from reap.recourse.paper.gradient import GradientRecourse
from reap.recourse.paper.graph import GraphRecourse
from reap.recourse.pool import PoolRecourse
from reap.recourse.reasons import Reason
from reap.recourse.recourse import Recourse

__all__ = [
    "Candidates",
    "Durability",
    "Engine",
    "GradientRecourse",
    "GraphRecourse",
    "PoolRecourse",
    "Reason",
    "Recourse",
    "Subject",
]
