"""A batch on a bad day: workers that die while they start, damaged parts, broken lines, a scheduler that is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from tests.batch import people

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def fitted():
    return people.nearest(60)


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
import sys, reap
from tests.batch import people
engine, X = people.nearest(150)
engine.ballast_ = list(map(float, range(200_000)))
try:
    reap.batch.run(engine, X, output=sys.argv[1], n_jobs=2, chunk_size=20)
except ChildProcessError as error:
    print(error)
    sys.exit(3)
"""


def run_with_deaths(tmp_path, deaths):
    """Run a batch whose first workers die while they start; a run that hangs fails the test."""
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


@pytest.mark.parametrize(
    "deaths", [pytest.param(1, marks=pytest.mark.long), 2, pytest.param(4, marks=pytest.mark.long)]
)
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


# folders -------------------------------------------------------------------------------------------------


def run(fitted, folder, **options):
    engine, X = fitted
    return reap.batch.run(engine, X, output=folder, n_jobs=1, chunk_size=10, **options)


def edited(path):
    table = pd.read_parquet(path)
    table["recourse_valid"] = True
    table["recourse_effort"] = 0.0
    table.to_parquet(path, index=False)


def flipped(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(bytes(data))


ATTACKS = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "empty": lambda path: path.write_bytes(b""),
    "flipped": flipped,
    "copied over": lambda path: shutil.copy(path.with_name("part-000004.parquet"), path),
    "edited": edited,
    "deleted": lambda path: path.unlink(),
    "added": lambda path: shutil.copy(path, path.with_name("part-000099.parquet")),
    "renamed": lambda path: path.rename(path.with_name("part-two.parquet")),
}


def unfinished(folder):
    """Make a finished folder what it was before its end."""
    manifest = json.loads((folder / "_manifest.json").read_text())
    del manifest["rows"], manifest["statuses"]
    (folder / "_manifest.json").write_text(json.dumps(manifest | {"complete": False}))


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("attack", ATTACKS)
def test_a_part_that_is_not_what_was_written_is_made_again(fitted, tmp_path, attack, finished):
    folder = tmp_path / "plans"
    wanted = run(fitted, folder)
    before = pd.read_parquet(folder)
    if not finished:
        unfinished(folder)
    kept = {p.name: p.stat().st_mtime_ns for p in folder.glob("part-*.parquet")}
    ATTACKS[attack](folder / "part-000002.parquet")
    if finished:
        with pytest.raises(reap.InputError, match=r"part-.*is not what the run wrote.*resume"):
            reap.audit(folder, by=["sex"])
    else:
        with pytest.raises(reap.InputError, match="is not finished"):
            reap.audit(folder, by=["sex"])
    mended = run(fitted, folder, resume=True)
    assert (mended.rows, mended.statuses) == (wanted.rows, wanted.statuses)
    pd.testing.assert_frame_equal(pd.read_parquet(folder), before)
    now = {p.name: p.stat().st_mtime_ns for p in folder.glob("part-*.parquet")}
    assert set(now) == set(kept)
    assert {name for name in kept if now[name] != kept[name]} <= {"part-000002.parquet"}, (
        "a sound part was made again"
    )
    assert reap.audit(folder, by=["sex"], matrices=3, resamples=10).people > 0


def test_a_run_killed_while_it_mends_goes_on(fitted, tmp_path):
    """A manifest that says complete, a part that is gone, half of a part and half of a manifest."""
    folder = tmp_path / "plans"
    run(fitted, folder)
    before = pd.read_parquet(folder)
    (folder / "part-000001.parquet").unlink()
    (folder / ".part-000001.parquet.17.tmp").write_bytes(b"half a part")
    (folder / "._manifest.json.17.tmp").write_text((folder / "_manifest.json").read_text()[:50])
    run(fitted, folder, resume=True)
    pd.testing.assert_frame_equal(pd.read_parquet(folder), before)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("name", ["plans", "plans.parquet"])
@settings(max_examples=15, deadline=None)
@given(cut=st.floats(0, 0.99))
def test_a_cut_manifest_or_file_is_refused_with_its_name(fitted, tmp_path_factory, name, cut):
    path = tmp_path_factory.mktemp("cut") / name
    run(fitted, path)
    file = path / "_manifest.json" if path.is_dir() else path
    data = file.read_bytes()
    file.write_bytes(data[: int(cut * len(data))])
    with pytest.raises(reap.InputError, match=name):
        run(fitted, path, resume=True)
    with pytest.raises(reap.InputError, match=name):
        reap.audit(path, by=["sex"])


