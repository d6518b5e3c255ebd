"""A space as others read it: as a file, in plain words, and with the questions of a careful lender."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from reap._errors import InputError
from reap._formats import read_text
from reap._typing import Frame
from reap.language import current
from reap.space import files
from reap.space.legality import Legality
from reap.space.meaning import Meaning
from reap.space.review import Finding, review
from reap.space.words import table


class Readable(Legality):
    """What an ``ActionSpace`` says of itself."""

    rules: tuple[str, ...]
    horizon: int
    title: str
    meaning: Meaning

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a space from a TOML file."""
        if not Path(path).is_file():
            raise InputError(f"there is no space file {str(path)!r}; `reap space data.csv` drafts one")
        return cls.from_toml(read_text(path), source=str(path))

    @classmethod
    def from_toml(cls, text: str, source: str = "the text") -> Self:
        """Read a space from TOML text."""
        return cls(**files.read(text, source))

    def to_toml(self, comments: bool = False) -> str:
        """Return the space as TOML; ``comments`` adds what to check, for a first draft."""
        return files.write(self, comments)

    def save(self, path: str | Path, comments: bool = False) -> None:
        """Write the space to a TOML file."""
        Path(path).write_text(self.to_toml(comments), encoding="utf-8")

    @property
    def heading(self) -> str:
        """The title in the language in use, else as the file has it."""
        return self.meaning.translations.get(current(), {}).get("title", self.title)

    @property
    def about(self) -> str:
        """Who the person is and what they applied for, in the language in use; empty where the space does not say."""
        return self.meaning.said("about")

    @property
    def yes(self) -> str:
        """What a yes means, as a clause in the language in use; empty where the space does not say."""
        return self.meaning.said("yes")

    def review(self, model: Any = None, X: Frame | None = None) -> list[Finding]:
        """Return what a careful lender would question, see ``review.py``; with a table and a model also what those show."""
        return review(self, model, X)

    def describe(self) -> str:
        """Return a table of the features and rules, in plain words."""
        title = (
            f"{self.title or 'Action space'}: {len(self.features)} features, {self.dimension} encoded columns"
        )
        rules = list(dict.fromkeys(rule.describe() for rule in self._parsed))
        if self.max_changes is not None:
            plural = "s" if self.max_changes != 1 else ""
            rules.append(f"at most {self.max_changes} feature{plural} may change")
        if self.timed:
            rules.append(f"plans are done within {self.horizon} months")
        return table(title, self.features, rules, self._limits)

    def __repr__(self) -> str:
        fixed = sum(not f.actionable for f in self.features)
        return f"ActionSpace({len(self.features)} features, {fixed} fixed, {len(self.rules)} rules, d={self.dimension})"
