"""The bench that each data set gives: the paper's split, a trained network, the rejected people, the engines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from reap import effort
from reap._typing import Array, Frame, Series
from reap.datasets import load
from reap.models import Classifier, wrap
from reap.plan import Plan
from reap.recourse import GradientRecourse, GraphRecourse, Recourse
from reap.research.baselines import DAGS, FACE, PEAR, Wachter
from reap.space import ActionSpace

#: The paper's split.
_SPLIT = 42


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
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def dimension(self) -> int:
        """Encoded columns d."""
        return self.space.dimension

    def x(self, i: int) -> Frame:
        """Return the row of a subject."""
        return self.subjects.iloc[[i]]

    def engine(self, kind: str) -> Any:
        """Return one of ``ENGINES``, fitted on the training part."""
        if kind not in self._kept:
            self._kept[kind] = ENGINES[kind](self).fit(self.train)
        return self._kept[kind]

    def candidates(self) -> Array:
        """Return the distinct training rows the model accepts, (N, d): the paper's options."""
        if "rows" not in self._kept:
            Z = np.unique(self.space.encode(self.train), axis=0)
            self._kept["rows"] = Z[self.classifier.accepts(Z)]
        return np.asarray(self._kept["rows"])

    def moves(self, i: int) -> Array:
        """Return the paper's options as the changes (N, d) of a subject."""
        return effort.changes(self.candidates(), self.space.vector(self.x(i)))

    def accepted_as_shown(self, plan: Plan) -> bool:
        """Return whether the model accepts the row that a plan ends at as it is shown, with whole categories."""
        shown = self.space.encode(self.space.decode(plan.path[-1:]))
        return plan.status == "ok" and bool(self.classifier.accepts(shown)[0])


#: Our default; the paper's two generators; and baselines as the paper has them, without constraints.
ENGINES: dict[str, Callable[[Bench], Any]] = {
    "recourse": lambda made: Recourse(made.model, made.space),
    "graph": lambda made: GraphRecourse(made.model, made.space),
    "algorithm1": lambda made: GradientRecourse(
        made.model, made.space, method="algorithm1", loss="hinge", stop_early=True, constraints=False
    ),
    "wachter": lambda made: Wachter(made.model, made.space, constraints=False),
    "face": lambda made: FACE(made.model, made.space, constraints=False),
    "pear": lambda made: PEAR(
        made.model, made.space, dag=DAGS[made.name], constraints=False, random_state=made.seed
    ),
}


def on_bench(run: Callable[..., Iterable[dict[str, Any]]]) -> Callable[..., Frame]:
    """Let ``run(made, subjects, **settings)``, which yields rows, be called with what a cell stores."""

    @wraps(run)
    def called(
        out: Path,
        *,
        dataset: str,
        own: bool,
        seed: int,
        rows: int | None,
        epochs: int,
        subjects: tuple[int, int],
        **settings: Any,
    ) -> Frame:
        made = make_bench(out, dataset, own, seed, rows, epochs)
        found = pd.DataFrame(list(run(made, range(*subjects), **settings)))
        return found.assign(dataset=made.name) if len(found) else found

    return called


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
    if place.exists():
        model = joblib.load(place)
    else:
        model = trained(network(data.space, epochs, seed), train, y_train)
        place.parent.mkdir(parents=True, exist_ok=True)
        half = place.with_suffix(f".{np.random.default_rng().integers(10**9)}.part")
        joblib.dump(model, half)
        half.replace(place)
    classifier = wrap(model, data.space)
    subjects = test[~classifier.accepts(data.space.encode(test))]
    return Bench(dataset, own, data.space, train, test, y_train, y_test, model, classifier, subjects, seed)


def network(space: ActionSpace, epochs: int, seed: int) -> Any:
    """Return the paper's network, 20-50-20 with ReLU, untrained."""
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(space.encoder(), MLPClassifier((20, 50, 20), max_iter=epochs, random_state=seed))


def trained(model: Any, X: Frame, y: Series) -> Any:
    """Return a model trained for as many epochs as it may, converged or not."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)
