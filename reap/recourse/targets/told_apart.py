"""Scores of a whole listing by what the trees tell apart: rows are not made for that, only counted by their cells.

Of seven thousand rows that somebody could become, a model of trees tells some hundred apart. What a row scores follows from the
cell of each of its values and, where clocks go on meanwhile, from the months that its slowest action takes.
"""

from __future__ import annotations

import numpy as np

from reap import _clock
from reap._typing import Array, Ints
from reap.models.trees.scoring import Scoring, row_codes
from reap.recourse.targets.enumeration import Listing

#: Numbers for each of a set of them, up to which those that occur are ticked off instead of sorted.
_SPARSE = 16


def scores(listing: Listing) -> Array | None:
    """Return the logits (n,) of all rows of a listing; None where rows have to be made to know them.

    That is so where a rule or a formula ties values together, and of a model that was not read, or has too many leaves.
    """
    problem = listing.problem
    space, kernel = problem.space, problem.classifier.kernel
    if not isinstance(kernel, Scoring) or not kernel.quick or not len(listing):
        return None
    if space.rules or any(feature.derived is not None for feature in space.features):
        return None
    _clock.check()
    rows, begins = _singles(listing)
    places = kernel.reader.places(rows)
    clocks = space.encoding.owner[space.following]
    features, cells, where = list[Ints](), list[Ints](), list[Ints]()
    for axis, part, place in zip(listing.axes, np.split(places, begins)[1:], listing.where, strict=True):
        if axis.feature not in clocks:  # what waiting asks is in the months
            features.append(np.array([axis.feature]))
            cells.append(part[:, [axis.feature]])
            where.append(place)
    if len(clocks):
        took = space.lengths(problem.z0, rows, waiting=problem.waits).astype(np.intp)
        month, then = _months(listing, np.split(took, begins)[1:])
        features.append(clocks)
        cells.append(kernel.reader.places(then)[:, clocks])
        where.append(month)
    seen, which = _combined(cells, where, len(listing))
    made = np.repeat(places[:1], which.max() + 1, axis=0)
    for own, part, place in zip(features, cells, seen, strict=True):
        made[:, own] = part[place]
    p = kernel.of_cells(made)
    return None if np.isnan(p).any() else problem.classifier.linked(p)[which]


def _singles(listing: Listing) -> tuple[Array, Ints]:
    """Return the person as they are, then with each value of each axis alone, (m, d), and where the rows of each axis begin."""
    counts = [len(axis.values) for axis in listing.axes]
    begins = 1 + np.cumsum([0, *counts])
    rows = np.repeat(listing.problem.z0[None], begins[-1], axis=0)
    for axis, begin, count in zip(listing.axes, begins, counts, strict=False):
        rows[begin : begin + count, axis.columns] = axis.values
    return rows, begins[:-1]


def _months(listing: Listing, took: list[Ints]) -> tuple[Ints, Array]:
    """Return which of the numbers of months that occur each row takes, (n,), and a row (t, d) for each of them.

    ``took``: the months of each value of each axis; actions go on side by side, so the longest counts.
    """
    months = np.zeros(len(listing), dtype=np.intp)
    for own, place in zip(took, listing.where, strict=True):
        if own.any():
            np.maximum(months, own[place], out=months)
    one, which = _distinct(months)
    return which, listing.rows(one)


def _combined(cells: list[Ints], where: list[Ints], count: int) -> tuple[tuple[Ints, ...], Ints]:
    """Return the combinations of cells that occur, by a place of each, and which of them each of ``count`` rows has, (n,).

    ``cells`` are those (k, w) of each value of an axis, ``where`` (n,) the value that a row takes.
    """
    known = [_distinct(row_codes(part)) for part in cells]
    sizes = [len(one) for one, _ in known]
    code, step = np.zeros(count, dtype=np.intp), 1
    for (_, rank), place, size in zip(known, where, sizes, strict=True):
        if size > 1:
            code += (step * rank)[place]
        step *= size
    one, which = _distinct(code)
    at = np.unravel_index(code[one], sizes, order="F") if sizes else ()
    return tuple(some[place] for (some, _), place in zip(known, at, strict=True)), which


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """Return the place of one of each of different numbers, (k,), and which of these each of them is, (n,)."""
    size = int(codes.max(initial=0)) + 1
    if size > _SPARSE * (len(codes) + 64) or codes.min(initial=0) < 0:
        _, one, which = np.unique(codes, return_index=True, return_inverse=True)
        return one, which.ravel()
    place = np.full(size, -1)
    place[codes] = np.arange(len(codes))
    there = place >= 0
    return place[there], (np.cumsum(there) - 1)[codes]
