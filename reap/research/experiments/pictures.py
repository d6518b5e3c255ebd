"""Curves of results, and three pictures that explain the idea: the confidence set, a plan on a graph, a plan of one step."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from reap import effort
from reap._errors import InputError
from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.datasets import load
from reap.plan import Plan
from reap.recourse import Engine, GraphRecourse, Recourse

if TYPE_CHECKING:
    from reap.research.experiments.report import Plot

#: Told apart by the colour-blind, too (Okabe and Ito), and by their marks.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_MARKS = "os^Dv<>pXh*P"

_BLUE, _RED, _GREEN, *_ = COLOURS
#: A person to whom the second number is much harder to change than the first.
_PERSON = np.array([[0.12, 0.0], [0.0, 1.0]])


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
    plt, count = pyplot(), len(plot.panels)
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
    return png(figure)


def png(figure: Any) -> bytes:
    """Return a figure as PNG and close it; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": None})
    pyplot().close(figure)
    return buffer.getvalue()


# what explains the idea -----------------------------------------------------------------------------------------


def confidence_set() -> bytes:
    """Draw the efforts (a, c) of two separate changes, three answers, and both centres.

    Options change one column each, so a cut is a line in a and c, and by symmetry both centres lie in this plane.
    """
    plt = pyplot()
    answers = [
        tuple(np.array(move) for move in pair)
        for pair in (((1.0, 0.0), (0.0, 1.0)), ((1.2, 0.0), (0.0, 1.0)), ((0.0, 0.6), (1.0, 0.0)))
    ]
    belief = ConfidenceSet(2, epsilon=0.01)
    for preferred, other in answers:
        belief.add(preferred, other)
    a, c = np.meshgrid(np.linspace(0, 1, 500), np.linspace(0, 1, 500))
    inside = np.ones_like(a, dtype=bool)
    figure, ax = plt.subplots(figsize=(5.4, 5.2), layout="constrained")
    line = np.linspace(-0.05, 1.05, 2)
    for i, (p, o) in enumerate(answers):
        x, y = p[0] ** 2 - o[0] ** 2, p[1] ** 2 - o[1] ** 2
        inside &= a * x + c * y <= belief.epsilon
        ax.plot(line, (belief.epsilon - line * x) / y, "--", color="#777777", linewidth=1)
        height, side, align = ((0.3, 6, "left"), (0.68, 6, "left"), (0.6, -6, "right"))[i]
        text = {"textcoords": "offset points", "va": "center", "fontsize": 8, "color": "#555555"}
        at = ((belief.epsilon - height * y) / x, height)
        ax.annotate(f"answer {i + 1}", at, xytext=(side, 0), ha=align, **text)
    ax.contourf(a, c, inside, levels=[0.5, 1], colors=["#cfe3f2"])
    for form, colour, name in (("published", _RED, "published centre"), ("chebyshev", _BLUE, "true centre")):
        center = belief.center(form)  # type: ignore[arg-type]
        x, y = center.matrix[0, 0], center.matrix[1, 1]
        ax.add_patch(plt.Circle((x, y), center.radius, fill=False, color=colour, linewidth=1.4))
        ax.plot(x, y, "o", color=colour, label=f"{name}, radius {center.radius:.2f}")
    ax.add_patch(plt.Rectangle((0, 0), 1, 1, fill=False, color="black", linewidth=1.2))
    ax.set(xlim=(-0.1, 1.1), ylim=(-0.1, 1.35), aspect="equal")
    ax.set_xlabel("effort of changing the first number")
    ax.set_ylabel("effort of changing the second number")
    ax.legend(loc="upper left", fontsize=8, framealpha=1)
    return png(figure)


