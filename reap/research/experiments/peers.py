"""Beyond the paper: ours beside other people's packages, in one run. What is not installed is left out, and said.

Three comparisons. *Asking*: everybody chooses among the same few plans of a subject, those that our engine finds for many
matrices; what differs is which pairs are asked and what is made of the answers. *Answers*: what real people chose next. *Plans*:
the row that each package returns for the same random forest and the same person, judged as it is: once where any column may
become anything, once in the data set's own action space.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Array, Frame
from reap.elicitation import Bayes
from reap.models import wrap
from reap.questions import Random
from reap.recourse import PoolRecourse, Recourse
from reap.research import choices, peers
from reap.research.experiments import humans
from reap.research.experiments.bench import Bench, on_bench
from reap.research.experiments.measures import excess, same_oracle
from reap.research.experiments.people import matrices as drawn
from reap.research.experiments.people import person
from reap.research.experiments.report import ReportTable, between, number, ordered, table
from reap.research.experiments.runner import Scope
from reap.research.experiments.sessions import hold
from reap.research.peers import BOTORCH, CFNOW, DICE, NICE, OCEAN, Finder, Ground, Peer
from reap.research.subjects import Person
from reap.space import ActionSpace

TITLE = "Asking, beside BoTorch: excess over the best of the same plans, each data set weighing the same"
ANSWERS = "Answers of real people, beside BoTorch: log loss of those held out"
FREE = "Rows for a random forest, where anything may become anything"
RULED = "The same in the data sets' own action spaces"
NEEDS = ("peers",)

#: Where people are asked: sets on which they have more than one plan to choose from; and how many of them, of which kind.
ASKED, PEOPLE = ("synthetic", "german", "student", "gmc", "heloc"), 10
KINDS: dict[str, tuple[str, float]] = {
    "Gaussian": ("gaussian", 0.0),
    "10 % lapses": ("gaussian", 0.1),
}
#: Plans are made for so many matrices of each of these kinds, other ones than people have; fewer plans than these are no choice.
FROM, EACH_KIND, OTHERS, FEWEST = ("gaussian", "uniform", "rank-one", "diagonal"), 40, 1000, 4
OURS, WHOLE = "ours", "ours, with its own engine"
EUBO = "BoTorch: PairwiseGP + EUBO"
SESSIONS: dict[str, dict[str, Any]] = {
    "our belief, random pairs": {"strategy": Random()},
    "the paper's": {"preset": "reap"},
    "ours, any number of rows": {"preset": Bayes(rows=None)},
    OURS: {},
    WHOLE: {},
}
ASKING = (EUBO, *SESSIONS)
TIMES = (0, 5, 10)
#: Real people of each set for each simulated one, the first of the half that is reported; methods of the table of real answers.
REAL, REPLAYED = 4, ("coin", "own ridge logit", "the paper's confidence set", OURS)
GP = "BoTorch: PairwiseGP"
#: The forest and its people: what OCEAN proves in seconds.
PLANNED, REFUSED, TREES, DEPTH = ("german", "student", "bank", "compas"), 6, 30, 5
MAKERS: dict[str, tuple[Peer | None, Callable[[Ground], Finder]]] = {
    "OCEAN, constraint programming": (OCEAN, peers.ocean),
    "NICE, proximity": (NICE, lambda ground: peers.nice(ground, "proximity")),
    "NICE, sparsity": (NICE, lambda ground: peers.nice(ground, "sparsity")),
    "CFNOW, greedy": (CFNOW, lambda ground: peers.cfnow(ground, "greedy")),
    "CFNOW, random": (CFNOW, lambda ground: peers.cfnow(ground, "random")),
    "DiCE, genetic": (DICE, lambda ground: peers.dice(ground, "genetic")),
    "DiCE, random": (DICE, lambda ground: peers.dice(ground, "random")),
    OURS: (None, lambda ground: _ours(ground)),
}


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell; what cannot be asked here is in none."""
    last = scope.questions(TIMES[-1])
    asking = [name for name in ASKING if name in SESSIONS or not peers.absent(BOTORCH)]
    makers = [name for name, (peer, _) in MAKERS.items() if peer is None or not peers.absent(peer)]
    answers = [*REPLAYED, *([] if peers.absent(BOTORCH) else [GP])]
    held = {"part": "asking", "methods": asking, "at": sorted({min(t, last) for t in TIMES})}
    here = [name for name in choices.FILES if name not in choices.missing() and not scope.datasets]
    real = {
        "part": "answers",
        "half": "choosing" if scope.quick else "reported",
        "people": 4 if scope.quick else REAL * (scope.subjects or PEOPLE),
        "seed": scope.seed,
    }
    return [
        *({**cell, **held, "who": who} for who in KINDS for cell in scope.cells(ASKED, PEOPLE, 1, own=True)),
        *(
            {**cell, "part": "plans", "free": free, "methods": makers}
            for free in (True, False)
            for cell in scope.cells(PLANNED, REFUSED, 1, own=True)
        ),
        *(
            {**real, "dataset": name, "method": method}
            for name in here[: 1 if scope.quick else None]
            for method in answers
        ),
    ]


