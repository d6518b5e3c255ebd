"""``reap serve`` and ``reap mcp``, and what a service has stored: ``reap sessions``, ``reap verify``, ``reap export``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec

import typer
from rich.console import Console
from rich.table import Table

from reap._errors import InputError, unknown
from reap._typing import Frame
from reap.cli import _options, _setup
from reap.cli._options import DECISION, DecisionOptions, deciding
from reap.words import counted

if TYPE_CHECKING:
    from reap.service.case import Case
    from reap.service.settings import Settings
    from reap.service.store import Store

P = ParamSpec("P")

DATABASE = typer.Option(
    None, "--database", help="sqlite:///FILE or postgresql+psycopg://…; by default reap.db in this folder."
)
EXAMPLES = typer.Option(
    None,
    "--examples",
    help="A CSV file of people whom a visitor may take as an example; by default only the embedded data has some.",
)
CONFIG = typer.Option(None, "--config", help="A TOML file with settings; see docs/operate.md.")


@deciding()
def serve(
    data: str = _options.DATA,
    decision: DecisionOptions = DECISION,
    database: str | None = DATABASE,
    host: str = typer.Option("127.0.0.1", "--host", help="Address to listen on."),
    port: int = typer.Option(8000, "--port", help="Port to listen on; 0 takes a free one."),
    workers: int | None = typer.Option(
        None,
        "--workers",
        help="Processes; by default one for each core, at most 4, and one for a database in memory.",
    ),
    config: Path | None = CONFIG,
    allow_pickle: bool = typer.Option(
        False,
        "--allow-pickle",
        help="Load a model that pickle wrote. It can run any code: only your own files.",
    ),
    prior: Path | None = _options.PRIOR,
    examples: Path | None = EXAMPLES,
    seed: int = _options.SEED,
) -> None:
    """Serve the pages and the API; without options the embedded German credit example."""
    settings = read_settings(database, config)
    if prior is not None:
        settings = settings.model_copy(update={"prior": str(prior)})
    from reap.service.app import run
    from reap.service.case import Case

    if settings.honour_months and decision.durability is None:
        decision = replace(decision, durability="0")  # what is promised need not last beyond it
    print("Preparing the model …", flush=True)
    setup = _setup.prepare(
        data, decision, seed, allow_pickle=allow_pickle, guests=True, anonymity=settings.anonymity
    )
    if settings.prior:  # a prior of another space is refused here, in a sentence, not in every worker
        from reap.belief import LearnedPrior

        LearnedPrior.load(settings.prior).fits(setup.engine.space.digest)
    case = Case.of(setup.engine, setup.X, shown_examples(data, setup, examples))
    if setup.accuracy is not None:
        print(
            f"Trained a network: accuracy {setup.accuracy:.2f} on people it has not seen; it was not shown sex, age and the like."
        )
    check_traits(case, settings)
    run(case, settings, host=host, port=port, workers=workers)


def check_traits(case: Case, settings: Settings) -> None:
    """Refuse a model that uses what looks like a protected trait, unless the settings allow it; say which of them count."""
    used = [name for name in case.traits if name not in settings.allow_traits]
    if used:
        raise InputError(
            f"the model uses {' and '.join(used)}, which the law may keep out of a decision: train it without, or, where the law "
            f"lets it count, say so in the settings: allow_traits = {json.dumps(used)} (REAP_ALLOW_TRAITS)"
        )
    for name, moved in case.traits.items():
        print(f"Allowed to count: {name}, which moves the score by {moved:.3g} on average", flush=True)


def shown_examples(data: str, setup: _setup.Setup, file: Path | None) -> Frame:
    """Return the people a visitor may take as examples: those of a file, or of the embedded data; never a lender's own rows."""
    if file is not None:
        from reap.datasets import read_csv

        given = read_csv(file)
        missing = [column for column in setup.X.columns if column not in given]
        if missing:
            raise InputError(
                f"{file} lacks the columns {', '.join(missing)}; examples are rows like those of the data"
            )
        return given[list(setup.X.columns)].astype(setup.X.dtypes.to_dict())
    return setup.rejected if data == "german" else setup.rejected.iloc[:0]


def read_settings(database: str | None, config: Path | None) -> Settings:
    """Return the settings of environment and file, with the database named on the command line."""
    try:
        from reap.service.settings import Settings
    except ImportError as error:
        raise InputError(
            f"the service needs {error.name}; install it with: pip install 'reap-recourse[web]'"
        ) from None
    settings = Settings.read(file=config)
    return settings.model_copy(update={"database_url": database}) if database else settings


