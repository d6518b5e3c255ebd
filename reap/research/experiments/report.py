"""What a table hands to the reader, and the report of all of them: Markdown, with curves as pictures beside it."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from reap import __version__
from reap._errors import InputError
from reap._typing import Frame

if TYPE_CHECKING:
    from reap.research.experiments.runner import Scope

#: How a table of the paper came out.
Verdict = Literal["reproduced", "in part", "better", "worse", "not reproducible", "beyond the paper"]
#: name -> (x, y, low, high); low and high may be None.
Lines = Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float] | None, Sequence[float] | None]]
_INTRO = (
    "Every table and figure of “Cost-adaptive recourse recommendation by adaptive preference elicitation”, run again, with the "
    "paper's figures beside ours, and what lies beyond the paper. Figures are mean ± standard deviation over runs unless said "
    "otherwise. Where the text and the authors' scripts disagree we follow the text. The paper's graph tables give the effort of "
    "paths, a sum over steps; all other effort is that of the whole change from where a person stands to where the plan ends. "
    "The two are never compared."
)


#: Told apart by the colour-blind, too (Okabe and Ito), and by their marks.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_MARKS = "os^Dv<>pXh*P"


@dataclass(frozen=True)
class Plot:
    """Lines to draw: one panel a data set."""

    panels: Mapping[str, Lines]
    x: str
    y: str
    log: bool = False


@dataclass(frozen=True)
class ReportTable:
    """One table of the report, ready to print: strings, or numbers that any reader may round."""

    title: str
    frame: Frame
    verdict: Verdict = "beyond the paper"
    remarks: list[str] = field(
        default_factory=list
    )  # what holds, what differs and why, how the text was read
    plot: Plot | None = None


# tables ---------------------------------------------------------------------------------------------------------


def table(runs: Frame, by: Sequence[str], columns: Mapping[str, Callable[[Frame], Any]]) -> Frame:
    """Return a line a group of runs: what the group is, then each column from the group's runs.

    Examples
    --------
    >>> runs = pd.DataFrame({"dataset": ["german", "german"], "effort": [1.0, 3.0]})
    >>> table(runs, ["dataset"], {"effort": lambda part: spread(part["effort"]), "runs": len}).to_dict("records")
    [{'data': 'german', 'effort': '2.00 ± 1.00', 'runs': 2}]
    """
    if len(runs) == 0:
        return pd.DataFrame(columns=[*by, *columns])
    lines = [
        dict(zip(by, names, strict=True)) | {name: made(part) for name, made in columns.items()}
        for names, part in runs.groupby(list(by), sort=False)
    ]
    return pd.DataFrame(lines).rename(columns={"dataset": "data"})


def ordered(runs: Frame, **orders: Iterable[str]) -> Frame:
    """Return the runs whose columns hold some names, sorted as the names are given; the first column counts most.

    Examples
    --------
    >>> ordered(pd.DataFrame({"method": ["ours", "FACE", "no"]}), method=["FACE", "ours"])["method"].tolist()
    ['FACE', 'ours']
    """
    for column, names in reversed(orders.items()):
        place = {name: i for i, name in enumerate(names)}
        runs = runs[runs[column].isin(place)]
        runs = runs.sort_values(column, key=lambda values, place=place: values.map(place), kind="stable")
    return runs


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


def number(value: float, form: str = ".2f") -> str:
    """Return a number in a format, or a dash where there is none.

    Examples
    --------
    >>> number(0.126), number(float("nan"))
    ('0.13', '–')
    """
    return format(value, form) if np.isfinite(value) else "–"


def percent(value: float) -> str:
    """Return a share as a percentage with a digit.

    Examples
    --------
    >>> percent(0.0312)
    '3.1 %'
    """
    return f"{100 * value:.1f} %" if np.isfinite(value) else "–"


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


# the report -----------------------------------------------------------------------------------------------------


def write(
    results: Mapping[str, Sequence[ReportTable]], scope: Scope, command: str = "reap reproduce"
) -> Path:
    """Write ``report.md``, ``figures/`` and ``summary/`` of what ``reproduce`` returned, and return the path of the report.

    The command is told for the reader to repeat.
    """
    out, body, verdicts = scope.out, [], []
    overview = ["| table | verdict |", "|---|---|"]
    for folder in ("figures", "summary"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for name, made in results.items():
        for i, result in enumerate(made):
            stem = f"{name}-{i + 1}" if i else name
            said = [
                f"**{result.verdict.capitalize()}.** (`reap reproduce {name}`)",
                "",
                markdown(result.frame),
            ]
            if result.plot is not None:
                (out / "figures" / f"{stem}.png").write_bytes(draw(result.plot))
                said += ["", f"![{result.title}](figures/{stem}.png)"]
            body += [
                f"## {result.title}",
                "",
                *said,
                "",
                *(f"- {remark}" for remark in result.remarks),
                "",
            ]
            result.frame.to_csv(out / "summary" / f"{stem}.csv", index=False)
            anchor = "".join(c for c in result.title.lower() if c.isalnum() or c in " -_").replace(" ", "-")
            overview.append(f"| [{result.title}](#{anchor}) | {result.verdict} |")
            verdicts.append(
                {"table": name, "title": result.title, "verdict": result.verdict, "remarks": result.remarks}
            )
    facts = [
        f"- Command: `{command}`",
        f"- Release {__version__}{_commit()}, seed {scope.seed}; split 80/20, stratified, seed 42.",
        f"- Subjects: {scope.subjects or 'rejected people of the test part, up to the number of the table'}; "
        f"matrices: {scope.matrices or 'those of the table'}.",
        *["- Made with --quick: tiny, to see that it runs, not to read figures from."] * scope.quick,
    ]
    head = ["# The paper, reproduced", "", _INTRO, "", *facts, "", "## Overview", "", *overview, ""]
    (out / "summary" / "verdicts.json").write_text(
        json.dumps(verdicts, ensure_ascii=False, indent=1), encoding="utf-8"
    )
    page = out / "report.md"
    page.write_text("\n".join([*head, *body]), encoding="utf-8")
    return page


def _commit() -> str:
    """Return the commit that the code is of, where it is run from a clone; nothing elsewhere."""
    git, here = shutil.which("git"), Path(__file__)
    if git is None:
        return ""
    asked = (["ls-files", "--error-unmatch", here.name], ["rev-parse", "--short", "HEAD"])
    said = [subprocess.run([git, *words], cwd=here.parent, capture_output=True, text=True) for words in asked]
    return "" if any(one.returncode for one in said) else f" (commit {said[1].stdout.strip()})"


def markdown(frame: Frame) -> str:
    """Return a frame as a Markdown table.

    Examples
    --------
    >>> print(markdown(pd.DataFrame({"data": ["german"], "cost": ["0.5"]})))
    | data | cost |
    |:--|--:|
    | german | 0.5 |
    """
    columns = [str(c).replace("|", "\\|") for c in frame.columns]
    rule = [":--" if i == 0 or c == "method" else "--:" for i, c in enumerate(columns)]
    rows = [[str(v).replace("|", "\\|") for v in row] for row in frame.itertuples(index=False)]
    return "\n".join(
        [f"| {' | '.join(columns)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    )


# pictures -------------------------------------------------------------------------------------------------------


def draw(plot: Plot) -> bytes:
    """Return a plot as PNG: one panel a data set, up to three in a row; the same plot gives the same bytes."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "pictures need matplotlib; install it with: pip install 'reap-recourse[plots]'"
        ) from None
    matplotlib.use("Agg")  # needs no screen
    from matplotlib import pyplot as plt

    count = len(plot.panels)
    columns = 2 if count == 4 else min(3, count)
    size = (4.3 * columns, 3.2 * -(-count // columns))
    figure, axes = plt.subplots(
        -(-count // columns), columns, figsize=size, squeeze=False, layout="constrained"
    )
    names = list(dict.fromkeys(name for lines in plot.panels.values() for name in lines))
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax, (title, lines) in zip(axes.flat, plot.panels.items(), strict=False):
        for name, (x, y, low, high) in lines.items():
            i = names.index(name)
            look = {"color": COLOURS[i % len(COLOURS)], "linestyle": "--" if i >= len(COLOURS) else "-"}
            ax.plot(x, y, marker=_MARKS[i % len(_MARKS)], markersize=4, label=name, **look)
            if low is not None and high is not None:
                ax.fill_between(x, low, high, color=look["color"], alpha=0.12, linewidth=0)
        ax.set_title(title, fontsize=10)
        ax.set(xlabel=plot.x, ylabel=plot.y)
        ax.grid(alpha=0.3)
        if plot.log:
            ax.set(xscale="log", yscale="log")
        elif not any(np.isnan(ax.get_ylim())):
            ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    handles = {label: h for ax in axes.flat for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    below = {"loc": "outside lower center", "ncols": min(4, len(handles)), "fontsize": 8}
    figure.legend(handles.values(), handles.keys(), **below)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()
