"""Beyond the paper: answers that real people gave, predicted from their answers before.

Five sets of choices (``reap.research.choices``) are replayed. Whatever was set by hand was chosen on half of the people; what is
reported here are the others. Who is taught by others is taught by people who are not in the same fold. ``--quick`` replays a few
people of the choosing half, so that it shows nothing of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._typing import Array, Frame
from reap.belief import Posterior
from reap.questions import Decision, Information, Random, SimilarCost, Strategy
from reap.research import choices, colours, peers, predicting
from reap.research.choices import Half, Respondent
from reap.research.experiments.report import Plot, ReportTable
from reap.research.experiments.runner import Scope
from reap.research.predicting import Predictor

TITLE = "Answers that real people gave: log loss of those held out"
HITS = "The same: share of answers predicted, in %"
STATED = "The same: chance stated for the likeliest answer minus how often it was given, in points"
REGRET = "Colours: share of comparisons won by the best colour less that of the one recommended, in points"
NEEDS = ("humans",)
#: Penalties of a person's own logit towards nothing, and towards the pooled one: the best of .03 to 30 on the choosing halves.
RIDGES = {
    "trains": (1.0, 1.0),
    "electricity": (0.3, 0.3),
    "swissmetro": (0.3, 1.0),
    "kidney": (1.0, 3.0),
    "colours": (3.0, 3.0),
}
#: People who teach at most, and people of a quick run.
TEACHERS, QUICK = 300, 6
FOLDS = 2
METHODS = (
    "coin",
    "pooled logit",
    "own ridge logit",
    "own logit, shrunk to pooled",
    "hierarchical-Bayes logit",
    "the paper's confidence set",
    "ours",
    "ours, taught by others",
)
#: Where it is installed; of the first people of a set only, in one order: it is fitted anew for every number of answers.
GP, FIRST = "BoTorch's PairwiseGP (first 20 people)", 20
#: What release 0.2 reached, replayed once: its posterior is no longer part of the package.
RECORDED, COMMIT = "posterior of 0.2, recorded", "536f067"
#: Methods in the pictures.
DRAWN = ("own logit, shrunk to pooled", "hierarchical-Bayes logit", "ours", "ours, taught by others")
#: Ways of asking about colours, and the numbers of answers after which the colour recommended is judged.
ASKING: dict[str, Strategy] = {
    "regret: ours": Decision(),
    "regret: most information": Information(),
    "regret: the paper's similar cost": SimilarCost(),
    "regret: at random": Random(),
}
MARKS = (0, 3, 5, 8, 12, 20, 30)
#: The method of a set whose file is not here.
ABSENT = "absent"
#: Samples of people for an interval.
_SAMPLES = 1000


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell: one a set and method; for a set that is not here one that says so."""
    if scope.datasets:
        return []  # those are data sets to plan in
    gone = choices.missing()
    methods = METHODS if peers.absent(peers.BOTORCH) else (*METHODS, GP)
    return [
        {
            "dataset": name,
            "method": method,
            "half": "choosing" if scope.quick else "reported",
            "people": QUICK if scope.quick else FIRST if method == GP else scope.subjects,
            "seed": scope.seed,
        }
        for name in choices.FILES
        for method in ([ABSENT] if name in gone else (*methods, *ASKING) if name == "colours" else methods)
    ]


def run(out: Path, *, dataset: str, method: str, half: Half, people: int | None, seed: int) -> Frame:
    """Return a row a person, order, number of answers and question held out: chance stated, hit, log loss."""
    if method == ABSENT:
        return pd.DataFrame({"dataset": [dataset], "method": [method]})
    if method in ASKING:
        return _asked(ASKING[method], half, people, seed).assign(dataset=dataset, method=method)
    parts = []
    orders = range(1 if people else choices.ORDERS[dataset])
    asked = [who for order in orders for who in choices.read(dataset, half, order=order, limit=people)]
    for fold in range(FOLDS):
        mine = [who for who in asked if _fold(who) == fold]
        if mine:
            predict = predictor(dataset, method, half, fold, seed, rounds=100 if people else 1500)
            parts.append(replay(mine, predict))
    return pd.concat(parts, ignore_index=True).assign(dataset=dataset, method=method)


