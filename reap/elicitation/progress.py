"""How far a session is."""

from __future__ import annotations

from dataclasses import dataclass

from reap.elicitation.question import Question


@dataclass(frozen=True)
class Progress:
    """How far the session is: questions shown and answered, and how many answers are still to come.

    ``least`` is the question on the table, ``most`` what is left of those asked for. Any answer may be the last one that is
    needed, so no number between them is announced.

    Examples
    --------
    >>> print(Progress(asked=3, answered=2, least=1, most=3))
    2 answered, at most 3 to go
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
        return cls(asked, answered, 1, budget - answered)

    def __str__(self) -> str:
        if self.most == 0:
            return f"{self.answered} answered, nothing left to ask"
        return (
            f"{self.answered} answered, {'the last one' if self.most == 1 else f'at most {self.most} to go'}"
        )
