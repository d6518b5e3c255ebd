"""``reap verify``: whether the stored logs are what was written."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli.serve import CONFIG, DATABASE
from reap.cli.sessions import open_store


def verify(database: str | None = DATABASE, config: Path | None = CONFIG) -> None:
    """Walk the chain of every session; exit with 1 where an event was changed, removed or added by hand."""
    store = open_store(database, config)
    wrong = list(store.faults())
    for session, sentence in wrong:
        print(f"{session}: {sentence}")
    count = len(store.sessions())
    events = sum(kept.events for kept in store.sessions())
    print(
        f"{count} sessions, {events} events: {f'{len(wrong)} broken' if wrong else 'every chain is whole'}."
    )
    if wrong:
        raise typer.Exit(1)
