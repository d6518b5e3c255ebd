"""Trees are read, not sampled: what an ensemble can tell apart of each feature, in the person's own units; found once, at fit.

Preprocessing is not taken apart but tried out. Every column that trees are given is found to follow one feature, by changing
features one at a time. Then each number falls into *cells*: between two edges no tree can tell its values apart. Edges are found
by really transforming values, never by a formula: a value that hits a threshold goes where the pipeline sends it. Since columns
follow one feature, one row tries a value of every feature at once. Last, rows mixed of people's values are scored with every
number moved to another value of its cell: the model itself must say the same of them.

What trees are given can then be put together from cells, so that thousands of rows are scored by the leaves that they reach
(``leaves``), without the steps before, which take most of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logit

from reap._typing import Array, Frame, Ints
from reap.models.classifier import Classifier
from reap.models.estimator import Estimator, said_of
from reap.models.forests import Trees, UnreadableError, flattened, matrix
from reap.models.leaves import Cells, Leaves, MissingValueError, put, units
from reap.models.parts import Block, rewired
from reap.space import ActionSpace, Feature

#: Rows on which the reading is compared with the model, and how far a score of theirs may be from the model's own, which XGBoost
#: adds up in single precision.
_ROWS, _OFF = 256, 2e-6
#: A feature with more levels, such as an ID that everybody keeps, is not read: each level would be tried.
_LEVELS = 1000
#: Numbers that are not whole are read to so many digits of their range: people's values need not be at its steps, and where
#: a range runs to 50,000 a tree may still tell 0.9999999 from 1. Doubles hold 15.
_DIGITS = 12
#: Values of a number at which edges are first looked for, and how far off a guess between two of them may be, as a share of their
#: distance, where trees compare in single precision.
_SAMPLES, _WIDE = 257, 2.0**-15
#: Log-odds up to which a row tells how fast they rise with the sum of leaves.
_FAR = 6.0


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


class _Reader:
    """Reads the trees of a model; everything is found in ``__init__``."""

    def __init__(self, kernel: Estimator, space: ActionSpace, X: Frame) -> None:
        self.kernel, self.space = kernel, space
        #: Every innermost estimator, with the steps that a row passes before it.
        self.parts = list[tuple[tuple[Any, ...], Any]]()
        rewired(kernel.estimator, lambda before, last: self.parts.append((before, last)))
        everybody = space.encode(X)
        self.Z = everybody[:: max(1, len(X) // _ROWS)]
        #: The trees of each part, which look at their own of the columns of all.
        self.trees, at = [flattened(last) for _, last in self.parts], 0
        for i, ((_, last), rows) in enumerate(zip(self.parts, self._given(self.Z[:1]), strict=True)):
            self.trees[i] = [replace(one, column=one.column + at) for one in self.trees[i]]
            at += matrix(last, rows).shape[1]
        self.owner = self._owners()
        used = [k for k, f in enumerate(space.features) if f.is_number and k in self.owner]
        self.lattices = {k: _Lattice(space.features[k], units(space, k, everybody)) for k in used}
        #: Of each number the places of its lattice (r,) after which some tree decides otherwise.
        self.places = self._edges()
        self.cells = self._cells()

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
            given = zip(self.parts, self._given(Z), strict=True)
            return np.concatenate([matrix(last, rows) for (_, last), rows in given], axis=1)
        except (ValueError, TypeError):  # a value that the preprocessing refuses
            raise UnreadableError from None

    def packed(self, values: dict[int, Array]) -> Array:
        """Return transformed rows (n, c) of which row i has the i-th value of every feature (the last, where it has fewer)."""
        count = max((len(v) for v in values.values()), default=0)
        Z = np.repeat(self.Z[:1], count, axis=0)
        for k, given in values.items():
            if len(given):
                put(self.space, Z, k, np.pad(given, (0, count - len(given)), mode="edge"))
        return self.transform(Z) if count else np.zeros((0, len(self.owner)))

    def _owners(self) -> Ints:
        """Return which feature each column follows, −1 for none, by changing features one at a time."""
        rows, tags = [self.Z[[0, -1]]], [np.array([-1, -1])]
        for k, feature in enumerate(self.space.features):
            tried = np.arange(len(feature.levels), dtype=float)
            if feature.is_number:
                seen = units(self.space, k, self.Z)
                seen = seen[~np.isnan(seen)]
                tried = np.quantile(seen, [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]) if len(seen) else seen
                tried = np.concatenate([tried, feature.range or ()])
                tried = np.rint(tried) if feature.kind == "integer" else tried
            block = np.repeat(self.Z[[0, -1]], len(tried), axis=0)
            put(self.space, block, k, np.tile(tried, 2))
            rows.append(block)
            tags.append(np.full(len(block), k))
        T, tag = self.transform(np.concatenate(rows)), np.concatenate(tags)
        owner = np.full(T.shape[1], -1)
        for k in range(len(self.space.features)):
            first, last = np.split(T[tag == k], 2)
            moved = ~(_same(first, T[0]) & _same(last, T[1])).all(axis=0)
            if (moved & (owner >= 0)).any():
                raise UnreadableError  # a column that follows two features
            owner[moved] = k
        return owner

    def _edges(self) -> dict[int, Array]:
        every = Trees.joined([one for part in self.trees for one in part])
        if any(int(k) in self.lattices for k in self.owner[every.column[list(every.sets)]]):
            raise UnreadableError  # codes that the space takes for numbers
        plain = np.setdiff1d(every.inner, list(every.sets))
        samples = {
            k: np.unique(np.rint(np.linspace(one.first, one.last, _SAMPLES)))
            for k, one in self.lattices.items()
        }
        T = self.packed({k: self.lattices[k].values(places) for k, places in samples.items()})
        found = [np.empty((0, 7))]  # feature, column, threshold, places before and after, values there
        for j, k in enumerate(self.owner.tolist()):
            if k in samples:
                thresholds = np.unique(every.threshold[plain[every.column[plain] == j]])
                places, x = samples[k], T[: len(samples[k]), j]
                below = x <= thresholds[:, None]
                t, s = np.nonzero(below[:, 1:] != below[:, :-1])
                ends = places[s], places[s + 1], x[s], x[s + 1]
                found.append(np.stack([np.full(len(t), k), np.full(len(t), j), thresholds[t], *ends], axis=1))
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
        tries = [guess, guess + 1, guess - wide, guess + wide]
        while len(live := np.flatnonzero(high - low > 1.5)):
            middle = np.floor(tries.pop(0)[live] if tries else (low[live] + high[live]) / 2)
            middle = np.clip(middle, low[live] + 1, high[live] - 1)
            wanted, row = dict[int, Array](), np.zeros(len(live), dtype=np.intp)
            for k in np.unique(owner[live]).tolist():
                own = np.flatnonzero(owner[live] == k)
                places, row[own] = np.unique(middle[own], return_inverse=True)
                wanted[k] = self.lattices[k].values(places)
            before = (self.packed(wanted)[row, column[live]] <= threshold[live]) == side[live]
            low[live] = np.where(before, middle, low[live])
            high[live] = np.where(before, high[live], middle)
        return low

    def _firsts(self, k: int) -> Array:
        """Return a value of each cell of a feature: of a number in units."""
        if k not in self.lattices:
            return np.arange(len(self.space.features[k].levels), dtype=float)
        places, lattice = self.places[k], self.lattices[k]
        return lattice.values(
            np.concatenate([places[:1], places + 1]) if len(places) else np.array([lattice.first])
        )

    def _cells(self) -> Cells:
        count = range(len(self.space.features))
        blank = self.transform(self.Z[:1])[0]
        firsts, missing = {k: self._firsts(k) for k in count}, self._missing()
        last, T = blank if missing is None else missing, self.packed(firsts)
        columns = [np.flatnonzero(self.owner == k) for k in count]
        edges = [
            self.lattices[k].between(self.places[k]) if k in self.lattices else np.empty(0) for k in count
        ]
        rows = [np.vstack([T[: len(firsts[k])], last])[:, columns[k]] for k in count]
        return Cells(edges, columns, rows, missing is not None, blank)

    def _missing(self) -> Array | None:
        """Return what becomes (c,) of somebody all of whose values that may be missing are; None where that is refused."""
        row = self.Z[:1].copy()
        for feature in self.space.features:
            if feature.missing:
                row[:, self.space.slices[feature.name]] = 0.0 if feature.kind == "categorical" else np.nan
        try:
            for (_, last), rows in zip(self.parts, self._given(row), strict=True):
                last.predict(rows)
            return np.asarray(self.transform(row)[0])
        except (UnreadableError, ValueError, TypeError):
            return None

    # what comes of it ----------------------------------------------------------------------------------

    def reading(self, classifier: Classifier) -> Reading:
        """Return what was read, compared with the model on rows that are mixed of people's values."""
        space, Z = self.space, mixed(self.space, self.Z, np.random.default_rng(0))
        moved = Z.copy()
        for k, lattice in self.lattices.items():
            values = units(space, k, Z)
            known = ~np.isnan(values)
            # values between two places of a lattice are not told apart
            values = lattice.values(np.rint(values[known] * lattice.power))
            firsts = self._firsts(k)[np.searchsorted(self.cells.edges[k], values)]
            for rows, own in ((Z, values), (moved, firsts)):
                part = rows[known]
                put(space, part, k, own)
                rows[known] = part
        own = classifier.score(Z)
        if not np.allclose(classifier.score(moved), own, rtol=1e-9, atol=1e-9):
            raise UnreadableError
        edges = {k: self.cells.edges[k] for k, feature in enumerate(space.features) if feature.is_number}
        return Reading(edges, self._quick(classifier, Z, own) or classifier)

    def _quick(self, classifier: Classifier, Z: Array, own: Array) -> Classifier | None:
        """Return the model with a quick score; None where that is another one for some of vectors (n, d)."""
        try:
            leaves = Leaves(self.space, [(self.cells, one) for part in self.trees for one in part])
            sums, at, blocks = leaves.sum(Z), 0, list[Block]()
            for (_, last), rows, part in zip(self.parts, self._given(Z), self.trees, strict=True):
                blocks.append(_block(last, rows, slice(at, at + len(part)), sums))
                at += len(part)
            waiting = iter(blocks)
            model = rewired(self.kernel.estimator, lambda *_: next(waiting))
            quick = replace(classifier, kernel=Quick([(self.kernel, model, at)], leaves))
            return quick if np.allclose(quick.score(Z), own, rtol=_OFF, atol=_OFF) else None
        except (UnreadableError, MissingValueError, ValueError, TypeError, AttributeError):
            return None  # a model that looks at more than what its trees say


