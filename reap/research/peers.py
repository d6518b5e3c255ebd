"""Other people's packages, asked as their own documentation says: rows that they return as they are, and BoTorch's preferences.

Each is optional. ``absent`` says why one cannot be asked here; nothing is imported before it is wanted.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.research.baselines import DiCE
from reap.research.baselines.dice import silence
from reap.research.choices import Respondent
from reap.research.predicting import Predictor
from reap.space import ActionSpace

#: From a subject's vector (d,) to the rows that a package returns, (0 or 1, d); and whether it proved that none is nearer.
Finder: TypeAlias = Callable[[Array], tuple[Array, bool]]
#: Seconds that OCEAN may take for its proof, and CFNOW for making a row better.
PATIENCE, POLISHING = 20, 3


@dataclass(frozen=True)
class Peer:
    """One package: its name at PyPI, what is imported of it, and the oldest Python that it takes."""

    package: str
    module: str
    python: tuple[int, int] = (3, 11)


BOTORCH = Peer("botorch", "botorch.models")
DICE = Peer("dice-ml", "dice_ml")
NICE = Peer("NICEx", "nice")
CFNOW = Peer("cfnow", "cfnow.cf_finder")
OCEAN = Peer("oceanpy", "ocean.cp", python=(3, 12))


@cache
def absent(peer: Peer) -> str:
    """Return why a package cannot be asked here; nothing where it can.

    Examples
    --------
    >>> absent(Peer("numpy", "numpy")), absent(Peer("other", "no_such_module"))
    ('', "not installed: No module named 'no_such_module'")
    """
    if sys.version_info < peer.python:
        here, asked = (".".join(map(str, v)) for v in (sys.version_info[:2], peer.python))
        return f"needs Python {asked} or later; this is {here}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importlib.import_module(peer.module)
    except Exception as error:  # an import that fails for any reason is a package that cannot be asked
        return f"not installed: {error}"
    return ""


def release(peer: Peer) -> str:
    """Return the name of a package with its release."""
    try:
        return f"{peer.package} {version(peer.package)}"
    except PackageNotFoundError:
        return peer.package


# rows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Ground:
    """What all are told: the model on vectors, the space, and the people it was trained on, (n, d) with labels (n,)."""

    model: Any
    classifier: Classifier
    space: ActionSpace
    rows: Array
    labels: Ints
    seed: int = 0

    @property
    def blocks(self) -> list[slice]:
        """The columns of each feature."""
        return [self.space.slices[feature.name] for feature in self.space.features]

    def proba(self, Z: Array) -> Array:
        """Return the probabilities (n, 2) of both classes."""
        p = self.classifier.probability(np.asarray(Z, dtype=float))
        return np.column_stack([1 - p, p])


def dice(ground: Ground, method: str) -> Finder:
    """Return DiCE: it is told which features may vary and in which range."""
    engine = DiCE(ground.model, ground.space, method=method, random_state=ground.seed)  # type: ignore[arg-type]
    engine.fit(ground.space.decode(ground.rows))
    return lambda z: (engine.returned(ground.space.decode(z[None])), False)


def nice(ground: Ground, optimization: str) -> Finder:
    """Return NICE, on a number a feature; its nearest neighbours are people whom the model judges rightly."""
    import nice as package

    wide = [i for i, block in enumerate(ground.blocks) if block.stop - block.start > 1]

    def codes(Z: Array) -> Array:
        parts = [Z[:, b].argmax(axis=1) if i in wide else Z[:, b.start] for i, b in enumerate(ground.blocks)]
        return np.column_stack(parts).astype(float)

    def vectors(C: Array) -> Array:
        Z = np.zeros((len(C), ground.space.dimension))
        for i, block in enumerate(ground.blocks):
            if i in wide:
                Z[np.arange(len(C)), block.start + C[:, i].astype(int)] = 1.0
            else:
                Z[:, block.start] = C[:, i]
        return Z

    explainer = package.NICE(
        predict_fn=lambda C: ground.proba(vectors(np.asarray(C, dtype=float))),
        X_train=codes(ground.rows),
        cat_feat=wide,
        y_train=ground.labels,
        optimization=optimization,
    )

    def found(z: Array) -> tuple[Array, bool]:
        with np.errstate(all="ignore"):
            return vectors(
                np.asarray(explainer.explain(codes(z[None]), target_class=[1]), dtype=float)
            ), False

    return found


def cfnow(ground: Ground, strategy: str) -> Finder:
    """Return CFNOW, told which columns are categories; every search is seeded."""
    from cfnow.cf_finder import find_tabular

    names: list[str] = []
    kinds: dict[str, str] = {}
    for i, (feature, block) in enumerate(zip(ground.space.features, ground.blocks, strict=True)):
        width = block.stop - block.start
        # columns of one category share what stands before the underscore
        own = [f"f{i}_{k}" for k in range(width)] if width > 1 else [f"f{i}"]
        names += own
        kinds |= dict.fromkeys(own, "cat" if width > 1 or feature.kind == "binary" else "num")

    def found(z: Array) -> tuple[Array, bool]:
        with silence(ground.seed):
            made = find_tabular(
                factual=pd.Series(z, index=names),
                feat_types=kinds,
                has_ohe=True,
                model_predict_proba=ground.proba,
                cf_strategy=strategy,
                limit_seconds=POLISHING,
            )
        return np.asarray(made.cfs, dtype=float).reshape(-1, len(z))[:1], False

    return found


def ocean(ground: Ground) -> Finder:
    """Return OCEAN's constraint program for a random forest: the nearest row by the squares of the changes, and a proof of it."""
    from ocean.abc import Mapper
    from ocean.cp import Explainer
    from ocean.feature import Feature

    features, columns = {}, []
    for feature, block in zip(ground.space.features, ground.blocks, strict=True):
        width = block.stop - block.start
        levels = [str(k) for k in range(width)] if width > 1 else [""]
        columns += [(feature.name, level) for level in levels]
        if width > 1:
            features[feature.name] = Feature(Feature.Type.ONE_HOT_ENCODED, codes=levels)
        elif feature.kind == "binary":
            features[feature.name] = Feature(Feature.Type.BINARY)
        else:
            ends = ground.rows[:, block].min() - 0.5, ground.rows[:, block].max() + 0.5
            features[feature.name] = Feature(Feature.Type.CONTINUOUS, levels=ends)
    mapper = Mapper(features, columns=pd.MultiIndex.from_tuples(columns))
    explainer = Explainer(ground.model[-1], mapper=mapper)

    def found(z: Array) -> tuple[Array, bool]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = explainer.explain(
                z, y=1, norm=2, num_workers=1, max_time=PATIENCE, random_seed=ground.seed
            )
        rows = np.empty((0, len(z))) if made is None else np.asarray(made.x, dtype=float)[None]
        return rows, explainer.get_solving_status() == "OPTIMAL"

    return found


