"""The pictures of the report, as SVG text. Colours are told apart in every kind of colour vision."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from reap._errors import InputError
from reap.auditing.grouping import Grouping

#: Okabe and Ito's palette; grey for all the rest.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#999999")
_INK, _MAIN = "#222222", "#0072B2"
_FEATURES = 7


def shares(grouping: Grouping) -> str:
    """Draw the share without a plan of each group, with its interval."""
    table = grouping.table.iloc[::-1]
    figure, axes = _figure(len(table))
    y = np.arange(len(table))
    few = ~table.index.isin(grouping.compared)
    for mask, colour in ((~few, _MAIN), (few, "#BBBBBB")):
        part = table[mask]
        gaps = np.array([part["share"] - part["share_low"], part["share_high"] - part["share"]]) * 100
        axes.errorbar(
            part["share"] * 100,
            y[mask],
            xerr=np.maximum(gaps, 0),
            fmt="o",
            color=colour,
            capsize=3,
            markersize=6,
        )
    axes.set_yticks(y, table.index)
    axes.set_xlim(left=min(0, axes.get_xlim()[0]))
    axes.set_xlabel("% of rejected people without any legal plan")
    return _svg(figure, f"Share without a plan by {grouping.name}")


def efforts(grouping: Grouping) -> str:
    """Draw the distribution of effort in each group: median, middle half, 5th to 95th percentile."""
    names = list(grouping.efforts)[::-1]
    figure, axes = _figure(len(names))
    for y, name in enumerate(names):
        low, quarter, median, upper, high = np.quantile(
            grouping.efforts[name] * 100, [0.05, 0.25, 0.5, 0.75, 0.95]
        )
        axes.plot([low, high], [y, y], color=_MAIN, linewidth=1.5)
        axes.barh(y, upper - quarter, left=quarter, height=0.5, color="#9CC9E6", edgecolor=_MAIN)
        axes.plot([median, median], [y - 0.25, y + 0.25], color=_INK, linewidth=2.5)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlim(left=0)
    axes.set_xlabel("effort in %: median, middle half, 5th to 95th percentile")
    return _svg(figure, f"Effort by {grouping.name}")


def features(grouping: Grouping, labels: dict[str, str]) -> str:
    """Draw which features carry the effort of each group."""
    table = grouping.features.loc[[g for g in grouping.features.index if g in grouping.efforts]]
    table = table.iloc[::-1]
    order = table.mean().sort_values(ascending=False).index
    top, rest = list(order[:_FEATURES]), list(order[_FEATURES:])
    figure, axes = _figure(len(table), extra=0.9)
    left = np.zeros(len(table))
    parts = [(labels[name], table[name]) for name in top if table[name].max() > 0.005]
    if rest and table[rest].sum(axis=1).max() > 0.005:
        parts.append(("all others", table[rest].sum(axis=1)))
    for (label, values), colour in zip(parts, _COLOURS, strict=False):
        axes.barh(range(len(table)), values * 100, left=left, height=0.6, label=label, color=colour)
        left += values.to_numpy() * 100
    axes.set_yticks(range(len(table)), table.index)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the group's effort")
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False, fontsize=9)
    return _svg(figure, f"Features that carry the effort by {grouping.name}")


def sensitivity(grouping: Grouping) -> str:
    """Draw each group's relative effort: as assumed, and its range over matrices."""
    table = grouping.sensitivity().iloc[::-1]
    figure, axes = _figure(len(table))
    y = np.arange(len(table))
    axes.axvline(1, color="#888888", linewidth=1, linestyle=":")
    axes.hlines(y, table["low"], table["high"], color="#9CC9E6", linewidth=9)
    axes.plot(table["median"], y, "|", color=_MAIN, markersize=16, markeredgewidth=2.5)
    axes.plot(table["assumed"], y, "D", color=_INK, markersize=6)
    axes.set_yticks(y, table.index)
    axes.set_xlabel("median effort over everybody's (◆ as assumed; bar: 90 % of other matrices)")
    return _svg(figure, f"Dependence on the assumed effort by {grouping.name}")


def _figure(rows: int, extra: float = 0.0) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the report needs matplotlib; install it with: pip install 'reap[plots]'") from None
    figure = Figure(figsize=(7.2, 1.1 + extra + 0.42 * max(rows, 1)), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)
    axes.grid(axis="x", color="#E4E4E4", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.set_ylim(-0.6, max(rows, 1) - 0.4)
    return figure, axes


def _svg(figure: Any, title: str) -> str:
    import matplotlib as mpl

    text = io.StringIO()
    # Text stays text (small, readable by a screen reader); a fixed salt and no date make the file repeatable.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": title, "font.family": "sans-serif"}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Title": title})
    drawn = text.getvalue()
    return drawn[drawn.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{_quoted(title)}" ', 1)


def _quoted(text: str) -> str:
    from html import escape

    return escape(text, quote=True)
