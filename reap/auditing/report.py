"""The report: one page without any other file, for people who decide and people who check."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from reap.auditing import plots
from reap.auditing.grouping import Grouping, effort, said
from reap.auditing.method import method, origin
from reap.language import _
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.auditing.result import Audit

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; } h2 { margin-top: 2.6rem; border-top: 1px solid #ddd; padding-top: 1.2rem; }
h3 { margin: 1.6rem 0 .3rem; font-size: 1.05rem; }
.headline { display: flex; gap: 1.5rem; flex-wrap: wrap; margin: 1.5rem 0; }
.headline div { background: #f3f7fa; border-left: 4px solid #0072B2; padding: .8rem 1.2rem; flex: 1 1 14rem; }
.headline strong { display: block; font-size: 2.1rem; line-height: 1.2; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: #555; padding-bottom: .3rem; }
th, td { text-align: right; padding: .35rem .6rem; border-bottom: 1px solid #e4e4e4; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #999; vertical-align: bottom; }
.scroll { overflow-x: auto; } svg { max-width: 100%; height: auto; } .few { color: #666; }
code { font-size: .85em; }
@media print { body { max-width: none; } h2 { break-before: page; } }
"""
_STATUSES = {
    "ok": "have a plan",
    "none_found": "no plan was found",
    "unreachable": "no accepted position of other people can be reached",
    "infeasible": "the rules leave no legal row",
    "time_limit": "none was found in the time allowed",
}


def page(audit: Audit) -> str:
    """Return the report as HTML."""
    labels = _labels(audit)
    sections = "".join(_grouping(audit, g, labels) for g in audit.groupings)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Audit of recourse</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>What recourse asks of people, and of whom</h1>{_headline(audit)}{_cliffs(audit)}"
        f"{_features(audit, labels)}{sections}{method(audit)}{origin(audit)}</main></body></html>\n"
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
        f"<div><strong>{effort(audit.median)}</strong> is the median <b>effort</b> of those who have one "
        f"({effort(audit.median_low)} to {effort(audit.median_high)}); one in ten needs more than {effort(audit.p90)}"
        "</div>",
        f"<div><strong>{effort(audit.way)}</strong> of a feature's <b>typical span</b> is how far half of them have to go at "
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
            f"“{escape(best)}” ({escape(said(g.share_comparison))})."
        )
    medians = table.loc[[name for name in table.index if name in g.efforts], "median"]
    if len(medians) > 1:
        hard, easy = medians.idxmax(), medians.idxmin()
        text += (
            f" The median effort is {effort(medians.max())} for “{escape(hard)}” and {effort(medians.min())} for "
            f"“{escape(easy)}” ({escape(said(g.effort_comparison))})."
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
    head = (
        "group",
        "people",
        "without plan",
        "share",
        "interval",
        "median effort",
        "interval",
        "of a span",
        "mean",
        "90th %",
        "changes",
    )
    rows = [
        (
            name + ("" if name in g.compared else " *"),
            f"{r.people:,}",
            "–" if r.without_plan != r.without_plan else f"{r.without_plan:,.0f}",
            _percent(r.share),
            f"{_percent(r.share_low)} – {_percent(r.share_high)}",
            effort(r.median),
            f"{effort(r.median_low)} – {effort(r.median_high)}",
            effort(r.way),
            effort(r.mean),
            effort(r.p90),
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
        f"<h3>Without any legal plan ({escape(said(g.share_comparison))})</h3>{plots.shares(g)}",
    ]
    if g.efforts:
        parts += [
            f"<h3>Effort of those with a plan ({escape(said(g.effort_comparison))})</h3>{plots.efforts(g)}",
            f"<h3>Which features carry it</h3>{plots.features(g, labels)}",
        ]
    if len(g.efforts) > 1 and len(g.relative):
        parts.append(
            f"<h3>How much it depends on the assumed effort</h3>{plots.sensitivity(g)}{_stability(g)}"
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
