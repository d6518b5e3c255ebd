"""``reap sessions``: what is stored, without anything personal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer
from rich.console import Console
from rich.table import Table

from reap._errors import InputError
from reap.cli.serve import CONFIG, DATABASE, read_settings

if TYPE_CHECKING:
    from reap.service.store import Store


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
