"""The pictures of the concepts, drawn by code: ``python -m scripts.site.pictures`` writes ``docs/pictures/*.svg``.

Lines and words are grey of a middle tone on no ground, so they can be read on light and dark pages.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from reap import effort
from reap.belief import Posterior

OUT = Path(__file__).resolve().parents[2] / "docs" / "pictures"
INK, BLUE, ORANGE, GREEN = "#7b8794", "#2b8fd0", "#e8743b", "#2fa37c"
STYLE = {
    "svg.hashsalt": "reap",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(picture: Callable[[Any], Any]) -> str:
    """One picture as SVG, the same to the byte each time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        figure = picture(plt)
        out = io.StringIO()
        figure.savefig(
            out, format="svg", transparent=True, bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
        plt.close(figure)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def loop(plt: Any) -> Any:
    """The loop of a session."""
    figure, axes = plt.subplots(figsize=(7.5, 2.7))
    axes.set(xlim=(0, 10), ylim=(0, 3.6))
    axes.axis("off")
    boxes = {
        "person": (0.9, 2.6),
        "belief": (3.6, 2.6),
        "engine": (6.4, 2.6),
        "question": (5.0, 0.6),
        "plan": (9.1, 2.6),
    }
    colours = {"person": ORANGE, "plan": GREEN}
    for name, at in boxes.items():
        axes.text(
            *at,
            name,
            ha="center",
            va="center",
            fontsize=13,
            bbox={"boxstyle": "round,pad=.45", "fc": "none", "ec": colours.get(name, BLUE), "lw": 1.6},
        )
    arrows = [
        ("person", "belief", "an answer", (0, 9)),
        ("belief", "engine", "matrices A that\nmay be true", (0, 16)),
        ("engine", "question", "plans it could\nrecommend", (46, -4)),
        ("question", "person", "A or B?", (-14, -14)),
        ("engine", "plan", "the plan for\nthe expected A", (0, 16)),
    ]
    for start, end, words, off in arrows:
        axes.annotate(
            "",
            boxes[end],
            boxes[start],
            arrowprops={"arrowstyle": "-|>", "color": INK, "shrinkA": 30, "shrinkB": 30, "lw": 1.2},
        )
        middle = np.mean([boxes[start], boxes[end]], axis=0)
        axes.annotate(
            words,
            middle,
            off,
            textcoords="offset points",
            ha="center",
            va="bottom" if off[1] > 0 else "center",
            fontsize=9.5,
        )
    return figure


def effort_of_two(plt: Any) -> Any:
    """Two people, one boundary: where each ellipse of equal effort first touches it."""
    figure, axes = plt.subplots(figsize=(6, 4))
    boundary = np.array([1.0, 0.8])  # accepted where -boundary·Δ >= .6: a smaller and a shorter loan help
    turn = np.linspace(0, 2 * np.pi, 400)
    circle = np.stack([np.cos(turn), np.sin(turn)])
    people = {
        "everybody alike": (np.eye(2), BLUE),
        "a smaller loan is easy,\na shorter one is not": (np.diag([0.25, 1.0]), ORANGE),
    }
    for name, (A, colour) in people.items():
        delta = -0.6 * np.linalg.solve(A, boundary) / (boundary @ np.linalg.solve(A, boundary))
        least = float(effort.of_change(A, delta[None])[0])
        ellipse = np.linalg.solve(np.linalg.cholesky(A).T, circle) * np.sqrt(least)
        axes.plot(*ellipse, color=colour, lw=1.6)
        axes.annotate("", delta, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 2})
        axes.annotate(
            name, delta, (-8, -4), textcoords="offset points", ha="right", va="top", color=colour, fontsize=10
        )
    line = np.linspace(-1.45, 0.35, 2)
    axes.plot(line, (-0.6 - boundary[0] * line) / boundary[1], "--", color=GREEN, lw=1.6)
    axes.fill_between(line, (-0.6 - boundary[0] * line) / boundary[1], -0.9, color=GREEN, alpha=0.12, lw=0)
    axes.text(-1.38, -0.82, "the model says yes", color=GREEN)
    axes.plot(0, 0, "o", color=INK)
    axes.annotate("the person now", (0, 0), (0, 7), textcoords="offset points", ha="center")
    axes.set(
        xlim=(-1.45, 0.75),
        ylim=(-0.9, 0.6),
        xlabel="change of the loan amount",
        ylabel="change of the duration",
    )
    axes.set_aspect("equal")
    return figure


