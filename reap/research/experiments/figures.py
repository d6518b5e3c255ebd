"""Curves of the results, drawn with matplotlib; needs the extra ``plots``."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from reap._errors import InputError
from reap.research.experiments.results import Plot

#: Told apart by the colour-blind, too (Okabe and Ito), and by their marks.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_MARKS = "os^Dv<>pXh*P"


def pyplot() -> Any:
    """Return matplotlib's pyplot, on a back end that needs no screen."""
    try:
        import matplotlib
    except ImportError:
        raise InputError(
            "pictures need matplotlib; install it with: pip install 'reap-recourse[plots]'"
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    return plt


def draw(plot: Plot) -> bytes:
    """Return a plot as PNG: one panel a data set, up to three in a row."""
    plt = pyplot()
    count = len(plot.panels)
    columns = 2 if count == 4 else min(3, count)
    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(4.3 * columns, 3.2 * rows), squeeze=False, layout="constrained"
    )
    names = list(dict.fromkeys(name for lines in plot.panels.values() for name in lines))
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    for ax, (title, lines) in zip(axes.flat, plot.panels.items(), strict=False):
        for name, (x, y, low, high) in lines.items():
            i = names.index(name)
            colour = COLOURS[i % len(COLOURS)]
            style = "--" if i >= len(COLOURS) else "-"
            ax.plot(x, y, style, marker=_MARKS[i % len(_MARKS)], markersize=4, color=colour, label=name)
            if low is not None and high is not None:
                ax.fill_between(x, low, high, color=colour, alpha=0.12, linewidth=0)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel(plot.x)
        ax.set_ylabel(plot.y)
        ax.grid(alpha=0.3)
        if plot.x in ("answers", "questions"):
            ax.xaxis.set_major_locator(plt.MaxNLocator(integer=True))
        if plot.log:
            ax.set_xscale("log")
            ax.set_yscale("log")
        elif not any(np.isnan(ax.get_ylim())):
            ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    handles = {label: h for ax in axes.flat for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)), fontsize=8
    )
    return png(figure)


def png(figure: Any) -> bytes:
    """Return a figure as PNG and close it; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot().close(figure)
    return buffer.getvalue()