def run(out: Path, *, part: str, **params: Any) -> Frame:
    """Return the rows of one cell of one of the three comparisons."""
    frame: Frame = {"asking": _asking, "plans": _plans, "answers": _answers}[part](out, **params)
    return frame.assign(part=part)


# asking ---------------------------------------------------------------------------------------------------------


@on_bench
def _asking(
    made: Bench, subjects: range, *, who: str, methods: list[str], at: list[int], matrices: int
) -> Iterator[dict[str, Any]]:
    """Yield a row a subject, person, method and number of answers."""
    (kind, lapse), d, seed = KINDS[who], made.dimension, made.seed
    A = np.concatenate([drawn(name, d, EACH_KIND, seed + OTHERS) for name in FROM])
    for i in subjects:
        x = made.x(i)
        plans = [plan for plan in made.engine("recourse").plans(x, A) if plan.status == "ok"]
        if not plans:
            continue
        ends = made.space.decode(np.unique([plan.path[-1] for plan in plans], axis=0))
        pool = PoolRecourse(ends, made.model, made.space).fit(made.train)
        moves = pool.candidates(x).moves
        if len(moves) < FEWEST:
            continue
        for k in range(i * matrices, (i + 1) * matrices):
            judge = person(kind, d, k, seed)
            efforts = judge.efforts(moves)
            for method in methods:
                someone = person(kind, d, k, seed, lapse=lapse, subject=i)
                if method in SESSIONS:
                    engine = made.engine("recourse") if method == WHOLE else pool
                    told = hold(engine, x, someone, at=at, seed=seed, **SESSIONS[method])
                    found = [(each.answers, judge.effort(each.plan.moves), each.seconds) for each in told]
                else:
                    found = _by_botorch(moves, someone, efforts, at, np.random.default_rng([seed, k]))
                about = {"who": who, "subject": i, "person": k, "method": method, "plans": len(moves)}
                for answers, asks, seconds in found:
                    row = {"answers": answers, "effort": asks, "seconds": seconds}
                    yield {**about, **row, "oracle": float(efforts.min())}


def _by_botorch(
    moves: Array, someone: Person, efforts: Array, at: list[int], rng: np.random.Generator
) -> list[tuple[int, float, float]]:
    """Return what a Gaussian process recommends of some plans after each number of answers: the effort, and CPU seconds so far.

    Before the first answer it recommends what everybody does: the plan of the least change, which stands first.
    """
    known, found, spent = peers.Preferences(moves), [], 0.0
    for count in range(at[-1] + 1):
        begin = time.process_time()
        if count in at:
            found.append((count, float(efforts[known.best() or 0]), spent))
        pair = known.question(rng) if count < at[-1] else None
        spent += time.process_time() - begin
        if pair is None:
            continue
        answer, begin = someone.answer(moves[list(pair)]), time.process_time()
        if answer != "same":
            known.learn([pair if answer == 0 else pair[::-1]])
        spent += time.process_time() - begin
    return found


# answers of real people -----------------------------------------------------------------------------------------


def _answers(out: Path, *, dataset: str, method: str, half: Any, people: int, seed: int) -> Frame:
    """Return a row a person, number of answers and question held out."""
    asked = choices.read(dataset, half, limit=people)
    predict = (
        peers.pairwise_gp() if method == GP else humans.predictor(dataset, method, half, 0, seed, rounds=100)
    )
    begin = time.process_time()
    frame = humans.replay(asked, predict)
    each = (time.process_time() - begin) / len(asked)
    return frame.assign(dataset=dataset, method=method, seconds=each)


# plans ----------------------------------------------------------------------------------------------------------


@on_bench
def _plans(
    made: Bench, subjects: range, *, free: bool, methods: list[str], matrices: int
) -> Iterator[dict[str, Any]]:
    """Yield a row a subject and method: what it returned for a forest, and how that is judged."""
    ground, Z = _ground(made, free)
    A, blocks = _weights(ground.space), ground.blocks
    for method in methods:
        find = MAKERS[method][1](ground)
        for i in subjects:
            if i >= len(Z):
                continue
            z, begin, failed = Z[i], time.process_time(), False
            try:
                rows, proven = find(z)
            except Exception:  # theirs, of whatever kind: it is counted and said
                rows, proven, failed = np.empty((0, len(z))), False, True
            row: dict[str, Any] = {"free": free, "method": method, "subject": i, "proven": proven}
            row |= {"seconds": time.process_time() - begin, "found": len(rows) > 0, "failed": failed}
            if len(rows):
                shown = ground.space.encode(ground.space.decode(rows))
                change = rows[0] - z
                row |= {
                    "valid": bool(ground.classifier.accepts(rows)[0]),
                    "legal": bool(ground.space.allows(z, shown)[0]),
                    "stands": bool(ground.classifier.accepts(shown)[0]),
                    "changes": sum(bool(np.abs(change[block]).max() > 1e-9) for block in blocks),
                    "effort": float(effort.of_change(A, change[None])[0]),
                }
            yield row