def belief(plt: Any) -> Any:
    """Matrices that remain after 0, 1 and 3 answers of one person."""
    figure, panels = plt.subplots(1, 3, figsize=(9, 3), sharey=True, layout="constrained")
    truth = np.array([[0.35, -0.15], [-0.15, 1.0]])
    pairs = [([-0.5, 0.0], [0.0, -0.3]), ([-0.45, -0.1], [0.0, -0.35]), ([-0.6, 0.0], [-0.1, -0.3])]
    known, said = Posterior(2, random_state=0), 0
    for axes, answers in zip(panels, (0, 1, 3), strict=True):
        for pair in pairs[said:answers]:
            easier, harder = sorted(
                (np.array([option]) for option in pair), key=lambda V: effort.of_moves(truth, V)
            )
            known.update(easier, [harder])
        said = answers
        A = known.sample(2000).matrices
        A = A[(np.einsum("nii->ni", A) > 0).all(axis=1)]  # to a few people one of the changes is welcome
        ratio = np.log2(A[:, 0, 0] / A[:, 1, 1])
        tied = A[:, 0, 1] / np.sqrt(A[:, 0, 0] * A[:, 1, 1])
        axes.scatter(ratio, tied, s=4, color=BLUE, alpha=0.18, lw=0, rasterized=True)
        axes.plot(
            np.log2(truth[0, 0] / truth[1, 1]),
            truth[0, 1] / np.sqrt(truth[0, 0] * truth[1, 1]),
            "*",
            color=ORANGE,
            ms=13,
        )
        axes.set(
            xlim=(-6, 6),
            ylim=(-1.05, 1.05),
            title=("before", "1 answer", "3 answers")[answers if answers < 2 else 2],
        )
        axes.title.set_color(INK)
    panels[1].set_xlabel("how much harder the loan is than the duration (doublings)")
    panels[0].set_ylabel("help  ←   →  hinder")
    panels[0].text(-1.2, -0.42, "the person", color=ORANGE, ha="right", fontsize=10)
    return figure


def question(plt: Any) -> Any:
    """What an answer decides: among the people who remain, whose effort is less with A, whose with B."""
    figure, axes = plt.subplots(figsize=(6, 3.6))
    plans = np.array([[-0.55, 0.0], [-0.1, -0.35]])
    one, two = Posterior(2, random_state=0).sample(600).ask(plans).T
    for chosen, colour, words in ((one < two, BLUE, "would say A"), (one >= two, ORANGE, "would say B")):
        axes.scatter(
            one[chosen],
            two[chosen],
            s=9,
            color=colour,
            alpha=0.5,
            lw=0,
            label=f"{words}: {chosen.mean():.0%}",
            rasterized=True,
        )
    top = float(np.quantile(np.concatenate([one, two]), 0.97))
    axes.plot([0, top], [0, top], "--", color=INK, lw=1)
    axes.set(
        xlim=(0, top),
        ylim=(0, top),
        xlabel="effort of plan A: a smaller loan",
        ylabel="effort of plan B:\na shorter loan",
    )
    axes.legend(frameon=False, labelcolor=INK, loc="upper left", markerscale=2.5)
    return figure


def time(plt: Any) -> Any:
    """A plan in months."""
    figure, axes = plt.subplots(figsize=(7.5, 2.4))
    bars = [
        ("Build up savings", 0, 3, BLUE),
        ("Stay in the job", 0, 18, BLUE),
        ("Age (a clock)", 0, 18, INK),
        ("Apply for a smaller loan", 18, 18.4, GREEN),
    ]
    for row, (words, start, end, colour) in enumerate(bars):
        axes.barh(
            row, end - start, left=start, height=0.5, color=colour, alpha=0.35 if colour == INK else 0.9
        )
        axes.text(-0.4, row, words, ha="right", va="center")
    axes.axvline(24, color=ORANGE, ls="--", lw=1.4)
    axes.text(23.7, 3.45, "horizon", color=ORANGE, ha="right", va="center", fontsize=10)
    axes.set(
        xlim=(0, 26), ylim=(3.8, -0.6), xlabel="months from now", yticks=[], xticks=[0, 3, 6, 12, 18, 24]
    )
    axes.spines["left"].set_visible(False)
    return figure


def effects(plt: Any) -> Any:
    """What a person does, and what follows."""
    figure, panels = plt.subplots(1, 2, figsize=(8.4, 3.3), sharey=True)
    here, slope = np.array([2.0, 1.0]), 0.8
    titles = "features taken as independent", "savings follow the income"
    for axes, title, does in zip(panels, titles, (np.array([3.2, 2.8]), np.array([3.35, 1.55])), strict=True):
        x = np.array([1.2, 5.0])
        axes.plot(x, 6.0 - x, color=INK, lw=1.2)
        axes.fill_between(x, 6.0 - x, 5.0, color=GREEN, alpha=0.12, lw=0)
        axes.text(4.15, 3.9, "yes", color=GREEN, fontsize=13)
        axes.annotate("", does, here, arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 2.2})
        axes.plot(*here, "o", color=INK, ms=8)
        axes.text(here[0] - 0.12, here[1] - 0.12, "now", ha="right", va="top")
        middle = (here + does) / 2
        axes.text(middle[0] + 0.12, middle[1] - 0.12, "does", color=ORANGE, va="top")
        if axes is panels[1]:
            ends = does + np.array([0.0, slope * (does - here)[0]])
            axes.annotate(
                "", ends, does, arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 2.2, "ls": "--"}
            )
            axes.text(does[0] + 0.12, (does + ends)[1] / 2, "follows", color=BLUE, va="center")
            axes.plot(*ends, "o", color=GREEN, ms=7)
        else:
            axes.plot(*does, "o", color=GREEN, ms=7)
        axes.set(xlim=(1.2, 5.0), ylim=(0.4, 4.4), xticks=[], yticks=[], xlabel="income")
        axes.set_title(title, color=INK, fontsize=11)
    panels[0].set_ylabel("savings")
    return figure


PICTURES: dict[str, Callable[[Any], Any]] = {
    "loop": loop, "effort": effort_of_two, "belief": belief, "question": question, "time": time, "effects": effects,
}  # fmt: skip


def main(out: Path = OUT) -> None:
    """Write all of them."""
    out.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        (out / f"{name}.svg").write_text(draw(picture), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else OUT)
