"""Plans and questions as HTML for notebooks and pictures for reports."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._errors import InputError

if TYPE_CHECKING:
    from reap.elicitation import Question
    from reap.plan import Plan

# Colours are the notebook's own, so that light and dark themes both look right.
_TABLE = "border-collapse:collapse;margin:.4em 0"
_CELL = "padding:.3em .8em;text-align:left;border-bottom:1px solid rgba(128,128,128,.3)"


def plan_html(plan: Plan) -> str:
    """Return a plan as a table: a row a change, grouped by step, with the score after each."""
    if plan.status != "ok":
        return f"<p><strong>{escape(str(plan))}</strong></p>"
    first = escape(str(plan).splitlines()[0])
    head = "".join(
        f'<th style="{_CELL}">{t}</th>' for t in ("Step", "What changes", "Now", "Then", "Score after")
    )
    rows = []
    for step in plan.steps:
        for i, change in enumerate(step.changes):
            cells = (
                str(step.number) if i == 0 else "",
                escape(change.text),
                escape(change.before_text),
                escape(change.after_text),
                plan.shown(step.probability) if i == len(step.changes) - 1 else "",
            )
            rows.append("<tr>" + "".join(f'<td style="{_CELL}">{c}</td>' for c in cells) + "</tr>")
    notes = [f"How sure: {plan.confidence}." if plan.confidence else "", plan.note]
    tail = "".join(f"<p>{escape(n)}</p>" for n in notes if n)
    table = f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return f"<p><strong>{first}</strong></p>{table}{tail}"


def question_html(question: Question) -> str:
    """Return a question as a table: a row a feature that differs, a column an option."""
    title = f"<p><strong>Question {question.number}. Which of these would be easiest for you?</strong></p>"
    if question.same_target:
        items = "".join(
            f"<li><strong>{name}</strong>: {escape('; '.join(str(s) for s in option.steps))}</li>"
            for name, option in zip(question.names, question.options, strict=True)
        )
        return f"{title}<p>All lead to the same result, by different steps:</p><ul>{items}</ul>"
    head = "".join(f'<th style="{_CELL}">{t}</th>' for t in ("", "Now", *question.names))
    rows = []
    for row in question.differences:
        cells = [
            f"{escape(value)}<br><small>{escape(sign)}</small>"
            for value, sign in zip(row.values, row.signed, strict=True)
        ]
        line = "".join(f'<td style="{_CELL}">{c}</td>' for c in (escape(row.now), *cells))
        rows.append(f'<tr><th style="{_CELL}" scope="row">{escape(row.label)}</th>{line}</tr>')
    steps = "".join(f'<td style="{_CELL}">{len(o.path) - 1}</td>' for o in question.options)
    rows.append(f'<tr><th style="{_CELL}" scope="row">Steps</th><td style="{_CELL}"></td>{steps}</tr>')
    shared = ""
    if question.shared:
        shared = "<p>Every option also: " + escape("; ".join(str(c) for c in question.shared)) + ".</p>"
    return (
        f'{title}<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        f"{shared}<p><small>{escape(question.why)}</small></p>"
    )


def plan_figure(plan: Plan, axes: Any = None) -> Any:
    """Draw a plan: on the left the changed features by step, on the right the score along the way."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError("plots need matplotlib; install it with pip install 'reap[plots]'") from None
    changed = [f for f, moved in zip(plan.space.features, _ever_changed(plan), strict=True) if moved]
    stages = np.arange(len(plan.path))
    if axes is None:
        height = max(2.6, 0.55 * len(changed) + 1.4)
        _, axes = plt.subplots(1, 2, figsize=(9.5, height), width_ratios=(3, 1.3), layout="constrained")
    left, right = axes
    names = ["now", *(f"step {i}" for i in stages[1:])]
    for k, feature in enumerate(changed):
        row = len(changed) - 1 - k
        values = [plan.space.values(z)[feature.name] for z in plan.path]
        left.plot(stages, np.full(len(stages), row), color="0.8", lw=1, zorder=1)
        for i, value in enumerate(values):
            moved = i > 0 and value != values[i - 1]
            left.text(
                stages[i],
                row,
                feature.show(value),
                ha="center",
                va="center",
                fontsize=9,
                weight="bold" if moved else "normal",
                color="#0b5394" if moved else "0.35",
                bbox={"boxstyle": "round,pad=.3", "fc": "white", "ec": "#0b5394" if moved else "0.85"},
                zorder=2,
            )
    left.set_yticks(range(len(changed)), [f.label for f in reversed(changed)])
    left.set_ylim(-0.6, len(changed) - 0.4)
    left.set_xlim(-0.5, max(len(stages) - 0.5, 0.5))
    left.set_title("What changes, step by step", fontsize=10)
    right.plot(stages, plan.probabilities, "o-", color="#0b5394")
    right.axhline(plan.threshold, color="#b45f06", ls="--", lw=1)
    right.text(stages[-1], plan.threshold, "needed ", color="#b45f06", fontsize=8, ha="right", va="bottom")
    right.set_ylim(0, 1)
    right.set_title("Score", fontsize=10)
    for ax in (left, right):
        ax.set_xticks(stages, names)
        ax.spines[["top", "right"]].set_visible(False)
    return left.figure


def _ever_changed(plan: Plan) -> list[bool]:
    if len(plan.path) < 2:
        return [False] * len(plan.space.features)
    moved: list[bool] = np.logical_or.reduce(
        plan.space.changed(plan.path[:-1], plan.path[1:]), axis=0
    ).tolist()
    return moved
