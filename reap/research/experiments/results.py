"""What a table hands to the terminal and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from reap._typing import Frame

#: How a table of the paper came out.
Verdict = Literal["reproduced", "in part", "better", "worse", "not reproducible", "beyond the paper"]
#: name -> (x, y, low, high); low and high may be None.
Lines = Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float] | None, Sequence[float] | None]]


@dataclass(frozen=True)
class Plot:
    """Lines to draw: one panel a data set."""

    panels: Mapping[str, Lines]
    x: str
    y: str
    log: bool = False


@dataclass(frozen=True)
class Result:
    """One table of the report.

    Parameters
    ----------
    title : str
    frame : DataFrame
        Ready to print: strings, or numbers that any reader may round.
    verdict : str
        How it came out against the paper.
    remarks : list of str
        Sentences: what holds, what differs and why, which reading of the text was taken.
    plot : Plot, optional
    """

    title: str
    frame: Frame
    verdict: Verdict
    remarks: list[str] = field(default_factory=list)
    plot: Plot | None = None


def verdict(holds: Sequence[bool]) -> Verdict:
    """Return how a claim came out that holds in some cases of several.

    Examples
    --------
    >>> verdict([True, True]), verdict([True, False]), verdict([False])
    ('reproduced', 'in part', 'not reproducible')
    """
    return "reproduced" if all(holds) else "in part" if any(holds) else "not reproducible"


def spread(values: Any) -> str:
    """Return "mean ± standard deviation", with three significant digits of the mean, two decimals at least.

    Examples
    --------
    >>> spread([1.0, 3.0]), spread([0.001, 0.003])
    ('2.00 ± 1.00', '0.00200 ± 0.00100')
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "–"
    mean = abs(values.mean())
    digits = max(2, 2 - int(np.floor(np.log10(mean)))) if mean > 0 else 2
    return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"


def percent(value: float) -> str:
    """Return a share as a percentage with a digit.

    Examples
    --------
    >>> percent(0.0312)
    '3.1 %'
    """
    return "–" if not np.isfinite(value) else f"{100 * value:.1f} %"


def between(found: Mapping[str, float]) -> str:
    """Return an excess with its interval.

    Examples
    --------
    >>> between({"excess": 0.031, "low": 0.02, "high": 0.05})
    '3.1 % [2.0, 5.0]'
    """
    if not np.isfinite(found["excess"]):
        return "–"
    return f"{percent(found['excess'])} [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
