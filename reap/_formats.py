"""The JSON files we write: each says what it is, and in which version, and anything else is refused in a sentence."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reap._errors import InputError

#: What reading a compressed file that was cut or changed ends in.
CUT = (EOFError, zlib.error, gzip.BadGzipFile)


def read_text(path: str | Path) -> str:
    """Return the text of a file, or say that it is none: such as a picture, or a table saved in another encoding."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{str(path)!r} is not a text in UTF-8 (byte {error.start} is not); name another file, or save it as UTF-8"
        ) from None


def parse(text: str) -> Any:
    """Return what a JSON text from outside says; a ValueError for what could not be written or reckoned with again.

    Python's JSON knows NaN and infinity, halves of characters, which no UTF-8 file can hold, and whole numbers of any length,
    which no float can. Nothing that we write has one of them.

    Examples
    --------
    >>> parse('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parse(r'["\\ud800"]')
    Traceback (most recent call last):
    ...
    ValueError: a text in it has half of a character
    """
    data = json.loads(text, parse_int=_whole, parse_constant=_no_number)
    try:
        text.encode()
        if r"\ud" in text.lower():
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text in it has half of a character") from None
    return data


def _no_number(word: str) -> float:
    raise ValueError(f"it has {word} in the place of a number")


def _whole(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError(f"it has a number of {len(digits)} digits")
    return int(digits)


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
            return parse(text)
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
