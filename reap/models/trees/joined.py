"""The leaves of several ensembles side by side: where a row lies is looked up once, and all trees are gone through at once.

Each ensemble has edges of its own. Between two edges of *any* of them none can tell a number's values apart, so one search
among all edges finds the cell of every member.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reap._typing import Array, Ints
from reap.models.trees.places import Places
from reap.models.trees.scoring import LeafWords
from reap.models.trees.values import units

if TYPE_CHECKING:
    from reap.models.trees.reader import Reader

#: Words that are worked on at a time, so that they stay in the processor's cache.
_WORDS = 50_000


class Joined:
    """Several ensembles, each of one member and with its leaves in words, in one space.

    Parameters
    ----------
    readers : sequence of Reader
    leaves : sequence of LeafWords
        Of the readers.

    Attributes
    ----------
    edges : dict
        Of each number all members' edges, (r,).
    rows : list of (cells, m)
        For each feature, for each of its cells (the last: a missing value) and each member the row of its table.
    tables : list of (rows, words)
        For each feature all members' tables, one below the other, after a row that rules nothing out.
    """

    def __init__(self, readers: Sequence[Reader], leaves: Sequence[LeafWords]) -> None:
        self.space, self.base = readers[0].space, np.array([one.base[0] for one in leaves])
        self.width = max(one.width for one in leaves)
        # most boosters have at most 31 leaves a tree: half as wide words take half the time
        short = not any((one.always >> np.uint64(32)).any() for one in leaves)
        self._bits = 32 if short else 64
        self._word: np.dtype[Any] = np.dtype(f"uint{self._bits}")
        values = np.zeros((len(leaves), self.width, self._bits + 1))
        self.always = np.zeros((len(leaves), self.width), dtype=self._word)
        for i, one in enumerate(leaves):
            values[i, : one.width] = one.values[:, : self._bits + 1]
            self.always[i, : one.width] = one.always
        self._values = values.ravel()
        self._begin = (self._bits + 1) * np.arange(self.always.size, dtype=np.int32).reshape(
            self.always.shape
        )
        self.edges: dict[int, Array] = {}
        self.rows: list[Ints] = []
        self.tables: list[Any] = []
        for k in range(len(readers[0].cells)):
            self._join(k, readers, leaves)
        used = [k for k, table in enumerate(self.tables) if len(table) > 1]
        self._places = Places([self.space.slices[f.name] for f in self.space.features], self._cell, used)

    def _join(self, k: int, readers: Sequence[Reader], leaves: Sequence[LeafWords]) -> None:
        """Put the members' tables of one feature one below the other."""
        table = [np.full((1, self.width), np.iinfo(self._word).max, dtype=self._word)]
        number = any(k in one.lattices for one in readers)
        edges = np.unique(np.concatenate([one.cells[k].edges for one in readers]))
        cells = len(edges) + 1 if number else max(len(self.space.features[k].levels), 1)
        rows, begin = np.zeros((cells + 1, len(readers)), dtype=np.intp), 1
        for i, (reader, one) in enumerate(zip(readers, leaves, strict=True)):
            own = one.tables[k]
            if own is None:
                continue
            own_edges = reader.cells[k].edges
            place = (
                np.append(np.searchsorted(own_edges, edges), len(own_edges)) if number else np.arange(cells)
            )
            rows[:, i] = begin + np.append(place, len(own) - 1)
            table.append(np.zeros((len(own), self.width), dtype=self._word))
            table[-1][:, : one.width] = own
            begin += len(own)
        if number:
            self.edges[k] = edges
        self.rows.append(rows)
        self.tables.append(np.concatenate(table))

    def _cell(self, k: int, Z: Array) -> Ints:
        """Return in which cell one feature of vectors (n, d) lies, (n,)."""
        values = units(self.space, k, Z)
        missing = np.isnan(values)
        if k in self.edges:
            places = np.searchsorted(self.edges[k], values)
        else:
            places = np.where(missing, 0, values).astype(np.intp)
        if missing.any():
            places[missing] = len(self.rows[k]) - 1
        return np.asarray(places)

    def raw(self, Z: Array) -> Array:
        """Return the raw scores (n, m) of vectors (n, d)."""
        out = np.repeat(self.base[None], len(Z), axis=0)
        if len(Z) == 0:
            return out
        places = self._places.of(Z)
        same = (places == places[0]).all(axis=0)
        word, varying = self.always, []
        for k, table in enumerate(self.tables):
            if len(table) == 1:
                continue
            if same[k]:
                word = word & table[self.rows[k][places[0, k]]]
            else:
                varying.append(k)
        size = max(1, _WORDS // word.size)
        for begin in range(0, len(Z), size):
            part = places[begin : begin + size]
            words = np.repeat(word[None], len(part), axis=0)
            for k in varying:
                words &= self.tables[k][self.rows[k][part[:, k]]]
            out[begin : begin + size] += self._reached(words)
        return out

    def _reached(self, words: Any) -> Array:
        """Return what the leaves that remain are worth, (n, m), of words (n, m, w)."""
        # the exponent of a power of two is the number of its bit; 0 has exponent 0 here, and no value
        if self._bits == 32:
            power = words.astype(np.float32).view(np.int32) >> 23
            np.maximum(power, 126, out=power)
            power += self._begin - 126
        else:
            power = words.astype(float).view(np.int64) >> 52
            np.maximum(power, 1022, out=power)
            power += self._begin - 1022
        return np.asarray(self._values.take(power) @ np.ones(self.width))
