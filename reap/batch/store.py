"""Plans out: Parquet parts that appear whole or not at all, and a manifest that says what they were made from.

``plans.parquet`` is one file in the end; while a run goes on its parts are in ``plans.parquet.parts``. Any other name is a
folder that stays one. The manifest has the hash of every part before the part gets its name; a run that is resumed keeps the
parts that match.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
from collections import Counter
from hashlib import sha1
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from reap import __version__
from reap._errors import InputError
from reap._typing import Array, Frame, Series
from reap.batch.tables import ID, file_digest

MANIFEST = "_manifest.json"
#: A manifest that was not written to its end.
_HALF = f".{MANIFEST}.*.tmp"
#: What must be the same for a run to be resumed, and how it is spoken of; the rest of a manifest is for the reader.
_IDENTITY = {
    "format": "format",
    "reap": "release of reap",
    "engine": "engine",
    "model": "model",
    "space": "action space",
    "data": "input",
    "preferences": "answers",
    "settings": "setting",
}


# what a result was made from -------------------------------------------------------------------------


def describe(
    engine: Any, *, data: str, people: Any, settings: dict[str, Any], matrix: Array | None, provenance: Any
) -> dict[str, Any]:
    """Return the manifest of a run that is about to start."""
    given = {k: repr(v) for k, v in engine.get_params(deep=False).items() if k not in ("model", "space")}
    # What fit learned, by scikit-learn's sign; the classifier is the model again, which has its own hash.
    learned = {k: v for k, v in vars(engine).items() if k.endswith("_") and k != "classifier_"}
    try:
        toml = engine.space.to_toml()
    except InputError:  # a Python function derives a feature: no file can hold it
        toml = None
    return {
        "format": "reap.batch",
        "reap": __version__,
        "engine": {"name": type(engine).__name__, "settings": given, "fitted": digest(learned)},
        "model": digest(engine.model),
        "space": engine.space.digest,
        "data": data,
        "preferences": digest(people) if people else None,
        "settings": settings,
        "complete": False,
        "provenance": dict(provenance or {}),
        "matrix": None if matrix is None else matrix.tolist(),
        "columns": list(engine.space.columns),
        "toml": toml,
    }


def digest(thing: Any) -> str:
    """Return a hash of anything that can be pickled: the same for equal content, in another process too."""
    try:
        return str(joblib.hash(thing, hash_name="sha1"))
    except (pickle.PicklingError, AttributeError, TypeError):  # a function made on the spot
        return sha1(pack(thing)).hexdigest()


def pack(thing: Any) -> bytes:
    """Return anything as bytes; also what was defined in a script or on the spot, which plain pickle refuses."""
    return pickle.dumps(joblib.wrap_non_picklable_objects(thing, keep_wrapper=False))


def moments(Z: Array) -> dict[str, Any] | None:
    """Return number, mean (d,) and mean of squares (d, d) of vectors: all that the unit of effort needs of accepted people.

    Missing values count as the column's mean.

    Examples
    --------
    >>> moments(np.array([[0.0, 1.0], [2.0, np.nan]]))
    {'rows': 2, 'mean': [1.0, 1.0], 'second': [[2.0, 1.0], [1.0, 1.0]]}
    """
    if len(Z) == 0:
        return None
    absent = np.isnan(Z)
    known = np.maximum((~absent).sum(axis=0), 1)
    mean = np.where(absent, 0.0, Z).sum(axis=0) / known
    full = np.where(absent, mean, Z)
    return {"rows": len(Z), "mean": mean.tolist(), "second": (full.T @ full / len(Z)).tolist()}


# parts -----------------------------------------------------------------------------------------------


class PlanStore:
    """The output of one run: what it is made from, and the Arrow types of the columns, the same in every part."""

    def __init__(self, output: str | Path, manifest: dict[str, Any], schema: Any) -> None:
        self.output, self.manifest, self.schema = Path(output), manifest, schema
        self.single = self.output.suffix == ".parquet"
        self.folder = self.output.with_name(self.output.name + ".parts") if self.single else self.output
        self.parts: dict[str, dict[str, Any]] = {}

    @property
    def done(self) -> set[int]:
        """The numbers of the chunks that are done."""
        return {int(name.removeprefix("part-").removesuffix(".parquet")) for name in self.parts}

    def begin(self, resume: bool) -> dict[str, Any] | None:
        """Make the folder, or find the run to go on with; returns the manifest where nothing is left to do."""
        if self.single and self.output.exists():
            if not resume:
                raise InputError(f"{str(self.output)!r} exists already; remove it, or choose another name")
            before = self._same(read_manifest(self.output))
            shutil.rmtree(self.folder, ignore_errors=True)
            return before
        self.folder.mkdir(parents=True, exist_ok=True)
        before = {}
        if (self.folder / MANIFEST).exists():
            if not resume:
                raise InputError(
                    f"{str(self.folder)!r} holds a run already; go on with it (resume=True, --resume), or remove it"
                )
            before = self._same(read_manifest(self.folder))
        elif not all(path.match(_HALF) for path in self.folder.iterdir()):
            raise InputError(
                f"the folder {str(self.folder)!r} is not empty and not a batch; choose another name"
            )
        for left in self.folder.glob(".*.tmp"):
            left.unlink()  # what a run that was killed had not written to its end
        known = before.get("parts", {})
        for path in sorted(self.folder.glob("part-*.parquet")):
            if path.name in known and file_digest(path) == known[path.name]["sha256"]:
                self.parts[path.name] = known[path.name]
            else:
                path.unlink()
        if before.get("complete") and len(self.parts) == len(known):
            return before
        self._save()
        return None

    def _same(self, before: dict[str, Any]) -> dict[str, Any]:
        for name, said in _IDENTITY.items():
            if before.get(name) != self.manifest.get(name):
                raise InputError(
                    f"{str(self.output)!r} was made with another {said} ({before.get(name)} instead of "
                    f"{self.manifest.get(name)}); resume with the same, or choose another output"
                )
        return before

    def write(self, number: int, table: Frame) -> None:
        """Write the part of a chunk; a reader sees all of it or nothing."""
        import pyarrow.parquet as pq

        path = self.folder / f"part-{number:06d}.parquet"
        hidden = _hidden(path)
        pq.write_table(_arrow(table, self.schema), hidden, compression="zstd")
        self.parts[path.name] = {"sha256": file_digest(hidden), "statuses": statuses_of(table)}
        self._save()
        _replace(hidden, path)

    def finish(self, rows: int) -> dict[str, Any]:
        """Count, put the parts together where one file is wanted, and return the manifest."""
        import pyarrow.parquet as pq

        self.parts = dict(sorted(self.parts.items()))
        statuses = sum((Counter(part["statuses"]) for part in self.parts.values()), Counter[str]())
        self.manifest |= {"complete": True, "rows": rows, "statuses": dict(sorted(statuses.items()))}
        if not self.single:
            return self._save()
        # pandas reads PANDAS_ATTRS into frame.attrs, so a frame knows where it comes from.
        said = {"reap": json.dumps(self.manifest), "PANDAS_ATTRS": json.dumps({"reap": self.manifest})}
        schema, hidden = self.schema.with_metadata(said), self.folder / ".whole.tmp"
        with pq.ParquetWriter(hidden, schema, compression="zstd", write_page_checksum=True) as writer:
            for name in self.parts:
                writer.write_table(pq.read_table(self.folder / name).cast(schema))
        _replace(hidden, self.output)
        shutil.rmtree(self.folder)
        return self.manifest

    def _save(self) -> dict[str, Any]:
        """Write the manifest of a folder, with the parts, and return it."""
        whole, path = self.manifest | {"parts": self.parts}, self.folder / MANIFEST
        hidden = _hidden(path)
        hidden.write_text(json.dumps(whole, indent=1, ensure_ascii=False), encoding="utf-8")
        _replace(hidden, path)
        return whole


def _hidden(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _replace(hidden: Path, path: Path) -> None:
    with hidden.open("rb") as file:
        os.fsync(file.fileno())
    hidden.replace(path)


def statuses_of(table: Frame) -> dict[str, int]:
    """Return the number of rows by status."""
    return {str(k): int(n) for k, n in table["recourse_status"].value_counts().sort_index().items()}


def read_manifest(path: Path) -> dict[str, Any]:
    """Return what a batch result was made from: hashes of model, data and space, and the version."""
    import pyarrow.parquet as pq

    try:
        if path.is_dir():
            return dict(json.loads((path / MANIFEST).read_text(encoding="utf-8")))
        return dict(json.loads(pq.read_schema(path).metadata[b"reap"]))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{str(path)!r} is not the result of a batch: {error}") from None


def read_plans(path: str | Path) -> tuple[Frame, dict[str, Any]]:
    """Return the plans of a finished run, and its manifest; refuses what is not to the bit what the run wrote."""
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    manifest = read_manifest(path)
    if path.is_dir():
        if not manifest.get("complete"):
            raise InputError(
                f"the run in {str(path)!r} is not finished; go on with it (resume=True, --resume)"
            )
        found = {part.name: part for part in path.glob("*.parquet")}
        for name in sorted({*found, *manifest["parts"]}):
            known = manifest["parts"].get(name, {})
            if name not in found or file_digest(found[name]) != known.get("sha256"):
                raise InputError(
                    f"{str(path / name)!r} is not what the run wrote; run the batch again with resume (--resume) to mend it"
                )
    try:
        return pd.read_parquet(path, page_checksum_verification=True), manifest
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} is damaged: {error}") from None


# columns ---------------------------------------------------------------------------------------------


def schema_of(source: Any, features: list[str], index: Any, output: str) -> Any:
    """Return the Arrow schema of the output.

    It has the columns of the source, the space's last; an index of ids where they are no column; the model's output.
    """
    import pyarrow as pa

    whole, number, text = pa.int64(), pa.float64(), pa.string()
    made = {"valid": pa.bool_(), "effort": number, "status": text, "changes": whole, "months": whole}
    made |= {output: number, "durability": number, "cliffs": text, "reason": text}
    made |= {"answers": whole, "path": pa.list_(number)}
    ids = [] if index is None else [pa.field(ID, pa.array(index).type)]
    rest = [f for f in source if f.name not in features]
    own = [source.field(name) for name in features]
    return pa.schema(
        [*ids, *rest, *own, *(pa.field(f"recourse_{name}", kind) for name, kind in made.items())]
    )


def _arrow(frame: Frame, schema: Any) -> Any:
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
