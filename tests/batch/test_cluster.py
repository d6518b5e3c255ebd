"""A real Dask scheduler and two worker processes: the same result as here, also when one is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pandas as pd
import pytest

import reap
from tests.batch import people
from tests.batch.test_resume import Deadly, wait_for

distributed = pytest.importorskip("distributed")

SCRIPT = """
import sys
import reap
from tests.batch import people
engine, X = people.nearest(delay=0.05)
reap.batch.run(engine, X, output=sys.argv[1], scheduler=sys.argv[2], chunk_size=5)
"""


class Site:
    """A scheduler and workers as processes of their own, as on a cluster."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.folder, self.workers = folder, []
        self.scheduler = self._start(
            "scheduler",
            "--port",
            "0",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        end = time.monotonic() + 60
        while not self.file.exists():
            assert self.scheduler.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]

    def _start(self, *words):
        environment = {**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
        environment["DASK_TEMPORARY_DIRECTORY"] = str(self.folder)  # Dask keeps a folder where it works
        with (self.folder / "log.txt").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words],
                env=environment,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def hire(self, count):
        for _ in range(count):
            self.workers.append(
                self._start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard")
            )
        return self

    def close(self):
        for process in (*self.workers, self.scheduler):
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("site")).hire(2)
    yield made
    made.close()


def assert_same(engine, X, result):
    made = pd.read_parquet(result.path)
    assert list(made["row_id"]) == list(X.index)
    wanted = engine.recommend(X)
    pd.testing.assert_frame_equal(made[list(wanted.columns)].set_axis(X.index), wanted)


def test_a_cluster_gives_the_same_as_here(engine, X, site, tmp_path):
    result = reap.batch.run(
        engine, X, output=tmp_path / "plans.parquet", scheduler=site.address, chunk_size=10
    )
    assert_same(engine, X, result)
    here = reap.batch.run(engine, X, n_jobs=1)
    there = reap.batch.run(engine, X, scheduler=site.address, chunk_size=40)
    pd.testing.assert_frame_equal(here, there)


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(engine, X, site, tmp_path):
    slow = people.nearest(delay=0.02)[0]
    output, killed = tmp_path / "plans", []

    def kill():
        while len(list(output.glob("part-*.parquet"))) < 4:
            time.sleep(0.01)
        site.workers[0].send_signal(signal.SIGKILL)
        killed.append(len(list(output.glob("part-*.parquet"))))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    result = reap.batch.run(slow, X, output=output, scheduler=site.address, chunk_size=5)
    killer.join(timeout=10)
    assert killed
    assert killed[0] < len(X) / 5, "it was killed after the end"
    assert site.workers[0].wait(timeout=10) == -signal.SIGKILL
    assert_same(engine, X, result)


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_with_the_scheduler(site, tmp_path):
    """Neither its engine nor its rows: a task is forgotten with the client that asked for it."""
    output = tmp_path / "plans"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(output), site.address], cwd=os.getcwd(), stderr=subprocess.DEVNULL
    )
    wait_for(lambda: list(output.glob("part-*.parquet")), process)
    with distributed.Client(site.address, set_as_default=False) as client:
        assert client.run_on_scheduler(tasks) > 0
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_for(lambda: client.run_on_scheduler(tasks) == 0, seconds=60)


def tasks(dask_scheduler):
    return len(dask_scheduler.tasks)


@pytest.mark.slow
def test_rows_that_kill_every_worker_end_the_run_with_their_place(engine, X, tmp_path):
    own = Site(tmp_path).hire(4)
    try:
        deadly = Deadly(engine.model, engine.space).fit(X)
        with pytest.raises(ChildProcessError, match=r"died 4 times on rows 0 to 9.*resume"):
            reap.batch.run(deadly, X.iloc[:10], scheduler=own.address, chunk_size=10)
    finally:
        own.close()


def test_nobody_at_the_address(engine, X):
    with pytest.raises(reap.InputError, match="no Dask scheduler answers"):
        reap.batch.run(engine, X, scheduler="tcp://127.0.0.1:9")
