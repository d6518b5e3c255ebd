"""Parquet files, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from reap._errors import InputError
from reap._typing import Frame
from reap.batch.digests import ID, file_digest


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
            try:
                with pq.ParquetFile(path) as file:
                    if file.schema_arrow.remove_metadata() != self.schema:
                        raise InputError(
                            f"{str(path)!r} has other columns or types than {str(self.paths[0])!r}; make them alike"
                        )
                    yield from file.iter_batches(batch_size=size)
            except InputError:
                raise
            except (OSError, ValueError) as error:
                raise InputError(f"{str(path)!r} is damaged: {error}") from None


def _frame(table: Any, position: int) -> Frame:
    """Return Arrow rows as a frame indexed by position; dictionaries as plain values, so that no level gets lost."""
    import pyarrow as pa

    for i, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(i, column.name, table.column(i).cast(column.type.value_type))
    return table.to_pandas().set_axis(pd.RangeIndex(position, position + len(table), name=ID))


def parquet_files(path: Path) -> list[Path]:
    """Return a Parquet file, or those of a folder."""
    if path.is_file():
        return [path]
    files = sorted(p for p in path.glob("*.parquet") if not p.name.startswith(("_", ".")))
    if not files:
        raise InputError(f"the folder {str(path)!r} holds no Parquet files")
    return files
