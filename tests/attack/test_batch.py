"""A batch on a bad day: workers that die while they start, damaged parts, broken lines, a scheduler that is killed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.batch import people

ROOT = Path(__file__).resolve().parents[2]

# workers -------------------------------------------------------------------------------------------------

#: Python runs this before anything else: a worker of joblib dies before it has read a byte from its parent.
DEADLY = """
import os, signal, sys
if any("popen_loky" in word for word in sys.orig_argv):
    left = sorted(name for name in os.listdir({folder!r}) if name.startswith("death"))
    if left:
        try:
            os.remove(os.path.join({folder!r}, left[0]))
        except FileNotFoundError:
            pass
        os.kill(os.getpid(), signal.SIGKILL)
"""
#: An engine that fits into no pipe.
RUN = """
import sys, numpy as np, reap
from tests.batch import people
engine, X = people.nearest(150)
engine.ballast_ = np.zeros(1_000_000)
try:
    reap.batch.run(engine, X, output=sys.argv[1], n_jobs=2, chunk_size=20)
except ChildProcessError as error:
    print(error)
    sys.exit(3)
"""


def run_with_deaths(tmp_path, deaths):
    """Run a batch of which so many workers die while they start; a run that hangs fails the test."""
    folder = tmp_path / "site"
    folder.mkdir()
    for k in range(deaths):
        (folder / f"death-{k:03d}").touch()
    (folder / "sitecustomize.py").write_text(DEADLY.format(folder=str(folder)))
    return subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "plans.parquet")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
    ), sorted(folder.glob("death-*"))


@pytest.mark.parametrize("deaths", [1, 2, 4])
def test_workers_that_die_while_starting_are_replaced(tmp_path, deaths):
    done, left = run_with_deaths(tmp_path, deaths)
    assert done.returncode == 0, done.stderr
    assert not left, "nobody died"
    engine, X = people.nearest(150)
    made, wanted = pd.read_parquet(tmp_path / "plans.parquet"), engine.recommend(X)
    pd.testing.assert_frame_equal(made[list(wanted.columns)], wanted)


def test_workers_that_never_start_end_the_run_with_a_sentence(tmp_path):
    done, _ = run_with_deaths(tmp_path, 1000)
    assert done.returncode == 3, done.stderr
    assert "workers died" in done.stdout
    assert "run again with resume" in done.stdout
