"""Folders of running servers, in the temporary directory; the next start removes those that killed ones left."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

#: How folders are called that are locked, and those that are not yet.
_PREFIX, _MAKING = "reap-serve-", "reap-making-"
_LOCK = "running"


@contextmanager
def folder() -> Iterator[Path]:
    """Make a folder for as long as this process serves, and remove those of processes that are gone.

    A process holds a lock on a file in its folder. The system lets go of it when the process ends in whatever way, and no
    number of a process can be mistaken for another's.
    """
    clear()
    made = Path(tempfile.mkdtemp(prefix=_MAKING))
    with (made / _LOCK).open("w") as lock:
        _lock(lock.fileno())
        # Named like this only once it is locked: nobody who clears up can come in between.
        kept = made.rename(made.with_name(made.name.replace(_MAKING, _PREFIX)))
        try:
            yield kept
        finally:
            shutil.rmtree(kept, ignore_errors=True)


def clear() -> int:
    """Remove the folders of processes that do not run any more, and that are ours; return how many."""
    gone = 0
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # somebody else's, or removed by another process that starts just now
        with suppress(OSError), (left / _LOCK).open("r+") as lock:
            if _lock(lock.fileno()):
                shutil.rmtree(left)
                gone += 1
    return gone


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
