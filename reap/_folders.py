"""Folders of running servers and batches, in the temporary directory; the next start removes those that killed ones left."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal, get_args

if sys.platform != "win32":
    import fcntl

#: What a process with a folder does.
Kind = Literal["serve", "batch"]
#: How folders are called that are not locked yet.
_MAKING = "reap-making-"
_LOCK = "running"


@contextmanager
def folder(kind: Kind) -> Iterator[Path]:
    """Make a folder for as long as this process serves, or plans, and remove those of processes that are gone.

    A process holds a lock on a file in its folder. The system lets go of it when the process ends in whatever way, and no
    number of a process can be mistaken for another's.
    """
    clear()
    made = Path(tempfile.mkdtemp(prefix=_MAKING))
    with (made / _LOCK).open("w") as lock:
        _lock(lock.fileno())
        # Named by its kind only once it is locked: nobody who clears up can come in between.
        kept = made.rename(made.with_name(made.name.replace(_MAKING, _prefix(kind))))
        try:
            yield kept
        finally:
            shutil.rmtree(kept, ignore_errors=True)


def clear() -> int:
    """Remove the folders, of any kind, of processes that do not run any more, and that are ours; return how many."""
    gone = 0
    for kind in get_args(Kind):
        for left in Path(tempfile.gettempdir()).glob(f"{_prefix(kind)}*"):
            # somebody else's, or removed by another process that starts just now
            with suppress(OSError), (left / _LOCK).open("r+") as lock:
                if _lock(lock.fileno()):
                    shutil.rmtree(left)
                    gone += 1
    return gone


def _prefix(kind: str) -> str:
    """Return how the names of folders of a kind begin."""
    return f"reap-{kind}-"


def _lock(file: int) -> bool:
    """Take the lock of an open file; False where another process holds it, or where there are no such locks."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    os.set_inheritable(file, False)
    return True
