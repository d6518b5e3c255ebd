"""Tables in, a chunk at a time: a frame, CSV or Parquet. Only the chunks in hand are in memory.

Each of the three has ``columns``, ``count`` (rows, None where only reading would tell), ``digest`` (a hash of the content),
``schema`` (the Arrow type of every column) and ``frames(size)``, which yields frames of ``size`` rows (the last one shorter)
indexed by id; ``attrs["unread"]`` of a frame, where there is one, says by place why a row could not be read.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._formats import CUT
from reap._typing import Frame, Series
from reap.batch.answers import Answers
from reap.space import ActionSpace, Feature
from reap.space.table import read_amounts

#: The name of the column that numbers rows.
ID = "row_id"
#: The column that takes what a line of a CSV file has beyond its columns.
_MORE = "recourse_more"
#: What stands in the place of a byte that is not UTF-8.
_BROKEN = "\N{REPLACEMENT CHARACTER}"


class Chunk(NamedTuple):
    """Some rows of the input, in their order.

    Parameters
    ----------
    number, start : which chunk, and the position of its first row in the input
    rows : DataFrame (n, features) in units; its index holds the ids
    rest : DataFrame (n, …), columns that the space does not know and that are carried along
    unread : why row i (0 … n − 1) could not be read
    answers : what the person in row i was asked and said
    """

    number: int
    start: int
    rows: Frame
    rest: Frame
    unread: dict[int, str]
    answers: dict[int, Answers]

    def to_plan(self) -> Self:
        """Return what a worker needs of it."""
        return self._replace(rest=self.rest.iloc[:, :0])


class InMemory:
    """A frame; its index gives the ids."""

    def __init__(self, frame: Frame) -> None:
        if len(twice := frame.columns[frame.columns.duplicated()]):
            raise InputError(f"the table has a column {twice[0]!r} twice")
        self.frame, self.columns = frame, list(frame.columns)
        self.count: int | None = len(frame)

    @property
    def digest(self) -> str:
        """A hash of values, index and names."""
        hashed = pd.util.hash_pandas_object(self.frame, index=True).to_numpy()
        return hashlib.sha256(repr(self.columns).encode() + hashed.tobytes()).hexdigest()

    @property
    def schema(self) -> Any:
        """Arrow's types for those of pandas."""
        import pyarrow as pa

        return pa.Schema.from_pandas(self.frame, preserve_index=False).remove_metadata()

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield slices, which keep their index."""
        for start in range(0, len(self.frame), size):
            yield self.frame.iloc[start : start + size]


class ParquetFiles:
    """A Parquet file, or those of a folder in the order of their names, as one table."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.paths = [path]
        if path.is_dir():
            self.paths = sorted(p for p in path.glob("*.parquet") if not p.name.startswith(("_", ".")))
        if not self.paths:
            raise InputError(f"the folder {str(path)!r} holds no Parquet files")
        with _readable(self.paths[0], "is not a Parquet file that can be read", OSError, ValueError):
            self.schema = pq.read_schema(self.paths[0]).remove_metadata()
        self.columns = list(self.schema.names)

    @property
    def digest(self) -> str:
        """A hash of the files' bytes."""
        return file_digest(*self.paths)

    @property
    def count(self) -> int | None:
        """Number of rows, from the files' footers."""
        import pyarrow.parquet as pq

        return sum(int(pq.read_metadata(path).num_rows) for path in self.paths)

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield frames across row groups and files; dictionaries as plain values, so that no level gets lost."""
        import pyarrow as pa

        plain = pa.schema(
            [(f.name, f.type.value_type if pa.types.is_dictionary(f.type) else f.type) for f in self.schema]
        )
        position, kept = 0, plain.empty_table()
        for batch in self._batches(size):
            kept = pa.concat_tables([kept, pa.Table.from_batches([batch]).cast(plain)])
            while len(kept) >= size:
                yield _numbered(kept.slice(0, size).to_pandas(), position)
                position, kept = position + size, kept.slice(size)
        if len(kept):
            yield _numbered(kept.to_pandas(), position)

    def _batches(self, size: int) -> Iterator[Any]:
        import pyarrow.parquet as pq

        for path in self.paths:
            with _readable(path, "is damaged", OSError, ValueError), pq.ParquetFile(path) as file:
                if file.schema_arrow.remove_metadata() != self.schema:
                    raise InputError(
                        f"{str(path)!r} has other columns or types than {str(self.paths[0])!r}; make them alike"
                    )
                yield from file.iter_batches(batch_size=size)


def _numbered(frame: Frame, position: int) -> Frame:
    return frame.set_axis(pd.RangeIndex(position, position + len(frame), name=ID))


class CsvFile:
    """A CSV file. It has no types: features take those of the action space, other columns stay text.

    A line with too many fields, or with bytes that are not UTF-8, is a row that could not be read, and no more than that.
    """

    count: int | None = None

    def __init__(self, path: Path, space: ActionSpace) -> None:
        self.path = path
        self.features = {name: f for f in space.features for name in (f.columns or (f.name,))}
        with self._said():
            self.columns = [str(name) for name in self._read(nrows=0).columns]
        if broken := [name for name in self.columns if _BROKEN in name]:
            raise InputError(
                f"{str(path)!r} has a column {broken[0]!r}, which is not UTF-8; save it as UTF-8"
            )

    @property
    def digest(self) -> str:
        """A hash of the file's bytes."""
        return file_digest(self.path)

    @property
    def schema(self) -> Any:
        """Numbers and levels as the space has them, everything else text."""
        import pyarrow as pa

        own = {name: _arrow_type(feature) for name, feature in self.features.items()}
        return pa.schema([(name, own.get(name, pa.string())) for name in self.columns])

    def frames(self, size: int) -> Iterator[Frame]:
        """Yield frames, with what is wrong with lines."""
        count, position = len(self.columns), 0
        reading = self._read(
            names=[*self.columns, _MORE],
            header=None,
            on_bad_lines=lambda fields: [*fields[:count], ",".join(fields[count:])],
            chunksize=size,
        )
        with self._said(), reading as reader:
            reader.get_chunk(1)  # the header
            for frame in reader:
                made = _numbered(frame.drop(columns=_MORE), position)
                position += len(made)
                for name, feature in self.features.items():
                    made[name] = _typed(made[name], feature)
                made.attrs["unread"] = _unread(frame, count)
                yield made

    def _read(self, **options: Any) -> Any:
        coding: Any = {"encoding": "utf-8-sig", "encoding_errors": "replace", "engine": "python"}
        return pd.read_csv(
            self.path, dtype=object, keep_default_na=False, na_values=[""], **coding, **options
        )

    def _said(self) -> Any:
        broken = (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeError, csv.Error, *CUT)
        return _readable(self.path, "is not a CSV file that can be read", *broken)


