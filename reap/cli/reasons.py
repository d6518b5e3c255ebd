"""``reap reasons``: why the model refuses one person."""

from __future__ import annotations

import typer

from reap.cli import _options, _setup
from reap.cli._options import DECISION, Decision, deciding


@deciding("durability", "margin", "refits", "engine")
def reasons(
    data: str = _options.DATA,
    row: int | None = _options.ROW,
    most: int = typer.Option(4, "--most", "-n", help="Reasons at most."),
    decision: Decision = DECISION,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    seed: int = _options.SEED,
) -> None:
    """Print the principal reasons of a refusal, most important first: the factors that the model really scored."""
    import json as format
    from dataclasses import asdict

    setup = _setup.prepare(data, decision, seed, one=True, row=row)
    found = setup.engine.reasons(_setup.pick(setup, row), most)
    if json:
        print(format.dumps([asdict(reason) for reason in found], ensure_ascii=False))
        return
    if not found:
        print("The model accepts this person; there is nothing to explain.")
    for number, reason in enumerate(found, 1):
        print(f"{number}. {reason}")
