"""What a run covers, and the bench each data set gives: split, model, subjects."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from reap import effort
from reap._typing import Array, Frame, Series
from reap.datasets import available, load
from reap.models import Classifier, wrap
from reap.plan import Plan
from reap.recourse import GradientRecourse, GraphRecourse, Recourse
from reap.research.baselines import DAGS, FACE, PEAR
from reap.research.experiments.measures import Judge
from reap.space import ActionSpace

#: The paper's split.
_SPLIT = 42
#: Subjects handled in one cell: the unit that is stored, resumed and handed to a process.
CHUNK = 5
#: Subjects for whom our own session is held in the paper's tables, by data set: it takes longest there.
OURS = {"synthetic": 100, "german": 100, "bank": 40, "student": 100}


@dataclass(frozen=True)
class Scope:
    """How much to run, and where the results go.

    Parameters
    ----------
    out : Path
        Folder of the results; finished cells are found there again.
    datasets : tuple of str
        Data sets to run; empty: those of each table.
    subjects, matrices : int, optional
        Rejected people a data set, and effort matrices for each; None: what the table asks for.
    seed : int
    quick : bool
        Everything tiny: to see that it runs.
    jobs : int
        Processes, as in joblib.
    """

    out: Path
    datasets: tuple[str, ...] = ()
    subjects: int | None = None
    matrices: int | None = None
    seed: int = 0
    quick: bool = False
    jobs: int = 1

    def over(self, wanted: tuple[str, ...]) -> tuple[str, ...]:
        """Return the data sets to run of those a table has: the ones named, else those at hand."""
        if self.datasets:
            return tuple(name for name in self.datasets if name in wanted)
        present = tuple(entry.name for entry in available() if entry.present and entry.name in wanted)
        ordered = tuple(name for name in wanted if name in present)
        return ordered[:2] if self.quick else ordered

    def sizes(self, subjects: int = 100, matrices: int = 10) -> tuple[int, int]:
        """Return how many subjects and matrices to take, given what the table asks for."""
        most = (2, 2) if self.quick else (subjects, matrices)
        return self.subjects or most[0], self.matrices or most[1]

    def questions(self, full: int) -> int:
        """Return how many questions to ask."""
        return min(full, 3) if self.quick else full

    def bench(self, dataset: str, own: bool = False) -> dict[str, Any]:
        """Return what a cell needs to make the bench again in its process."""
        return {
            "dataset": dataset,
            "own": own,
            "seed": self.seed,
            "rows": 400 if self.quick else None,
            "epochs": 60 if self.quick else 300,
        }

    def cells(
        self,
        datasets: tuple[str, ...],
        subjects: int = 100,
        matrices: int = 10,
        *,
        own: bool = False,
        runs: int = 0,
    ) -> list[dict[str, Any]]:
        """Return the bench, the subjects (first, one past the last) and the matrices of every cell of a table.

        Where subjects × matrices would be fewer than ``runs``, there are more matrices.
        """
        made = []
        for bench in (self.bench(name, own) for name in self.over(datasets)):
            count = min(self.sizes(subjects)[0], len(make_bench(self.out, **bench).subjects))
            each = self.sizes(matrices=max(matrices, -(-runs // max(count, 1))))[1]
            made += [
                {**bench, "subjects": (begin, min(begin + CHUNK, count)), "matrices": each}
                for begin in range(0, count, CHUNK)
            ]
        return made


@dataclass(frozen=True)
class Bench:
    """A data set ready for experiments: the split, a trained network, the rejected people of the test part."""

    name: str
    own: bool
    space: ActionSpace
    train: Frame
    test: Frame
    y_train: Series
    y_test: Series
    model: Any
    classifier: Classifier
    subjects: Frame
    seed: int
    _engines: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def dimension(self) -> int:
        """Encoded columns d."""
        return self.space.dimension

    def engine(self, kind: str) -> Any:
        """Return one of ``ENGINES``, fitted on the training part."""
        if kind not in self._engines:
            self._engines[kind] = ENGINES[kind](self).fit(self.train)
        return self._engines[kind]

    def judge(self, plan: Plan) -> dict[str, Any]:
        """Return what is true of a plan; see `Judge`."""
        if "judge" not in self._engines:
            self._engines["judge"] = Judge(self.space, self.classifier)
        found: dict[str, Any] = self._engines["judge"](plan)
        return found

    def candidates(self) -> Array:
        """Return the distinct training rows the model accepts, (N, d): the paper's options."""
        if "rows" not in self._engines:
            Z = np.unique(self.space.encode(self.train), axis=0)
            self._engines["rows"] = Z[self.classifier.accepts(Z)]
        return np.asarray(self._engines["rows"])

    def moves(self, subject: int) -> Array:
        """Return the paper's options as the changes (N, d) of the i-th subject."""
        start = self.space.vector(self.subjects.iloc[[subject]])
        return effort.changes(self.candidates(), start)


#: Our default; the paper's two generators; and two baselines on the paper's graph, as the paper has them, without constraints.
ENGINES: dict[str, Callable[[Bench], Any]] = {
    "recourse": lambda made: Recourse(made.model, made.space),
    "graph": lambda made: GraphRecourse(made.model, made.space),
    "algorithm1": lambda made: GradientRecourse(
        made.model, made.space, method="algorithm1", loss="hinge", stop_early=True, constraints=False
    ),
    "face": lambda made: FACE(made.model, made.space, constraints=False),
    "pear": lambda made: PEAR(
        made.model, made.space, dag=DAGS[made.name], constraints=False, random_state=made.seed
    ),
}


@lru_cache(maxsize=3)
def make_bench(out: Path, dataset: str, own: bool, seed: int, rows: int | None, epochs: int) -> Bench:
    """Return the bench of a data set; the network is trained once and kept under ``out/models``."""
    from sklearn.model_selection import train_test_split

    data = load(dataset, paper=not own)
    X, y = data.X, data.y
    if rows is not None and len(X) > rows:
        some = np.sort(np.random.default_rng(_SPLIT).choice(len(X), rows, replace=False))
        X, y = X.iloc[some], y.iloc[some]
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=_SPLIT)
    place = out / "models" / f"{dataset}-{'own' if own else 'paper'}-{seed}-{rows or 'all'}.joblib"
    model = (
        joblib.load(place) if place.exists() else _trained(data.space, train, y_train, seed, epochs, place)
    )
    classifier = wrap(model, data.space)
    subjects = test[~classifier.accepts(data.space.encode(test))]
    return Bench(dataset, own, data.space, train, test, y_train, y_test, model, classifier, subjects, seed)


def _trained(space: ActionSpace, X: Frame, y: Series, seed: int, epochs: int, place: Path) -> Any:
    """Return the paper's network, 20-50-20 with ReLU, trained on the training part, and keep it."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(space.encoder(), MLPClassifier((20, 50, 20), max_iter=epochs, random_state=seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    place.parent.mkdir(parents=True, exist_ok=True)
    half = place.with_suffix(f".{np.random.default_rng().integers(10**9)}.part")
    joblib.dump(model, half)
    half.replace(place)
    return model
