"""``reap recommend``, ``reap reasons``: a plan for one person without questions, and why the model refuses them."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli import _options, _setup
from reap.cli._options import DECISION, Decision, deciding
from reap.language import _


@deciding()
def recommend(
    data: str = _options.DATA,
    row: int | None = _options.ROW,
    decision: Decision = DECISION,
    fixed: list[str] = typer.Option([], "--fixed", help="A feature this person cannot change; repeatable."),
    within_months: int | None = _options.WITHIN,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    plot: Path | None = typer.Option(None, "--plot", help="Draw the plan to this file (PNG, SVG, PDF)."),
    seed: int = _options.SEED,
) -> None:
    """Print the plan of least effort for one person, as for everybody alike: no questions are asked."""
    from reap.effort import identity
    from reap.recourse import advice

    setup = _setup.prepare(data, decision, seed, one=True, row=row)
    subject = _setup.pick(setup, row)
    made = setup.engine
    for doubt in made.space.doubts(subject):
        typer.echo(doubt, err=True)
    limits = made.space.limits(fixed=fixed, within_months=within_months)
    alike = identity(made.space.dimension)
    plan = advice.priced(made, made.plans(subject, alike[None], limits)[0], subject, alike, limits)
    easier = None if json else advice.easier(made, plan, subject, alike, limits)
    print(plan.to_json() if json else plan)
    if easier is not None:
        print(f"\n{_('Easier today, but less sure to hold')}\n{easier}")
    if plot is not None:
        plan.plot().savefig(plot, dpi=150)


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
