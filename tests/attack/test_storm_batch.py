"""A batch that is killed again and again, at any moment: what is done is kept, and the plans are those of a run that was not."""

from __future__ import annotations

import os
import random
import signal
import time

import pytest

from tests.batch import people
from tests.batch.test_resume import ROWS, assert_whole, start

pytestmark = [pytest.mark.long, pytest.mark.timeout(0)]

TIMES = int(os.environ.get("REAP_ATTACK", "1"))
SEED = int(os.environ.get("REAP_SEED", "0"))
#: Kills of one batch at most, before it may come to its end.
IN_A_ROW = 6


def test_a_batch_that_is_killed_again_and_again_ends_as_if_it_had_not_been(tmp_path):
    """Killed while it starts, while it plans, while it writes a part, while it looks at the parts of the run before."""
    engine, X = people.nearest()
    rng, wanted, kills, runs, idle = random.Random(SEED), 4 * TIMES, 0, 0, 0
    while kills < wanted:
        one_file = runs % 2 == 1  # a file is put together from its parts at the end
        path = tmp_path / (f"plans-{runs}.parquet" if one_file else f"plans-{runs}")
        folder, jobs = (path.with_name(path.name + ".parts") if one_file else path), 1 + runs % 3 % 2
        for _ in range(min(IN_A_ROW, wanted - kills)):
            before = parts(folder)
            process = start(path, jobs, "resume")
            if not wait(process, folder, before, rng):  # it was faster
                break
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            idle += parts(folder) == before
            assert parts(folder) >= before or path.is_file(), "what was done is gone"
        assert start(path, jobs, "resume").wait(600) == 0
        assert_whole(engine, X.iloc[:ROWS], path)
        assert not list(tmp_path.glob("**/.*.tmp"))
        runs += 1
    print(
        f"{kills} kills -9 of {runs} batches, seed {SEED}, {idle} before a part was done: every plan as without them"
    )


def wait(process, folder, before, rng):
    """Wait for a moment to kill a batch at; return whether it still runs."""
    if rng.random() < 0.3:  # while Python starts, or while the parts of the run before are looked at
        time.sleep(4 * rng.random())
    else:
        new = before + rng.randint(1, 4)
        while parts(folder) < new and process.poll() is None:
            time.sleep(0.005)
        time.sleep(0.1 * rng.random())
    assert process.poll() in (None, 0), "it failed"
    return process.poll() is None


def parts(folder):
    """How many parts of a batch are finished."""
    return len(list(folder.glob("part-*.parquet")))
