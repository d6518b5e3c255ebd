"""A CSV file, a chunk at a time. It has no types: they come from the action space."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._formats import CUT
from reap._typing import Frame, Series
from reap.batch.digests import ID, file_digest
from reap.space import ActionSpace, Feature, amounts

#: The column that takes what a line of a CSV file has beyond its columns.
_MORE = "recourse_more"


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
        except CUT as error:
            raise InputError(f"{str(self.path)!r} is damaged: {error}") from None
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


def is_csv(path: Path) -> bool:
    """Return whether a file is a CSV file, by its name."""
    return path.name.lower().endswith((".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zst"))
