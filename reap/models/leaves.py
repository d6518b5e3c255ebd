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

#: Leaves of a word; words of a forest at most: with more its own compiled trees are as quick (Adult, 8,000 rows, 200 trees: 300
#: rows in 3.9 ms, where the pipeline takes 16); bytes of the tables of any trees.
_BITS, _WORDS, _BYTES = 32, 2_400, 1 << 28
#: Words that are worked on at a time, so that they stay in the processor's cache; cells times nodes, while tables are made.
_AT_ONCE, _MADE = 50_000, 1 << 21
#: Features in which rows may differ from the one that is remembered, before another one is.
_MOVED = 6
#: The exponents of a single-precision number: of 1, and how many there are up to that of the highest bit.
_ONE, _SPAN = 127, 127 + _BITS
#: The lowest bits, so many of them.
_LOWEST = np.array([(1 << count) - 1 for count in range(_BITS + 1)], dtype=np.uint32)


class MissingValueError(Exception):
    """A value is missing that the model does not take."""


@dataclass(frozen=True, eq=False)
class Cells:
    """What the trees of a model can tell apart, by feature.

    Parameters
    ----------
    edges : sequence of (r,)
        Of a number, in units and rising: cell i holds the values above edge i − 1 and up to edge i. Empty for levels.
    columns : sequence of (c,)
        The columns that follow each feature, of those that trees are given.
    rows : sequence of (cells, c)
        These columns in each cell, or of each level; in one more row, the last, of a missing value.
    takes_missing : bool
        Whether the model takes missing values; else the last row means nothing.
    blank : (c,)
        What trees are given where no feature says otherwise.
    """

    edges: Sequence[Array]
    columns: Sequence[Ints]
    rows: Sequence[Array]
    takes_missing: bool
    blank: Array

    def given(self, k: int) -> Array:
        """Return what trees are given in each cell of a feature, (cells, c), of somebody who is blank otherwise."""
        T = np.repeat(self.blank[None], len(self.rows[k]), axis=0)
        T[:, self.columns[k]] = self.rows[k]
        return T