def _asked(strategy: Strategy, half: Half, people: int | None, seed: int) -> Frame:
    """Return a row a person and number of answers: the regret of the colour that is recommended."""
    belief, rows = colours.SmoothUtility(choices.colour_places(), seed), []
    said = choices.colour_answers()
    for who in choices.read("colours", half, limit=people):
        number = int(who.name.rsplit("-", 1)[1])
        rng = np.random.default_rng([seed, number])
        found = colours.regrets(said[number], belief, strategy, MARKS[-1], rng)
        rows += [{"person": who.name, "answers": t, "regret": found[t]} for t in MARKS]
    return pd.DataFrame(rows)


def predictor(
    dataset: str, method: str, half: Half, fold: int, seed: int, *, rounds: int = 1500
) -> Predictor:
    """Return a method, taught by people who are not in a fold where it needs others; ``rounds`` of hierarchical Bayes."""
    d = choices.read(dataset, "choosing", limit=1)[0].changes.shape[2]
    to_zero, to_pooled = RIDGES[dataset]
    others = lru_cache(maxsize=1)(lambda: teachers(dataset, half, fold))
    made: dict[str, Any] = {
        "coin": lambda: predicting.same_for_all(np.zeros(d)),
        "pooled logit": lambda: predicting.same_for_all(predicting.pooled(others())),
        "own ridge logit": lambda: predicting.own(np.zeros(d), to_zero),
        "own logit, shrunk to pooled": lambda: predicting.own(predicting.pooled(others()), to_pooled),
        "hierarchical-Bayes logit": lambda: predicting.mixed_logit(
            predicting.hierarchical(others(), rounds=rounds, random_state=seed), random_state=seed
        ),
        GP: peers.pairwise_gp,
        "the paper's confidence set": lambda: predicting.confidence_set(d),
        "ours": lambda: predicting.posterior(Posterior(d, random_state=seed)),
        "ours, taught by others": lambda: predicting.posterior(
            Posterior(d, predicting.prior_of(others(), seed), random_state=seed)
        ),
    }
    predict: Predictor = made[method]()
    return predict


def teachers(dataset: str, half: Half, fold: int) -> list[Respondent]:
    """Return people who teach a fold: those of the other folds of its half, and all of the other half."""
    same = [who for who in choices.read(dataset, half) if _fold(who) != fold]
    other: Half = "choosing" if half == "reported" else "reported"
    return (same + (choices.read(dataset, other) if other == "choosing" else []))[:TEACHERS]


def _fold(who: Respondent) -> int:
    return sum(who.name.encode()) % FOLDS


def replay(people: Sequence[Respondent], predict: Predictor) -> Frame:
    """Return a row a person, number of answers and question held out."""
    rows = []
    for who in people:
        told, offered = who.answers[who.held_out], who.offered[who.held_out]
        for k, chance in predict(who).items():
            top = chance.max(axis=1)
            best = (chance >= top[:, None] - 1e-12) & offered
            hit = (best * told).sum(axis=1) / best.sum(axis=1)
            loss = -np.log(np.maximum((chance * told).sum(axis=1), 1e-6))
            rows.append(
                pd.DataFrame({"person": who.name, "answers": k, "stated": top, "hit": hit, "loss": loss})
            )
    return pd.concat(rows, ignore_index=True)


def figures(frame: Frame) -> Frame:
    """Return a row a set, method and number of answers: log loss, hits, stated minus true, each with an interval over people."""
    rows: list[dict[str, Any]] = []
    if not len(frame):
        return pd.DataFrame(rows)
    frame = frame.assign(over=frame["stated"] - frame["hit"])
    for (dataset, method, answers), part in frame.groupby(["dataset", "method", "answers"], sort=False):
        each = part.groupby("person")[["loss", "hit", "over"]].mean()
        row: dict[str, Any] = {
            "dataset": dataset,
            "method": method,
            "answers": answers,
            "people": len(each),
        }
        for name in each:
            row |= dict(
                zip((name, f"{name}_low", f"{name}_high"), _interval(each[name].to_numpy()), strict=True)
            )
        rows.append(row)
    return pd.DataFrame(rows)


