"""Hashes of files, and the name of the column that numbers rows."""

from __future__ import annotations

import hashlib
from pathlib import Path

ID = "row_id"


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of the content of files."""
    made = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: made)
    return made.hexdigest()