def _ground(made: Bench, free: bool) -> tuple[Ground, Array]:
    """Return a forest on the vectors of a space, and the vectors of those people of the test part whom it refuses."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline

    space = _free(made) if free else made.space
    train, test = (space.encode(_vectors(made, rows) if free else rows) for rows in (made.train, made.test))
    labels = made.y_train.to_numpy()
    forest = RandomForestClassifier(TREES, max_depth=DEPTH, random_state=made.seed).fit(train, labels)
    model = make_pipeline(space.encoder(), forest)
    classifier = wrap(model, space)
    return Ground(model, classifier, space, train, labels, made.seed), test[~classifier.accepts(test)]


def _vectors(made: Bench, rows: Frame) -> Frame:
    """Return rows as a table of encoded columns."""
    names = [f"{j}" for j in range(made.dimension)]
    return pd.DataFrame(made.space.encode(rows), columns=names)


def _free(made: Bench) -> ActionSpace:
    """Return a space on the encoded columns without any rule: numbers are continuous, a category is one of its levels."""
    groups = {}
    for feature in made.space.features:
        block = made.space.slices[feature.name]
        if block.stop - block.start > 1:
            groups[feature.name] = [f"{j}" for j in range(block.start, block.stop)]
    return ActionSpace.from_frame(_vectors(made, made.train), groups=groups)


def _weights(space: ActionSpace) -> Array:
    """Return the matrix (d, d) by which all are judged, OCEAN's own: squares of numbers, 1 for another category."""
    weights = np.ones(space.dimension)
    for block in space.slices.values():
        if block.stop - block.start > 1:
            weights[block] = 0.5
    return np.diag(weights)


def _ours(ground: Ground) -> Finder:
    engine = Recourse(ground.model, ground.space, random_state=ground.seed).fit(
        ground.space.decode(ground.rows)
    )
    A = _weights(ground.space)

    def found(z: Array) -> tuple[Array, bool]:
        plan = engine.plans(ground.space.decode(z[None]), A)[0]
        return (plan.path[-1:] if plan.status == "ok" else np.empty((0, len(z)))), False

    return found


# tables ---------------------------------------------------------------------------------------------------------


def summary(runs: Mapping[str, Frame]) -> list[ReportTable]:
    """Return the three comparisons, with what could not be asked here."""
    frame = runs["peers"]
    parts = {name: part.dropna(axis=1, how="all") for name, part in frame.groupby("part")}
    used = {peer: peers.absent(peer) for peer in (BOTORCH, OCEAN, NICE, CFNOW, DICE)}
    here = ", ".join(peers.release(peer) for peer, why in used.items() if not why)
    said = [f"Asked: {here or 'nobody else'}; Python {platform.python_version()}."]
    said += [
        f"Not asked: {peer.package}, which {why if why.startswith('needs') else f'is {why}'}."
        for peer, why in used.items()
        if why
    ]
    tables = [_asking_table(parts["asking"])] if "asking" in parts else []
    tables += [_answers_table(parts["answers"])] if "answers" in parts else []
    tables += [_plans_table(parts["plans"], free) for free in (True, False)] if "plans" in parts else []
    tables[0].remarks.extend(said)
    return tables


def _asking_table(frame: Frame) -> ReportTable:
    frame = ordered(same_oracle(frame), who=KINDS, dataset=ASKED, method=ASKING)
    usual = frame.groupby("dataset")["oracle"].transform("mean")  # so that each data set weighs the same
    even = frame.assign(
        effort=frame["effort"] / usual,
        oracle=frame["oracle"] / usual,
        subject=frame["dataset"] + "-" + frame["subject"].astype(int).astype(str),
    )
    times = sorted(frame["answers"].unique())
    columns: dict[str, Any] = {
        f"after {t:.0f}": lambda part, t=t: between(excess(part[part["answers"] == t])) for t in times
    }
    last = times[-1]
    columns["ms a question"] = lambda part: number(
        1000 * part.loc[part["answers"] == last, "seconds"].mean() / max(last, 1), ".0f"
    )
    columns["people"] = lambda part: part.groupby(["dataset", "subject", "person"]).ngroups
    plans = frame.groupby(["dataset", "subject"])["plans"].first()
    remarks = [
        "Ratio of sums Σ effort / Σ oracle − 1 with a 95 % bootstrap interval over subjects; the oracle is the easiest of the "
        f"subject's {plans.min():.0f} to {plans.max():.0f} plans (middle {plans.median():.0f}). Questions compare two plans.",
        "Before the first answer BoTorch is given the plan of the least change. Its first pair is drawn at random; "
        "its kernel is fitted anew after every answer. It may ask about any pair; “ours” about at most three rows.",
        f"“{WHOLE}” is not held to the plans of the others; where its plan is easier than all of those, it is the oracle.",
        "Processor time counts choosing, fitting and recommending, not the making of the plans.",
    ]
    return ReportTable(TITLE, table(even, ["who", "method"], columns), remarks=remarks)


