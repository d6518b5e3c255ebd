"""``reap datasets``: what can be loaded by name."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def datasets() -> None:
    """List the data sets: rows, features, source, licence, and whether each is at hand."""
    import reap

    table = Table(title="Data sets", title_justify="left")
    for column in ("name", "rows", "features", "source", "licence", "at hand"):
        table.add_column(column, justify="right" if column in ("rows", "features") else "left")
    for entry in reap.datasets.available():
        table.add_row(
            entry.name,
            f"{entry.rows:,}",
            str(entry.features),
            entry.source,
            entry.licence,
            "yes" if entry.present else f"no: {entry.where}",
        )
    Console().print(table)
