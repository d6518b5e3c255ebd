"""The options that several commands share, each written once, and what they say: who decides, on which rows, by which engine."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, cast, get_type_hints

import numpy as np
import typer

from reap._errors import InputError
from reap.scores import Output, Scale, Threshold

#: What commands look for by default: the easiest chance of a yes.
CHANCE = "chance"
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
    help="chance: the easiest chance of a yes, by 20 retrainings of the model where there are labels, else by a margin; or the "
    "share of the retrainings that must accept a plan too, such as 0.9; 0: today's model alone.  [default: chance]",
)
MARGIN = typer.Option(
    None,
    "--margin",
    help="What a score must have beyond the threshold, instead of retrainings; by default 0.03, or as much of another unit, "
    "where the model cannot be retrained.",
)
REFITS = typer.Option(
    None,
    "--refits",
    help="How often to retrain the model for that; by default 20 times, a linear one up to 100 where a share is asked for.",
)


@dataclass(frozen=True)
class DecisionOptions:
    """Who decides, on which rows, and which engine makes the plans; as a command was told.

    Unless told otherwise commands look for the easiest chance of a yes: by retrainings where labels are at hand and the model can
    be retrained, else by a margin. Retraining takes as many processes as there are cores.
    """

    label: str | None = None
    favourable: str = "1"
    model: Path | None = None
    target: str = "1"
    threshold: str = "0.5"
    model_output: str = "probability"
    unit: str = ""
    durability: str | None = "0"
    margin: float | None = 0.0
    refits: int | None = None
    trust: Sequence[str] = ()
    space: Path | None = None
    engine: str = "recourse"

    def scale(self) -> dict[str, Any]:
        """Return the settings of an engine that say what a score means."""
        threshold = _threshold(self.threshold)
        # says what is wrong before anything is trained
        Scale(threshold, cast(Output, self.model_output), self.unit)
        return {"threshold": threshold, "output": self.model_output, "unit": self.unit}

    def holding(self, model: Any, target: Any, y: Any) -> tuple[dict[str, Any], Any]:
        """Return the settings of an engine that say what must hold, and the labels to retrain with; y has 1 for favourable."""
        from reap.recourse import Durability

        labels = self._labels(model, target, y)
        asked = _durability("0" if self.durability is None and self.margin else self.durability or CHANCE)
        if asked and asked != CHANCE and labels is None:
            raise InputError(
                "durability needs labels, and a model that can be retrained with them; give --margin instead"
            )
        settings = {
            "durability": Durability(
                asked, refits=self.refits, n_jobs=-1, verbose=bool(asked) and sys.stderr.isatty()
            )
        }
        return settings, labels if asked else None

    def _labels(self, model: Any, target: Any, y: Any) -> Any:
        """Return labels as the model was trained on them; None where there are none, or it cannot be retrained."""
        classes = getattr(model, "classes_", None)
        if y is None or self.model_output == "score" or classes is None or len(classes) != 2:
            return None
        if not all(hasattr(model, name) for name in ("fit", "get_params")):
            return None
        (other,) = [label for label in np.asarray(classes).tolist() if label != target]
        return np.array([target if good else other for good in np.asarray(y) == 1])


#: Holds the place of the options in a command that is ``deciding``.
DECISION = DecisionOptions()
#: The options of a decision by their names, in the order in which they are listed.
_OPTIONS = {
    "label": LABEL,
    "favourable": FAVOURABLE,
    "model": MODEL,
    "target": TARGET,
    "threshold": THRESHOLD,
    "model_output": OUTPUT,
    "unit": UNIT,
    "durability": DURABILITY,
    "margin": MARGIN,
    "refits": REFITS,
    "trust": TRUST,
    "space": SPACE,
    "engine": ENGINE,
}


def deciding(*without: str, **own: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a decision in the place of its parameter ``decision``: but for some, and some its own."""
    types = {**get_type_hints(DecisionOptions), "trust": list[str]}
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=own.get(name, option),
            annotation=types[name],
        )
        for name, option in _OPTIONS.items()
        if name not in without
    ]

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        listed = inspect.signature(command, eval_str=True).parameters.values()
        every = [p for given in listed for p in (options if given.name == "decision" else [given])]

        @wraps(command)
        def told(**given: Any) -> None:
            command(decision=DecisionOptions(**{o.name: given.pop(o.name) for o in options}), **given)

        told.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]  # typer reads both
        told.__annotations__ = {p.name: p.annotation for p in every}
        return told

    return decorated


def _durability(text: str) -> float | Literal["chance"]:
    """Return a durability as it was typed."""
    if text == CHANCE:
        return "chance"
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"--durability is {text!r}; give chance, or a share of the model's retrainings such as 0.9"
        ) from None


def _threshold(text: str) -> Threshold:
    """Return a threshold as it was typed: a number, or two with a colon between them of which one may be missing."""
    try:
        if ":" not in text:
            return float(text)
        low, high = text.split(":")
        return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        raise InputError(
            f"--threshold is {text!r}; give the score to exceed, such as 0.5 or 620, or a range such as 620:700"
        ) from None
