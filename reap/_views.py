"""Plans and questions as HTML for notebooks and pictures for reports."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from reap import words
from reap._errors import InputError
from reap.language import _

if TYPE_CHECKING:
    from reap.elicitation import Question
    from reap.plan import Plan

# Colours are the notebook's own, so that light and dark themes both look right.
_TABLE = "border-collapse:collapse;margin:.4em 0"
_CELL = "padding:.3em .8em;text-align:left;border-bottom:1px solid rgba(128,128,128,.3)"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, named: bool = False) -> str:
    """Return a table of HTML cells; ``named``: the first of each row is its header."""
    lines = []
    for row in rows:
        cells = [f'<td style="{_CELL}">{cell}</td>' for cell in row]
        if named:
            cells[0] = f'<th style="{_CELL}" scope="row">{row[0]}</th>'
        lines.append(f"<tr>{''.join(cells)}</tr>")
    titles = "".join(f'<th style="{_CELL}">{title}</th>' for title in head)
    body = "".join(lines)
    return f'<table style="{_TABLE}"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'


def plan_html(plan: Plan) -> str:
    """Return a plan as a table: one row for each action, with the score once it is done; the stages of a path below, folded."""
    if plan.status != "ok":
        return f"<p><strong>{escape(str(plan))}</strong></p>"
    done = {c.feature: step for step in plan.steps for c in step.changes} if words.stepwise(plan) else {}
    rows = [
        [escape(c.text), escape(c.before_text), escape(c.after_text)]
        + ([words.date(plan, done[c.feature]) or _("on the day")] if done and plan.space.timed else [])
        + ([plan.scale.number(done[c.feature].score)] if done else [])
        for c in plan.changes
    ]
    dated = [_("When")] if done and plan.space.timed else []
    head = [_("What to change"), _("Now"), _("Then"), *dated, *([_("Score once it is done")] if done else [])]
    folded = ""
    if not done:
        stages = "".join(
            f"<li>{escape(words.step(s))} ({_('score {score}').format(score=plan.scale.number(s.score))})</li>"
            for s in plan.steps
        )
        folded = f"<details><summary>{_('In these stages:')}</summary><ol>{stages}</ol></details>"
    said = "".join(f"<p>{escape(sentence)}</p>" for sentence in words.remarks(plan))
    return f"<p><strong>{escape(words.headline(plan))}</strong></p>{_table(head, rows)}{folded}{said}"


def question_html(question: Question) -> str:
    """Return a question as a table: a row a feature that differs, a column an option."""
    title = f"<p><strong>{escape(question.heading)}</strong></p>"
    if question.same_target:
        items = "".join(
            f"<li><strong>{name}</strong>: {escape('; '.join(str(s) for s in option.steps))}</li>"
            for name, option in zip(question.names, question.options, strict=True)
        )
        return f"{title}<p>{_('All lead to the same result, by different stages:')}</p><ul>{items}</ul>"
    head = [f"{name}: {escape(what)}" for name, what in zip(question.names, question.titles, strict=True)]
    rows = [[*map(escape, (row.label, row.now, *row.values))] for row in question.differences]
    for name, brought in question.brought.items():
        label = question.options[0].space.feature(name).label
        rows.append([escape(label), "", *(escape("" if c is None else str(c)) for c in brought)])
    both = f"<p>{escape(question.also)}</p>" if question.also else ""
    table = _table(["", _("Now"), *head], rows, named=True)
    said = escape(f"{question.promise} {question.because}".strip())
    return f"{title}{both}{table}<p><small>{said}</small></p>"


def plan_figure(plan: Plan, axes: Any = None) -> Any:
    """Draw a plan: on the left its actions, from now to then, on the right the score along the way."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise InputError(
            "plots need matplotlib; install it with pip install 'reap-recourse[plots]'"
        ) from None
    changes = plan.changes
    if axes is None:
        height = max(2.6, 0.55 * len(changes) + 1.4)
        _, axes = plt.subplots(1, 2, figsize=(9.5, height), width_ratios=(3, 1.6), layout="constrained")
    left, right = axes
    rows = range(len(changes) - 1, -1, -1)  # the first action on top
    for row, change in zip(rows, changes, strict=True):
        left.annotate("", (0.72, row), (0.28, row), arrowprops={"arrowstyle": "->", "color": "0.6"})
        _box(left, 0, row, change.before_text, "0.35", "0.85", "normal")
        _box(left, 1, row, change.after_text, "#0b5394", "#0b5394", "bold")
    left.set_yticks(list(rows), [change.label for change in changes])
    left.set_ylim(-0.6, max(len(changes) - 0.4, 0.5))
    left.set_xlim(-0.4, 1.4)
    left.set_xticks([0, 1], ["now", "then"])
    left.set_title("What to change", fontsize=10)
    stages = np.arange(len(plan.path))
    right.plot(stages, plan.scores, "o-", color="#0b5394")
    for end in (end for end in plan.scale.ends if np.isfinite(end)):
        right.axhline(end, color="#b45f06", ls="--", lw=1)
        right.text(stages[-1], end, "needed ", color="#b45f06", fontsize=8, ha="right", va="bottom")
    if plan.scale.output == "probability":
        right.set_ylim(0, 1)
    right.set_xticks(stages, ["now", *(str(i) for i in stages[1:])])
    right.set_xlabel("after step" if words.stepwise(plan) else "after stage", fontsize=9)
    right.set_title(f"Score, {plan.scale.unit}" if plan.scale.unit else "Score", fontsize=10)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    return left.figure


def _box(axes: Any, x: float, y: float, text: str, color: str, edge: str, weight: str) -> None:
    box = {"boxstyle": "round,pad=.3", "fc": "white", "ec": edge}
    axes.text(x, y, text, ha="center", va="center", fontsize=9, weight=weight, color=color, bbox=box)
