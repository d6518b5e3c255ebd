"""The JSON files we write: each says what it is, and in which version, and anything else is refused in a sentence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from reap._errors import InputError


class Format(NamedTuple):
    """What a kind of file says of itself: its word, its format and version, what writes it, what to do about another version."""

    word: str
    name: str
    version: int
    written: str
    mend: str = ""

    @property
    def head(self) -> dict[str, Any]:
        """What stands at the beginning of such a file."""
        return {"format": self.name, "version": self.version}

    def load(self, text: str) -> Any:
        """Return what a JSON text says; nothing of it is looked at."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"the {self.word} is not valid JSON: {error}") from None

    def check(self, data: Any) -> None:
        """Refuse what is no such file, or one of a version that this release does not read."""
        if not isinstance(data, Mapping) or data.get("format") != self.name:
            raise InputError(f"this is not a {self.word}; expected {self.written}")
        if data.get("version") != self.version:
            raise InputError(
                f"the {self.word} has version {data.get('version')!r}; this release reads version {self.version}{self.mend}"
            )
