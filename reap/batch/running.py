"""One call from a table to its plans."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.batch import answers
from reap.batch.manifest import describe, digest
from reap.batch.planner import Planner
from reap.batch.store import PlanStore, read_manifest, schema_of, statuses_of
from reap.batch.tables import ID, Chunk, chunks, open_table
from reap.batch.workers import finished
from reap.effort import identity, matrices
from reap.space import Limits


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
    rows = chunks(table, space, chunk_size, id_column)
    first = next(rows, None)
    if first is None:
        raise InputError("the table has no rows; give at least one")
    store, done, total = None, set[int](), 0
    if output is not None:
        ids = None if id_column is not None else first.rows.index
        scheme = schema_of(table.schema, space.encoding.table, ids, engine.classifier_.scale.output)
        store = PlanStore(output, manifest, scheme)
        begun = store.begin(resume)
        if begun is None:
            return _result(store.output, read_manifest(store.output))
        done = begun

    def todo() -> Iterator[Chunk]:
        nonlocal total
        for chunk in itertools.chain([first], rows):
            total = chunk.stop
            if chunk.number not in done:
                keys = (answers.key(row_id) for row_id in chunk.rows.index) if people else ()
                chunk.answers = {i: people[key] for i, key in enumerate(keys) if key in people}
                yield chunk

    jobs = joblib.effective_n_jobs(n_jobs)
    if table.count is not None:
        jobs = min(jobs, -(-table.count // chunk_size))
    made: dict[int, Frame] = {}
    with _progress(table.count, len(done) * chunk_size, verbose) as advance:
        for chunk, found in finished(Planner(engine, A, limits), todo(), jobs, scheduler):
            frame = pd.concat([chunk.rest, found], axis=1)
            if store is None:
                made[chunk.number] = frame
            else:
                store.write(chunk.number, frame)
            advance(len(found))
    if store is not None:
        return _result(store.output, store.finish(total))
    whole = pd.concat([made[number] for number in sorted(made)])
    whole.attrs["reap"] = manifest | {"complete": True, "rows": len(whole), "statuses": statuses_of(whole)}
    return whole


def _result(path: Path, manifest: dict[str, Any]) -> Result:
    return Result(path, manifest["rows"], manifest["statuses"], manifest)


class _Rate(ProgressColumn):
    """Rows a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} rows/s")


@contextlib.contextmanager
def _progress(total: int | None, done: int, shown: bool) -> Iterator[Callable[[int], None]]:
    """Show rows, rate and time left (on stderr, so that output can be piped), and yield what moves the bar on."""
    columns = ("Plans", BarColumn(), MofNCompleteColumn(), "rows", _Rate(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, speed_estimate_period=300, disable=not shown) as bar:
        task = bar.add_task("", total=total, completed=done)
        yield lambda rows: bar.update(task, advance=rows)
