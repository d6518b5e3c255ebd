"""``reap export``: stored sessions as JSON or CSV."""

from __future__ import annotations

from pathlib import Path

import typer

from reap._errors import InputError, unknown
from reap.cli.serve import CONFIG, DATABASE
from reap.cli.sessions import open_store
from reap.words import counted


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
