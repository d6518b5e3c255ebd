"""Which options to show next: each strategy has a file, and all answer the same `choose`."""

from __future__ import annotations

from reap.questions.decision import Decision
from reap.questions.exhaustive import Exhaustive
from reap.questions.information import Information
from reap.questions.random_pair import Random
from reap.questions.similar_cost import SimilarCost
from reap.questions.strategy import Choice, Strategy, Task

__all__ = [
    "Choice",
    "Decision",
    "Exhaustive",
    "Information",
    "Random",
    "SimilarCost",
    "Strategy",
    "Task",
]
