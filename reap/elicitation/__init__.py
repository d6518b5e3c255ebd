"""The dialogue between a person, a belief about them, and an engine."""

from reap.elicitation.progress import Progress
from reap.elicitation.question import Difference, Question
from reap.elicitation.session import Elicitation

__all__ = ["Difference", "Elicitation", "Progress", "Question"]
