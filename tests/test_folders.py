"""Folders of killed servers: removed by the next one, and never that of a running one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile

import pytest

from reap import _folders

#: Goes on until it is killed: a process that holds its folder.
HOLD = """
from reap import _folders
with _folders.folder() as made:
    (made / "engine").write_bytes(bytes(1000))
    print(made, flush=True)
    input()
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def hold():
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process, process.stdout.readline().strip()


def ended(process, how):
    process.send_signal(how)
    process.communicate(timeout=30)


def test_the_folder_of_a_killed_process_goes_and_that_of_a_running_one_stays(temporary):
    killed, left = hold()
    ended(killed, signal.SIGKILL)
    running, kept = hold()  # clears up as it starts
    try:
        names = {str(path) for path in temporary.iterdir()}
        assert kept in names
        assert left not in names
        assert _folders.clear() == 0
        assert kept in {str(path) for path in temporary.iterdir()}
    finally:
        ended(running, signal.SIGKILL)
    assert _folders.clear() == 1
    assert list(temporary.iterdir()) == []


def test_an_orderly_end_leaves_nothing(temporary):
    with _folders.folder() as made:
        assert made.is_dir()
        assert _folders.clear() == 0
    assert list(temporary.iterdir()) == []


def test_a_folder_of_somebody_else_with_such_a_name_stays(temporary):
    other = temporary / "reap-serve-mine"
    other.mkdir()
    (other / "letter").write_text("dear diary")
    assert _folders.clear() == 0
    assert (other / "letter").exists()
