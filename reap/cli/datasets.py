"""``reap datasets``: what can be loaded by name."""

from __future__ import annotations

from rich.console import Console


def datasets() -> None:
    """List the data sets: rows, features, source, licence, and whether each is at hand."""
    import reap

    say = Console(highlight=False).print
    for entry in reap.datasets.available():
        at_hand = "[green]at hand[/]" if entry.present else "[yellow]not at hand[/]"
        say(
            f"[bold]{entry.name:<10}[/] {entry.rows:>7,} rows  {entry.features:>3} features  {at_hand}  {entry.title}"
        )
        say(f"[dim]           {entry.source}. Licence: {entry.licence}.[/]", soft_wrap=True)
        if not entry.present:
            say(f"[dim]           To get it: {entry.where}.[/]", soft_wrap=True)
    say(
        "\nLoad one with [bold]reap.datasets.load(name)[/]; a table of your own with [bold]reap.datasets.from_csv[/]."
    )
