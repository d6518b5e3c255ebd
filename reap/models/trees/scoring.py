"""Scores of a tree ensemble that was read, without its pipeline: most of the time of a score is spent on frames, not on trees.

Every feature's value lies in one cell, and each cell rules out some leaves. With the leaves of a tree as the bits of a word,

    word(row) = AND over features of word_k(cell of feature k)

has one bit left: the leaf that the row reaches. Trees of many leaves take several words, of which one has a bit.
Where that would be too many words (deep forests) the trees themselves are asked, on the matrix put together from cells.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from reap._arrays import row_keys
from reap._typing import Array, Ints

if TYPE_CHECKING:
    from reap.models.trees.reader import Reader

Words = npt.NDArray[np.uint64] | npt.NDArray[np.uint32]
#: Words of all trees together, at most; and how many are worked on at a time, so that they stay in the processor's cache.
_WORDS, _AT_ONCE = 1_200, 50_000
#: From so many rows on it is worth looking for those that are alike.
_MANY = 500


class Scoring:
    """The probabilities of a model, from what was read of it: equal to its own up to rounding."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader

    def probability(self, Z: Array) -> Array:
        """Return the probability of the target class, (n,)."""
        return self._of(self.reader.places(Z))

    def of(self, seen: list[Array], count: int) -> Array:
        """Return the same of rows whose values are known, as ``Reader.seen`` gives them."""
        return self._of(self.reader.placed(seen, count))

    def _of(self, places: Ints) -> Array:
        return self.reader.forest.combined(_apart(self._score, places))

    def _score(self, places: Ints) -> Array:
        """Return the raw scores (n, members) of cells (n, f)."""
        return self._composed(places) if self.words is None else self.words.raw(places)

    def _composed(self, places: Ints) -> Array:
        """Return the raw scores (n, members) of cells (n, f) by the trees themselves."""
        return self.reader.parts.raw(self.reader.compose(places))

    @property
    def quick(self) -> bool:
        """Whether leaves fit into words: a score then takes microseconds."""
        return self.words is not None

    @cached_property
    def words(self) -> LeafWords | None:
        """The leaves as bits, where they are few enough."""
        forest = self.reader.forest
        leaves = np.add.reduceat(forest.leaf.astype(np.intp), forest.roots)
        return LeafWords(self.reader) if (-(-leaves // 64)).sum() <= _WORDS else None


def _apart(score: Callable[[Ints], Array], places: Ints) -> Array:
    """Return raw scores (n, members) of cells (n, f); rows that the trees cannot tell apart are scored once."""
    if len(places) < _MANY:
        return score(places)
    _, first, which = np.unique(row_codes(places), return_index=True, return_inverse=True)
    return np.asarray(score(places[first])[which.ravel()])


def row_codes(places: Ints) -> Ints:
    """Return a number for each row of cells (n, f), the same for rows that are alike."""
    sizes = places.max(axis=0) + 1
    if sizes.astype(float).prod() >= 2.0**62:
        return row_keys(places.astype(float))
    return np.asarray(places @ np.append(1, np.cumprod(sizes[:-1])))


class LeafWords:
    """For each feature and each of its cells the leaves that remain, as bits.

    Attributes
    ----------
    tables : list of (cells, words), one a feature; None where no tree looks at it
    always : (words,)
        What remains where only constant columns have spoken.
    values : (words, 65)
        The value of each word's bits, 0 where none is set.
    member : (words, members)
        1 where a word belongs to a member's trees.
    """

    def __init__(self, reader: Reader) -> None:
        forest = reader.forest
        self.base = np.array([member.base for member in forest.members])
        first, last, start, width = _ranges(forest.left, forest.right, forest.roots)
        self.width = int(width.sum())
        self.always = np.zeros(self.width, dtype=np.uint64)
        self.values = np.zeros((self.width, 65))
        leaf = np.flatnonzero(forest.leaf)
        word, bit = start[leaf] + first[leaf] // 64, first[leaf] % 64
        self.values[word, bit + 1] = forest.value[leaf]
        self.member = np.zeros((self.width, len(self.base)))
        self.member[word, forest.member[leaf]] = 1.0
        np.bitwise_or.at(self.always, word, np.uint64(1) << bit.astype(np.uint64))
        self.tables: list[Words | None] = []
        inner = np.flatnonzero(~forest.leaf)
        owner = reader.owner[forest.feature[inner]]
        ways = [_words(first, last, start, child) for child in (forest.right, forest.left)]
        blank = reader.blank
        for k in range(-1, len(reader.cells)):
            nodes = inner[owner == k]
            rows = np.repeat(blank, 1 if k < 0 else len(reader.cells[k].rows), axis=0)
            if k >= 0:
                rows[:, reader.cells[k].columns] = reader.cells[k].rows
            table = np.repeat(self.always[None], len(rows), axis=0)
            for node in nodes:
                left = forest.goes_left(np.array([node]), rows[None, :, forest.feature[node]])[0]
                # what lies on the other side is out of reach
                for way, closed in zip((left, ~left), ways, strict=True):
                    for word, bits in closed(node):
                        table[way, word] &= ~bits
            if k < 0:
                self.always = table[0]
            else:
                self.tables.append(table if len(nodes) else None)
        self._shorten()

    def _shorten(self) -> None:
        """Take words of 32 bits where no tree has more leaves, as of most boosters: they take half the time."""
        short = not (self.always >> np.uint64(32)).any()
        self._word: np.dtype[Any] = np.dtype(np.uint32 if short else np.uint64)
        self.always = self.always.astype(self._word)
        self.tables = [None if table is None else table.astype(self._word) for table in self.tables]
        if short:  # by the exponent of a power of two, which is the number of its bit and 127; 0 has exponent 0, and no value
            values = np.zeros((self.width, 127 + 32))
            values[:, 127:] = self.values[:, 1:33]
            self._by_exponent = values.ravel()
            self._begin = values.shape[1] * np.arange(self.width, dtype=np.int32)

    def raw(self, places: Ints) -> Array:
        """Return the raw scores (n, members) of rows whose features lie in cells (n, f)."""
        out = np.repeat(self.base[None], len(places), axis=0)
        if len(places) == 0:
            return out
        same = (places == places[0]).all(axis=0)
        word, varying = self.always, []
        for k, table in enumerate(self.tables):
            if table is None:
                continue
            if same[k]:
                word = word & table[places[0, k]]
            else:
                varying.append(k)
        size = max(1, _AT_ONCE // max(self.width, 1))
        for begin in range(0, len(places), size):
            part = places[begin : begin + size]
            words = np.repeat(word[None], len(part), axis=0)
            for k in varying:
                table = self.tables[k]
                assert table is not None
                words &= table[part[:, k]]
            out[begin : begin + size] += self.reached(words)
        return out

    def reached(self, words: Words) -> Array:
        """Return what the leaves that remain are worth to each member, (n, members), of words (n, words)."""
        if self._word == np.uint32:
            exponent = words.astype(np.float32).view(np.int32) >> 23
            exponent += self._begin
            return np.asarray(self._by_exponent.take(exponent) @ self.member)
        # the same, with exponents that would take a table too long
        power = words.astype(float).view(np.int64) >> 52
        np.maximum(power, 1022, out=power)
        power += 65 * np.arange(self.width) - 1022
        return np.asarray(self.values.ravel()[power] @ self.member)


def _ranges(left: Ints, right: Ints, roots: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Number the leaves of each tree from left to right: those of a node are ``first`` up to, not including, ``last``.

    Returned are (first, last) of each node, the first word of its tree, and how many words each tree takes.
    """
    count = len(left)
    first, last, start = np.zeros(count, np.intp), np.zeros(count, np.intp), np.zeros(count, np.intp)
    width, word = [], 0
    for root in roots:
        stack, number, seen = [int(root)], 0, []
        while stack:
            node = stack.pop()
            seen.append(node)
            first[node] = number
            if left[node] < 0:
                number += 1
                last[node] = number
            else:
                stack += [int(right[node]), int(left[node])]
        for node in reversed(seen):  # children come after their parents
            if left[node] >= 0:
                last[node] = last[right[node]]
        start[seen] = word
        width.append(-(-number // 64))
        word += width[-1]
    return first, last, start, np.array(width)


def _words(first: Ints, last: Ints, start: Ints, child: Ints) -> Any:
    """Return a function that lists, of the child of a node, the words its leaves are in and their bits."""

    def of(node: int) -> list[tuple[int, np.uint64]]:
        a, b, out = int(first[child[node]]), int(last[child[node]]), []
        for block in range(a // 64, (b - 1) // 64 + 1):
            low, high = max(a - 64 * block, 0), min(b - 64 * block, 64)
            out.append((int(start[node]) + block, np.uint64((1 << high) - (1 << low))))
        return out

    return of
