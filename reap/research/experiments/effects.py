"""Beyond the paper: plans with and without effects between features, on simulated structural models.

A world is a random linear structural model, as in the paper's appendix: numbers that move each other along the arrows of a graph,
and a category that moves some of them; a model decides on rows of it. A plan that takes features as independent tells a person to
do all of its change, and in the world more follows than it says. Every plan is carried out in the world it is for: what the plan
says is done, and everything moves as the true equations have it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline

from reap import effort
from reap._typing import Array, Bools, Frame
from reap.models import wrap
from reap.recourse import Engine, Recourse
from reap.research.experiments import people
from reap.research.experiments.report import ReportTable, number, ordered, percent, table
from reap.research.experiments.runner import Scope
from reap.space import ActionSpace, effects

TITLE = "Effects between features: plans carried out in simulated structural models"
NEEDS = ("effects",)
LEVELS = ("none", "some", "much")
#: Worlds in all and in one cell, rejected people of each, numbers of a world, rows it is learnt from.
WORLDS, CELL, PEOPLE, NUMBERS, ROWS = 40, 4, 4, 5, 1_000
#: What a plan knows of effects, and the margin beyond the threshold that it keeps.
METHODS = {
    "no effects": 0.0,
    "the true effects": 0.0,
    "effects fitted to the rows": 0.0,
    "fitted, with a margin of 5 points of 100": 0.05,
    "fitted with every arrow turned round": 0.0,
}


@dataclass(frozen=True)
class Structure:
    """A linear structural model: what moves what, by how much.

    Parameters
    ----------
    slopes : (f, f)
        Of numbers on numbers, of those before them.
    raised : (f, levels)
        Of the levels of the category on numbers.
    """

    slopes: Array
    raised: Array

    @classmethod
    def random(cls, rng: np.random.Generator) -> Structure:
        """Return a random one: half of the arrows that point forward, and two numbers that the category moves."""
        there = np.tril(rng.random((NUMBERS, NUMBERS)) < 0.5, k=-1)
        there[np.arange(1, NUMBERS), np.arange(NUMBERS - 1)] |= ~there[1:].any(axis=1)
        sizes = rng.uniform(0.3, 0.9, there.shape) * rng.choice([-1, 1], there.shape, p=[0.25, 0.75])
        raised = np.zeros((NUMBERS, len(LEVELS)))
        raised[rng.choice(NUMBERS, 2, replace=False), 1:] = rng.uniform(0.4, 1.2, (2, 1)) * [1.0, 2.0]
        return cls(sizes * there, raised)

    @property
    def names(self) -> list[str]:
        """The numbers."""
        return [f"x{i}" for i in range(NUMBERS)]

    @property
    def arrows(self) -> list[tuple[str, str]]:
        """The graph."""
        found = [(self.names[j], self.names[i]) for i, j in np.argwhere(self.slopes).tolist()]
        return found + [("class", self.names[i]) for i in np.flatnonzero(self.raised.any(axis=1)).tolist()]

    def rows(self, count: int, rng: np.random.Generator) -> Frame:
        """Return rows of the world."""
        level = rng.choice(len(LEVELS), count, p=[0.5, 0.3, 0.2])
        values = np.zeros((count, NUMBERS))
        for i in range(NUMBERS):
            values[:, i] = values @ self.slopes[i] + self.raised[i, level] + rng.normal(size=count)
        return pd.DataFrame(values.round(2), columns=self.names).assign(**{"class": np.array(LEVELS)[level]})

    def formulas(self) -> dict[str, dict[str, str]]:
        """Return the true effects, as a space takes them."""
        said = {}
        for i, name in enumerate(self.names):
            terms = [
                f"{self.slopes[i, j]:.17g} * {self.names[j]}" for j in np.flatnonzero(self.slopes[i]).tolist()
            ]
            terms += [
                f"{self.raised[i, k]:.17g} * (class_ == {LEVELS[k]!r})".replace("class_", "`class`")
                for k in np.flatnonzero(self.raised[i]).tolist()
            ]
            if terms:
                said[name] = {"effect": " + ".join(terms)}
        return said


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell."""
    worlds, many = (2, 2) if scope.quick else (WORLDS, scope.subjects or PEOPLE)
    rows = 300 if scope.quick else ROWS
    return [
        {"worlds": [begin, min(begin + CELL, worlds)], "people": many, "rows": rows, "seed": scope.seed}
        for begin in range(0, worlds, CELL)
    ]


def run(out: Path, *, worlds: list[int], people: int, rows: int, seed: int) -> Frame:
    """Return one row a world, model, person and method: what became of the plan in the world."""
    found = [line for k in range(*worlds) for line in _of_world(k, people, rows, seed)]
    return pd.DataFrame(found)