def _interval(values: Array) -> tuple[float, float, float]:
    """Return a mean over people, and the middle 95 % of the means of people drawn with replacement."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(_SAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)


def recorded() -> Frame:
    """Return the figures of release 0.2, as ``figures`` has them."""
    with (files("reap.research") / "humans_0.2.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file, comment="#")


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return log loss, hits and calibration: a line a set and method, a column a number of answers."""
    ran = runs["humans"]
    asked, ran = (ran[ran["method"].isin(list(ASKING)) == each] for each in (True, False))
    gone = sorted(set(ran.loc[ran["method"] == ABSENT, "dataset"]))
    made = pd.concat([figures(ran[ran["method"] != ABSENT]), recorded()], ignore_index=True)
    order = {name: i for i, name in enumerate((*METHODS[:-3], GP, METHODS[-3], RECORDED, *METHODS[-2:]))}
    made = made.sort_values("method", key=lambda names: names.map(order), kind="stable")
    remarks = [
        "People of the reported halves, each with at least three answers held out; fewer people gave many answers, so compare "
        "methods down a column. In brackets the middle 95 % over people.",
        f"The posterior of 0.2 was replayed once, at commit {COMMIT}; the figures of all others are of this run.",
        *(
            [f"Not here, and left out: {', '.join(gone)}; put the files into {choices.folder()}."]
            if gone
            else []
        ),
    ]
    return [
        ReportTable(TITLE, _wide(made, "loss", 1, 3), "beyond the paper", remarks),
        ReportTable(HITS, _wide(made, "hit", 100, 0), "beyond the paper", plot=_curves(made)),
        ReportTable(STATED, _wide(made, "over", 100, 0), "beyond the paper", plot=_calibration(ran)),
        *([_regret(asked)] if len(asked) else []),
    ]


def _regret(asked: Frame) -> ReportTable:
    """Return the regret by way of asking, a column a number of answers."""
    rows = []
    for method, part in asked.groupby("method", sort=False):
        each = {
            str(t): "{:.0f} [{:.0f}, {:.0f}]".format(*(100 * x for x in _interval(at["regret"].to_numpy())))
            for t, at in part.groupby("answers")
        }
        rows.append({"asking": str(method).removeprefix("regret: "), **each})
    said = "A belief in utilities that vary smoothly over the colours; the belief in efforts does not fit colours."
    return ReportTable(REGRET, pd.DataFrame(rows), "beyond the paper", [said])


def _curves(made: Frame) -> Plot | None:
    """Return the share of answers predicted against the number of answers learnt from, a panel a set."""
    panels: dict[str, Any] = {}
    for (dataset, method), part in made[made["method"].isin(DRAWN)].groupby(
        ["dataset", "method"], sort=False
    ):
        sides = (part[f"hit{side}"].tolist() for side in ("", "_low", "_high"))
        panels.setdefault(str(dataset), {})[str(method)] = (part["answers"].astype(float).tolist(), *sides)
    return Plot(panels, "answers", "share of answers predicted") if panels else None


def _calibration(ran: Frame) -> Plot | None:
    """Return how often the likeliest answer was given against the chance stated for it, in ten parts of as many answers each."""
    panels: dict[str, Any] = {}
    for (dataset, method), part in ran[ran["method"].isin(DRAWN)].groupby(["dataset", "method"], sort=False):
        tenth = pd.qcut(part["stated"].rank(method="first"), 10, labels=False)
        points = part.groupby(tenth)[["stated", "hit"]].mean()
        lines = panels.setdefault(str(dataset), {"perfect": ([0.25, 1.0], [0.25, 1.0], None, None)})
        lines[str(method)] = (points["stated"].tolist(), points["hit"].tolist(), None, None)
    return Plot(panels, "stated chance", "observed share") if panels else None


def _wide(made: Frame, name: str, times: int, digits: int) -> Frame:
    """Return a line a set and method, a column a number of answers."""
    rows = []
    for dataset in (set_ for set_ in choices.FILES if set_ in set(made["dataset"])):
        for method, part in made[made["dataset"] == dataset].groupby("method", sort=False):
            row = {"set": dataset, "method": method}
            for at in part.itertuples():
                value, low, high = (times * float(getattr(at, name + end)) for end in ("", "_low", "_high"))
                row[str(at.answers)] = f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
            rows.append(row)
    return pd.DataFrame(rows, columns=["set", "method", *map(str, choices.SEEN)]).fillna("–")
