"""Tables in, a chunk at a time: a frame, CSV or Parquet. Only the chunks in hand are in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Frame, Series
from reap.batch.preferences import Answers
from reap.space import ActionSpace, Feature

ID = "row_id"
_BLOCK = 1 << 20


@dataclass
class Chunk:
    """Some rows of the input, in their order.

    Parameters
    ----------
    number, start : which chunk, and the position of its first row in the input
    rows : DataFrame (n, features) in units; its index holds the ids
    rest : DataFrame (n, …), columns that the space does not know and that are carried along
    answers : what the person in row i (0 … n − 1) was asked and said
    """

    number: int
    start: int
    rows: Frame
    rest: Frame
    answers: dict[int, Answers] = field(default_factory=dict)

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
        """Yield frames of ``size`` rows, the last one shorter; each indexed by position in the input, or as it was."""


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
        table = CsvFile(path, space) if _is_csv(path) else ParquetFiles(_parquet(path))
    check_columns(table.columns, space)
    return table


def read_frame(path: str | Path, space: ActionSpace) -> Frame:
    """Return the features of a whole file, for rows of other people that fit in memory."""
    table = open_table(path, space)
    frames = [frame[feature_columns(space)] for frame in table.frames(100_000)]
    if not frames:
        raise InputError(f"{str(path)!r} has no rows")
    return pd.concat(frames)


def chunks(table: Table, space: ActionSpace, size: int, id_column: str | None) -> Iterator[Chunk]:
    """Yield a table's chunks."""
    features, start = feature_columns(space), 0
    for number, frame in enumerate(table.frames(size)):
        if id_column is not None:
            frame = frame.set_axis(pd.Index(frame[id_column], name=id_column))
        yield Chunk(number, start, frame[features], frame.drop(columns=features))
        start += len(frame)


def feature_columns(space: ActionSpace) -> list[str]:
    """Return the names of the space's columns in the user's table."""
    return [column for feature in space.features for column in (feature.columns or (feature.name,))]


def check_columns(columns: Sequence[str], space: ActionSpace) -> None:
    """Refuse a table that lacks a feature, before any work is done."""
    for name in feature_columns(space):
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


class ParquetFiles:
    """A Parquet file, or several, in the order of their names."""

    def __init__(self, paths: list[Path]) -> None:
        import pyarrow.parquet as pq

        self.paths = paths
        try:
            self.schema = pq.read_schema(paths[0]).remove_metadata()
        except (OSError, ValueError) as error:
            raise InputError(f"{str(paths[0])!r} is not a Parquet file that can be read: {error}") from None
        self.columns = list(self.schema.names)

    @property
    def digest(self) -> str:
        """A hash of the files' bytes."""
        return file_digest(*self.paths)

    @property
    def count(self) -> int:
        """Number of rows, from the files' footers."""
        import pyarrow.parquet as pq

        return sum(pq.read_metadata(path).num_rows for path in self.paths)

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield frames of ``size`` rows across row groups and files."""
        import pyarrow as pa

        position, kept = 0, pa.Table.from_batches([], self.schema)
        for batch in self._batches(size):
            kept = pa.concat_tables([kept, pa.Table.from_batches([batch], self.schema)])
            while len(kept) >= size:
                yield _frame(kept.slice(0, size), position)
                position, kept = position + size, kept.slice(size)
        if len(kept):
            yield _frame(kept, position)

    def _batches(self, size: int) -> Iterator[Any]:
        import pyarrow.parquet as pq

        for path in self.paths:
            with pq.ParquetFile(path) as file:
                if file.schema_arrow.remove_metadata() != self.schema:
                    raise InputError(
                        f"{str(path)!r} has other columns or types than {str(self.paths[0])!r}; make them alike"
                    )
                yield from file.iter_batches(batch_size=size)


def _frame(table: Any, position: int) -> Frame:
    """Return Arrow rows as a frame indexed by position; dictionaries as plain values, so that no level gets lost."""
    import pyarrow as pa

    for i, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(column.type.value_type))
    return table.to_pandas().set_axis(pd.RangeIndex(position, position + len(table), name=ID))


class CsvFile:
    """A CSV file. It has no types: features take those of the action space, other columns stay text."""

    def __init__(self, path: Path, space: ActionSpace) -> None:
        self.path, self.space = path, space
        try:
            self.columns = list(pd.read_csv(path, nrows=0, encoding="utf-8").columns)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise InputError(f"{str(path)!r} is not a CSV file that can be read: {error}") from None

    @property
    def digest(self) -> str:
        """A hash of the file's bytes."""
        return file_digest(self.path)

    @property
    def count(self) -> None:
        """Not known before the end."""
        return

    @property
    def schema(self) -> Any:
        """Numbers and levels as the space has them, everything else text."""
        import pyarrow as pa

        own = {}
        for feature in self.space.features:
            for name in feature.columns or (feature.name,):
                own[name] = pa.float64() if feature.columns else _arrow_type(feature)
        return pa.schema([(name, own.get(name, pa.string())) for name in self.columns])

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield frames of ``size`` rows."""
        features = {name: f for f in self.space.features for name in (f.columns or (f.name,))}
        reader = pd.read_csv(
            self.path, dtype=str, chunksize=size, keep_default_na=False, na_values=[""], encoding="utf-8"
        )
        with reader:
            for frame in reader:
                if len(frame) == 0:
                    return  # a header and nothing else
                frame = frame.rename_axis(ID)
                for name, feature in features.items():
                    frame[name] = _typed(frame[name], feature, one_hot=bool(feature.columns))
                yield frame


def _arrow_type(feature: Feature) -> Any:
    import pyarrow as pa

    if feature.is_number:
        return pa.int64() if feature.kind == "integer" else pa.float64()
    return pa.array(list(feature.levels)).type


def _typed(text: Series, feature: Feature, *, one_hot: bool) -> Series:
    """Return a column of text as numbers or levels; what cannot be read stays text, so that the row says why."""
    if feature.is_number or one_hot:
        values = pd.to_numeric(text, errors="coerce")
        whole = feature.kind == "integer" and bool(np.equal(np.mod(values, 1), 0).all())
        values = values.astype("int64" if whole else "float64")
    else:
        lookup = {name: level for level in feature.levels for name in _names(level)}
        values = text.map(lookup)
    unread = values.isna() & text.notna()
    return values if not unread.any() else values.astype(object).where(~unread, text)


def _names(level: Any) -> set[str]:
    names = {str(level)}
    if isinstance(level, bool | np.bool_):
        names |= {str(level).lower(), str(level).upper(), str(int(level))}
    elif isinstance(level, int | float | np.number):
        names |= {f"{level:g}", str(float(level))}
    return names


def _is_csv(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst"))


def _parquet(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(p for p in path.glob("*.parquet") if not p.name.startswith(("_", ".")))
    if not files:
        raise InputError(f"the folder {str(path)!r} holds no Parquet files")
    return files


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of the content of files."""
    made = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                made.update(block)
    return made.hexdigest()
