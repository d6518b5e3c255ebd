"""``reap batch``, ``reap audit``: plans for every row of a big table, and what they ask of people, and of whom."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from reap._errors import InputError, unknown
from reap._typing import Frame, Series
from reap.cli import _options, _setup
from reap.cli._options import DECISION, SEED, DecisionOptions, deciding

if TYPE_CHECKING:
    from reap.space import ActionSpace

#: Rows of the input that stand for other people where no table of them is given.
_REFERENCE = 50_000


@deciding(
    label=typer.Option(
        None, "--label", help="The column of --data with the decision, to train the model with, or again."
    ),
    model=typer.Option(
        None,
        "--model",
        help="A trained model (skops file); without one a small network is trained on --data and its --label.",
    ),
    model_output=_options.MODEL_OUTPUT,
    space=typer.Option(..., "--space", help="The action space (TOML); `reap space data.csv` drafts one."),
)
def batch(
    decision: DecisionOptions = DECISION,
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
    preferences: Path | None = typer.Option(
        None, "--preferences", "-p", help="Answers of people who were asked, by row (CSV or Parquet)."
    ),
    id_column: str | None = typer.Option(
        None, "--id", help="The column that identifies a row; else its number."
    ),
    within_months: int | None = _options.WITHIN,
    jobs: int = typer.Option(
        -1, "--jobs", "-j", help="Processes on this machine; -1: as many as it has cores."
    ),
    scheduler: str | None = typer.Option(None, "--scheduler", help="A Dask scheduler instead: tcp://…"),
    chunk: int = typer.Option(1000, "--chunk", help="Rows in each part of the output."),
    resume: bool = typer.Option(False, "--resume", help="Go on with a run that was killed."),
    allow_pickle: bool = typer.Option(
        False, "--allow-pickle", help="Load a pickled model; this runs code in the file."
    ),
    seed: int = SEED,
    quiet: bool = typer.Option(False, "--quiet", help="No progress bar."),
) -> None:
    """Find a plan for every row of a table, on one machine or a cluster; a killed run can be resumed."""
    import logging
    import warnings

    import reap
    from reap.batch.tables import file_digest, open_table
    from reap.models.files import load_model

    assert decision.space is not None
    rules, model = reap.ActionSpace.load(decision.space), decision.model
    engine = _setup.engine_class(decision.engine)
    open_table(input, rules)  # a table that does not fit is refused before the engine is prepared
    decision.scale()  # says what is wrong before anything is read
    if model is not None:
        loaded = load_model(model, allow_pickle=allow_pickle, trusted=decision.trust)
        rules = _setup.keeping(loaded, rules, [input, *([data] if data else [])])
        people, y = _known(decision, rules, input, data)
    elif data is not None:
        table = _setup.read_table(str(data), decision)
        loaded, people, y = _setup.train(table, seed)[0], table.X, table.y
    else:
        raise InputError(
            "give a trained model with --model, or a CSV file with the decisions with --data and --label to train one on"
        )
    target = _setup.class_of(loaded, decision.target)
    made = _setup.fitted(engine, loaded, rules, target, decision, people, y, seed)
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
            "space": decision.space.name,
            "input": input.name,
            "data": (data or input).name,
        },
        verbose=not quiet,
    )
    print(result)


def _known(
    decision: DecisionOptions, space: ActionSpace, input: Path, data: Path | None
) -> tuple[Frame, Series | None]:
    """Return rows of other people, and the decisions on them where they are named."""
    from reap.datasets.loading import binary_label

    rows, label = _others(data or input, space, sample=data is None), decision.label
    people = rows[space.encoding.table]
    if data is None or label is None:
        return people, None
    if label not in rows.columns:
        raise unknown(f"column in {data.name}", label, rows.columns)
    return people, binary_label(rows[label], decision.favourable)


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


@deciding(
    space=typer.Option(
        None, "--space", help="The action space (TOML), where the plans do not say it, or for a CSV file."
    )
)
def audit(
    plans: Path = typer.Argument(
        ...,
        help="What `reap batch` wrote: a Parquet file or a folder. Or a CSV file of people with --label: they get plans first.",
    ),
    by: list[str] = typer.Option(..., "--by", "-b", help="A column to group by; repeatable."),
    html: Path | None = typer.Option(None, "--html", help="Write the report, one self-contained page, here."),
    json: Path | None = typer.Option(None, "--json", help="Write the figures here."),
    decision: DecisionOptions = DECISION,
    jobs: int = typer.Option(
        -1, "--jobs", "-j", help="Processes for the plans of a CSV file; -1: as many as there are cores."
    ),
    matrices: int = typer.Option(
        200, "--matrices", help="Effort matrices under which differences are measured again."
    ),
    resamples: int = typer.Option(1000, "--resamples", help="Of the bootstrap."),
    least: int = typer.Option(30, "--least", help="Of smaller groups only the number of people is told."),
    seed: int = SEED,
) -> None:
    """Report who has no legal plan, how much effort plans ask of whom, and how far that rests on the assumed effort."""
    import reap
    from reap.datasets import read_csv

    rules = reap.ActionSpace.load(decision.space) if decision.space else None
    given: Any = plans
    if _setup.is_csv(plans.name):
        setup = _setup.prepare(str(plans), decision, seed)
        # people may be grouped by the columns that the space leaves out
        others = read_csv(plans).drop(columns=list(setup.X.columns))
        people = setup.X.join(others.set_axis([str(name) for name in others.columns], axis=1))
        given = reap.batch.run(setup.engine, people, reference=setup.X, n_jobs=jobs)
        rules = setup.engine.space
    elif decision.label is not None or decision.model is not None:
        raise InputError(
            f"{plans.name} holds plans already; --label and --model are for a CSV file of people who have none yet"
        )
    found = reap.audit(
        given, by, space=rules, matrices=matrices, resamples=resamples, least=least, random_state=seed
    )
    print(found)
    if html is not None:
        found.to_html(html)
    if json is not None:
        found.to_json(json)