def _of_world(k: int, many: int, rows: int, seed: int) -> Iterator[dict[str, Any]]:
    rng = np.random.default_rng((seed, 42, k))
    world = Structure.random(rng)
    X, fresh = world.rows(rows, rng), world.rows(400, rng)
    tastes = rng.uniform(0.3, 1.0, NUMBERS)
    noise = rng.normal(size=rows) * 0.5
    worth = X[world.names].to_numpy() @ tastes
    y = worth / worth.std() + noise > np.quantile(worth / worth.std() + noise, 0.6)
    turned = [(b, a) for a, b in world.arrows if "class" not in (a, b)]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", UserWarning
        )  # that the rows contradict the turned graph is what it should say
        fits, wrong = effects(X, world.arrows).features, effects(X, turned).features
    told = dict(zip(METHODS, ({}, world.formulas(), fits, fits, wrong), strict=True))
    spaces = {name: ActionSpace.from_frame(X, features=said) for name, said in told.items()}
    true = spaces["the true effects"]
    models = {
        "network": MLPClassifier((10,), max_iter=400, random_state=0),
        "boosted trees": HistGradientBoostingClassifier(max_iter=60, random_state=0),
    }
    for kind, fresh_model in models.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = make_pipeline(true.encoder(), fresh_model).fit(X, y)
        judge = wrap(model, true, target=True)
        engines = {
            name: Recourse(model, spaces[name], target=True, margin=margin).fit(X)
            for name, margin in METHODS.items()
        }
        Z = true.encode(fresh)
        inside = true.allows(Z, Z)  # nobody stands where no plan may end
        for place in np.flatnonzero(~judge.accepts(Z) & inside)[:many].tolist():
            A = people.matrix("gaussian", true.dimension, place, seed)
            for name, engine in engines.items():
                yield {
                    "world": k,
                    "model": kind,
                    "person": place,
                    "method": name,
                    **_carried_out(engine, true, judge, fresh.iloc[[place]], A),
                }


def _carried_out(engine: Engine, true: ActionSpace, judge: Any, x: Frame, A: Array) -> dict[str, Any]:
    """Return what a plan asks for, whether the model accepts where it really leads, and whether less would have been enough."""
    plan = engine.plans(x, A)[0]
    if plan.status != "ok":
        return {"found": False, "effort": np.nan, "accepted": False, "much": False}
    z, does = plan.path[0], plan.done[-1]

    def accepted(rows: Array) -> Bools:
        return np.asarray(judge.accepts(true.legal.brought(rows, z)))

    fine = bool(accepted(does[None])[0])
    return {
        "found": True,
        "effort": effort.of_moves(A, does - z),
        "accepted": fine,
        "much": fine and bool(accepted(_less(true, z, does)).any()),
    }


def _less(space: ActionSpace, z: Array, does: Array) -> Array:
    """Return what somebody does (n, d) who leaves out an action, or takes a number back a tenth of the way, or a step."""
    rows, steps = [], space.encoding.steps
    for feature in space.features:
        columns = space.slices[feature.name]
        way = z[columns] - does[columns]
        if not np.allclose(way, 0):
            tenth = np.clip(steps[columns] / np.abs(way).max(), 0.1, 1.0) * way
            for back in (way, tenth) if feature.is_number else (way,):
                rows.append(does.copy())
                rows[-1][columns] += back
    return np.array(rows)


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the table: what plans ask for, and what becomes of them."""
    frame = ordered(runs["effects"], method=METHODS)
    key = ["world", "model", "person"]
    best = frame[frame["method"] == "the true effects"].set_index(key)

    def against(part: Frame) -> str:
        both = part[part["accepted"]].set_index(key)["effort"].to_frame("own").join(best["effort"]).dropna()
        if not len(both):
            return "–"
        return (
            f"{both['own'].sum() / both['effort'].sum():.2f} ({(both['own'] / both['effort']).median():.2f})"
        )

    shown = table(
        frame,
        ["method", "model"],
        {
            "people": len,
            "plans": lambda part: int(part["found"].sum()),
            "refused in the world": lambda part: percent(1 - part.loc[part["found"], "accepted"].mean()),
            "more than needed": lambda part: percent(part.loc[part["found"], "much"].mean()),
            "effort, of those accepted": against,
            "median effort": lambda part: number(part["effort"].median(), ".3f"),
        },
    )
    said = [
        f"{frame['world'].nunique()} random structural models of {NUMBERS} numbers and a category that moves two of them. The "
        "people, and what effort means to them, are not those that the models learnt from. Effort is of what people do.",
        "Refused in the world: the person does what the plan says, everything moves as it really does, and the model says no. "
        "More than needed: it says yes, and would have without one of the actions, or with a tenth less of one number.",
        "Effort, of those accepted: against the plan that knows the true effects, sum against sum (the median ratio).",
        "A plan ends where acceptance begins, so effects that are fitted, not known, leave about half of the plans just short of "
        "it. A margin helps where scores are smooth, little where they jump, and it is more than needed by design. Effects of a "
        "graph whose arrows point the wrong way are worse than none.",
    ]
    return [ReportTable(TITLE, shown, remarks=said)]
