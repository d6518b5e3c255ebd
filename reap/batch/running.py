"""One call from a table to its plans."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.batch import preferences as answers_table
from reap.batch.digests import ID
from reap.batch.manifest import describe, digest
from reap.batch.planning import Planner
from reap.batch.preferences import Answers
from reap.batch.progress import progress
from reap.batch.store import Store, read_manifest, schema_of
from reap.batch.tables import Chunk, Table, chunks, open_table
from reap.batch.workers import finished, hire
from reap.effort import identity, matrices
from reap.space import ActionSpace, Limits


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
        Answers of people who were asked, see ``reap.batch.preferences``: their plans are made for what they said.
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
        Show rows, rate and time left.

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
    table, space = open_table(X, _checked(engine, chunk_size)), engine.space
    id_column = _id_column(table, id_column)
    A = identity(space.dimension) if matrix is None else matrices(matrix, space.dimension)[0]
    people = answers_table.read(preferences, space)
    manifest = describe(
        engine,
        data=table.digest,
        preferences=people,
        settings={
            "matrix": "identity" if matrix is None else digest(A),
            "limits": limits.to_dict() if limits else {},
            "id_column": id_column,
            "chunk_size": chunk_size,
        },
        matrix=None if matrix is None else A,
        reference=reference,
        provenance=provenance,
    )
    jobs = joblib.effective_n_jobs(n_jobs)
    if table.count is not None:
        jobs = min(jobs, -(-table.count // chunk_size))
    job = _Job(Planner(engine, A, limits), table, jobs, scheduler, verbose)
    ready = _with_answers(chunks(table, space, chunk_size, id_column), people)
    first = next(ready, None)
    if first is None:
        raise InputError("the table has no rows; give at least one")
    ready = itertools.chain([first], ready)
    if output is None:
        return _frame(job, ready, manifest)
    ids = None if id_column is not None else first.rows.index
    schema = schema_of(table.schema, space.table_columns, ids, engine.classifier_.scale.output)
    return _file(job, ready, Store(output, manifest, schema), resume)


@dataclass(frozen=True)
class _Job:
    planner: Planner
    table: Table
    n_jobs: int
    scheduler: str | None
    verbose: bool

    def results(self, ready: Iterator[Chunk], skipped: int = 0) -> Iterator[tuple[Chunk, Frame]]:
        """Yield chunks with their tables (rest, targets, recourse columns), indexed by id, as they are done."""
        workers = hire(self.planner, self.n_jobs, self.scheduler)
        with contextlib.closing(workers), progress(self.table.count, skipped, self.verbose) as advance:
            for chunk, found in finished(workers, ready):
                yield chunk, pd.concat([chunk.rest, found], axis=1)
                advance(len(found))


def _frame(job: _Job, ready: Iterator[Chunk], manifest: dict[str, Any]) -> Frame:
    made = sorted(((chunk.number, table) for chunk, table in job.results(ready)), key=lambda pair: pair[0])
    frame = pd.concat([table for _, table in made])
    counts = frame["recourse_status"].value_counts().sort_index()
    done = {"complete": True, "rows": len(frame), "statuses": {str(k): int(n) for k, n in counts.items()}}
    frame.attrs["reap"] = manifest | done
    return frame


def _file(job: _Job, ready: Iterator[Chunk], store: Store, resume: bool) -> Result:
    done, total = store.begin(resume), 0

    def todo(done: set[int]) -> Iterator[Chunk]:
        nonlocal total
        for chunk in ready:
            total = chunk.stop
            if chunk.number not in done:
                yield chunk

    if done is None:
        manifest = read_manifest(store.output)
    else:
        skipped = len(done) * store.manifest["settings"]["chunk_size"]
        for chunk, table in job.results(todo(done), skipped):
            store.write(chunk, table)
        manifest = store.finish(total)
    return Result(store.output, manifest["rows"], manifest["statuses"], manifest)


def _checked(engine: Any, chunk_size: int) -> ActionSpace:
    if not hasattr(engine, "plans") or not hasattr(engine, "classifier_"):
        raise InputError(
            f"the engine ({type(engine).__name__}) is not fitted; call fit(X) with rows of other people first"
        )
    if chunk_size < 1:
        raise InputError(f"chunk_size is {chunk_size}; give a number of rows of at least 1")
    space: ActionSpace = engine.space
    return space


def _id_column(table: Table, name: str | None) -> str | None:
    if name is not None and name not in table.columns:
        raise unknown("column", name, table.columns)
    return ID if name is None and ID in table.columns else name


def _with_answers(source: Iterator[Chunk], people: dict[str, Answers]) -> Iterator[Chunk]:
    for chunk in source:
        if people:
            keys = (answers_table.key(row_id) for row_id in chunk.rows.index)
            chunk.answers = {i: people[k] for i, k in enumerate(keys) if k in people}
        yield chunk