def _answers_table(frame: Frame) -> ReportTable:
    figures = humans.figures(frame)
    seconds = frame.groupby(["dataset", "method"])["seconds"].mean()
    rows = []
    for (name, method), part in ordered(figures, method=(GP, *REPLAYED)).groupby(
        ["dataset", "method"], sort=False
    ):
        row = {"set": name, "method": method}
        for each in part.itertuples():
            row[f"{each.answers:.0f}"] = f"{each.loss:.3f} [{each.loss_low:.3f}, {each.loss_high:.3f}]"
        rows.append(
            {**row, "people": part["people"].max(), "ms a person": f"{1000 * seconds[name, method]:.0f}"}
        )
    made = pd.DataFrame(rows).sort_values("set", kind="stable").fillna("–")
    last = ["people", "ms a person"]
    remarks = [
        "The questions were put by the studies, so EUBO has no part in this. In brackets the middle 95 % over people; nobody is "
        "taught by others here.",
    ]
    return ReportTable(ANSWERS, made[[*(c for c in made if c not in last), *last]], remarks=remarks)


def _plans_table(frame: Frame, free: bool) -> ReportTable:
    frame = ordered(frame[frame["free"] == free], method=MAKERS)
    frame = frame.assign(who=frame["dataset"] + "-" + frame["subject"].astype(int).astype(str))
    for name in ("valid", "legal", "stands"):
        frame[name] = frame[name].eq(True)  # where nothing was found it is missing
    frame["usable"] = frame["valid"] if free else frame["legal"] & frame["stands"]
    peer = next((name for name in MAKERS if free and name in set(frame["method"])), OURS)
    base = frame[frame["method"] == peer].set_index("who")
    usual = base.loc[base["usable"], "effort"]

    def share(name: str) -> Callable[[Frame], str]:
        return lambda part: f"{part[name].sum():.0f}"

    def both(part: Frame) -> Frame:
        made = part[part["usable"]].assign(oracle=part["who"].map(usual), subject=part["who"])
        return made.dropna(subset="oracle")

    def ratio(part: Frame) -> str:
        found = excess(both(part))
        if not np.isfinite(found["excess"]):
            return "–"
        return (
            f"{1 + found['excess']:.2f} [{1 + found['low']:.2f}, {1 + found['high']:.2f}] ({found['runs']})"
        )

    def each(part: Frame) -> str:
        ratios = both(part)["effort"] / both(part)["oracle"]
        return f"{ratios.median():.2f}, {ratios.max():.2f}" if len(ratios) else "–"

    columns: dict[str, Any] = {"people": len, "found": share("found"), "accepted": share("valid")}
    if free:
        columns["proven"] = share("proven")
    else:
        columns |= {"keep the rules": share("legal"), "both, as written": share("usable")}
    columns["changes"] = lambda part: number(part.loc[part["found"], "changes"].mean(), ".1f")
    columns[f"effort beside {peer.split(',')[0]}"] = ratio
    columns["the same person by person: middle, worst"] = each
    columns["ms, middle"] = lambda part: f"{1000 * part['seconds'].median():.0f}"
    remarks = [
        f"A forest of {TREES} trees of depth {DEPTH}; numbers of people, not shares. Effort is the sum of squared changes, 1 for "
        "another category; ratio of sums over people for whom both rows can be used (how many), 95 % bootstrap interval. "
        "Times are of the processor, without what is prepared once for a model. CFNOW stops "
        f"after {peers.POLISHING} s (120 by default), OCEAN after {peers.PATIENCE}.",
    ]
    if not free:
        remarks.append(
            "DiCE is told what may vary and in which range; OCEAN, NICE and CFNOW are asked as documented, without rules. "
            "A row is written in the units of its columns before it is judged for “both”."
        )
    stopped = frame.groupby("method", sort=False)["failed"].sum()
    if told := [f"{name} for {count:.0f}" for name, count in stopped.items() if count]:
        remarks.append(f"Stopped with an error of its own, so not found: {'; '.join(told)}.")
    return ReportTable(FREE if free else RULED, table(frame, ["method"], columns), remarks=remarks)
