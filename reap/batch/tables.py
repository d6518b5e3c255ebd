"""Tables in, a chunk at a time: a frame, CSV or Parquet. Only the chunks in hand are in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.batch.csv_file import CsvFile, is_csv
from reap.batch.parquet import ParquetFiles, parquet_files
from reap.batch.preferences import Answers
from reap.space import ActionSpace


@dataclass
class Chunk:
    """Some rows of the input, in their order.

    Parameters
    ----------
    number, start : which chunk, and the position of its first row in the input
    rows : DataFrame (n, features) in units; its index holds the ids
    rest : DataFrame (n, …), columns that the space does not know and that are carried along
    answers : what the person in row i (0 … n − 1) was asked and said
    unread : why row i could not be read
    """

    number: int
    start: int
    rows: Frame
    rest: Frame
    answers: dict[int, Answers] = field(default_factory=dict)
    unread: dict[int, str] = field(default_factory=dict)

    @property
    def stop(self) -> int:
        """The position after the last row."""
        return self.start + len(self.rows)


class Table(Protocol):
    """Where rows come from."""

    columns: list[str]

    @property
    def digest(self) -> str:
        """A hash of the content."""

    @property
    def count(self) -> int | None:
        """Number of rows; None where only reading would tell."""

    @property
    def schema(self) -> Any:
        """The Arrow type of every column."""

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield frames of ``size`` rows, the last one shorter; each indexed by position in the input, or as it was.

        ``attrs["unread"]``, where there is one, says by place in the frame why a row could not be read.
        """


def open_table(X: Frame | str | Path, space: ActionSpace) -> Table:
    """Return a table to read from: a frame, a CSV or Parquet file, or a folder of Parquet files."""
    if isinstance(X, pd.DataFrame):
        table: Table = InMemory(X)
    elif not isinstance(X, str | Path):
        raise InputError(f"give the subjects as a DataFrame or a file, not {type(X).__name__}")
    else:
        path = Path(X)
        if not path.exists():
            raise InputError(f"there is no file {str(path)!r}")
        table = CsvFile(path, space) if is_csv(path) else ParquetFiles(parquet_files(path))
    check_columns(table.columns, space)
    return table


def read_frame(path: str | Path, space: ActionSpace) -> Frame:
    """Return the features of a whole file, for rows of other people that fit in memory."""
    table = open_table(path, space)
    frames = []
    for frame in table.frames(100_000):
        for place, reason in frame.attrs.get("unread", {}).items():
            raise InputError(f"{str(path)!r}, row {frame.index[place]}: {reason}")
        frames.append(frame[space.table_columns])
    if not frames:
        raise InputError(f"{str(path)!r} has no rows")
    return pd.concat(frames)


def chunks(table: Table, space: ActionSpace, size: int, id_column: str | None) -> Iterator[Chunk]:
    """Yield a table's chunks."""
    features, start = space.table_columns, 0
    for number, frame in enumerate(table.frames(size)):
        unread = frame.attrs.pop("unread", {})
        if id_column is not None:
            frame = frame.set_axis(pd.Index(frame[id_column], name=id_column))
        yield Chunk(number, start, frame[features], frame.drop(columns=features), unread=unread)
        start += len(frame)


def check_columns(columns: Sequence[str], space: ActionSpace) -> None:
    """Refuse a table that lacks a feature, before any work is done."""
    for name in space.table_columns:
        if name not in columns:
            raise unknown("column in the table for the feature", name, columns)
    if taken := [name for name in columns if str(name).startswith("recourse_")]:
        raise InputError(
            f"the table has a column {taken[0]!r}: names that begin with recourse_ are written by the batch; "
            "rename it, or give the table that the plans were made from"
        )


class InMemory:
    """A frame; its index gives the ids."""

    def __init__(self, frame: Frame) -> None:
        if len(frame) == 0:
            raise InputError("the table has no rows; give at least one")
        if frame.columns.duplicated().any():
            raise InputError(f"the table has a column {frame.columns[frame.columns.duplicated()][0]!r} twice")
        self.frame = frame
        self.columns = list(frame.columns)

    @property
    def digest(self) -> str:
        """A hash of values, index and names."""
        hashed = pd.util.hash_pandas_object(self.frame, index=True).to_numpy()
        return hashlib.sha256(repr(self.columns).encode() + hashed.tobytes()).hexdigest()

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.frame)

    @property
    def schema(self) -> Any:
        """The Arrow type of every column."""
        import pyarrow as pa

        return pa.Schema.from_pandas(self.frame, preserve_index=False).remove_metadata()

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield slices, with their index."""
        for start in range(0, len(self.frame), size):
            yield self.frame.iloc[start : start + size]
