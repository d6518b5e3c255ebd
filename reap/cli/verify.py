"""``reap verify``: whether the stored logs are what was written."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli.serve import CONFIG, DATABASE
from reap.cli.sessions import open_store
from reap.words import counted


def verify(database: str | None = DATABASE, config: Path | None = CONFIG) -> None:
    """Walk the chain of every session; exit with 1 where an event was changed, removed or added by hand."""
    store = open_store(database, config)
    wrong = list(store.faults())
    for session, sentence in wrong:
        print(f"{session}: {sentence}")
    kept = store.sessions()
    found = f"{counted(len(kept), 'session')}, {counted(sum(row.events for row in kept), 'event')}"
    print(f"{found}: {f'{len(wrong)} broken' if wrong else 'every chain is whole'}.")
    if wrong:
        raise typer.Exit(1)
