"""How far a session is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap.elicitation.question import Question


@dataclass(frozen=True)
class Progress:
    """How far the session is: questions shown and answered, and how many are likely still to come.

    Examples
    --------
    >>> print(Progress(asked=3, answered=2, least=1, most=3))
    2 answered, 1 to 3 to go
    """

    asked: int
    answered: int
    least: int
    most: int

    @classmethod
    def at(cls, question: Question | None, asked: int, answered: int, budget: int) -> Progress:
        """Return the progress where a question is on the table (None: nothing is left), of `budget` answers at most."""
        if question is None:
            return cls(asked, answered, 0, 0)
        most = max(1, budget - answered)
        # The expected gain falls by about a third with each answer; it stops at half a per cent.
        steps = (
            most if np.isnan(question.gain) else int(np.ceil(np.log(max(question.gain, 0.006) / 0.005) / 0.4))
        )
        return cls(asked, answered, int(np.clip(steps, 1, most)), most)

    def __str__(self) -> str:
        if self.most == 0:
            return f"{self.answered} answered, nothing left to ask"
        span = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.answered} answered, {span} to go"
