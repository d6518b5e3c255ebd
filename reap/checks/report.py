"""What a check says: nothing where a promise holds, a sentence where it does not, and a report of them all."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import indent


class CheckFailed(AssertionError):  # noqa: N818 - it says what happened, in a user's own test too
    """A promise is broken: says which, by whom, and on which input."""


def require(holds: object, sentence: str) -> None:
    """Raise ``CheckFailed`` with the sentence unless it holds."""
    if not holds:
        raise CheckFailed(sentence)


@dataclass
class Line:
    """One promise: its name, what it says, how often it was looked at, and where it was broken."""

    name: str
    promise: str
    cases: int = 0
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.broken:
            said = f"held in {self.cases:,} cases" if self.cases else "could not be checked: no case"
            return f"{'✓' if self.cases else '?'} {self.name:<16} {said}"
        faults = list(dict.fromkeys(self.broken))  # one plan may answer several matrices
        shown = [indent(sentence, "    ") for sentence in faults[:3]]
        more = [f"    and {len(faults) - 3:,} more"] if len(faults) > 3 else []
        head = f"✗ {self.name:<16} broken {len(self.broken):,} times in {self.cases:,} cases: {self.promise}"
        return "\n".join([head, *shown, *more])


@dataclass
class Report:
    """What was checked and what came of it; prints itself.

    Parameters
    ----------
    title : str
    lines : list of Line

    Examples
    --------
    >>> print(Report("Checks of Mine", [Line("legal", "every plan is legal", cases=3)]))
    Checks of Mine: 1 of 1 promises hold
    ✓ legal            held in 3 cases
    """

    title: str
    lines: list[Line] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether every promise was looked at and held."""
        return all(line.cases and not line.broken for line in self.lines)

    @property
    def broken(self) -> list[str]:
        """Every failure, after the name of its promise."""
        return [f"{line.name}: {sentence}" for line in self.lines for sentence in line.broken]

    def line(self, name: str) -> Line:
        """Return one promise by its name."""
        return next(line for line in self.lines if line.name == name)

    def __str__(self) -> str:
        held = sum(bool(line.cases) and not line.broken for line in self.lines)
        head = f"{self.title}: {held} of {len(self.lines)} promises hold"
        return "\n".join([head, *map(str, self.lines)])

    def settle(self, raises: bool) -> Report:
        """Return the report; where ``raises`` and a promise is broken, raise it as ``CheckFailed``."""
        if raises and not self.ok:
            raise CheckFailed(str(self))
        return self
