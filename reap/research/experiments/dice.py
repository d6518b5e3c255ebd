"""The runs of DiCE for the table of one-step plans; it is slow, so it has cells of its own."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

from reap._typing import Frame
from reap.research.experiments import gradient, people
from reap.research.experiments.results import Result
from reap.research.experiments.scope import Scope, make_bench

TITLE = "DiCE: its part of the table “gradient”"
DATASETS = gradient.DATASETS
NEEDS = ("gradient", "dice")
#: Subjects a data set at most: DiCE takes seconds for each.
MOST = 20


def cells(scope: Scope) -> list[dict[str, Any]]:
    """Return the parameters of every cell; none where dice-ml is not installed."""
    if find_spec("dice_ml") is None or find_spec("torch") is None:
        return []
    steps = 300 if scope.quick else 5000
    every = scope.cells(DATASETS, MOST)
    return [{**cell, "steps": steps} for cell in every if cell["subjects"][1] <= MOST]


def run(out: Path, *, steps: int, subjects: tuple[int, int], matrices: int, **bench: Any) -> Frame:
    """Return one row a subject and matrix."""
    from reap.research.baselines import DiCE

    made, seed = make_bench(out, **bench), bench["seed"]
    engine = DiCE(made.model, made.space, constraints=False, max_iterations=steps, random_state=seed).fit(
        made.train
    )
    truth = people.matrices("gaussian", made.dimension, matrices, seed)
    return pd.DataFrame(
        [
            gradient.row(made, i, k, "DiCE", plan, truth[k])
            for i in range(*subjects)
            for k, plan in enumerate(engine.plans(made.subjects.iloc[[i]], truth))
        ]
    )


def summary(runs: Mapping[str, Frame]) -> list[Result]:
    """Return nothing: the figures are in the table of one-step plans."""
    return []
