"""``reap batch``: plans for every row of a big table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.cli import _options, _setup
from reap.cli._acceptance import Accepted
from reap.cli._carried import keeping

if TYPE_CHECKING:
    from reap.space import ActionSpace

#: Rows of the input that stand for other people where no table of them is given.
_REFERENCE = 50_000


def batch(
    model: Path | None = typer.Option(
        None,
        "--model",
        help="A trained model (skops file); without one a small network is trained on --data and its --label.",
    ),
    space: Path = typer.Option(
        ..., "--space", help="The action space (TOML); `reap space data.csv` drafts one."
    ),
    input: Path = typer.Option(..., "--input", "-i", help="CSV or Parquet, or a folder of Parquet files."),
    output: Path = typer.Option(
        ..., "--output", "-o", help="plans.parquet for one file; another name for a folder of parts."
    ),
    data: Path | None = typer.Option(
        None,
        "--data",
        "-d",
        help="Rows of other people, accepted ones among them; by default the beginning of the input.",
    ),
    label: str | None = typer.Option(
        None, "--label", help="The column of --data with the decision, to train the model with, or again."
    ),
    favourable: str = _options.FAVOURABLE,
    engine: str = _options.ENGINE,
    preferences: Path | None = typer.Option(
        None, "--preferences", "-p", help="Answers of people who were asked, by row (CSV or Parquet)."
    ),
    id_column: str | None = typer.Option(
        None, "--id", help="The column that identifies a row; else its number."
    ),
    within_months: int | None = _options.WITHIN,
    target: str = _options.TARGET,
    threshold: str = _options.THRESHOLD,
    model_output: str = _options.MODEL_OUTPUT,
    unit: str = _options.UNIT,
    durability: float | None = _options.DURABILITY,
    margin: float | None = _options.MARGIN,
    refits: int | None = _options.REFITS,
    jobs: int = typer.Option(
        -1, "--jobs", "-j", help="Processes on this machine; -1: as many as it has cores."
    ),
    scheduler: str | None = typer.Option(None, "--scheduler", help="A Dask scheduler instead: tcp://…"),
    chunk: int = typer.Option(1000, "--chunk", help="Rows in each part of the output."),
    resume: bool = typer.Option(False, "--resume", help="Go on with a run that was killed."),
    trust: list[str] = _options.TRUST,
    allow_pickle: bool = typer.Option(
        False, "--allow-pickle", help="Load a pickled model; this runs code in the file."
    ),
    seed: int = _options.SEED,
    quiet: bool = typer.Option(False, "--quiet", help="No progress bar."),
) -> None:
    """Find a plan for every row of a table, on one machine or a cluster; a killed run can be resumed."""
    import logging
    import warnings

    import reap
    from reap.batch.tables import file_digest, open_table
    from reap.datasets.dataset import binary_label
    from reap.models.files import load_model

    kind = _setup.engine_class(engine)
    rules = reap.ActionSpace.load(space)
    open_table(input, rules)  # a table that does not fit is refused before the engine is prepared
    accepted = Accepted(threshold, model_output, unit, durability, margin, refits)
    accepted.scale()  # says what is wrong before anything is read
    y = None
    if model is not None:
        loaded = load_model(model, allow_pickle=allow_pickle, trusted=trust)
        rules = keeping(loaded, rules, [input, *([data] if data else [])])
        rows = _others(data or input, rules, sample=data is None)
        people = rows[rules.encoding.table]
        if data is not None and label is not None:
            if label not in rows.columns:
                raise unknown(f"column in {data.name}", label, rows.columns)
            y = binary_label(rows[label], favourable)
    elif data is not None:
        table = _setup.read_table(str(data), label, favourable, space)
        loaded, people, y = _setup.train(table, seed)[0], table.X, table.y
    else:
        raise InputError(
            "give a trained model with --model, or a CSV file with the decisions with --data and --label to train one on"
        )
    made = _setup.fitted(kind, loaded, rules, _setup.class_of(loaded, target), accepted, people, y, seed)
    if data is None and not made.classifier_.accepts(rules.encode(people)).any():
        raise InputError(
            f"the model accepts nobody in {str(input)!r}, so plans have no example to begin with; name a table "
            "with accepted people, such as the training data, with --data"
        )
    # joblib renews processes that have grown; no work is lost by it
    warnings.filterwarnings("ignore", "A worker stopped")
    # a cluster that is lost ends in one sentence of ours, not in its own tracebacks
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    result = reap.batch.run(
        made,
        input,
        output=output,
        preferences=preferences,
        limits=None if within_months is None else rules.limits(within_months=within_months),
        reference=people,
        id_column=id_column,
        n_jobs=jobs,
        scheduler=scheduler,
        chunk_size=chunk,
        resume=resume,
        provenance={
            "model": "a small network" if model is None else model.name,
            "model_sha256": None if model is None else file_digest(model),
            "space": space.name,
            "input": input.name,
            "data": (data or input).name,
        },
        verbose=not quiet,
    )
    print(result)


def _others(path: Path, space: ActionSpace, *, sample: bool) -> Frame:
    """Return rows of other people: all of a file; or as a sample those at its beginning that can be read."""
    import pandas as pd

    from reap.batch.tables import open_table

    kept = []
    for frame in open_table(path, space).frames(_REFERENCE):
        unread = frame.attrs.pop("unread", {})
        if unread and not sample:
            place, reason = next(iter(unread.items()))
            raise InputError(f"{str(path)!r}, row {frame.index[place]}: {reason}")
        kept.append(frame.drop(index=frame.index[list(unread)]))
        if sample:
            break
    if not kept:
        raise InputError(f"{str(path)!r} has no rows")
    rows = pd.concat(kept)
    if sample:
        try:
            space.encode(rows[space.encoding.table])
        except InputError as error:
            raise InputError(f"{error}; or name a table of other people with --data") from None
    return rows
