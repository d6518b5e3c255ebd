"""Plans out: Parquet parts that appear whole or not at all, and a manifest that says what they were made from.

``plans.parquet`` is one file in the end; while a run goes on its parts are in ``plans.parquet.parts``. Any other
name is a folder of parts that stays one, for tables too big for a file; pandas, Dask and Spark read it as it is.

Every part's hash is written down before the part gets its name. A run that is resumed keeps the parts that are what was
written, and does all others again: those that are missing, cut, changed, or copied over one another.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Frame, Series
from reap.batch.digests import ID, file_digest
from reap.batch.manifest import IDENTITY
from reap.batch.tables import Chunk

MANIFEST = "_manifest.json"
#: What is known of the parts while a run goes on: a line of JSON for each. In the end the manifest has it.
PARTS = "_parts.jsonl"
#: A manifest that was not written to its end.
_HALF = ".manifest.*.tmp"


class Store:
    """The output of one run.

    Parameters
    ----------
    output : Path
    manifest : dict
        What the run is made from.
    schema : pyarrow.Schema
        Types of the columns, the same in every part.
    """

    def __init__(self, output: str | Path, manifest: dict[str, Any], schema: Any) -> None:
        self.output, self.manifest, self.schema = Path(output), manifest, schema
        self.single = self.output.suffix == ".parquet"
        self.folder = self.output.with_name(self.output.name + ".parts") if self.single else self.output
        self.parts: dict[str, dict[str, Any]] = {}

    def begin(self, resume: bool) -> set[int] | None:
        """Make the folder, or find the run to go on with; returns the numbers of the chunks done, None if all are."""
        if self.single and self.output.exists():
            if not resume:
                raise InputError(f"{str(self.output)!r} exists already; remove it, or choose another name")
            self._same(read_manifest(self.output))
            shutil.rmtree(self.folder, ignore_errors=True)
            return None
        # A run that was killed at its very start leaves nothing, or half a manifest.
        self.folder.mkdir(parents=True, exist_ok=True)
        if all(path.match(_HALF) for path in self.folder.iterdir()):
            for left in self.folder.glob(_HALF):
                left.unlink()
            self._write_manifest()
            return set()
        if not (self.folder / MANIFEST).exists():
            raise InputError(
                f"the folder {str(self.folder)!r} is not empty and not a batch; choose another name"
            )
        if not resume:
            raise InputError(
                f"{str(self.folder)!r} holds a run already; go on with it (resume=True, --resume), or remove it"
            )
        before = read_manifest(self.folder)
        self._same(before)
        for left in self.folder.glob(".*.tmp"):
            left.unlink()  # half a part of a run that was killed
        self.parts = self._sound(before)
        if before.get("complete") and len(self.parts) == len(before["parts"]):
            return None
        return {int(name.removeprefix("part-").removesuffix(".parquet")) for name in self.parts}

    def _sound(self, before: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return what is known of the parts that are what was written; remove the others."""
        known = before.get("parts", {}) | _lines(self.folder / PARTS)
        sound = {}
        for path in sorted(self.folder.glob("part-*.parquet")):
            if path.name in known and file_digest(path) == known[path.name]["sha256"]:
                sound[path.name] = known[path.name]
            else:
                path.unlink()
        return sound

    def _same(self, before: dict[str, Any]) -> None:
        for name, said in IDENTITY.items():
            if before.get(name) != self.manifest.get(name):
                raise InputError(
                    f"{str(self.output)!r} was made with another {said} ({before.get(name)} instead of "
                    f"{self.manifest.get(name)}); resume with the same, or choose another output"
                )

    def write(self, chunk: Chunk, table: Frame) -> None:
        """Write one part; a reader sees all of it or nothing."""
        import pyarrow.parquet as pq

        path = self.folder / f"part-{chunk.number:06d}.parquet"
        hidden = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        pq.write_table(arrow(table, self.schema), hidden, compression="zstd")
        statuses = table["recourse_status"].value_counts()
        known = {"sha256": file_digest(hidden), "statuses": {str(k): int(n) for k, n in statuses.items()}}
        with (self.folder / PARTS).open("a", encoding="utf-8") as file:
            # what a killed run left half written stays a line of its own
            file.write("\n" + json.dumps({path.name: known}))
            file.flush()
            os.fsync(file.fileno())
        self.parts[path.name] = known
        _replace(hidden, path)

    def finish(self, rows: int) -> dict[str, Any]:
        """Count, put the parts together where one file is wanted, and return the manifest."""
        statuses: Counter[str] = Counter()
        for known in self.parts.values():
            statuses.update(known["statuses"])
        self.manifest |= {"complete": True, "rows": rows, "statuses": dict(sorted(statuses.items()))}
        if self.single:
            self._assemble([self.folder / name for name in sorted(self.parts)])
            shutil.rmtree(self.folder)
        else:
            self.manifest["parts"] = dict(sorted(self.parts.items()))
            self._write_manifest()
            (self.folder / PARTS).unlink(missing_ok=True)
        return self.manifest

    def _assemble(self, parts: list[Path]) -> None:
        import pyarrow.parquet as pq

        # pandas reads PANDAS_ATTRS into frame.attrs, so a frame knows where it comes from.
        said = {"reap": json.dumps(self.manifest), "PANDAS_ATTRS": json.dumps({"reap": self.manifest})}
        schema = self.schema.with_metadata(said)
        hidden = self.folder / ".whole.tmp"
        with pq.ParquetWriter(hidden, schema, compression="zstd", write_page_checksum=True) as writer:
            for part in parts:
                writer.write_table(pq.read_table(part).cast(schema))
        _replace(hidden, self.output)

    def _write_manifest(self) -> None:
        hidden = self.folder / f".manifest.{os.getpid()}.tmp"
        hidden.write_text(json.dumps(self.manifest, indent=1, ensure_ascii=False), encoding="utf-8")
        _replace(hidden, self.folder / MANIFEST)


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return what a batch result was made from: hashes of model, data and space, and the version."""
    path = Path(path)
    try:
        if path.is_dir():
            text: Any = (path / MANIFEST).read_text(encoding="utf-8")
        else:
            import pyarrow.parquet as pq

            text = pq.read_schema(path).metadata[b"reap"]
        return dict(json.loads(text))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not the result of a batch: {error}") from None


def check_parts(folder: Path, manifest: dict[str, Any]) -> None:
    """Refuse a folder whose parts are not those that a finished run wrote."""
    if not manifest.get("complete"):
        raise InputError(f"the run in {str(folder)!r} is not finished; go on with it (resume=True, --resume)")
    found = {path.name for path in folder.glob("*.parquet")}
    for name in sorted(found | set(manifest["parts"])):
        known = manifest["parts"].get(name)
        if name not in found or known is None or file_digest(folder / name) != known["sha256"]:
            raise InputError(
                f"{str(folder / name)!r} is not what the run wrote; run the batch again with resume (--resume) to mend it"
            )


def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """Return what a run that was killed wrote of its parts; a line that is cut is left out."""
    known: dict[str, dict[str, Any]] = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):
                known |= json.loads(line)
    return known


def schema_of(source: Any, features: list[str], index: Any, output: str = "probability") -> Any:
    """Return the Arrow schema of the output.

    Parameters
    ----------
    source : the input's schema
    features : columns of the space
    index : the ids of the first chunk, where they are not a column already; else None
    output : what the model returns, "probability" or "score"
    """
    import pyarrow as pa

    fields = [] if index is None else [pa.field(ID, pa.array(index).type)]
    fields += [f for f in source if f.name not in features]
    fields += [source.field(name) for name in features]
    fields += [
        pa.field("recourse_valid", pa.bool_()),
        pa.field("recourse_effort", pa.float64()),
        pa.field("recourse_status", pa.string()),
        pa.field("recourse_changes", pa.int64()),
        pa.field("recourse_months", pa.int64()),
        pa.field(f"recourse_{output}", pa.float64()),
        pa.field("recourse_durability", pa.float64()),
        pa.field("recourse_cliffs", pa.string()),
        pa.field("recourse_reason", pa.string()),
        pa.field("recourse_answers", pa.int64()),
        pa.field("recourse_path", pa.list_(pa.float64())),
    ]
    return pa.schema(fields)


def arrow(frame: Frame, schema: Any) -> Any:
    """Return a frame as an Arrow table of a given schema."""
    import pyarrow as pa

    if ID in schema.names and ID not in frame.columns:
        frame = frame.assign(**{ID: frame.index})
    return pa.Table.from_arrays([_array(frame[f.name], f.type) for f in schema], schema=schema)


def _array(column: Series, wanted: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.Array.from_pandas(column, type=wanted)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        # Only a row that could not be read gets here; its reason quotes what stood there.
        if pa.types.is_string(wanted) or pa.types.is_large_string(wanted):
            return pa.array([None if pd.isna(v) else str(v) for v in column], type=wanted)
        numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        return pa.array(numbers, type=pa.float64(), from_pandas=True).cast(wanted, safe=False)


def _replace(hidden: Path, path: Path) -> None:
    with hidden.open("rb") as file:
        os.fsync(file.fileno())
    hidden.replace(path)
