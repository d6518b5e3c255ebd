"""One call from a table to its plans, done by this process, by processes of this machine, or by a Dask cluster.

What happens to a chunk of rows is in ``Planner``; who does it, and what follows when a worker dies, in ``finished``.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import pickle
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import threadpoolctl  # type: ignore[import-untyped]
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from reap import __version__
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.batch import answers
from reap.batch.answers import Answers
from reap.batch.store import PlanStore, describe, digest, moments, pack, schema_of, statuses_of
from reap.batch.tables import ID, Chunk, chunks, open_table
from reap.effort import identity, matrices
from reap.plan import Plan
from reap.recourse.engine import table as table_of
from reap.space import Limits

#: How often workers may die, with no chunk done in between, before a run is given up; Dask has the same number by default.
_DEATHS = 4


@dataclass(frozen=True)
class Result:
    """Where the plans are, and how it went.

    Parameters
    ----------
    path : Path
        A Parquet file, or a folder of Parquet parts.
    rows : int
    statuses : dict
        Number of rows by status.
    manifest : dict
        Hashes of model, data and space, the version, the settings.
    """

    path: Path
    rows: int
    statuses: dict[str, int]
    manifest: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        counts = ", ".join(f"{n:,} {status}" for status, n in self.statuses.items())
        return f"{self.rows:,} rows in {self.path}: {counts}"


def run(
    engine: Any,
    X: Frame | str | Path,
    *,
    output: str | Path | None = None,
    preferences: Frame | str | Path | None = None,
    matrix: Array | None = None,
    limits: Limits | None = None,
    reference: Frame | None = None,
    id_column: str | None = None,
    n_jobs: int = -1,
    scheduler: str | None = None,
    chunk_size: int = 1000,
    resume: bool = False,
    provenance: Mapping[str, Any] | None = None,
    verbose: bool = False,
) -> Frame | Result:
    """Return, or write to Parquet, a plan for every row of a table.

    The same plans as ``engine.recommend`` gives one by one. A row that cannot be read gets the status
    ``"invalid_row"`` and a reason, and the run goes on.

    Parameters
    ----------
    engine : fitted engine
    X : DataFrame, or a CSV or Parquet file, or a folder of Parquet files
        Columns that the action space does not know are carried along.
    output : path, optional
        ``plans.parquet`` for one file; another name for a folder of parts. Without it a frame is returned.
    preferences : DataFrame or file, optional
        Answers of people who were asked, see ``reap.batch.answers``: their plans are made for what they said.
    matrix : (d, d), optional
        The effort matrix assumed for everybody else; the identity by default.
    limits : Limits, optional
        What nobody can do, beyond the action space.
    reference : DataFrame, optional
        Rows of other people, as given to ``fit``: those the model accepts give effort its unit in an audit.
    id_column : str, optional
        The column that identifies a row; by default ``row_id`` where there is one, else the position (or index).
    n_jobs : int
        Processes on this machine, as in joblib: −1 for as many as it has cores, 1 for none but this.
    scheduler : str, optional
        Address of a Dask scheduler (``"tcp://…"``) instead.
    chunk_size : int
        Rows in each part; what is lost at most, for each worker, when the run is killed.
    resume : bool
        Go on with a run that was killed: what is done is kept.
    provenance : mapping, optional
        More to write in the manifest, such as names of files.
    verbose : bool
        Show how many rows are done and the time left.

    Returns
    -------
    DataFrame or Result
        The columns of ``engine.recommend``, then ``recourse_probability`` (``recourse_score`` where the model
        returns points or another score), ``recourse_durability``, ``recourse_cliffs`` (JSON), ``recourse_reason``,
        ``recourse_answers`` (how many the plan is based on) and ``recourse_path`` (the encoded rows from start to
        target, (s + 1)·d numbers); ``attrs["reap"]`` of the frame says what it was made from.

    Examples
    --------
    >>> import reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> engine = reap.Recourse(model, data.space).fit(data.X)
    >>> plans = reap.batch.run(engine, data.X.iloc[:5], n_jobs=1)
    >>> plans["recourse_valid"].all()
    np.True_
    """
    if not hasattr(engine, "plans") or not hasattr(engine, "classifier_"):
        raise InputError(
            f"the engine ({type(engine).__name__}) is not fitted; call fit(X) with rows of other people first"
        )
    if chunk_size < 1:
        raise InputError(f"chunk_size is {chunk_size}; give a number of rows of at least 1")
    space = engine.space
    table = open_table(X, space)
    if id_column is None and ID in table.columns:
        id_column = ID
    elif id_column is not None and id_column not in table.columns:
        raise unknown("column", id_column, table.columns)
    A = identity(space.dimension) if matrix is None else matrices(matrix, space.dimension)[0]
    people = answers.read(preferences, space)
    settings = {
        "matrix": "identity" if matrix is None else digest(A),
        "limits": limits.to_dict() if limits else {},
        "id_column": id_column,
        "chunk_size": chunk_size,
    }
    assumed = None if matrix is None else A
    manifest = describe(
        engine, data=table.digest, people=people, settings=settings, matrix=assumed, provenance=provenance
    )
    known = None if reference is None else space.encode(reference)
    manifest["accepted"] = None if known is None else moments(known[engine.classifier_.accepts(known)])
    first = next(chunks(table, space, chunk_size, id_column), None)
    if first is None:
        raise InputError("the table has no rows; give at least one")
    store, done, total = None, set[int](), 0
    if output is not None:
        ids = None if id_column is not None else first.rows.index
        scheme = schema_of(table.schema, space.encoding.table, ids, engine.classifier_.scale.output)
        store = PlanStore(output, manifest, scheme)
        if (finished_before := store.begin(resume)) is not None:
            return _result(store.output, finished_before)
        done = store.done

    def todo() -> Iterator[Chunk]:
        nonlocal total
        for chunk in chunks(table, space, chunk_size, id_column):
            total = chunk.start + len(chunk.rows)
            if chunk.number not in done:
                keys = (answers.key(row_id) for row_id in chunk.rows.index) if people else ()
                yield chunk._replace(answers={i: people[key] for i, key in enumerate(keys) if key in people})

    jobs = joblib.effective_n_jobs(n_jobs)
    if table.count is not None:
        jobs = min(jobs, -(-table.count // chunk_size))
    made: dict[int, Frame] = {}
    columns = ("Plans", BarColumn(), MofNCompleteColumn(), "rows", TimeRemainingColumn())
    console = Console(stderr=True)  # so that output can be piped
    with Progress(*columns, console=console, speed_estimate_period=300, disable=not verbose) as bar:
        task = bar.add_task("", total=table.count, completed=len(done) * chunk_size)
        for chunk, found in finished(Planner(engine, A, limits), todo, jobs, scheduler):
            frame = pd.concat([chunk.rest, found], axis=1)
            if store is None:
                made[chunk.number] = frame
            else:
                store.write(chunk.number, frame)
            done.add(chunk.number)
            bar.advance(task, len(found))
    if store is not None:
        return _result(store.output, store.finish(total))
    whole = pd.concat([made[number] for number in sorted(made)])
    whole.attrs["reap"] = manifest | {"complete": True, "rows": len(whole), "statuses": statuses_of(whole)}
    return whole


def _result(path: Path, manifest: dict[str, Any]) -> Result:
    return Result(path, manifest["rows"], manifest["statuses"], manifest)


# what is done to a chunk -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Planner:
    """A fitted engine, the matrix (d, d) of those who were not asked, and what nobody can do; makes the plans of a chunk."""

    engine: Any
    matrix: Array
    limits: Limits | None = None

    def __call__(self, chunk: Chunk) -> Frame:
        """Return one line a row: the target's columns and the ``recourse_`` columns, index kept."""
        rows, asked = chunk.rows, chunk.answers
        found: dict[int, Plan | Exception] = {i: InputError(why) for i, why in chunk.unread.items()}
        found |= {i: self._asked(rows.iloc[[i]], said) for i, said in asked.items() if i not in found}
        plain = [i for i in range(len(rows)) if i not in found]
        if plain:  # those whom nobody asked are handed over together
            planned = self.engine.plan_each(rows.iloc[plain], self.matrix, self.limits)
            found |= zip(plain, planned, strict=True)
        told = [asked[i].told if i in asked else 0 for i in range(len(rows))]
        return self._table(rows, [found[i] for i in range(len(rows))], told)

    def _asked(self, row: Frame, answers: Answers) -> Plan | Exception:
        """Return what a session with these answers would recommend."""
        limits = self.limits or Limits()
        try:
            if not answers.told and not answers.difficulties:
                plan: Plan = self.engine.plans(row, self.matrix[None], limits.merge(answers.limits))[0]
                return plan
            self.engine.space.vector(row)  # a row that cannot be read is not the answers' fault
            try:
                session = answers.session(self.engine, row, limits)
            except InputError as error:
                return InputError(f"the answers do not fit the row: {error}")
            return session.recommend()
        except Exception as error:  # one row must not end a run of a million
            return error

    def _table(self, rows: Frame, found: list[Plan | Exception], told: list[int]) -> Frame:
        """Return what ``recommend`` would, and more; a row that failed repeats its own values."""
        plans = {i: one for i, one in enumerate(found) if isinstance(one, Plan)}
        failed = {i: _failure(one) for i, one in enumerate(found) if isinstance(one, Exception)}
        tables = [table_of(self.engine.space, rows.iloc[[*plans]], [*plans.values()])] if plans else []
        if failed:
            own = rows.iloc[[*failed]].assign(recourse_valid=False, recourse_effort=np.nan)
            own["recourse_status"] = [status for status, _ in failed.values()]
            tables.append(own.assign(recourse_changes=0, recourse_months=0))
        frame = tables[0]
        if len(tables) > 1:
            frame = pd.concat([frame, tables[1][frame.columns]]).iloc[np.argsort([*plans, *failed])]
        names = (self.engine.classifier_.scale.output, "durability", "cliffs", "reason", "answers", "path")
        lines = [_known(one, answered) for one, answered in zip(found, told, strict=True)]
        for name, values in zip(names, zip(*lines, strict=True), strict=True):
            frame[f"recourse_{name}"] = list(values)
        return frame