def _world() -> tuple[Any, Any, Any, Any]:
    """Return the synthetic data, a trained network, and a rejected person some way from the boundary."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    data = load("synthetic", paper=True)
    net = MLPClassifier((20, 50, 20), max_iter=600, random_state=0)
    model = make_pipeline(data.space.encoder(), net).fit(data.X, data.y)
    Z = data.space.encode(data.X)
    rejected = model.predict_proba(data.X)[:, 1] < 0.5
    place = np.argmin(np.where(rejected, ((Z - [0.45, 0.32]) ** 2).sum(axis=1), np.inf))
    return data, model, data.X.iloc[[place]], Z


def _background(ax: Any, data: Any, model: Any) -> None:
    g = np.linspace(0, 1, 220)
    u, v = np.meshgrid(g, g)
    rows = data.space.decode(np.column_stack([u.ravel(), v.ravel()]))
    p = model.predict_proba(pd.DataFrame(rows))[:, 1].reshape(u.shape)
    ax.contourf(u, v, p > 0.5, levels=[-0.5, 0.5, 1.5], colors=["#f6e3dc", "#dcefe4"])
    ax.contour(u, v, p, levels=[0.5], colors="black", linewidths=1)
    ax.set(xlim=(0.1, 0.65), ylim=(0.15, 0.7), aspect="equal")
    ax.set(xlabel="first number (scaled)", ylabel="second number (scaled)")
    for x, y, text, colour in ((0.03, 0.75, "accepted", "#2e6b47"), (0.75, 0.06, "rejected", "#8a4b32")):
        ax.text(x, y, text, transform=ax.transAxes, fontsize=10, color=colour)


def graph_plan() -> bytes:
    """Draw the rows, the shortest path for everybody alike and the one for the person."""
    data, model, x, Z = _world()
    engine = GraphRecourse(model, data.space).fit(data.X)
    figure, ax = pyplot().subplots(figsize=(5.4, 5.2), layout="constrained")
    _background(ax, data, model)
    ax.plot(*Z.T, ".", color="#9a9a9a", markersize=2.5)
    for plan, colour, label, _ in _both(engine, x):
        ax.plot(*plan.path.T, "o-", color=colour, markersize=4, label=label)
    return _with_person(figure, ax, data.space.vector(x))


def one_step_plan() -> bytes:
    """Draw the boundary, the effort ellipses and the whole changes of the two plans."""
    data, model, x, _ = _world()
    engine = Recourse(model, data.space).fit(data.X)
    figure, ax = pyplot().subplots(figsize=(5.4, 5.2), layout="constrained")
    _background(ax, data, model)
    turn = np.linspace(0, 2 * np.pi, 300)
    for plan, colour, label, A in _both(engine, x):
        start, end = plan.path[[0, -1]]
        circle = np.sqrt(plan.effort) * np.stack([np.cos(turn), np.sin(turn)])
        ellipse = start[:, None] + np.linalg.solve(np.linalg.cholesky(A).T, circle)
        ax.plot(*ellipse, color=colour, linewidth=0.9, linestyle=":")
        ax.annotate("", end, start, arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.8})
        ax.plot(*end, "o", color=colour, markersize=5, label=label)
    return _with_person(figure, ax, data.space.vector(x))


def _both(engine: Engine, x: Any) -> Iterator[tuple[Plan, str, str, Array]]:
    """Yield the plan for everybody alike and the one for the person: with its colour, its words and its matrix."""
    matrices = np.stack([effort.identity(2), _PERSON])
    for plan, A, colour, name in zip(
        engine.plans(x, matrices), matrices, (_RED, _BLUE), ("everybody alike", "this person"), strict=True
    ):
        yield plan, colour, f"{name}: effort {effort.of_moves(_PERSON, plan.moves):.4f} to the person", A


def _with_person(figure: Any, ax: Any, start: Array) -> bytes:
    ax.plot(*start, "*", color="black", markersize=14, label="the person")
    ax.legend(loc="upper left", fontsize=8, framealpha=1)
    return png(figure)


#: Name -> caption, and what draws it as PNG.
PICTURES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "confidence-set": (
        "Every answer cuts a piece off the set of matrices a person may have. The published centre keeps away from the cuts "
        "only and ends on the wall; the true centre keeps away from every wall.",
        confidence_set,
    ),
    "graph-plan": (
        "Plans along rows of other people: the shortest path for everybody alike, and the one for a person to whom the "
        "vertical change is harder.",
        graph_plan,
    ),
    "one-step-plan": (
        "Plans of one step, where the effort ellipse first touches the accepted region: for everybody alike, and for a "
        "person to whom the vertical change is harder.",
        one_step_plan,
    ),
}
