"""``reap sessions``, ``reap verify``, ``reap export``: what a service has stored: listed, checked, written to a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal, ParamSpec

import typer
from rich.console import Console
from rich.table import Table

from reap._errors import InputError, unknown
from reap.cli.serve import CONFIG, DATABASE, read_settings
from reap.words import counted

if TYPE_CHECKING:
    from reap.service.store import Store

P = ParamSpec("P")


def reached(command: Callable[P, None]) -> Callable[P, None]:
    """Let a command say in a sentence that its database went away or is damaged."""

    @wraps(command)
    def told(*given: P.args, **named: P.kwargs) -> None:
        try:
            command(*given, **named)
        except Exception as error:
            database = sys.modules.get(
                "reap.service.database"
            )  # None where nothing of a service is installed
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
    from reap.service.database import UnavailableError
    from reap.service.store import Store

    url = settings.database_url
    file = url.removeprefix("sqlite:///") if url.startswith("sqlite:///") else None
    if file is not None and not Path(file).is_file():
        raise InputError(f"there is no database {file!r}; name it with --database")
    store = Store(url, settings.secret)
    try:
        store.prepare()
    except UnavailableError as error:
        raise InputError(f"the database cannot be reached ({error}); check --database") from None
    return store