def _known(found: Plan | Exception, answered: int) -> tuple[float, float, str, str, int, Array | None]:
    """Return score, durability, cliffs, reason, answers and path of what was found for a row."""
    if isinstance(found, Exception):
        return np.nan, np.nan, "", _failure(found)[1], answered, None
    durability = np.nan if found.durability is None else found.durability
    cliffs = json.dumps([asdict(cliff) for cliff in found.cliffs], ensure_ascii=False) if found.cliffs else ""
    return found.score, durability, cliffs, found.note, answered, found.path.flatten()


def _failure(error: Exception) -> tuple[str, str]:
    """Return the status and the reason of a row that could not be read, or that the engine broke on."""
    if isinstance(error, InputError):
        return "invalid_row", str(error)
    return "failed", f"{type(error).__name__}: {error}"


# who does it -----------------------------------------------------------------------------------------

Done = Iterator[tuple[Chunk, Frame]]
Todo = Callable[[], Iterator[Chunk]]


def finished(planner: Planner, todo: Todo, n_jobs: int, scheduler: str | None) -> Done:
    """Yield every chunk with its table as it is done, in any order; at most three for each worker are read ahead.

    ``todo()`` reads the chunks that are not done, from the beginning; it is asked again after the death of a worker.
    """
    if scheduler is not None:
        return _on_cluster(planner, todo(), scheduler)
    if n_jobs > 1:
        return _in_processes(planner, todo, n_jobs)
    return ((chunk, planner(chunk)) for chunk in todo())


