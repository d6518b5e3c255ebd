"""``reap audit``: what recourse asks of people, and of whom."""

from __future__ import annotations

from pathlib import Path

import typer


def audit(
    plans: Path = typer.Argument(..., help="What `reap batch` wrote: a Parquet file or a folder."),
    by: list[str] = typer.Option(..., "--by", "-b", help="A column to group by; repeatable."),
    html: Path | None = typer.Option(None, "--html", help="Write the report, one self-contained page, here."),
    json: Path | None = typer.Option(None, "--json", help="Write the figures here."),
    space: Path | None = typer.Option(
        None, "--space", help="The action space (TOML), where the plans do not say it."
    ),
    matrices: int = typer.Option(
        200, "--matrices", help="Effort matrices under which differences are measured again."
    ),
    resamples: int = typer.Option(1000, "--resamples", help="Of the bootstrap."),
    least: int = typer.Option(30, "--least", help="Smaller groups are listed, but not compared."),
    seed: int = typer.Option(0, "--seed", help="Fixes everything random."),
) -> None:
    """Report who has no legal plan, how much effort plans ask of whom, and how far that rests on the assumed effort."""
    import reap

    rules = reap.ActionSpace.load(space) if space else None
    found = reap.audit(
        plans, by, space=rules, matrices=matrices, resamples=resamples, least=least, random_state=seed
    )
    print(found)
    if html is not None:
        found.to_html(html)
    if json is not None:
        found.to_json(json)
