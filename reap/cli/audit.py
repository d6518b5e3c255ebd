"""``reap audit``: what recourse asks of people, and of whom."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from reap._errors import InputError
from reap._typing import Frame
from reap.cli import _setup
from reap.cli._options import DECISION, SEED, Decision, deciding


@deciding("space")
def audit(
    plans: Path = typer.Argument(
        ...,
        help="What `reap batch` wrote: a Parquet file or a folder. Or a CSV file of people with --label: they get plans first.",
    ),
    by: list[str] = typer.Option(..., "--by", "-b", help="A column to group by; repeatable."),
    html: Path | None = typer.Option(None, "--html", help="Write the report, one self-contained page, here."),
    json: Path | None = typer.Option(None, "--json", help="Write the figures here."),
    space: Path | None = typer.Option(
        None, "--space", help="The action space (TOML), where the plans do not say it, or for a CSV file."
    ),
    decision: Decision = DECISION,
    jobs: int = typer.Option(
        -1, "--jobs", "-j", help="Processes for the plans of a CSV file; -1: as many as there are cores."
    ),
    matrices: int = typer.Option(
        200, "--matrices", help="Effort matrices under which differences are measured again."
    ),
    resamples: int = typer.Option(1000, "--resamples", help="Of the bootstrap."),
    least: int = typer.Option(30, "--least", help="Of smaller groups only the number of people is told."),
    seed: int = SEED,
) -> None:
    """Report who has no legal plan, how much effort plans ask of whom, and how far that rests on the assumed effort."""
    import reap

    rules = reap.ActionSpace.load(space) if space else None
    given: Any = plans
    if plans.name.lower().endswith((".csv", ".csv.gz")):
        setup = _setup.prepare(str(plans), replace(decision, space=space), seed)
        given, rules = _planned(setup, plans, jobs), setup.engine.space
    elif decision.label is not None or decision.model is not None:
        raise InputError(
            f"{plans.name} holds plans already; --label and --model are for a CSV file of people who have none yet"
        )
    found = reap.audit(
        given, by, space=rules, matrices=matrices, resamples=resamples, least=least, random_state=seed
    )
    print(found)
    if html is not None:
        found.to_html(html)
    if json is not None:
        found.to_json(json)


def _planned(setup: _setup.Setup, path: Path, jobs: int) -> Frame:
    """Return plans for everybody in a CSV file, with the columns that the space leaves out: people may be grouped by them."""
    import reap
    from reap.datasets import read_csv

    others = read_csv(path).drop(columns=list(setup.X.columns))
    people = setup.X.join(others.set_axis([str(name) for name in others.columns], axis=1))
    frame: Any = reap.batch.run(setup.engine, people, reference=setup.X, n_jobs=jobs)
    return frame
