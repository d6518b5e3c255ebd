"""What a tree ensemble can tell apart, in the person's own units; read once, at fit.

Preprocessing is not taken apart but tried out. Every transformed column is found to follow one feature, its *owner*
(mixing the features of two rows mixes their columns, or the model is not read). Then each number falls into *cells*: between
two edges no tree can tell its values apart. Edges are found by really transforming values, never by a formula: a
value that hits a threshold goes where the pipeline sends it. Since columns have one owner, one row tries a
value of every feature at once.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from reap._typing import Array, Frame, Ints
from reap.models.classifier import Classifier
from reap.models.estimator import Estimator
from reap.models.mixing import mixed
from reap.models.trees import boosters
from reap.models.trees.edges import edges_of
from reap.models.trees.lattice import Cells, Lattice
from reap.models.trees.parts import Parts, UnreadableError
from reap.models.trees.places import Places
from reap.models.trees.scoring import Scoring
from reap.models.trees.values import put, same, units
from reap.space import ActionSpace

#: Rows on which the reading is compared with the model.
_ROWS = 256
#: A feature with more levels, such as an ID that everybody keeps, is not read: each level would be tried.
_LEVELS = 1000
#: How far a probability that was read may be from the model's own, by the model's precision.
_DOUBLE, _SINGLE = 1e-9, 2e-6


class Reader:
    """A tree ensemble that was read: the trees, and what they can tell apart of every feature.

    Parameters
    ----------
    classifier : Classifier
    space : ActionSpace
    X : DataFrame
        Rows to try it on, usually those the model was trained on.

    Attributes
    ----------
    asked : Classifier
        The model itself.
    forest : Forest
    owner : (c,)
        The feature that each transformed column follows, −1 for a constant.
    cells : list of Cells, one a feature
    lattices : dict
        Where each number was tried.
    """

    def __init__(self, classifier: Classifier, space: ActionSpace, X: Frame) -> None:
        if not isinstance(classifier.kernel, Estimator) or any(
            len(f.levels) > _LEVELS for f in space.features
        ):
            raise UnreadableError
        self.asked, self.kernel, self.space = classifier, classifier.kernel, space
        self._blocks = [space.slices[feature.name] for feature in space.features]
        some = X.iloc[:: max(1, len(X) // _ROWS)] if hasattr(X, "iloc") else X[:: max(1, len(X) // _ROWS)]
        Z, everybody = space.encode(some), space.encode(X)
        self.parts = Parts(classifier.kernel, Z[:8])
        self.forest = self.parts.forest
        rough = any(boosters.is_xgboost(part.last) for part in self.parts.all)
        self.tolerance = _SINGLE if rough else _DOUBLE
        T = self.transform(Z)
        if not self._close(self.forest.probability(T), classifier.probability(Z)):
            raise UnreadableError
        self._base = Z[0]
        self.owner = self._owners(Z)
        self._check_mixing(Z, T)
        #: Any row, transformed (1, c): what no feature owns is the same in all of them.
        self.blank = T[:1]
        self.cells = [self._with_missing(k, cells) for k, cells in enumerate(self._cells(everybody))]
        read = [k for k, cells in enumerate(self.cells) if len(cells.columns)]
        self._places = Places(self._blocks, self._cell, read)
        both = self._rounded(mixed(space, Z, np.random.default_rng(1))[2])
        found = self.forest.probability(self.compose(self.places(both)))
        if not self._close(found, classifier.probability(both)):
            raise UnreadableError
        #: The same model for vectors, without its pipeline: what the search asks thousands of times.
        self.scoring = Scoring(self)
        self.classifier = replace(classifier, kernel=self.scoring)
        if not self._close(self.classifier.probability(both), found):
            raise UnreadableError

    @property
    def edges(self) -> dict[int, Array]:
        """Where the trees begin to decide otherwise, in units (r,), of each number, by its feature."""
        return {k: self.cells[k].edges for k, feature in enumerate(self.space.features) if feature.is_number}

    @property
    def quick(self) -> bool:
        """Whether thousands of scores take milliseconds."""
        return self.scoring.quick

    def transform(self, Z: Array) -> Array:
        """Return vectors (n, d) as the matrix (n, c) that the trees compare, in the precision in which they do."""
        return self.parts.transform(Z)

    def compose(self, places: Ints) -> Array:
        """Return the same matrix of vectors that lie in cells (n, f), put together instead of asking the pipeline."""
        T = np.repeat(self.blank, len(places), axis=0)
        for cells, place in zip(self.cells, places.T, strict=True):
            if len(cells.columns):
                T[:, cells.columns] = cells.rows[place]
        return T

    def places(self, Z: Array) -> Ints:
        """Return in which of its cells each feature of vectors (n, d) lies, (n, f)."""
        return self._places.of(Z)

    def seen(self, Z: Array) -> list[Array]:
        """Return the values of each feature of vectors (n, d), as ``units`` has them: (n,), or (1,) where all rows agree."""
        steady = (Z[:1] == Z).all(axis=0)  # most features of most rows are as they were
        blocks = enumerate(self._blocks)
        return [self.units(k, Z[:1] if steady[block].all() else Z) for k, block in blocks]

    def placed(self, seen: list[Array], count: int) -> Ints:
        """Return in which of its cells each feature of ``count`` rows lies, (n, f), by their values."""
        places = np.zeros((count, len(self.cells)), dtype=np.intp)
        for k, (cells, values) in enumerate(zip(self.cells, seen, strict=True)):
            if len(cells.columns):
                places[:, k] = self._place(k, values)
        return places

    def _cell(self, k: int, Z: Array) -> Ints:
        """Return in which of its cells one feature of vectors (n, d) lies, (n,)."""
        return self._place(k, self.units(k, Z))

    def _place(self, k: int, values: Array) -> Ints:
        """Return in which of its cells one feature lies, (n,), by its values (n,)."""
        cells = self.cells[k]
        missing = np.isnan(values)
        if k in self.lattices:
            places = cells.of(values)
        else:
            places = np.where(missing, 0, values).astype(np.intp)
        if missing.any():
            places[missing] = len(cells.rows) - 1
        return places

    def units(self, k: int, Z: Array) -> Array:
        """Return the values (n,) of one feature of vectors (n, d): numbers in units, levels as their index."""
        return units(self.space, k, Z)

    # how ---------------------------------------------------------------------------------------------

    def _close(self, ours: Array, theirs: Array) -> bool:
        return bool(np.allclose(ours, theirs, rtol=0, atol=self.tolerance))

    def _packed(self, values: list[Array]) -> Array:
        """Return transformed rows (n, c) of which row i has the i-th value of every feature (the last, where it has fewer)."""
        count = max((len(v) for v in values), default=0)
        Z = np.repeat(self._base[None], count, axis=0)
        for k, given in enumerate(values):
            if len(given):
                put(self.space, Z, k, np.pad(given, (0, count - len(given)), mode="edge"))
        return self.transform(Z) if count else np.zeros((0, len(self.owner)))

    def _owners(self, Z: Array) -> Ints:
        """Return which feature each transformed column follows, by changing features one at a time."""
        rows, tags = [], []
        for k, feature in enumerate(self.space.features):
            tried = np.arange(len(feature.levels), dtype=float)
            if feature.is_number:
                seen = self.units(k, Z)
                seen = seen[~np.isnan(seen)]
                tried = np.array([*np.quantile(seen, [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1])]) if len(seen) else seen
                tried = np.concatenate([tried, feature.range or ()])
                if feature.kind == "integer":
                    tried = np.rint(tried)
            for base in (Z[0], Z[-1]):
                block = np.repeat(base[None], len(tried) + 1, axis=0)
                put(self.space, block[1:], k, tried)
                rows.append(block)
                tags.append(np.full(len(block), k))
        T, tag = self.transform(np.concatenate(rows)), np.concatenate(tags)
        starts = np.concatenate([[0], np.cumsum([len(block) for block in rows])])
        owner = np.full(T.shape[1], -1)
        for begin, end in pairwise(starts):
            moved = ~same(T[begin:end], T[begin]).all(axis=0)
            if (moved & (owner >= 0) & (owner != tag[begin])).any():
                raise UnreadableError  # a column that follows two features
            owner[moved] = tag[begin]
        return owner

    def _check_mixing(self, Z: Array, T: Array) -> None:
        other, mask, both = mixed(self.space, Z, np.random.default_rng(0))
        free = self.owner < 0
        expected = np.where(mask[:, np.where(free, 0, self.owner)], T, T[other])
        if not same(self.transform(both), expected)[:, ~free].all() or not same(T, T[0])[:, free].all():
            raise UnreadableError

    def _cells(self, Z: Array) -> list[Cells]:
        features = self.space.features
        columns = [np.flatnonzero(self.owner == k) for k in range(len(features))]
        lattices: dict[int, Lattice] = {}
        self.lattices = lattices
        for k, feature in enumerate(features):
            if feature.is_number and len(columns[k]):
                if np.isin(columns[k], self.forest.categorical).any():
                    raise UnreadableError  # codes that the space takes for numbers
                seen = self.units(k, Z)
                lattices[k] = Lattice.of(
                    feature, np.nanmin(seen, initial=np.inf), np.nanmax(seen, initial=-np.inf)
                )
        edges = edges_of(self.forest, columns, lattices, self._packed)
        tried = [np.arange(len(f.levels), dtype=float) for f in features]
        for k, (places, _) in edges.items():
            inside = (
                np.concatenate([places[:1], places + 1]) if len(places) else np.array([lattices[k].first])
            )
            tried[k] = lattices[k].values(inside)
        T = self._packed(tried)
        made = []
        for k, values in enumerate(tried):
            places, weights = edges.get(k, (np.zeros(0), np.zeros(0)))
            at = (places + 0.5) * lattices[k].unit if len(places) else places
            made.append(Cells(columns[k], at, weights, T[: len(values), columns[k]]))
        return made

    def _with_missing(self, k: int, cells: Cells) -> Cells:
        """Return the cells with one more row for a value that is missing, where that may be."""
        feature = self.space.features[k]
        if not feature.missing or len(cells.columns) == 0:
            return cells
        row = self._base[None].copy()
        row[:, self._blocks[k]] = 0.0 if feature.kind == "categorical" else np.nan
        try:
            seen = self.transform(row)[:, cells.columns]
        except UnreadableError:  # nobody without this value can be scored by the model either
            seen = np.full((1, len(cells.columns)), np.nan)
        return replace(cells, rows=np.concatenate([cells.rows, seen]))

    def _rounded(self, Z: Array) -> Array:
        """Return vectors (n, d) with numbers at the places where they were read: what lies between two is not told apart."""
        Z = Z.copy()
        for k, lattice in self.lattices.items():
            put(self.space, Z, k, lattice.values(np.rint(self.units(k, Z) / lattice.unit)))
        return Z


def read(classifier: Classifier, space: ActionSpace, X: Frame) -> Reader | None:
    """Return the trees behind a classifier, read through its preprocessing; None where that cannot be done exactly.

    Read are scikit-learn's trees, forests and gradient boosting of both kinds, LightGBM, XGBoost and CatBoost (on numbers), for
    two classes (forests: any number), alone or as the last step of a Pipeline in which each transformed column follows one
    feature; and soft votes of these, and what ``CalibratedClassifierCV`` makes of one. Probabilities
    read agree with the model's to 1e-9 (XGBoost computes in single precision: 2e-6).

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [10, 20, 30, 40]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> tree = reap.models.wrap(DecisionTreeClassifier().fit(X, [0, 0, 1, 1]), space)
    >>> read(tree, space, X).cells[0].edges
    array([25.5])
    """
    try:
        return Reader(classifier, space, X)
    except UnreadableError:
        return None
