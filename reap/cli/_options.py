"""The options that several commands share, each written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, get_type_hints

import typer

from reap.cli._acceptance import Accepted

DATA = typer.Option(
    "german", "--data", "-d", help="A data set by name (`reap datasets` lists them), or a CSV file."
)
ROW = typer.Option(
    None, "--row", "-r", help="Row number in the table, from 0; by default the first rejected."
)
LABEL = typer.Option(None, "--label", help="For a CSV file: the column with the decision.")
FAVOURABLE = typer.Option(
    "1", "--favourable", help="For a CSV file: the label of the favourable decision, such as approved."
)
MODEL = typer.Option(
    None, "--model", help="A trained model (skops file); without one a small network is trained."
)
TARGET = typer.Option("1", "--target", help="The favourable class, as the model names it.")
TRUST = typer.Option([], "--trust", help="A type the model file may contain; repeatable.")
WITHIN = typer.Option(None, "--within-months", help="In how many months the plan must be done.")
SPACE = typer.Option(None, "--space", help="The action space (TOML); `reap space data.csv` drafts one.")
ENGINE = typer.Option(
    "recourse",
    "--engine",
    "-e",
    help="recourse: plans for people, of few changes and least effort. The other two are the paper's: graph leads "
    "through positions of real people, gradient straight to the decision boundary.",
)
PRIOR = typer.Option(
    None,
    "--prior",
    help="What past sessions taught: a file that `reap learn` wrote; new sessions begin with it.",
)
SEED = typer.Option(0, "--seed", help="Fixes everything random.")
_RETURNS = "What the model returns: probability; or score, for points, margins and regressions."
OUTPUT = typer.Option("probability", "--output", "--model-output", help=_RETURNS)
#: For a command whose --output is a file.
MODEL_OUTPUT = typer.Option("probability", "--model-output", help=_RETURNS)
UNIT = typer.Option("", "--unit", help="The word behind a score: points.")
THRESHOLD = typer.Option(
    "0.5",
    "--threshold",
    help="Accepted is who scores above it: 0.5, 620; or a range to reach: 620:700, 620:, :300.",
)
DURABILITY = typer.Option(
    None,
    "--durability",
    envvar="REAP_DURABILITY",
    help="The share of the model's retrainings that must accept a plan too; 0: today's model alone. By default 0.9 where "
    "there are labels to retrain it with.",
)
MARGIN = typer.Option(
    None,
    "--margin",
    help="What a score must have beyond the threshold, where the model cannot be retrained; by default 0.03, or as much "
    "of another unit.",
)
REFITS = typer.Option(
    None,
    "--refits",
    help="How often to retrain the model for that; by default 20 times, a linear one up to 100.",
)


@dataclass(frozen=True)
class Decision(Accepted):
    """Who decides, on which rows, and which engine makes the plans; as a command was told."""

    label: str | None = None
    favourable: str = "1"
    model: Path | None = None
    target: str = "1"
    trust: Sequence[str] = ()
    space: Path | None = None
    engine: str = "recourse"


#: Holds the place of the options in a command that is ``deciding``.
DECISION = Decision()
#: The options of a decision by their names, in the order in which they are listed.
_OPTIONS = {
    "label": LABEL,
    "favourable": FAVOURABLE,
    "model": MODEL,
    "target": TARGET,
    "threshold": THRESHOLD,
    "output": OUTPUT,
    "unit": UNIT,
    "durability": DURABILITY,
    "margin": MARGIN,
    "refits": REFITS,
    "trust": TRUST,
    "space": SPACE,
    "engine": ENGINE,
}


def deciding(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a decision, but for some, in the place of its parameter ``decision``."""
    types = {**get_type_hints(Decision), "trust": list[str]}
    options = [
        inspect.Parameter(
            name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=option, annotation=types[name]
        )
        for name, option in _OPTIONS.items()
        if name not in without
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        every = [p for given in own for p in (options if given.name == "decision" else [given])]

        @wraps(command)
        def told(**given: Any) -> None:
            command(decision=Decision(**{o.name: given.pop(o.name) for o in options}), **given)

        told.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # typer reads both
        told.__annotations__ = {p.name: p.annotation for p in every}
        return told

    return decorated
