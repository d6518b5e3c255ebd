"""The report: Markdown with pictures beside it, and one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reap import __version__
from reap._typing import Frame
from reap.research.experiments import figures, pictures
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope

_INTRO = (
    "Every table and figure of “Cost-adaptive recourse recommendation by adaptive preference elicitation”, run again, with the "
    "paper's figures beside ours, and what lies beyond the paper. Figures are mean ± standard deviation over runs unless said "
    "otherwise. Where the text and the authors' scripts disagree we follow the text: standard normal matrices scaled to largest "
    "eigenvalue 1, ε = 0.01, efforts averaged over the matrices, squared efforts of edges, k options scored by an average. "
    "The paper's graph tables give the effort of paths, a sum over steps. All other effort is that of the whole change from "
    "where a person stands to where the plan ends: a sum of squares over steps falls when one change is cut into pieces, and "
    "nobody finds a change easier for that. The two are never compared."
)
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
table{border-collapse:collapse;margin:1rem 0;font-size:.88rem;font-variant-numeric:tabular-nums;display:block;overflow-x:auto}
th,td{padding:.25rem .6rem;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}
th{background:#f4f4f4}th:first-child,td:first-child,.text{text-align:left}
img{max-width:100%}h2{margin-top:2.5rem}.verdict{font-weight:600;padding:.1rem .5rem;border-radius:.3rem;background:#eef}
.reproduced,.better{background:#dff3e4}.worse,.not{background:#fbe3e0}.in{background:#fdf3d6}
"""


@dataclass(frozen=True)
class Section:
    """A table's part of the report: its name and its results with their pictures as PNG."""

    name: str
    results: Sequence[tuple[Result, bytes | None]]