def _given_up(chunk: Chunk) -> ChildProcessError:
    return ChildProcessError(
        f"workers died {_DEATHS} times on rows {chunk.start} to {chunk.start + len(chunk.rows) - 1}; "
        "if they ran out of memory use fewer jobs; what is done is kept: run again with resume"
    )


def _work(planner: Planner, chunk: Chunk) -> Frame:
    """Plan for one chunk in a worker; linear algebra runs in one thread, because every core has a worker."""
    with threadpoolctl.threadpool_limits(1):
        return planner(chunk)


def _in_processes(planner: Planner, todo: Todo, n_jobs: int) -> Done:
    """Yield chunks done by processes of joblib, which stops when one of them dies: then what is not done is begun again."""
    deaths, sent = 0, dict[int, Chunk]()

    def tasks() -> Iterator[Any]:
        for chunk in todo():
            sent[chunk.number] = chunk
            yield joblib.delayed(_work_for)(os.getpid(), planner, chunk.to_plan())

    # Without max_nbytes=None joblib would lay large arrays of the engine down in files.
    crew = joblib.Parallel(
        n_jobs, backend="loky", return_as="generator_unordered", batch_size=1, max_nbytes=None
    )
    while True:
        try:
            for number, table in crew(tasks()):
                deaths = 0
                yield sent.pop(number), table
            return
        except BrokenExecutor as error:
            deaths += 1
            if deaths == _DEATHS:
                raise _given_up(next(todo())) from error


