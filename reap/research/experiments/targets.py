"""What the design asks of our default: the excess after 5 and 10 answers, by who answers and how many options are shown."""

from __future__ import annotations

from collections.abc import Mapping

from reap._typing import Frame
from reap.research.experiments.measures import excess
from reap.research.experiments.results import percent

#: Options -> answers -> excess. Gaussian people, who never slip.
GAUSSIAN = {2: {5: 0.04, 10: 0.015}, 4: {5: 0.015, 10: 0.005}}
#: Gaussian people, a tenth of whose answers are random.
LAPSES = {2: {5: 0.07, 10: 0.04}, 4: {5: 0.03, 10: 0.01}}
#: People of other kinds.
OTHERS = {2: {5: 0.08, 10: 0.04}, 4: {5: 0.03, 10: 0.01}}


def targets(people: str, lapse: float, options: int) -> dict[int, float]:
    """Return answers -> excess; nothing where people are reported without a target.

    Examples
    --------
    >>> targets("gaussian", 0.0, 2), targets("rank-one", 0.0, 2)
    ({5: 0.04, 10: 0.015}, {})
    """
    if people == "rank-one" or lapse > 0.1 or (lapse and people != "gaussian"):
        return {}
    asked = LAPSES if lapse else GAUSSIAN if people == "gaussian" else OTHERS
    return asked.get(options, {})


def beside(found: Mapping[int, Mapping[str, float]], asked: Mapping[int, float]) -> dict[str, str]:
    """Return the cells "targets" and "met" of a line, from the excess after some answers; empty where nothing is asked.

    Examples
    --------
    >>> beside({5: {"excess": 0.03}, 10: {"excess": 0.02}}, {5: 0.04, 10: 0.015})
    {'targets': '4.0 / 1.5 %', 'met': 'yes / no'}
    """
    both = [t for t in asked if t in found]
    met = ["yes" if found[t]["excess"] <= asked[t] else "no" for t in both]
    shown = [percent(asked[t]).removesuffix(" %") for t in both]
    return {"targets": " / ".join(shown) + (" %" if shown else ""), "met": " / ".join(met)}


def against_targets(runs: Frame, where: str, asked: dict[int, float]) -> list[str]:
    """Return a sentence for each target: does our default, in runs of one setting, meet it."""
    said = []
    for t, target in asked.items():
        ours = excess(runs[(runs["method"] == "ours") & (runs["answers"] == t)])
        if ours["runs"]:
            met = "meets" if ours["excess"] <= target else "falls short of"
            found = percent(ours["excess"])
            found = f"{ours['excess']:.2%}".replace("%", " %") if found == percent(target) else found
            said.append(f"{where}, {t} answers: ours {found} {met} the target of {percent(target)}.")
    return said


def tally(said: list[str]) -> list[str]:
    """Return how many of the sentences say that a target is met, then those that say it is not."""
    short = [line for line in said if "falls short" in line]
    met = f"Our default meets the targets of the design in {len(said) - len(short)} of {len(said)} places."
    return [met, *short] if said else []