def test_a_flipped_byte_of_one_file_changes_no_figure_of_an_audit(fitted, tmp_path):
    """Pages have checksums. A byte that nobody reads may change; a value may not."""
    path = tmp_path / "plans.parquet"
    run(fitted, path)
    data, figures, refused = path.read_bytes(), _figures(path), []
    for place in range(200, 12_000, 700):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            assert _figures(path) == figures
        except reap.InputError as error:
            refused.append(str(error))
    assert len(refused) >= 10
    assert all("plans.parquet" in sentence for sentence in refused)


def _figures(path):
    return reap.audit(path, by=["sex"], matrices=3, resamples=10).to_json()


# lines ---------------------------------------------------------------------------------------------------


BREAKS = {
    "an extra comma": (lambda line: line + b",more", "more fields"),
    "many commas": (lambda line: line + b",,a,b,,c", "more fields"),
    "a comma in a number": (lambda line: b"1," + line, "more fields"),
    "a latin-1 byte in a feature": (lambda line: line.replace(b"male", b"m\xe4le"), "UTF-8"),
    "a latin-1 byte in another column": (lambda line: line.replace(b"Ann", b"J\xf6rg"), "UTF-8"),
}


@pytest.mark.parametrize("place", [0, 3, 11])
@pytest.mark.parametrize("kind", BREAKS)
def test_a_broken_line_is_one_invalid_row(fitted, tmp_path, kind, place):
    engine, X = fitted
    X.iloc[:12].assign(name="Ann").to_csv(tmp_path / "p.csv", index=False)
    header, *lines = (tmp_path / "p.csv").read_bytes().splitlines()
    change, words = BREAKS[kind]
    lines[place] = change(lines[place])
    (tmp_path / "p.csv").write_bytes(b"\n".join([header, *lines, b""]))
    made = pd.read_parquet(
        reap.batch.run(engine, tmp_path / "p.csv", output=tmp_path / "o.parquet", n_jobs=1, chunk_size=5).path
    )
    assert list(made["row_id"]) == list(range(12))
    assert list(np.flatnonzero(made["recourse_status"] == "invalid_row")) == [place]
    assert words in made["recourse_reason"][place]
    rest = [i for i in range(12) if i != place]
    wanted = engine.recommend(X.iloc[rest])
    pd.testing.assert_frame_equal(made.loc[rest, wanted.columns], wanted, check_dtype=False)


@settings(max_examples=40, deadline=None)
@given(where=st.floats(0, 1), junk=st.binary(min_size=1, max_size=8))
def test_junk_in_a_csv_is_rows_or_a_sentence(fitted, tmp_path_factory, where, junk):
    """Whatever bytes stand in a file: plans, rows that say why not, or one error that names the file."""
    engine, X = fitted
    path = tmp_path_factory.mktemp("junk") / "p.csv"
    X.iloc[:8].to_csv(path, index=False)
    data = path.read_bytes()
    at = int(where * len(data))
    path.write_bytes(data[:at] + junk + data[at:])
    try:
        made = reap.batch.run(engine, path, output=path.with_name("o.parquet"), n_jobs=1)
    except reap.InputError:
        return
    assert set(made.statuses) <= {"ok", "already_accepted", "none_found", "invalid_row"}


# clusters ------------------------------------------------------------------------------------------------


def test_a_killed_scheduler_ends_in_a_sentence_and_the_run_goes_on(fitted, tmp_path):
    dask = pytest.importorskip("dask")
    pytest.importorskip("distributed")
    from tests.batch.test_cluster import Site

    X, slow = fitted[1], people.nearest(60, delay=0.02)[0]
    site, output = Site(tmp_path).hire(2), tmp_path / "plans"

    def kill():
        while len(list(output.glob("part-*.parquet"))) < 3:
            time.sleep(0.01)
        site.scheduler.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    try:
        with (
            dask.config.set({"distributed.comm.timeouts.connect": "3s"}),
            pytest.raises(ConnectionError, match=r"scheduler at .* is gone.*resume"),
        ):
            reap.batch.run(slow, X, output=output, scheduler=site.address, chunk_size=2)
    finally:
        site.close()
    kept = len(list(output.glob("part-*.parquet")))
    assert 3 <= kept < 30
    result = reap.batch.run(slow, X, output=output, n_jobs=1, chunk_size=2, resume=True)
    assert result.rows == 60
    wanted = fitted[0].recommend(X)
    pd.testing.assert_frame_equal(pd.read_parquet(output)[list(wanted.columns)], wanted)