def write(results: Mapping[str, Sequence[Result]], scope: Scope, command: str = "reap reproduce") -> Path:
    """Write ``report.md``, ``report.html``, ``figures/``, ``pictures/`` and ``summary/`` into the scope's folder.

    Parameters
    ----------
    results : mapping
        What ``reproduce`` returned.
    scope : Scope
    command : str
        The command that made it, for the reader to repeat.

    Returns
    -------
    Path of the HTML page.
    """
    out = scope.out
    sections = [
        Section(name, [(r, figures.draw(r.plot) if r.plot else None) for r in made])
        for name, made in results.items()
        if made
    ]
    for folder in ("figures", "pictures", "summary"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    shown = pictures.all_pictures()
    for name, (_, data) in shown.items():
        (out / "pictures" / f"{name}.png").write_bytes(data)
    for section in sections:
        for i, (result, drawn) in enumerate(section.results):
            result.frame.to_csv(out / "summary" / f"{_stem(section.name, i)}.csv", index=False)
            if drawn is not None:
                (out / "figures" / f"{_stem(section.name, i)}.png").write_bytes(drawn)
    facts = _facts(scope, command)
    (out / "report.md").write_text(markdown(sections, facts, shown), encoding="utf-8")
    page = out / "report.html"
    page.write_text(as_html(sections, facts, shown), encoding="utf-8")
    said = [
        {"table": s.name, "title": r.title, "verdict": r.verdict, "remarks": r.remarks}
        for s in sections
        for r, _ in s.results
    ]
    (out / "summary" / "verdicts.json").write_text(
        json.dumps(said, ensure_ascii=False, indent=1), encoding="utf-8"
    )
    return page


def _stem(name: str, i: int) -> str:
    return name if i == 0 else f"{name}-{i + 1}"


def _facts(scope: Scope, command: str) -> list[str]:
    facts = [
        f"Command: `{command}`",
        f"Release {__version__}, seed {scope.seed}; split 80/20, stratified, seed 42.",
        f"Subjects: {scope.subjects or 'all rejected people of the test part, up to the number of the table'}; "
        f"matrices: {scope.matrices or 'those of the table, 10 for the paper’s'}.",
    ]
    if scope.quick:
        facts.append(
            "Made with --quick: tiny tables and networks, to see that it runs, not to read figures from."
        )
    return facts


# Markdown ---------------------------------------------------------------------------------------------------------


def markdown(
    sections: Sequence[Section], facts: Sequence[str], shown: Mapping[str, tuple[str, bytes]]
) -> str:
    """Return the report as Markdown; pictures are files beside it."""
    lines = [
        "# The paper, reproduced",
        "",
        _INTRO,
        "",
        *(f"- {fact}" for fact in facts),
        "",
        "## Overview",
        "",
    ]
    lines += ["| table | verdict |", "|---|---|"]
    lines += [f"| [{r.title}](#{_anchor(r.title)}) | {r.verdict} |" for s in sections for r, _ in s.results]
    for section in sections:
        for i, (result, data) in enumerate(section.results):
            lines += [
                "",
                f"## {result.title}",
                "",
                f"**{result.verdict.capitalize()}.** (`reap reproduce {section.name}`)",
                "",
            ]
            lines += [as_markdown(result.frame), ""]
            if data is not None:
                lines += [f"![{result.title}](figures/{_stem(section.name, i)}.png)", ""]
            lines += [f"- {remark}" for remark in result.remarks]
    lines += ["", "## Pictures", ""]
    for name, (caption, _) in shown.items():
        lines += [f"![{caption}](pictures/{name}.png)", "", f"*{caption}*", ""]
    return "\n".join(lines) + "\n"


def as_markdown(frame: Frame) -> str:
    """Return a frame as a Markdown table.

    Examples
    --------
    >>> import pandas as pd
    >>> print(as_markdown(pd.DataFrame({"data": ["german"], "cost": ["0.5"]})))
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


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


# HTML -------------------------------------------------------------------------------------------------------------


def as_html(sections: Sequence[Section], facts: Sequence[str], shown: Mapping[str, tuple[str, bytes]]) -> str:
    """Return the report as one page, with its pictures inside."""
    body = [
        "<h1>The paper, reproduced</h1>",
        f"<p>{html.escape(_INTRO)}</p>",
        _items(facts),
        "<h2>Overview</h2>",
        "<table>",
    ]
    body.append("<tr><th>table</th><th class=text>verdict</th></tr>")
    for section in sections:
        for i, (result, _) in enumerate(section.results):
            link = f"<a href='#{_stem(section.name, i)}'>{html.escape(result.title)}</a>"
            body.append(f"<tr><td>{link}</td><td class=text>{_verdict(result)}</td></tr>")
    body.append("</table>")
    for section in sections:
        for i, (result, data) in enumerate(section.results):
            body.append(f"<h2 id='{_stem(section.name, i)}'>{html.escape(result.title)}</h2>")
            body.append(f"<p>{_verdict(result)} <code>reap reproduce {section.name}</code></p>")
            body.append(_html_table(result.frame))
            if data is not None:
                body.append(_image(data, result.title))
            body.append(_items(result.remarks))
    body.append("<h2>Pictures</h2>")
    for caption, data in shown.values():
        body.append(
            f"<figure>{_image(data, caption)}<figcaption>{html.escape(caption)}</figcaption></figure>"
        )
    head = "<meta charset=utf-8><meta name=viewport content='width=device-width'><title>ReAP: results</title>"
    head += f"<style>{_STYLE}</style>"
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(body)}</body></html>\n"


def _items(said: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_code(html.escape(s))}</li>' for s in said)}</ul>" if said else ""


def _code(text: str) -> str:
    """Return escaped text with what stands between backticks as code."""
    parts = text.split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def _verdict(result: Result) -> str:
    return f"<span class='verdict {result.verdict.split()[0]}'>{html.escape(result.verdict)}</span>"


def _image(data: bytes, text: str) -> str:
    return f"<img alt='{html.escape(text, quote=True)}' src='data:image/png;base64,{base64.b64encode(data).decode()}'>"


def _html_table(frame: Frame) -> str:
    kind = ["class=text" if c == "method" else "" for c in frame.columns]
    head = "".join(f"<th {k}>{html.escape(str(c))}</th>" for k, c in zip(kind, frame.columns, strict=True))
    rows = "".join(
        "<tr>"
        + "".join(f"<td {k}>{html.escape(str(v))}</td>" for k, v in zip(kind, row, strict=True))
        + "</tr>"
        for row in frame.itertuples(index=False)
    )
    return f"<table><tr>{head}</tr>{rows}</table>"
