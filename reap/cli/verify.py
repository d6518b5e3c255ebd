"""``reap verify``: whether the stored logs are what was written."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli.serve import CONFIG, DATABASE
from reap.cli.sessions import open_store
from reap.words import counted


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