@contextlib.contextmanager
def _readable(path: Path, what: str, *kinds: type[BaseException]) -> Iterator[None]:
    """Say what is wrong with a file where reading it ends in an error of these kinds."""
    try:
        yield
    except InputError:
        raise
    except kinds as error:
        raise InputError(f"{str(path)!r} {what}: {error}") from None


def _unread(frame: Frame, count: int) -> dict[int, str]:
    """Return by place why rows of text could not be read: bytes that are not UTF-8, or more fields than columns."""
    broken = frame.map(lambda text: isinstance(text, str) and _BROKEN in text).any(axis=1)
    reasons = {int(i): "the line is not UTF-8; save the table as UTF-8" for i in np.flatnonzero(broken)}
    for i in np.flatnonzero(frame[_MORE].notna()):
        reasons[int(i)] = (
            f"the line has more fields than the {count} columns: {frame[_MORE].iloc[i]!r} is too much; "
            "put a value with a comma in quotes"
        )
    return reasons


def _arrow_type(feature: Feature) -> Any:
    import pyarrow as pa

    if feature.columns or feature.is_number:
        return pa.int64() if feature.kind == "integer" and not feature.columns else pa.float64()
    return pa.array(list(feature.levels)).type


def _typed(text: Series, feature: Feature) -> Series:
    """Return a column of text as numbers or levels; what cannot be read stays text, so that the row says why."""
    if feature.is_number or feature.columns:
        values = pd.to_numeric(text, errors="coerce")
        if not feature.columns and (values.isna() & text.notna()).any():
            amount = read_amounts(text)
            values = values if amount is None else amount.values
        whole = feature.kind == "integer" and bool(np.equal(np.mod(values, 1), 0).all())
        values = values.astype("int64" if whole else "float64")
    else:
        values = text.map({name: level for level in feature.levels for name in _names(level)})
    unread = values.isna() & text.notna()
    return values if not unread.any() else values.astype(object).where(~unread, text)


def _names(level: Any) -> set[str]:
    """Return how a level may be written."""
    names = {str(level)}
    if isinstance(level, bool | np.bool_):
        names |= {str(level).lower(), str(level).upper(), str(int(level))}
    elif isinstance(level, int | float | np.number):
        names |= {f"{level:g}", str(float(level))}
    return names


Table = InMemory | ParquetFiles | CsvFile


def open_table(X: Frame | str | Path, space: ActionSpace) -> Table:
    """Return a table to read from: a frame, a CSV or Parquet file, or a folder of Parquet files."""
    if isinstance(X, pd.DataFrame):
        table: Table = InMemory(X)
    elif not isinstance(X, str | Path):
        raise InputError(f"give the subjects as a DataFrame or a file, not {type(X).__name__}")
    elif not (path := Path(X)).exists():
        raise InputError(f"there is no file {str(path)!r}")
    elif path.name.lower().endswith((".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst")):
        table = CsvFile(path, space)
    else:
        table = ParquetFiles(path)
    for name in space.encoding.table:
        if name not in table.columns:
            raise unknown("column in the table for the feature", name, table.columns)
    if taken := [name for name in table.columns if str(name).startswith("recourse_")]:
        raise InputError(
            f"the table has a column {taken[0]!r}: names that begin with recourse_ are written by the batch; "
            "rename it, or give the table that the plans were made from"
        )
    return table


def chunks(table: Table, space: ActionSpace, size: int, id_column: str | None) -> Iterator[Chunk]:
    """Yield a table's chunks."""
    features, start = space.encoding.table, 0
    for number, frame in enumerate(table.frames(size)):
        unread = frame.attrs.pop("unread", {})
        if id_column is not None:
            frame = frame.set_axis(pd.Index(frame[id_column], name=id_column))
        yield Chunk(number, start, frame[features], frame.drop(columns=features), unread, {})
        start += len(frame)


def file_digest(*paths: Path) -> str:
    """Return the SHA-256 of the content of files."""
    made = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: made)
    return made.hexdigest()
