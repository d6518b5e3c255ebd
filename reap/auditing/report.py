"""The report: one page without any other file, for people who decide and people who check; its pictures are SVG."""

from __future__ import annotations

import io
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError
from reap.auditing.figures import shown
from reap.language import _
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.auditing.result import Audit, Grouping

#: The page around the figures, and how they are to be read.
_PAGE = Path(__file__).with_name("page.html")
_STATUSES = {
    "ok": "have a plan",
    "none_found": "no plan was found",
    "unreachable": "no accepted position of other people can be reached",
    "infeasible": "the rules leave no legal row",
    "time_limit": "none was found in the time allowed",
}
#: Okabe and Ito's palette; grey for all the rest.
_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8C6D31", "#999999")
_INK, _MAIN = "#222222", "#0072B2"
_FEATURES = 7


def page(audit: Audit) -> str:
    """Return the report as HTML."""
    labels = _labels(audit)
    sections = "".join(_grouping(audit, g, labels) for g in audit.groupings)
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        body=f"{_headline(audit)}{_cliffs(audit)}{_features(audit, labels)}{sections}",
        given="a matrix that was given" if audit.manifest.get("matrix") is not None else "the identity",
        matrices=len(audit.groupings[0].relative),
        origin=_origin(audit.manifest),
    )


def _cliffs(audit: Audit) -> str:
    if not audit.cliffs:
        return ""
    rows = ((c.label, f"{c.plans:,}", _percent(c.share), c.example) for c in audit.cliffs)
    return (
        f"<h2>{_('Model cliffs')}</h2><p>"
        + _(
            "A change too small to notice decides here. Plans that live on it are no advice; look at the model."
        )
        + "</p>"
        + _table(_("Model cliffs"), (_("number"), _("plans"), _("share of plans"), _("widest example")), rows)
    )


def _labels(audit: Audit) -> dict[str, str]:
    toml = audit.manifest.get("toml")
    known = {f.name: f.label for f in ActionSpace.from_toml(toml).features} if toml else {}
    return {name: known.get(name, name) for name in audit.features.index}


def _headline(audit: Audit) -> str:
    parts = [
        f"<p>{audit.people:,} people whom the model rejects"
        + (f"; {audit.unread:,} rows could not be read and count nowhere" if audit.unread else "")
        + ".</p>",
        '<div class="headline">',
        f"<div><strong>{_percent(audit.share)}</strong> have <b>no legal plan</b> at all "
        f"({_percent(audit.share_low)} to {_percent(audit.share_high)}): {audit.without_plan:,} people</div>",
        f"<div><strong>{shown(audit.median)}</strong> is the median <b>effort</b> of those who have one "
        f"({shown(audit.median_low)} to {shown(audit.median_high)}); one in ten needs more than {shown(audit.p90)}"
        "</div>",
        f"<div><strong>{shown(audit.way)}</strong> of a feature's <b>typical span</b> is how far half of them have to go at "
        "most, or as much in several features together</div>",
        "</div><p>100 % effort is what it takes, on average, to become an accepted person drawn at random, "
        "counting only what people can act on.</p><ul>",
    ]
    parts += [f"<li>{_finding(g)}</li>" for g in audit.groupings]
    counts = ((_STATUSES.get(s, s), f"{n:,}", _percent(n / audit.people)) for s, n in audit.statuses.items())
    parts.append("</ul>" + _table("Rejected people by outcome", ("outcome", "people", "share"), counts))
    return "".join(parts)


def _finding(g: Grouping) -> str:
    """Return in a sentence or two what differs between groups."""
    table = g.table.loc[g.compared]
    if len(table) < 2:
        return f"<b>{escape(g.name)}</b>: fewer than two groups are large enough to be compared."
    worst, best = table["share"].idxmax(), table["share"].idxmin()
    text = f"<b>{escape(g.name)}</b>: without a plan are "
    if table["share"].max() == table["share"].min():
        text += f"{_percent(table['share'].max())} in every group."
    else:
        text += (
            f"{_percent(table.loc[worst, 'share'])} of “{escape(worst)}”, {_percent(table.loc[best, 'share'])} of "
            f"“{escape(best)}” ({escape(str(g.share_comparison))})."
        )
    medians = table.loc[[name for name in table.index if name in g.efforts], "median"]
    if len(medians) > 1:
        hard, easy = medians.idxmax(), medians.idxmin()
        text += (
            f" The median effort is {shown(medians.max())} for “{escape(hard)}” and {shown(medians.min())} for "
            f"“{escape(easy)}” ({escape(str(g.effort_comparison))})."
        )
    if (stays := g.hardest()) is not None:
        text += f" “{escape(stays[0])}” has the hardest plans under {stays[1]:.0%} of other effort matrices."
    return text


