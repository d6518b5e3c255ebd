"""A quick score of trees: the leaves that a row can still reach, as bits.

A feature's value lies in one cell (``trees``), and each cell rules out some leaves. With a tree's leaves as the bits of a word,

    word(row) = AND over features of word_k(cell of feature k)

has one bit left: the leaf that the row reaches (Lucchese et al., "QuickScorer", 2015). Trees of many leaves take several words,
of which one has a bit. Rows of a search are one person's, a little changed, so few features need to be looked at. Several models
are gone through at once: retrainings have edges of their own, and between two edges of *any* of them none tells values apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._typing import Array, Bools, Ints
from reap.models.forests import Trees, UnreadableError
from reap.space import ActionSpace

#: Words of a forest, at most: with more its own compiled trees are as quick. Bytes of the tables of any ensemble, at most.
_WORDS, _BYTES = 1_200, 1 << 28
#: Words that are worked on at a time, so that they stay in the processor's cache; cells times nodes, while tables are made.
_AT_ONCE, _MADE = 50_000, 1 << 21
#: Features in which rows may differ from the one that is remembered, before another one is.
_MOVED = 6
#: The lowest bits, so many of them.
_ONES = np.array([(1 << count) - 1 for count in range(65)], dtype=np.uint64)


class MissingValueError(Exception):
    """A value is missing that the model does not take."""


@dataclass(frozen=True, eq=False)
class Cells:
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
        Whether there is that row: the model may refuse missing values.
    """

    edges: Array
    columns: Ints
    rows: Array
    missing: bool


@dataclass(frozen=True, eq=False)
class Table:
    """What a model's trees are given, by the cells of each feature; ``blank`` (c,) where no feature says otherwise."""

    cells: Sequence[Cells]
    blank: Array

    def row(self, k: int) -> Array:
        """Return what trees are given in each cell of a feature, (cells, c), of somebody who is blank otherwise."""
        if k < 0:
            return self.blank[None]
        T = np.repeat(self.blank[None], len(self.cells[k].rows), axis=0)
        T[:, self.cells[k].columns] = self.cells[k].rows
        return T


