"""Trees are read, not sampled: what an ensemble can tell apart of each feature, in the person's own units; found once, at fit.

Preprocessing is not taken apart but tried out. Every column that trees are given is found to follow one feature, by changing
features one at a time. Then each number falls into *cells*:
between two edges no tree can tell its values apart. Edges are found by really transforming values, never by a formula: a value
that hits a threshold goes where the pipeline sends it. Since columns follow one feature, one row tries a value of every feature
at once. Last, rows mixed of people's values are scored with every number moved to the first value of its cell: the model itself
must say the same of them.

What trees are given can then be put together from cells, so that thousands of rows are scored by the model's own code, but
without the steps before it, which take most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from reap._typing import Array, Bools, Frame, Ints
from reap.models.classifier import Classifier
from reap.models.estimator import Estimator, said_of
from reap.models.splits import Splits, UnreadableError, numbers, rewired, splits, trees_in
from reap.space import ActionSpace, Feature

#: Rows on which the reading is compared with the model, and how far a score of theirs may be from the model's own.
_ROWS, _OFF = 256, 1e-9
#: A feature with more levels, such as an ID that everybody keeps, is not read: each level would be tried.
_LEVELS = 1000
#: Numbers that are not whole are read to so many digits of their range: people's values need not be at its steps, and where
#: a range runs to 50,000 a tree may still tell 0.9999999 from 1. Doubles hold 15.
_DIGITS = 12
#: Values of a number at which edges are first looked for, and how far off a guess between two of them may be, as a share of their
#: distance, where trees compare in single precision.
_SAMPLES, _WIDE = 257, 2.0**-15
#: Features in which rows may differ from the one that is remembered, before another one is.
_MOVED = 6
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)


@dataclass(frozen=True, eq=False)
class Reading:
    """A tree ensemble that was read.

    Parameters
    ----------
    edges : dict
        Where the trees begin to decide otherwise, in units (r,), of each number, by its feature.
    classifier : Classifier
        The same model, asked about thousands of rows without its pipeline where it can be.
    """

    edges: dict[int, Array]
    classifier: Classifier


def read(classifier: Classifier, space: ActionSpace, X: Frame) -> Reading | None:
    """Return what the trees behind a classifier tell apart; None where that cannot be found exactly.

    Read are trees, forests and gradient boosting of scikit-learn (both kinds), LightGBM, XGBoost and CatBoost (on numbers), alone
    or as the last step of a Pipeline in which each column that trees compare follows one feature; and soft votes and stacks of
    these, and what ``CalibratedClassifierCV`` makes of one.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = pd.DataFrame({"income": [10, 20, 30, 40]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> tree = reap.models.wrap(DecisionTreeClassifier().fit(X, [0, 0, 1, 1]), space)
    >>> read(tree, space, X).edges[0]
    array([25.5])
    """
    if not isinstance(classifier.kernel, Estimator) or any(len(f.levels) > _LEVELS for f in space.features):
        return None
    try:
        return _Reader(classifier.kernel, space, X).reading(classifier)
    except UnreadableError:
        return None


@dataclass(frozen=True)
class _Lattice:
    """The values of a number among which edges are looked for: places times a unit, as people write them."""

    first: float
    last: float
    unit: float
    power: float  # 10 to the decimals

    @classmethod
    def of(cls, feature: Feature, seen: Array) -> _Lattice:
        """Return the lattice of a feature over all values that it may have, and those seen (n,), in units."""
        known = seen[~np.isnan(seen)]
        ends = [
            *(feature.range or ()),
            *(feature.bounds or ()),
            *([known.min(), known.max()] if len(known) else ()),
        ]
        low, high = min(ends, default=0.0), max(ends, default=0.0)
        digits = _DIGITS - int(np.floor(np.log10((high - low) or 1.0)))
        unit, power = (1.0, 1.0) if feature.kind == "integer" else (10.0**-digits, 10.0**digits)
        return cls(np.floor(low / unit), np.ceil(high / unit), unit, power)

    def values(self, places: Array) -> Array:
        """Return places as values in units."""
        return np.rint(places * self.unit * self.power) / self.power


@dataclass(frozen=True, eq=False)
class _Cells:
    """What the trees can tell apart of one feature.

    Parameters
    ----------
    edges : (r,)
        Of a number, in units and rising: cell i holds the values above edge i − 1 and up to edge i. Empty for levels.
    columns : (c,)
        The columns that follow it, of those that trees are given.
    rows : (r + 1, c) or (levels, c)
        These columns in each cell, or of each level; in one more row of a missing value.
    missing : bool
        Whether there is that row: the preprocessing may refuse missing values.
    """

    edges: Array
    columns: Ints
    rows: Array
    missing: bool


class _Reader:
    """Reads the trees of a model; everything is found in ``__init__``."""

    def __init__(self, kernel: Estimator, space: ActionSpace, X: Frame) -> None:
        self.kernel, self.space = kernel, space
        self.parts = trees_in(kernel.estimator)
        every = max(1, len(X) // _ROWS)
        self.Z = space.encode(X.iloc[::every] if hasattr(X, "iloc") else X[::every])
        self.base = self.Z[0]
        found = [splits(last) for _, last in self.parts]
        self.blank = self.transform(self.Z[:1])[0]
        #: What each part is given, and its first column; last the number of all.
        self.like = self._given(self.Z[:1])
        self.begins: list[int] = np.cumsum([0, *(given.shape[1] for given in self.like)]).tolist()
        self.owner = self._owners()
        self.columns = [np.flatnonzero(self.owner == k) for k in range(len(space.features))]
        everybody = space.encode(X)
        self.lattices = {
            k: _Lattice.of(feature, units(space, k, everybody))
            for k, feature in enumerate(space.features)
            if feature.is_number and len(self.columns[k])
        }
        self._compare(found)
        self.places = self._edges()
        self.cells = self._cells()

    def _compare(self, found: list[Splits]) -> None:
        """Join what all parts compare, by the columns of their matrices side by side."""
        self.thresholds: dict[int, Array] = {}
        self.single = np.zeros(len(self.owner), dtype=bool)
        for one, begin, end in zip(found, self.begins[:-1], self.begins[1:], strict=True):
            self.thresholds |= {begin + c: at for c, at in one.thresholds.items()}
            self.single[begin:end] = one.single
            if any(int(k) in self.lattices for k in self.owner[begin + one.coded]):
                raise UnreadableError  # codes that the space takes for numbers

    def _given(self, Z: Array) -> list[Any]:
        """Return what the trees of each part are given of vectors (n, d)."""
        known: dict[tuple[int, ...], Any] = {(): self.kernel.rows(Z)}
        for steps, _ in self.parts:
            key: tuple[int, ...] = ()
            for step in steps:  # those that parts share are taken once
                rows, key = known[key], (*key, id(step))
                if key not in known:
                    known[key] = step.transform(rows)
        return [known[tuple(map(id, steps))] for steps, _ in self.parts]

    def transform(self, Z: Array) -> Array:
        """Return what the trees of all parts are given of vectors (n, d), side by side, (n, c)."""
        try:
            return np.concatenate([numbers(given) for given in self._given(Z)], axis=1)
        except (ValueError, TypeError):  # a value that the preprocessing refuses
            raise UnreadableError from None

    def packed(self, values: dict[int, Array]) -> Array:
        """Return transformed rows (n, c) of which row i has the i-th value of every feature (the last, where it has fewer)."""
        count = max((len(v) for v in values.values()), default=0)
        if count == 0:
            return np.zeros((0, len(self.owner)))
        Z = np.repeat(self.base[None], count, axis=0)
        for k, given in values.items():
            if len(given):
                put(self.space, Z, k, np.pad(given, (0, count - len(given)), mode="edge"))
        return self.transform(Z)

    def _owners(self) -> Ints:
        """Return which feature each column follows, −1 for none, by changing features one at a time."""
        rows, tags = [], []
        for k, feature in enumerate(self.space.features):
            tried = np.arange(len(feature.levels), dtype=float)
            if feature.is_number:
                seen = units(self.space, k, self.Z)
                seen = seen[~np.isnan(seen)]
                tried = np.quantile(seen, [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]) if len(seen) else seen
                tried = np.concatenate([tried, feature.range or ()])
                tried = np.rint(tried) if feature.kind == "integer" else tried
            for base in (self.Z[0], self.Z[-1]):
                block = np.repeat(base[None], len(tried) + 1, axis=0)
                put(self.space, block[1:], k, tried)
                rows.append(block)
                tags.append(k)
        T = self.transform(np.concatenate(rows))
        owner = np.full(T.shape[1], -1)
        ends = np.cumsum([0, *(len(block) for block in rows)])
        for (begin, end), k in zip(pairwise(ends.tolist()), tags, strict=True):
            moved = ~_same(T[begin:end], T[begin]).all(axis=0)
            if (moved & (owner >= 0) & (owner != k)).any():
                raise UnreadableError  # a column that follows two features
            owner[moved] = k
        return owner

    # edges -------------------------------------------------------------------------------------------

    def _edges(self) -> dict[int, Array]:
        """Return of each number the places (r,) after which some tree decides otherwise."""
        samples = {
            k: np.unique(np.rint(np.linspace(one.first, one.last, _SAMPLES)))
            for k, one in self.lattices.items()
        }
        T = self._seen(self.packed({k: self.lattices[k].values(s) for k, s in samples.items()}))
        found = [np.empty((0, 7))]  # feature, column, threshold, places before and after, values there
        for j, thresholds in self.thresholds.items():
            if (k := int(self.owner[j])) not in samples:
                continue
            x = T[: len(samples[k]), j]
            below = x <= thresholds[:, None]
            t, s = np.nonzero(below[:, 1:] != below[:, :-1])
            who = np.full(len(t), k), np.full(len(t), j)
            found.append(
                np.stack([*who, thresholds[t], samples[k][s], samples[k][s + 1], x[s], x[s + 1]], axis=1)
            )
        table = np.concatenate(found)
        low = self._narrowed(table)
        return {k: np.unique(low[table[:, 0] == k]) for k in self.lattices}

    def _narrowed(self, table: Array) -> Array:
        """Close the brackets around every edge down to two neighbouring places, and return the lower: guesses, then halves."""
        owner, column, threshold = table[:, 0].astype(np.intp), table[:, 1].astype(np.intp), table[:, 2]
        low, high = table[:, 3].copy(), table[:, 4].copy()
        side = table[:, 5] <= threshold  # of the lower end
        share = (threshold - table[:, 5]) / (table[:, 6] - table[:, 5])
        guess, wide = np.floor(low + share * (high - low) + 1e-6), _WIDE * (high - low)
        tries = np.stack([guess, guess + 1, guess - wide, guess + wide])
        for turn in range(80):
            live = np.flatnonzero(high - low > 1.5)
            if len(live) == 0:
                break
            middle = np.floor((low[live] + high[live]) / 2 if turn >= len(tries) else tries[turn][live])
            middle = np.clip(middle, low[live] + 1, high[live] - 1)
            wanted, row = dict[int, Array](), np.zeros(len(live), dtype=np.intp)
            for k in np.unique(owner[live]).tolist():
                own = np.flatnonzero(owner[live] == k)
                places, row[own] = np.unique(middle[own], return_inverse=True)
                wanted[k] = self.lattices[k].values(places)
            T = self._seen(self.packed(wanted))
            before = (T[row, column[live]] <= threshold[live]) == side[live]
            low[live] = np.where(before, middle, low[live])
            high[live] = np.where(before, high[live], middle)
        return low

    def _seen(self, T: Array) -> Array:
        """Return transformed rows (n, c) in the precision in which they are compared."""
        out = T.copy()
        out[:, self.single] = T[:, self.single].astype(np.float32)
        return out

    # cells -------------------------------------------------------------------------------------------

    def _firsts(self, k: int) -> Array:
        """Return a value of each cell of a feature: of a number the first, in units."""
        lattice = self.lattices.get(k)
        if lattice is None:
            return np.arange(len(self.space.features[k].levels), dtype=float)
        places = self.places[k]
        inside = np.concatenate([places[:1], places + 1]) if len(places) else np.array([lattice.first])
        return lattice.values(inside)

    def _cells(self) -> list[_Cells]:
        firsts = {k: self._firsts(k) for k in range(len(self.space.features))}
        T, missing, made = self.packed(firsts), self._missing(), []
        for k, values in firsts.items():
            lattice, columns = self.lattices.get(k), self.columns[k]
            edges = np.empty(0) if lattice is None else (self.places[k] + 0.5) * lattice.unit
            gone = np.empty((0, len(columns))) if missing is None else missing[None, columns]
            made.append(
                _Cells(edges, columns, np.concatenate([T[: len(values), columns], gone]), missing is not None)
            )
        return made

    def _missing(self) -> Array | None:
        """Return what becomes (c,) of somebody all of whose values that may be missing are; None where that is refused."""
        row = self.base[None].copy()
        for feature in self.space.features:
            if feature.missing:
                row[:, self.space.slices[feature.name]] = 0.0 if feature.kind == "categorical" else np.nan
        try:
            return np.asarray(self.transform(row)[0])
        except UnreadableError:
            return None

    # what comes of it ----------------------------------------------------------------------------------

    def reading(self, classifier: Classifier) -> Reading:
        """Return what was read, compared with the model on rows that are mixed of people's values."""
        space, Z = self.space, mixed(self.space, self.Z, np.random.default_rng(0))
        for k, lattice in self.lattices.items():  # values between two places of a lattice are not told apart
            put(space, Z, k, lattice.values(np.rint(units(space, k, Z) / lattice.unit)))
        own, moved = classifier.score(Z), Z.copy()
        for k in self.lattices:
            values = units(space, k, Z)
            known = ~np.isnan(values)
            part = moved[known]
            put(space, part, k, self._firsts(k)[np.searchsorted(self.cells[k].edges, values[known])])
            moved[known] = part
        if not np.allclose(classifier.score(moved), own, rtol=_OFF, atol=_OFF):
            raise UnreadableError
        edges = {
            k: self.cells[k].edges if k in self.lattices else np.empty(0)
            for k, feature in enumerate(space.features)
            if feature.is_number
        }
        blocks = [
            Block(last, begin, end, given)
            for (_, last), begin, end, given in zip(
                self.parts, self.begins[:-1], self.begins[1:], self.like, strict=True
            )
        ]
        model = rewired(self.kernel.estimator, iter(blocks))
        quick = replace(classifier, kernel=Direct(self.kernel, model, self.cells, self.blank))
        try:
            same = np.allclose(quick.score(Z), own, rtol=_OFF, atol=_OFF)
        except (ValueError, TypeError, AttributeError):  # a model that looks at more than numbers
            same = False
        return Reading(edges, quick if same else classifier)


class Block:
    """The innermost estimator of a model, given its columns of what the trees of all parts are given."""

    def __init__(self, last: Any, begin: int, end: int, like: Any) -> None:
        self.last, self.columns = last, slice(begin, end)
        self.types = dict(like.dtypes) if hasattr(like, "columns") else None

    def __getattr__(self, name: str) -> Any:
        if name == "last":  # while it is read from a file
            raise AttributeError(name)
        value = getattr(self.last, name)
        if name in ("predict_proba", "decision_function", "predict"):
            return wraps(value)(partial(self._asked, name))
        return value

    def _asked(self, method: str, T: Array) -> Any:
        """Return what a method says of the trees' columns of all parts (n, c)."""
        own = T[:, self.columns]
        if method == "predict_proba" and type(self.last) in _FORESTS and not np.isnan(own).any():
            # one tree after the other: the forest itself makes threads for every call, which take longer than few rows
            own = own.astype(np.float32)
            return sum(one.tree_.predict(own) for one in self.last.estimators_) / len(self.last.estimators_)
        return getattr(self.last, method)(own if self.types is None else self._frame(own))

    def _frame(self, T: Array) -> Frame:
        """Return columns (n, c) as the frame that they were."""
        data: dict[Any, Any] = {}
        for (name, dtype), values in zip((self.types or {}).items(), T.T, strict=True):
            if isinstance(dtype, pd.CategoricalDtype):
                values = pd.Categorical.from_codes(
                    np.where(np.isnan(values), -1, values).astype(int), dtype=dtype
                )
            data[name] = values
        return pd.DataFrame(data)


class _MissingError(Exception):
    """A value is missing that the preprocessing does not take."""


class Direct:
    """The scores of a model of trees, on rows put together from cells instead of passing its pipelines."""

    def __init__(self, kernel: Estimator, model: Any, cells: list[_Cells], blank: Array) -> None:
        self.kernel, self.model, self.cells, self.blank = kernel, model, cells, blank
        space = kernel.space
        self._used = [k for k, one in enumerate(cells) if len(one.columns)]
        self._starts = [space.slices[feature.name].start for feature in space.features]
        self._known: tuple[Array, Array] | None = None  # a row and what it becomes: one pair, for threads

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the row: it is somebody's."""
        return {**self.__dict__, "_known": None}

    def score(self, Z: Array) -> Array:
        """Return what the model returns of vectors (n, d), (n,)."""
        if len(Z) == 0:
            return np.empty(0)
        try:
            return said_of(self.model, self.rows(Z), self.kernel.index, self.kernel.output)
        except _MissingError:
            return self.kernel.score(Z)  # in its own words

    def rows(self, Z: Array) -> Array:
        """Return what trees are given of vectors (n, d), (n, c). Most rows of a search are one person's, a little changed."""
        known = self._known
        if known is None or self._moved(Z[:1], known[0]).sum() > _MOVED:
            first = self.blank.copy()
            for k in self._used:
                first[self.cells[k].columns] = self._of(k, Z[:1])[0]
            known = self._known = Z[0].copy(), first
        T, moved = np.repeat(known[1][None], len(Z), axis=0), self._moved(Z, known[0])
        for k in self._used:
            if moved[k]:
                T[:, self.cells[k].columns] = self._of(k, Z)
        return T

    def _moved(self, Z: Array, row: Array) -> Bools:
        """Return which features of any of vectors (n, d) differ from a row (d,), (f,); a missing value always does."""
        return np.asarray(np.logical_or.reduceat((row != Z).any(axis=0), self._starts))

    def _of(self, k: int, Z: Array) -> Array:
        """Return the columns (n, c) that follow one feature of vectors (n, d)."""
        cells, values = self.cells[k], units(self.kernel.space, k, Z)
        missing = np.isnan(values)
        if missing.any() and not cells.missing:
            raise _MissingError
        if self.kernel.space.features[k].is_number:
            place = np.searchsorted(cells.edges, values)
        else:
            place = np.where(missing, 0, values).astype(np.intp)
        return np.asarray(cells.rows[np.where(missing, len(cells.rows) - 1, place)])


# one feature of vectors at a time ----------------------------------------------------------------------------


def units(space: ActionSpace, k: int, Z: Array) -> Array:
    """Return the values (n,) of one feature of vectors (n, d): numbers in units, levels as their index."""
    feature, coding = space.features[k], space.encoding
    block = Z[:, space.slices[feature.name]]
    if feature.kind == "categorical":
        return np.asarray(np.where(block.any(axis=1), block.argmax(axis=1), np.nan))
    values: Array = coding.origin[k] + block[:, 0] * coding.scale[k]
    return values if feature.is_number else np.rint(values)


def put(space: ActionSpace, Z: Array, k: int, values: Array) -> None:
    """Set one feature of vectors (n, d), in place, to values in units or to levels."""
    feature, coding = space.features[k], space.encoding
    columns = space.slices[feature.name]
    if feature.kind == "categorical":
        Z[:, columns] = np.eye(len(feature.levels))[values.astype(np.intp)]
    else:
        Z[:, columns.start] = (values - coding.origin[k]) / coding.scale[k]


def mixed(space: ActionSpace, Z: Array, rng: np.random.Generator) -> Array:
    """Return rows (n, d) that nobody has: some features of one person of (n, d), the others of another."""
    other, mask = rng.permutation(len(Z)), rng.random((len(Z), len(space.features))) < 0.5
    owner = np.repeat(np.arange(len(space.features)), [f.width for f in space.features])
    return np.where(mask[:, owner], Z, Z[other])


def _same(a: Array, b: Array) -> Bools:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))