def _features(audit: Audit, labels: dict[str, str]) -> str:
    used = audit.features[(audit.features > 0) | (audit.changed > 0)].sort_values(ascending=False)
    rows = ((labels[n], _percent(v), _percent(audit.changed[n])) for n, v in used.items())
    table = _table(
        "All rejected people with a plan", ("feature", "share of all effort", "plans that change it"), rows
    )
    return f"<h2>What carries the effort</h2>{table}"


def _grouping(audit: Audit, g: Grouping, labels: dict[str, str]) -> str:
    measured = ("median effort", "interval", "of a span", "mean", "90th %", "changes")
    head = ("group", "people", "without plan", "share", "interval", *measured)
    rows = [
        (
            name + ("" if name in g.compared else " *"),
            f"{r.people:,}",
            "–" if r.without_plan != r.without_plan else f"{r.without_plan:,.0f}",
            _percent(r.share),
            f"{_percent(r.share_low)} – {_percent(r.share_high)}",
            shown(r.median),
            f"{shown(r.median_low)} – {shown(r.median_high)}",
            shown(r.way),
            shown(r.mean),
            shown(r.p90),
            _number(r.changes),
        )
        for name, r in zip(g.table.index, g.table.itertuples(), strict=True)
    ]
    few = (
        ""
        if len(g.compared) == len(g.table)
        else '<p class="few">* too few people: figures would be about those few, and are withheld.</p>'
    )
    parts = [
        f"<h2>By {escape(g.name)}</h2>",
        _table(f"Intervals hold with {audit.confidence:.0%} confidence", head, rows),
        few,
        f"<h3>Without any legal plan ({escape(str(g.share_comparison))})</h3>{_draw_shares(g)}",
    ]
    if g.efforts:
        parts += [
            f"<h3>Effort of those with a plan ({escape(str(g.effort_comparison))})</h3>{_draw_efforts(g)}",
            f"<h3>Which features carry it</h3>{_draw_features(g, labels)}",
        ]
    if len(g.efforts) > 1 and len(g.relative):
        parts.append(
            f"<h3>How much it depends on the assumed effort</h3>{_draw_sensitivity(g)}{_stability(g)}"
        )
    return "".join(parts)


def _stability(g: Grouping) -> str:
    table = g.sensitivity()
    rows = (
        (name, _number(r.assumed), f"{_number(r.low)} – {_number(r.high)}", f"{r.above:.0%}")
        for name, r in zip(table.index, table.itertuples(), strict=True)
    )
    head = (
        "group",
        "as assumed",
        "90 % of matrices",
        "matrices under which it is above everybody's",
    )
    return _table("Median effort over everybody's median effort", head, rows)


def _origin(manifest: dict[str, Any]) -> str:
    """Return versions and hashes of what was audited."""
    named = {
        "Version of reap": manifest.get("reap"),
        "Engine": manifest.get("engine", {}).get("name"),
        "Model": manifest.get("model"),
        "Action space": manifest.get("space"),
        "Input": manifest.get("data"),
        "Answers": manifest.get("preferences"),
        **{f"File: {name}": value for name, value in manifest.get("provenance", {}).items()},
    }
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td><code>{escape(str(value))}</code></td></tr>"
        for name, value in named.items()
        if value
    )
    if not rows:
        return ""
    return f"<h2>Made from</h2><div class='scroll'><table><tbody>{rows}</tbody></table></div>"


def _table(caption: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    top = "".join(f'<th scope="col">{escape(h)}</th>' for h in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _percent(share: float) -> str:
    if share != share:
        return "–"
    decimals = 2 if 0 < share < 0.01 else 1
    return f"{share * 100:.{decimals}f}\N{NO-BREAK SPACE}%"


def _number(value: float) -> str:
    return "–" if value != value else f"{value:.2f}"


# pictures ---------------------------------------------------------------------------------------------


def _draw_shares(grouping: Grouping) -> str:
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


def _draw_efforts(grouping: Grouping) -> str:
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


def _draw_features(grouping: Grouping, labels: dict[str, str]) -> str:
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


def _draw_sensitivity(grouping: Grouping) -> str:
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
        raise InputError(
            "the report needs matplotlib; install it with: pip install 'reap-recourse[plots]'"
        ) from None
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
    return drawn[drawn.index("<svg") :].replace(
        "<svg ", f'<svg role="img" aria-label="{escape(title, quote=True)}" ', 1
    )