# preferences ----------------------------------------------------------------------------------------------------


class Preferences:
    """BoTorch's ``PairwiseGP`` with its defaults on a finite set of options; questions by EUBO.

    Parameters
    ----------
    points : (n, d) array
        Scaled here to the unit box; columns in which all agree are left out.
    """

    def __init__(self, points: Array) -> None:
        import torch

        low, high = points.min(axis=0), points.max(axis=0)
        varies = high - low > 1e-9
        self.points = torch.tensor((points[:, varies] - low[varies]) / (high - low)[varies])
        self.pairs: list[tuple[int, int]] = []
        self._model: Any = None

    def learn(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Take in pairs (better, worse), and fit anew."""
        import torch
        from botorch.exceptions import ModelFittingError
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import PairwiseGP, PairwiseLaplaceMarginalLogLikelihood

        self.pairs += pairs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._model = PairwiseGP(self.points, torch.tensor(self.pairs))
            with suppress(ModelFittingError):  # then the kernel's prior stays
                fit_gpytorch_mll(PairwiseLaplaceMarginalLogLikelihood(self._model.likelihood, self._model))

    def question(self, rng: np.random.Generator) -> tuple[int, int] | None:
        """Return the pair of the highest EUBO that was not asked: at random before the first answer."""
        import torch
        from botorch.acquisition.preference import AnalyticExpectedUtilityOfBestOption

        asked = {frozenset(pair) for pair in self.pairs}
        open_ = [(i, j) for i in range(len(self.points)) for j in range(i) if frozenset((i, j)) not in asked]
        if not open_:
            return None
        if self._model is None:
            return open_[rng.integers(len(open_))]
        with torch.no_grad():
            worth = AnalyticExpectedUtilityOfBestOption(self._model)(self.points[torch.tensor(open_)])
        return open_[int(worth.argmax())]

    def best(self) -> int | None:
        """Return the option of the highest mean utility; None before any answer."""
        if self._model is None:
            return None
        import torch

        with torch.no_grad():
            return int(self._model.posterior(self.points).mean.argmax())

    def chances(self, questions: Ints, offered: Bools, draws: int = 4096) -> Array:
        """Return how likely each option is chosen, (t, k), of the options (t, k) of questions, where they are offered.

        Each utility has the model's own noise, a standard normal; the middle is taken over draws.
        """
        import torch

        with torch.no_grad():
            known = self._model.posterior(self.points[torch.tensor(questions)])
            mean, covariance = known.mean[..., 0].numpy(), known.covariance_matrix.numpy()
        t, k = questions.shape
        root = np.linalg.cholesky(covariance + (1 + 1e-6) * np.eye(k))
        drawn = np.random.default_rng(0).standard_normal((draws, t, k))
        utility = np.where(offered, mean + np.einsum("tij,ntj->nti", root, drawn), -np.inf)
        counts = (utility.argmax(axis=2)[..., None] == np.arange(k)).sum(axis=0) + 0.5 * offered
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def pairwise_gp() -> Predictor:
    """Return what predicts a person's answers by ``PairwiseGP``: who chose an option preferred it to each of the others."""

    def predict(who: Respondent) -> dict[int, Array]:
        q, k, d = who.changes.shape
        number = np.arange(q * k).reshape(q, k)
        used = np.concatenate([np.arange(who.seen[-1]), who.held_out])  # other questions play no part
        place = np.full(q, -1)
        place[used] = np.arange(len(used))
        number = number[: len(used)]
        points, found = who.changes[used].reshape(-1, d), {}
        for seen in who.seen:
            pairs = []
            for i in range(seen):
                told = np.where(who.offered[i], who.answers[i], -1.0)
                if told.max() == 1:
                    first = int(told.argmax())
                    pairs += [(number[i, first], number[i, j]) for j in np.flatnonzero(told == 0)]
            offered = who.offered[who.held_out]
            if pairs:
                known = Preferences(points)
                known.learn([(int(a), int(b)) for a, b in pairs])
                found[seen] = known.chances(number[place[who.held_out]], offered)
            else:
                found[seen] = offered / offered.sum(axis=1, keepdims=True)
        return found

    return predict
