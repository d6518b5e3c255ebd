"""``reap recommend``: a plan for one person, without questions."""

from __future__ import annotations

from pathlib import Path

import typer

from reap.cli import _acceptance, _setup
from reap.language import _


def recommend(
    data: str = _setup.DATA,
    row: int | None = typer.Option(
        None, "--row", "-r", help="Row number in the table, from 0; by default the first rejected."
    ),
    label: str | None = _setup.LABEL,
    favourable: str = _setup.FAVOURABLE,
    model: Path | None = _setup.MODEL,
    target: str = _setup.TARGET,
    threshold: str = _acceptance.THRESHOLD,
    output: str = _acceptance.OUTPUT,
    unit: str = _acceptance.UNIT,
    durability: float | None = _acceptance.DURABILITY,
    margin: float | None = _acceptance.MARGIN,
    refits: int | None = _acceptance.REFITS,
    trust: list[str] = _setup.TRUST,
    space: Path | None = _setup.SPACE,
    engine: str = _setup.ENGINE,
    fixed: list[str] = typer.Option([], "--fixed", help="A feature this person cannot change; repeatable."),
    within_months: int | None = _setup.WITHIN,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    plot: Path | None = typer.Option(None, "--plot", help="Draw the plan to this file (PNG, SVG, PDF)."),
    seed: int = _setup.SEED,
) -> None:
    """Print the plan of least effort for one person, as for everybody alike: no questions are asked."""
    from reap.effort import identity

    setup = _setup.prepare(
        data,
        label,
        model,
        space,
        engine,
        seed,
        favourable=favourable,
        target=target,
        accepted=_acceptance.Accepted(threshold, output, unit, durability, margin, refits),
        trusted=trust,
        one=True,
        row=row,
    )
    subject = _setup.pick(setup, row)
    made = setup.engine
    for doubt in made.space.doubts(subject):
        typer.echo(doubt, err=True)
    limits = made.space.limits(fixed=fixed, within_months=within_months)
    alike = identity(made.space.dimension)
    plan = made.priced(made.plans(subject, alike[None], limits)[0], subject, alike, limits)
    easier = None if json else made.easier(plan, subject, alike, limits)
    print(plan.to_json() if json else plan)
    if easier is not None:
        print(f"\n{_('Easier today, but less sure to hold')}\n{easier}")
    if plot is not None:
        plan.plot().savefig(plot, dpi=150)
