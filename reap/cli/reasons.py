"""``reap reasons``: why the model refuses one person."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli import _acceptance, _setup


def reasons(
    data: str = _setup.DATA,
    row: int | None = typer.Option(
        None, "--row", "-r", help="Row number in the table, from 0; by default the first rejected."
    ),
    most: int = typer.Option(4, "--most", "-n", help="Reasons at most."),
    label: str | None = _setup.LABEL,
    favourable: str = _setup.FAVOURABLE,
    model: Path | None = _setup.MODEL,
    target: str = _setup.TARGET,
    threshold: str = _acceptance.THRESHOLD,
    output: str = _acceptance.OUTPUT,
    unit: str = _acceptance.UNIT,
    trust: list[str] = _setup.TRUST,
    space: Path | None = _setup.SPACE,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    seed: int = _setup.SEED,
) -> None:
    """Print the principal reasons of a refusal, most important first: the factors that the model really scored."""
    import json as format
    from dataclasses import asdict

    setup = _setup.prepare(
        data,
        label,
        model,
        space,
        "recourse",
        seed,
        favourable=favourable,
        target=target,
        accepted=_acceptance.Accepted(threshold, output, unit),
        trusted=trust,
        one=True,
        row=row,
    )
    found = setup.engine.reasons(_setup.pick(setup, row), most)
    if json:
        print(format.dumps([asdict(reason) for reason in found], ensure_ascii=False))
        return
    if not found:
        print("The model accepts this person; there is nothing to explain.")
    for number, reason in enumerate(found, 1):
        print(f"{number}. {reason}")
