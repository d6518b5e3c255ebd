"""Tables in, a chunk at a time: a frame, CSV or Parquet. Only the chunks in hand are in memory."""

from __future__ import annotations

import contextlib
import csv
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
from reap.space import ActionSpace, Feature, amounts

ID = "row_id"
_BLOCK = 1 << 20
#: The column that takes what a line of a CSV file has beyond its columns.
_MORE = "recourse_more"


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
        table = CsvFile(path, space) if _is_csv(path) else ParquetFiles(parquet_files(path))
    check_columns(table.columns, space)
    return table


def read_frame(path: str | Path, space: ActionSpace) -> Frame:
    """Return the features of a whole file, for rows of other people that fit in memory."""
    table = open_table(path, space)
    frames = []
    for frame in table.frames(100_000):
        for place, reason in frame.attrs.get("unread", {}).items():
            raise InputError(f"{str(path)!r}, row {frame.index[place]}: {reason}")
        frames.append(frame[feature_columns(space)])
    if not frames:
        raise InputError(f"{str(path)!r} has no rows")
    return pd.concat(frames)


def chunks(table: Table, space: ActionSpace, size: int, id_column: str | None) -> Iterator[Chunk]:
    """Yield a table's chunks."""
    features, start = feature_columns(space), 0
    for number, frame in enumerate(table.frames(size)):
        unread = frame.attrs.pop("unread", {})
        if id_column is not None:
            frame = frame.set_axis(pd.Index(frame[id_column], name=id_column))
        yield Chunk(number, start, frame[features], frame.drop(columns=features), unread=unread)
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
    """A CSV file. It has no types: features take those of the action space, other columns stay text.

    A line with too many fields, or with bytes that are not UTF-8, is a row that could not be read, and no more than that.
    """

    def __init__(self, path: Path, space: ActionSpace) -> None:
        self.path, self.space = path, space
        with self._readable():
            self.columns = [str(name) for name in self._read(nrows=0).columns]
        if unread := [name for name in self.columns if _broken(name)]:
            raise InputError(
                f"{str(path)!r} has a column {_shown(unread[0])!r}, which is not UTF-8; save it as UTF-8"
            )

    def _read(self, **options: Any) -> Any:
        return pd.read_csv(
            self.path,
            dtype=object,  # text as Python has it: other kinds of text refuse the marks below
            keep_default_na=False,
            na_values=[""],
            encoding="utf-8-sig",
            encoding_errors="surrogateescape",  # a byte that is not UTF-8 becomes a mark that can be found again
            engine="python",
            **options,
        )

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError, csv.Error) as error:
            raise InputError(f"{str(self.path)!r} is not a CSV file that can be read: {error}") from None

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
        count, position = len(self.columns), 0
        options = {
            "names": [*self.columns, _MORE],
            "header": None,
            "on_bad_lines": lambda fields: [*fields[:count], ",".join(fields[count:])],
            "iterator": True,
        }
        with self._readable(), self._read(**options) as reader, contextlib.suppress(StopIteration):
            reader.get_chunk(1)  # the header
            while True:
                frame = reader.get_chunk(size)
                frame.index = pd.RangeIndex(position, position + len(frame), name=ID)
                position += len(frame)
                unread = _unread(frame.drop(columns=_MORE), frame.pop(_MORE), count)
                for i in unread:
                    frame.iloc[i] = [v if pd.isna(v) else _shown(v) for v in frame.iloc[i]]
                for name, feature in features.items():
                    frame[name] = _typed(frame[name], feature, one_hot=bool(feature.columns))
                frame.attrs["unread"] = unread
                yield frame


def _unread(frame: Frame, more: Series, count: int) -> dict[int, str]:
    """Return by place why rows of text could not be read: bytes that are not UTF-8, or more fields than columns."""
    broken = np.zeros(len(frame), dtype=bool)
    for name in frame.columns:
        broken |= frame[name].map(_broken, na_action="ignore").eq(True).to_numpy()
    reasons = {int(i): "the line is not UTF-8; save the table as UTF-8" for i in np.flatnonzero(broken)}
    for i in np.flatnonzero(more.notna()):
        reasons[int(i)] = (
            f"the line has more fields than the {count} columns: {_shown(more.iloc[i])!r} is too much; "
            "put a value with a comma in quotes"
        )
    return reasons


def _broken(text: str) -> bool:
    return any("\udc80" <= letter <= "\udcff" for letter in text)


def _shown(text: str) -> str:
    """Return text with a sign in the place of every byte that could not be read."""
    return "".join("\ufffd" if _broken(letter) else letter for letter in text)


def _arrow_type(feature: Feature) -> Any:
    import pyarrow as pa

    if feature.is_number:
        return pa.int64() if feature.kind == "integer" else pa.float64()
    return pa.array(list(feature.levels)).type


def _typed(text: Series, feature: Feature, *, one_hot: bool) -> Series:
    """Return a column of text as numbers or levels; what cannot be read stays text, so that the row says why."""
    if feature.is_number or one_hot:
        values = pd.to_numeric(text, errors="coerce")
        if (
            not one_hot
            and (values.isna() & text.notna()).any()
            and (amount := amounts.read(text)) is not None
        ):
            values = amount.values
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


def parquet_files(path: Path) -> list[Path]:
    """Return a Parquet file, or those of a folder."""
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
