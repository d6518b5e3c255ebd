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

pytest.importorskip("distributed")


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


def test_nobody_at_the_address(engine, X):
    with pytest.raises(reap.InputError, match="no Dask scheduler answers"):
        reap.batch.run(engine, X, scheduler="tcp://127.0.0.1:9")
