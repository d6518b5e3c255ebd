"""The session between a person, a belief about them, and an engine."""

from reap.elicitation.events import ACTS, VERBS, Event, in_force
from reap.elicitation.presets import Bayes, Paper
from reap.elicitation.question import Difference, Question
from reap.elicitation.session import Elicitation, PastAnswer, Progress, ToldAnswer, reading

__all__ = [
    "ACTS",
    "VERBS",
    "Bayes",
    "Difference",
    "Elicitation",
    "Event",
    "Paper",
    "PastAnswer",
    "Progress",
    "Question",
    "ToldAnswer",
    "in_force",
    "reading",
]