@deciding()
def mcp(
    data: str = _options.DATA,
    decision: DecisionOptions = DECISION,
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    seed: int = _options.SEED,
) -> None:
    """Let a chat assistant hold a session: a Model Context Protocol server over standard input and output."""
    from reap.doors.assistant import server

    setup = _setup.prepare(data, decision, seed)
    server(setup.engine, setup.rejected.reset_index(drop=True), questions=questions).run("stdio")


# what a service has stored ----------------------------------------------------------------------------


def reached(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command say in a sentence that its database went away or is damaged."""

    @wraps(command)
    def told(*given: P.args, **named: P.kwargs) -> None:
        try:
            command(*given, **named)
        except Exception as error:
            database = sys.modules.get("reap.service.store")  # None where nothing of a service is installed
            if database is None or not isinstance(error, database.UnavailableError):
                raise
            raise InputError(
                f"the database cannot be read ({error}); check --database, or put a backup back"
            ) from None

    return told


@reached
def sessions(
    database: str | None = DATABASE,
    config: Path | None = CONFIG,
    purge: bool = typer.Option(False, "--purge", help="First remove the sessions whose time is over."),
    delete: str | None = typer.Option(None, "--delete", help="Remove one session, by its id."),
) -> None:
    """List the sessions of a service: when each began and ends, how many answers, whether there is a plan."""
    store = open_store(database, config)
    if purge:
        held = read_settings(database, config).hold_days
        print(f"Removed {store.purge(held)} expired sessions.")
    if delete is not None:
        if not store.delete(delete):
            raise InputError(f"there is no session {delete!r}; `reap sessions` lists them")
        print(f"Removed session {delete}.")
        return
    table = Table(title="Sessions", title_justify="left")
    for column in ("id", "started", "expires", "answers", "plan", "events"):
        side: Literal["left", "right"] = "right" if column in ("answers", "events") else "left"
        table.add_column(column, justify=side, no_wrap=column == "id")  # an id in pieces cannot be copied
    for kept in store.sessions():
        kinds = [entry.type for entry in store.events(kept.id)]
        table.add_row(
            kept.id,
            kept.created[:16].replace("T", " "),
            kept.expires[:10],
            str(kinds.count("answered")),
            "yes" if "recommended" in kinds else "no",
            str(kept.events),
        )
    Console().print(table)


@reached
def verify(
    database: str | None = DATABASE,
    config: Path | None = CONFIG,
    renew: bool = typer.Option(
        False, "--renew", help="Sign everything with the key in use: once, after the key was changed."
    ),
) -> None:
    """Walk the chain of every session; exit with 1 where a session or an event was changed, removed or added by hand."""
    store = open_store(database, config)
    if renew:
        store.renew()
    wrong = list(store.faults())
    for session, sentence in wrong:
        print(f"{session}: {sentence}")
    kept = store.sessions()
    found = f"{counted(len(kept), 'session')}, {counted(sum(row.events for row in kept), 'event')}"
    print(f"{found}: {f'{len(wrong)} broken' if wrong else 'every chain is whole and signed'}.")
    if store.keyless:
        print(
            "The key is kept in the database: whoever can write there can sign. Set REAP_SECRET to keep it elsewhere."
        )
    if wrong:
        raise typer.Exit(1)


@reached
def export(
    session: str | None = typer.Argument(None, help="A session's id; by default all."),
    format: str = typer.Option(
        "json", "--format", help="json: the whole log, one line a session; csv: one row an answer."
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Write here instead of to the terminal."),
    database: str | None = DATABASE,
    config: Path | None = CONFIG,
) -> None:
    """Export sessions: JSON that replays to the same plan, or CSV with one row an answer."""
    if format not in ("json", "csv"):
        raise unknown("format", format, ("json", "csv"))
    store = open_store(database, config)
    from reap.service import exports

    kept = [row for row in store.sessions() if session in (None, row.id)]
    if session is not None and not kept:
        raise InputError(f"there is no session {session!r}; `reap sessions` lists them")
    logs = [(row, store.events(row.id)) for row in kept]
    if format == "csv":
        text = exports.as_csv(entry for _, entries in logs for entry in entries)
    else:
        text = "".join(exports.as_json(row, entries) + "\n" for row, entries in logs)
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")
        print(f"Wrote {counted(len(logs), 'session')} to {output}.")


def open_store(database: str | None, config: Path | None) -> Store:
    """Return the store of a service, or say that there is none."""
    settings = read_settings(database, config)
    from reap.service.store import Store

    url = settings.database_url
    file = url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else None
    if file is not None and not Path(file).is_file():
        raise InputError(f"there is no database {file!r}; name it with --database")
    return Store.opened(url, settings.secret)
