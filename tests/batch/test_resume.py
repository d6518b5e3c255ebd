"""What is done is kept: runs that are killed, workers that die, and outputs that do not fit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import psutil
import pytest

import reap
from reap.batch import store
from tests.batch import people

ROWS, CHUNK = 120, 5
#: Where joblib lays down files instead of the temporary directory, on Linux.
MEMORY = Path("/dev/shm")

SCRIPT = """
import sys
import reap
from tests.batch import people
engine, X = people.nearest(delay=0.01)
reap.batch.run(engine, X.iloc[:{rows}], output=sys.argv[1], n_jobs={jobs}, chunk_size={chunk}, resume="resume" in sys.argv)
"""


def start(output, jobs, *words):
    code = SCRIPT.format(rows=ROWS, jobs=jobs, chunk=CHUNK)
    return subprocess.Popen([sys.executable, "-c", code, str(output), *words], cwd=os.getcwd())


def wait_for(done, process=None, seconds=120):
    end = time.monotonic() + seconds
    while not done():
        assert process is None or process.poll() is None, "it ended before it could be interrupted"
        assert time.monotonic() < end
        time.sleep(0.01)


def assert_whole(engine, X, path):
    """Assert that every row is there once, in order, with the plan of the one-by-one API."""
    made = pd.read_parquet(path)
    assert list(made["row_id"]) == list(X.index)
    wanted = engine.recommend(X)
    pd.testing.assert_frame_equal(made[list(wanted.columns)].set_axis(X.index), wanted)


@pytest.mark.parametrize(("output", "jobs"), [("plans.parquet", 1), ("plans", 2)])
def test_kill_the_batch_then_resume(engine, X, tmp_path, monkeypatch, output, jobs):
    path, temporary = tmp_path / output, tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    folder = path.with_name(path.name + ".parts") if path.suffix else path
    process = start(path, jobs)
    wait_for(lambda: len(list(folder.glob("part-*.parquet"))) >= 3, process)
    workers = [
        child for child in psutil.Process(process.pid).children() if "loky" in " ".join(child.cmdline())
    ]
    process.send_signal(signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive, "workers outlive the process that started them"
    wait_for(lambda: not list(temporary.iterdir()), seconds=30)
    wait_for(lambda: not list(MEMORY.glob(f"*{process.pid}*")), seconds=30)
    kept = {p.name: p.stat().st_mtime_ns for p in folder.glob("part-*.parquet")}
    assert 3 <= len(kept) < ROWS / CHUNK
    assert not path.is_file()
    (folder / ".part-000099.parquet.1.tmp").write_bytes(b"half a part")

    # The script's engine differs in its delay, which is one of its settings: a run goes on only with the same.
    with pytest.raises(reap.InputError, match="another engine"):
        reap.batch.run(engine, X.iloc[:ROWS], output=path, n_jobs=1, chunk_size=CHUNK, resume=True)
    same = people.nearest(delay=0.01)[0]
    seen = []
    same._interrupt = lambda: seen.append(1)
    same.__dict__["delay"] = 0.01
    result = reap.batch.run(same, X.iloc[:ROWS], output=path, n_jobs=1, chunk_size=CHUNK, resume=True)
    assert len(seen) == ROWS - CHUNK * len(kept), "a row was planned again"
    assert result.rows == ROWS
    assert_whole(engine, X.iloc[:ROWS], path)
    if path.is_dir():
        assert {n: (path / n).stat().st_mtime_ns for n in kept} == kept
    assert not list(tmp_path.glob("**/.*.tmp"))
    again = reap.batch.run(same, X.iloc[:ROWS], output=path, n_jobs=1, chunk_size=CHUNK, resume=True)
    assert again == result
    assert len(seen) == ROWS - CHUNK * len(kept), "a finished run did something"


def test_a_run_killed_before_its_manifest_was_whole_can_begin_again(engine, X, tmp_path):
    output = tmp_path / "plans"
    output.mkdir()
    (output / "._manifest.json.12345.tmp").write_text('{"rows"')
    reap.batch.run(engine, X.iloc[:5], output=output, n_jobs=1, chunk_size=CHUNK, resume=True)
    assert len(pd.read_parquet(output)) == 5
    assert not list(output.glob(".*"))


def test_a_process_that_dies_loses_nothing(engine, X, tmp_path):
    bomb = tmp_path / "bomb"
    bomb.touch()
    fragile = people.nearest(bomb=str(bomb))[0]
    result = reap.batch.run(fragile, X, output=tmp_path / "plans.parquet", n_jobs=2, chunk_size=20)
    assert not bomb.exists(), "nobody died"
    assert result.rows == len(X)
    assert_whole(engine, X, result.path)


class Deadly(people.Nearest):
    def _interrupt(self):
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_rows_that_kill_every_worker_end_the_run_with_their_place(engine, X):
    with pytest.raises(ChildProcessError, match=r"died 4 times on rows \d+ to \d+.*resume"):
        reap.batch.run(Deadly(engine.model, engine.space).fit(X), X.iloc[:20], n_jobs=2, chunk_size=10)


# outputs ---------------------------------------------------------------------------------------------


def test_nothing_is_overwritten(engine, X, tmp_path):
    reap.batch.run(engine, X.iloc[:4], output=tmp_path / "plans.parquet", n_jobs=1)
    with pytest.raises(reap.InputError, match="exists already"):
        reap.batch.run(engine, X.iloc[:4], output=tmp_path / "plans.parquet", n_jobs=1)
    reap.batch.run(engine, X.iloc[:4], output=tmp_path / "plans", n_jobs=1)
    with pytest.raises(reap.InputError, match="holds a run already"):
        reap.batch.run(engine, X.iloc[:4], output=tmp_path / "plans", n_jobs=1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").touch()
    with pytest.raises(reap.InputError, match="not a batch"):
        reap.batch.run(engine, X.iloc[:4], output=tmp_path / "other", n_jobs=1)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"X": slice(0, 5)}, "input"),
        ({"chunk_size": 2}, "setting"),
        ({"matrix": True}, "setting"),
        ({"limits": True}, "setting"),
        ({"threshold": 0.6}, "engine"),
    ],
)
@pytest.mark.parametrize("output", ["plans.parquet", "plans"])
def test_only_the_same_run_is_resumed(engine, X, tmp_path, change, what, output):
    import numpy as np

    reap.batch.run(engine, X.iloc[:4], output=tmp_path / output, n_jobs=1, chunk_size=3)
    if "threshold" in change:
        engine = people.Nearest(engine.model, engine.space, threshold=0.6).fit(X)
    d = engine.space.dimension
    with pytest.raises(reap.InputError, match=f"another {what}"):
        reap.batch.run(
            engine,
            X.iloc[change.get("X", slice(0, 4))],
            output=tmp_path / output,
            matrix=2 * np.eye(d) if "matrix" in change else None,
            limits=engine.space.limits(fixed=["job"]) if "limits" in change else None,
            n_jobs=1,
            chunk_size=change.get("chunk_size", 3),
            resume=True,
        )


def test_a_file_that_is_no_batch_is_told_apart(tmp_path, X):
    X.to_parquet(tmp_path / "x.parquet")
    for path in (tmp_path / "x.parquet", tmp_path, tmp_path / "absent"):
        with pytest.raises(reap.InputError, match="not the result of a batch"):
            store.read_manifest(path)
