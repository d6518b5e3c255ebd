"""The session between a person, a belief about them, and an engine."""

from reap.elicitation.events import ACTS, VERBS, Event, in_force
from reap.elicitation.prediction import Prediction
from reap.elicitation.progress import Progress
from reap.elicitation.question import Difference, Question
from reap.elicitation.session import Elicitation

__all__ = [
    "ACTS",
    "VERBS",
    "Difference",
    "Elicitation",
    "Event",
    "Prediction",
    "Progress",
    "Question",
    "in_force",
]
