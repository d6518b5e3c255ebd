"""How far a session is."""

from __future__ import annotations

from dataclasses import dataclass

from reap.language import _


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

    def __str__(self) -> str:
        if self.most == 0:
            return _("{n} answered, nothing left to ask").format(n=self.answered)
        if self.most == 1:
            return _("{n} answered, the last one").format(n=self.answered)
        return _("{n} answered, at most {most} to go").format(n=self.answered, most=self.most)