class _Lattice:
    """The values of a number among which edges are looked for, as people write them: whole places over a power of ten."""

    def __init__(self, feature: Feature, seen: Array) -> None:
        ends = np.array([*(feature.range or ()), *(feature.bounds or ()), *seen[~np.isnan(seen)]])
        low, high = (ends.min(), ends.max()) if len(ends) else (0.0, 0.0)
        digits = _DIGITS - int(np.floor(np.log10((high - low) or 1.0)))
        self.power = 1.0 if feature.kind == "integer" else 10.0**digits
        self.first, self.last = np.floor(low * self.power), np.ceil(high * self.power)

    def values(self, places: Array) -> Array:
        """Return places as values in units."""
        return np.asarray(places / self.power)

    def between(self, places: Array) -> Array:
        """Return what is between places and the next ones, in units."""
        return np.asarray((places + 0.5) / self.power)


def _block(last: Any, rows: Any, columns: slice, sums: Array) -> Block:
    """Return an estimator that says of sums (n, m) of leaves what the fitted one says of rows.

    What boosters start from, and how fast their log-odds rise with the sum, is read off what they say of rows.
    """
    raw = sums[:, columns]
    if not hasattr(last, "predict_proba"):
        said, method = np.asarray(last.predict(rows), dtype=float).reshape(len(sums), -1), "predict"
        made = [Block(last, columns, base=said[0] - raw[0])]
    else:
        said, method = np.asarray(last.predict_proba(rows)), "predict_proba"
        made = [Block(last, columns), _boosted(last, columns, raw, said)]
    for one in made:
        if np.allclose(np.reshape(getattr(one, method)(sums), said.shape), said, rtol=_OFF, atol=_OFF):
            return one
    raise UnreadableError