def _work_for(parent: int, planner: Planner, chunk: Chunk) -> tuple[int, Frame]:
    if os.getpid() != parent:  # where joblib may start no process it works in this one
        _end_with(parent)
    return chunk.number, _work(planner, chunk)


@functools.cache
def _end_with(parent: int) -> None:
    """End this process with the one that started it, also where that one is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _on_cluster(planner: Planner, source: Iterator[Chunk], address: str) -> Done:
    """Yield chunks done by the workers of a Dask scheduler, which gives those of a worker that dies to another.

    The engine, as bytes, is the result of a task. So Dask hands it to the workers that need it, makes it again where all that
    had it are gone, and forgets it when this client goes. Every chunk unpacks its own: engines keep caches that threads of a
    worker must not share.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(
            "a cluster needs Dask; install it with: pip install 'reap-recourse[cluster]'"
        ) from None
    try:
        client = distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address!r} ({error}); start one with: dask scheduler"
        ) from None
    sent, done = dict[Any, Chunk](), distributed.as_completed(loop=client.loop)
    with client:
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sending large graph")  # once, and there is no smaller way
                engine = client.submit(bytes, pack(planner), pure=False)

            def send() -> None:
                free = 2 * max(1, len(client.nthreads())) - len(sent)
                for chunk in itertools.islice(source, max(0, free)):
                    future = client.submit(_work_packed, __version__, engine, chunk.to_plan(), pure=False)
                    sent[future] = chunk
                    done.add(future)

            send()
            for future in done:
                chunk = sent.pop(future)
                try:
                    table = future.result()
                except distributed.scheduler.KilledWorker as error:
                    raise _given_up(chunk) from error
                send()
                yield chunk, table
        except (OSError, RuntimeError, CancelledError) as error:
            if client.status == "running" and not isinstance(error, distributed.comm.CommClosedError):
                raise  # Dask may say that a call was cut off before it knows that the scheduler is gone
            raise ConnectionError(
                f"the Dask scheduler at {address!r} is gone; what is done is kept: start it again, then run again "
                "with resume"
            ) from error


def _work_packed(version: str, packed: bytes, chunk: Chunk) -> Frame:
    if version != __version__:
        raise InputError(
            f"the worker has reap {__version__}, this run needs {version}; install the same release"
        )
    return _work(pickle.loads(packed), chunk)