class Leaves:
    """The sums of some trees' leaves, for vectors.

    Parameters
    ----------
    space : ActionSpace
    sums : sequence of (Table, Trees), m of them
        Each with the cells of the model that it belongs to.
    """

    def __init__(self, space: ActionSpace, sums: Sequence[tuple[Table, Trees]]) -> None:
        self.space, self.sums = space, sums
        self._starts = [space.slices[feature.name].start for feature in space.features]
        self._known: tuple[Array, Ints] | None = None  # a row and its cells: one pair, for threads
        tables = list({id(table): table for table, _ in sums}.values())
        self._edges = [
            np.unique(np.concatenate([table.cells[k].edges for table in tables]))
            for k in range(len(space.features))
        ]
        #: Of each feature and each joint cell the cell of each sum's own table; the last is of a missing value.
        self._own = [
            np.stack([self._place(k, table) for table, _ in sums], axis=1) for k in range(len(space.features))
        ]
        self._used = [
            k for k in range(len(space.features)) if any(len(table.cells[k].columns) for table in tables)
        ]
        made = [_Bits(*one) for one in sums]
        self._quick = [i for i, one in enumerate(made) if one.fits]
        self._deep = [i for i, one in enumerate(made) if not one.fits]
        if any(not sums[i][1].grown for i in self._deep):
            raise UnreadableError  # nobody else can be asked without the steps before
        self._join([made[i] for i in self._quick])
        self._refuses = [
            any(not table.cells[k].missing for table in tables) for k in range(len(space.features))
        ]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the row: it is somebody's."""
        return {**self.__dict__, "_known": None}

    def _join(self, made: list[_Bits]) -> None:
        """Put the words of all sums side by side, those of a sum as wide as the widest's."""
        width = max((one.width for one in made), default=0)
        # most boosters have at most 31 leaves a tree: half as wide words take half the time
        self._size = 32 if all(one.size == 32 for one in made) else 64
        kind = np.dtype(f"uint{self._size}")
        zero, span = (
            (126, 159) if self._size == 32 else (0, 65)
        )  # where an exponent is no bit's, and how many there are
        values = np.zeros((len(made), width, span))
        self._always = np.zeros((len(made), width), dtype=kind)
        #: Of each feature what remains, by rows of all sums' tables, and the row of each joint cell and sum.
        self._words, self._rows = list[Any](), list[Ints]()
        for i, one in enumerate(made):
            values[i, : one.width, zero : zero + one.size + 1] = one.values
            self._always[i, : one.width] = one.always
        for k in range(len(self.space.features)):
            parts = [np.full((1, width), np.iinfo(kind).max, dtype=kind)]  # a row that rules nothing out
            first = np.zeros(len(made), dtype=np.intp)
            for i, one in enumerate(made):
                table = one.tables[k]
                if table is not None:
                    first[i] = sum(map(len, parts))
                    parts.append(np.zeros((len(table), width), dtype=kind))
                    parts[-1][:, : one.width] = table
            self._words.append(np.concatenate(parts))
            self._rows.append(np.where(first, first + self._own[k][:, self._quick], 0))
        self._values = values.ravel()
        begin = span * np.arange(self._always.size).reshape(self._always.shape)
        self._begin = begin.astype(np.int32) if self._size == 32 else begin - 1022

    def _place(self, k: int, table: Table) -> Ints:
        """Return which cell of a table each joint cell of a feature is, and last a missing value's."""
        own, last = table.cells[k].edges, len(table.cells[k].rows) - 1
        if not self.space.features[k].is_number:
            return np.append(np.arange(len(self.space.features[k].levels)), last)
        return np.concatenate([np.searchsorted(own, self._edges[k]), [len(own), last]])

    def sum(self, Z: Array, begin: int = 0, end: int | None = None) -> Array:
        """Return the sums (n, m), or some of them, of vectors (n, d)."""
        some = range(len(self.sums))[begin:end]
        out = np.zeros((len(Z), len(some)))
        if len(Z) == 0:
            return out
        places = self.places(Z)
        quick = [j for j, i in enumerate(self._quick) if i in some]
        if quick:
            out[:, [self._quick[j] - begin for j in quick]] = self._reached(
                places, slice(quick[0], quick[-1] + 1)
            )
        for i in self._deep:
            if i in some:
                table, trees = self.sums[i]
                T = trees.seen(self._given(table, places, i)).astype(np.float32)
                own = zip(trees.roots, trees.grown, strict=True)
                out[:, i - begin] = np.sum([trees.value[root + one.apply(T)] for root, one in own], axis=0)
        return out

    def places(self, Z: Array) -> Ints:
        """Return the joint cells (n, f) of vectors (n, d). Most rows of a search are one person's, a little changed."""
        known = self._known
        if known is None or self._moved(Z[:1], known[0]).sum() > _MOVED:
            first = np.zeros(len(self.space.features), dtype=np.intp)
            for k in self._used:
                first[k] = self._cell(k, Z[:1])[0]
            known = self._known = Z[0].copy(), first
        out, moved = np.repeat(known[1][None], len(Z), axis=0), self._moved(Z, known[0])
        for k in self._used:
            if moved[k]:
                out[:, k] = self._cell(k, Z)
        return out

    def _moved(self, Z: Array, row: Array) -> Bools:
        """Return which features of any of vectors (n, d) differ from a row (d,), (f,); a missing value always does."""
        return np.asarray(np.logical_or.reduceat((row != Z).any(axis=0), self._starts))

    def _cell(self, k: int, Z: Array) -> Ints:
        values = units(self.space, k, Z)
        missing = np.isnan(values)
        number = self.space.features[k].is_number
        place = (
            np.searchsorted(self._edges[k], values)
            if number
            else np.where(missing, 0, values).astype(np.intp)
        )
        if missing.any():
            if self._refuses[k]:
                raise MissingValueError
            place[missing] = len(self._own[k]) - 1
        return np.asarray(place)

    def _given(self, table: Table, places: Ints, i: int) -> Array:
        """Return what the trees of a sum are given in joint cells (n, f), (n, c)."""
        T = np.repeat(table.blank[None], len(places), axis=0)
        for k in self._used:
            T[:, table.cells[k].columns] = table.cells[k].rows[self._own[k][places[:, k], i]]
        return T

    def _reached(self, places: Ints, some: slice) -> Array:
        """Return what the leaves are worth that are reached from joint cells (n, f), (n, quick sums)."""
        same = (places == places[0]).all(axis=0)
        word, varying, quick = self._always[some], [], self._quick[some]
        for k in self._used:
            if same[k]:
                word = word & self._words[k][self._rows[k][places[0, k], some]]
            elif len(self._words[k]) > 1:
                varying.append((k, self._words[k], self._rows[k][:, some]))
        begin, out, size = (
            self._begin[some],
            np.empty((len(places), len(quick))),
            max(1, _AT_ONCE // word.size),
        )
        for at in range(0, len(places), size):
            part = places[at : at + size]
            words = np.repeat(word[None], len(part), axis=0)
            for k, table, row in varying:
                words &= table[row[part[:, k]]]
            # the exponent of a power of two is the number of its bit; 0 has exponent 0, and no value
            if self._size == 32:
                power = words.astype(np.float32).view(np.int32) >> 23
            else:
                power = words.astype(float).view(np.int64) >> 52
                np.maximum(power, 1022, out=power)
            power += begin
            out[at : at + size] = self._values.take(power) @ np.ones(word.shape[1])
        return out


class _Bits:
    """The leaves of some trees as bits: for each feature and each of its cells those that remain.

    Attributes
    ----------
    fits : bool
        Whether that is worth it; else there is nothing more.
    size, width : int
        Bits of a word; words of all trees.
    tables : list of (cells, width), one a feature; None where no tree looks at it
    always : (width,)
        What remains where only constant columns have spoken.
    values : (width, size + 1)
        The value of each word's bits, 0 where none is set.
    """

    def __init__(self, table: Table, trees: Trees) -> None:
        count = self._number(trees)
        self.size = 32 if count.max() <= 32 else 64
        words = -(-count // self.size)
        self.width = int(words.sum())
        whole = sum(len(one.rows) for one in table.cells if len(one.columns)) * self.width * self.size // 8
        self.fits = whole <= _BYTES and not (trees.grown and self.width > _WORDS)
        if not self.fits:
            return
        start = np.zeros(len(trees.left), dtype=np.intp)
        start[trees.roots] = np.append(0, np.cumsum(words)[:-1])
        self._start = np.maximum.accumulate(start)  # a tree's nodes follow its root
        leaf = np.flatnonzero(trees.left < 0)
        word, bit = self._start[leaf] + self._first[leaf] // self.size, self._first[leaf] % self.size
        self.values = np.zeros((self.width, self.size + 1))
        self.values[word, bit + 1] = trees.value[leaf]
        always = np.zeros(self.width, dtype=np.uint64)
        np.bitwise_or.at(always, word, np.uint64(1) << bit.astype(np.uint64))
        owner = np.full(len(table.blank), -1)
        for k, cells in enumerate(table.cells):
            owner[cells.columns] = k
        owner = owner[trees.column[trees.inner]]
        self.always = self._closed(table.row(-1), trees, trees.inner[owner < 0], always)[0]
        self.tables = [
            self._closed(table.row(k), trees, nodes, always)
            if len(nodes := trees.inner[owner == k])
            else None
            for k in range(len(table.cells))
        ]

    def _number(self, trees: Trees) -> Ints:
        """Number the leaves of each tree from left to right; return how many each has, (t,).

        A node's leaves are ``first`` up to, not including, ``first + count``.
        """
        levels = [trees.roots]
        while len(here := levels[-1][trees.left[levels[-1]] >= 0]):
            levels.append(np.concatenate([trees.left[here], trees.right[here]]))
        count, self._first = np.ones(len(trees.left), dtype=np.intp), np.zeros(len(trees.left), dtype=np.intp)
        for level in reversed(levels):
            inner = level[trees.left[level] >= 0]
            count[inner] = count[trees.left[inner]] + count[trees.right[inner]]
        for level in levels:
            inner = level[trees.left[level] >= 0]
            self._first[trees.left[inner]] = self._first[inner]
            self._first[trees.right[inner]] = self._first[inner] + count[trees.left[inner]]
        self._count = count
        return count[trees.roots]

    def _closed(self, T: Array, trees: Trees, nodes: Ints, always: Any) -> Any:
        """Return which leaves remain (cells, width) by what some nodes say of what they are given in each cell (cells, c)."""
        out, size = np.repeat(always[None], len(T), axis=0), self.size
        T = trees.seen(T)
        for at in range(0, len(nodes), some := max(1, _MADE // len(T))):
            here = nodes[at : at + some]
            left = trees.goes_left(here, T[:, trees.column[here]].T)
            for child, shut in ((trees.right[here], left), (trees.left[here], ~left)):
                low = self._first[child]
                high = low + self._count[child]
                spans = (high - 1) // size - low // size + 1
                which = np.repeat(np.arange(len(here)), spans)
                block = (
                    np.arange(len(which)) - np.repeat(np.cumsum(spans) - spans, spans) + low[which] // size
                )
                bits = _ONES[np.clip(high[which] - size * block, 0, size)]
                bits = bits ^ _ONES[np.clip(low[which] - size * block, 0, size)]
                word = self._start[child[which]] + block
                order = np.argsort(word, kind="stable")
                begins = np.flatnonzero(np.diff(word[order], prepend=-1))
                off = np.where(shut[which[order]], bits[order, None], np.uint64(0))
                out[:, word[order][begins]] &= ~np.bitwise_or.reduceat(off, begins, axis=0).T
        return out


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