def _boosted(last: Any, columns: slice, raw: Array, said: Array) -> Block:
    if raw.shape[1] > 1:
        row = said.min(axis=1).argmax()
        base = np.log(np.maximum(said[row], np.finfo(float).tiny)) - raw[row]
        return Block(last, columns, base=base, link="softmax")
    odds = logit(np.clip(said[:, 1], 1e-6, 1 - 1e-6))
    near = np.abs(odds).argmin()
    far = np.where(np.abs(odds) < _FAR, np.abs(raw[:, 0] - raw[near, 0]), 0.0).argmax()
    way = raw[far, 0] - raw[near, 0]
    slope = np.round((odds[far] - odds[near]) / way, 6) if way else 1.0
    return Block(last, columns, slope, odds[near] - slope * raw[near], "logistic")


class Quick:
    """The scores of models of trees, from the leaves that rows reach instead of their pipelines.

    Retrainings are gone through together: one by one the first plan that holds takes .42 s instead of .21 (German, boosting, 20).

    Parameters
    ----------
    models : sequence of (Estimator, model, int)
        Each as it is; as what takes the place of rows is said by it, the sums of its leaves; and how many these are.
    leaves : Leaves
        Of all of them.
    """

    def __init__(self, models: Sequence[tuple[Estimator, Any, int]], leaves: Leaves) -> None:
        self.models, self.leaves = models, leaves

    @classmethod
    def joined(cls, each: Sequence[Quick]) -> Quick:
        """Return several together."""
        sums = [one for quick in each for one in quick.leaves.sums]
        return cls([one for quick in each for one in quick.models], Leaves(each[0].leaves.space, sums))

    def score(self, Z: Array) -> Array:
        """Return what the first model returns of vectors (n, d), (n,)."""
        return np.asarray(self.scores(Z)[0])

    def scores(self, Z: Array) -> Array:
        """Return what each of m models returns of vectors (n, d), (m, n)."""
        if len(Z) == 0:
            return np.empty((len(self.models), 0))
        try:
            sums = np.split(self.leaves.sum(Z), np.cumsum([count for *_, count in self.models])[:-1], axis=1)
        except MissingValueError:
            return np.array([kernel.score(Z) for kernel, *_ in self.models])  # in its own words
        return np.array(
            [
                said_of(model, some, kernel.index, kernel.output)
                for (kernel, model, _), some in zip(self.models, sums, strict=True)
            ]
        )


def mixed(space: ActionSpace, Z: Array, rng: np.random.Generator) -> Array:
    """Return rows (n, d) that nobody has: some features of one person of (n, d), the others of another."""
    other, mask = rng.permutation(len(Z)), rng.random((len(Z), len(space.features))) < 0.5
    owner = np.repeat(np.arange(len(space.features)), [f.width for f in space.features])
    return np.where(mask[:, owner], Z, Z[other])


def _same(a: Array, b: Array) -> Any:
    return (a == b) | (np.isnan(a) & np.isnan(b))