class Leaves:
    """The sums of some trees' leaves, for vectors.

    Parameters
    ----------
    space : ActionSpace
    sums : sequence of (Cells, Trees), m of them
        Each with the cells of the model that it belongs to.
    """

    def __init__(self, space: ActionSpace, sums: Sequence[tuple[Cells, Trees]]) -> None:
        self.space, self.sums, count = space, sums, range(len(space.features))
        self._starts = [space.slices[feature.name].start for feature in space.features]
        self._known: tuple[Array, Ints] | None = None  # a row and its cells: one pair, for threads
        self._takes_missing = all(cells.takes_missing for cells, _ in sums)
        self._edges = [np.unique(np.concatenate([cells.edges[k] for cells, _ in sums])) for k in count]
        #: Of each feature and each joint cell the cell of each sum's own; the last is of a missing value.
        self._own = [np.stack([self._place(k, cells) for cells, _ in sums], axis=1) for k in count]
        self._used = [k for k in count if any(len(cells.columns[k]) for cells, _ in sums)]
        made = [_bits(*one) for one in sums]
        if any(bits is None and not trees.grown for bits, (_, trees) in zip(made, sums, strict=True)):
            raise UnreadableError  # nobody else can be asked without the steps before
        self._quick = [i for i, bits in enumerate(made) if bits is not None]
        self._join([bits for bits in made if bits is not None])

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the row: it is somebody's."""
        return {**self.__dict__, "_known": None}

    def _place(self, k: int, cells: Cells) -> Ints:
        """Return which cell of a model each joint cell of a feature is, and last a missing value's."""
        own, last = cells.edges[k], len(cells.rows[k]) - 1
        if not self.space.features[k].is_number:
            return np.arange(last + 1)
        return np.concatenate([np.searchsorted(own, self._edges[k]), [len(own), last]])

    def _join(self, made: Sequence[_Bits]) -> None:
        """Put the words of all sums side by side, those of a sum as wide as the widest's."""
        width = max((len(one.always) for one in made), default=0)
        values, self._always = (
            np.zeros((len(made), width, _SPAN)),
            np.zeros((len(made), width), dtype=np.uint32),
        )
        for i, one in enumerate(made):
            values[i, : len(one.always), _ONE:] = one.values
            self._always[i, : len(one.always)] = one.always
        self._values = values.ravel()
        self._begin = (_SPAN * np.arange(self._always.size, dtype=np.int32)).reshape(self._always.shape)
        #: Of each feature what remains, by rows of all sums' tables, and the row of each joint cell and sum; 0 rules nothing out.
        self._words, self._rows = list[Any](), list[Ints]()
        for k, own in enumerate(self._own):
            parts, first = [np.full((1, width), ~np.uint32(0))], np.zeros(len(made), dtype=np.intp)
            for i, one in enumerate(made):
                if k in one.tables:
                    first[i] = sum(map(len, parts))
                    table = one.tables[k]
                    parts.append(np.pad(table, ((0, 0), (0, width - table.shape[1]))))
            self._words.append(np.concatenate(parts))
            self._rows.append(np.where(first, first + own[:, self._quick], 0))

    def sum(self, Z: Array) -> Array:
        """Return the sums (n, m) of vectors (n, d)."""
        out = np.zeros((len(Z), len(self.sums)))
        if len(Z) == 0:
            return out
        cells, moved = self._cells(Z)
        if self._quick:
            out[:, self._quick] = self._reached(cells, moved)
        for i in set(range(len(self.sums))) - set(self._quick):
            model, trees = self.sums[i]
            T = np.repeat(model.blank[None].astype(np.float32), len(Z), axis=0)
            for k in self._used:
                T[:, model.columns[k]] = model.rows[k][self._own[k][cells[:, k], i]]
            own = zip(trees.roots, trees.grown, strict=True)
            out[:, i] = np.sum([trees.value[root + one.apply(T)] for root, one in own], axis=0)
        return out

    def _cells(self, Z: Array) -> tuple[Ints, list[int]]:
        """Return the joint cells (n, f) of vectors (n, d), and the features in which they may differ.

        Most rows of a search are one person's, a little changed: where 30 features are looked at each time, a question takes 1.3
        times as long (breast cancer, boosting).
        """
        known = self._known
        if known is None or self._differ(Z[:1], known[0]).sum() > _MOVED:
            first = np.zeros(len(self._own), dtype=np.intp)
            for k in self._used:
                first[k] = self._cell(k, Z[:1])[0]
            known = self._known = Z[0].copy(), first
        out, differ = np.repeat(known[1][None], len(Z), axis=0), self._differ(Z, known[0])
        moved = [k for k in self._used if differ[k]]
        for k in moved:
            out[:, k] = self._cell(k, Z)
        return out, moved

    def _differ(self, Z: Array, row: Array) -> Bools:
        """Return which features of any of vectors (n, d) differ from a row (d,), (f,); a missing value always does."""
        return np.asarray(np.logical_or.reduceat((row != Z).any(axis=0), self._starts))

    def _cell(self, k: int, Z: Array) -> Ints:
        values = units(self.space, k, Z)
        missing = np.isnan(values)
        if self.space.features[k].is_number:
            place = np.searchsorted(self._edges[k], values)
        else:
            place = np.where(missing, 0, values).astype(np.intp)
        if missing.any():
            if not self._takes_missing:
                raise MissingValueError
            place[missing] = len(self._own[k]) - 1
        return np.asarray(place)

    def _reached(self, cells: Ints, moved: list[int]) -> Array:
        """Return what the leaves are worth that are reached from joint cells (n, f), (n, quick sums)."""
        word, varying = self._always, [k for k in moved if len(self._words[k]) > 1]
        for k in set(self._used) - set(moved):
            word = word & self._words[k][self._rows[k][cells[0, k]]]
        out, size = np.empty((len(cells), len(word))), max(1, _AT_ONCE // word.size)
        for at in range(0, len(cells), size):
            part = cells[at : at + size]
            words = np.repeat(word[None], len(part), axis=0)
            for k in varying:
                words &= self._words[k][self._rows[k][part[:, k]]]
            # the exponent of a power of two is the number of its bit; that of 0 is 0, which has no value
            place = (words.astype(np.float32).view(np.int32) >> 23) + self._begin
            out[at : at + size] = self._values.take(place) @ np.ones(word.shape[1])
        return out


@dataclass(frozen=True, eq=False)
class _Bits:
    """The leaves of some trees as bits.

    Parameters
    ----------
    always : (w,)
        What remains where only constant columns have spoken, in the words of all trees.
    tables : mapping from feature to (cells, w)
        What remains in each of its cells; of features that some tree looks at.
    values : (w, bits)
        What the leaf of each bit is worth.
    """

    always: Array
    tables: dict[int, Array]
    values: Array


def _bits(cells: Cells, trees: Trees) -> _Bits | None:
    """Return trees as bits; None where that is not worth it."""
    # the leaves of each node, numbered from left to right: from first, so many
    levels = [trees.roots]
    while len(here := levels[-1][trees.left[levels[-1]] >= 0]):
        levels.append(np.concatenate([trees.left[here], trees.right[here]]))
    count, first = np.ones(len(trees.left), dtype=np.intp), np.zeros(len(trees.left), dtype=np.intp)
    inner = [level[trees.left[level] >= 0] for level in levels]
    for level in reversed(inner):
        count[level] = count[trees.left[level]] + count[trees.right[level]]
    words = -(-count[trees.roots] // _BITS)
    width, used = int(words.sum()), [len(cells.rows[k]) for k, c in enumerate(cells.columns) if len(c)]
    if sum(used) * width * _BITS // 8 > _BYTES or (trees.grown and width > _WORDS):
        return None
    first[trees.roots] = _BITS * np.append(0, np.cumsum(words)[:-1])
    for level in inner:
        first[trees.left[level]] = first[level]
        first[trees.right[level]] = first[level] + count[trees.left[level]]
    leaf = np.flatnonzero(trees.left < 0)
    values, always = np.zeros(width * _BITS), np.zeros(width * _BITS, dtype=bool)
    values[first[leaf]], always[first[leaf]] = trees.value[leaf], True
    every = np.packbits(always.reshape(width, _BITS), axis=1, bitorder="little").view("<u4")[:, 0]
    owner = np.full(len(cells.blank), -1)
    for k, columns in enumerate(cells.columns):
        owner[columns] = k
    owner = owner[trees.column[trees.inner]]

    def remaining(T: Array, nodes: Ints) -> Array:
        """Return which leaves remain (cells, w) by what nodes say of what they are given in each cell (cells, c)."""
        out = np.repeat(every[None], len(T), axis=0)
        for at in range(0, len(nodes), some := max(1, _MADE // len(T))):
            here = nodes[at : at + some]
            left = trees.goes_left(here, T[:, trees.column[here]].T)
            for child, shut in ((trees.right[here], left), (trees.left[here], ~left)):
                low, high = first[child], first[child] + count[child]
                spans = (high - 1) // _BITS - low // _BITS + 1  # the words of its leaves
                which = np.repeat(np.arange(len(here)), spans)
                word = (
                    np.arange(len(which)) - np.repeat(np.cumsum(spans) - spans, spans) + low[which] // _BITS
                )
                bits = _LOWEST[np.clip(high[which] - _BITS * word, 0, _BITS)]
                bits = bits ^ _LOWEST[np.clip(low[which] - _BITS * word, 0, _BITS)]
                order = np.argsort(word, kind="stable")
                begins = np.flatnonzero(np.diff(word[order], prepend=-1))
                off = np.where(shut[which[order]], bits[order, None], np.uint32(0))
                out[:, word[order][begins]] &= ~np.bitwise_or.reduceat(off, begins, axis=0).T
        return out

    tables = {
        k: remaining(cells.given(k), trees.inner[owner == k]) for k in np.unique(owner[owner >= 0]).tolist()
    }
    always = remaining(cells.blank[None], trees.inner[owner < 0])[0]
    return _Bits(always, tables, values.reshape(width, _BITS))


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
