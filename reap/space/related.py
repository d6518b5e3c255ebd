"""Columns of a table that repeat others, or follow from them by arithmetic: nobody changes one of these alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Bools, Frame

#: Rows looked at, and how far a column may be from a formula, of its spread.
_ROWS, _EXACT = 1_000, 1e-6
#: Rows on which two columns are tried first: most pairs fail on the first few.
_FIRST = 8
#: The correlation from which two columns are told to move together, and the share of rows that a formula must fit.
_TOGETHER, _FITTING = 0.98, 0.99


@dataclass(frozen=True)
class Relation:
    """One column, and what it follows from.

    Parameters
    ----------
    name : str
    others : tuple of str
    formula : str
        As a derived feature says it; empty where the columns only move together.
    share : float
        The share of rows in which the formula holds; of columns that move together, their correlation.
    """

    name: str
    others: tuple[str, ...]
    formula: str
    share: float


def relations(table: Frame, names: Sequence[str]) -> list[Relation]:
    """Return which of some columns of numbers follow from others of them, each fact once.

    Looked for are multiples of one other column, sums, differences, products and quotients of two, and columns that move
    nearly alike.

    Examples
    --------
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"months": rng.integers(6, 60, 50), "amount": rng.integers(500, 9000, 50)})
    >>> X = X.assign(days=30 * X["months"], rate=X["amount"] / X["months"])
    >>> [(found.name, found.formula) for found in relations(X, list(X))]
    [('days', '30 * months'), ('rate', 'amount / months')]
    """
    known = table[list(names)].dropna()
    if len(known) > _ROWS:
        known = known.iloc[np.sort(np.random.default_rng(0).choice(len(known), _ROWS, replace=False))]
    V = known.to_numpy(dtype=float).T  # (columns, rows)
    if V.shape[1] < 2 * _FIRST:
        return []
    varied = [i for i in range(len(V)) if np.ptp(V[i]) > 0 and np.isfinite(V[i]).all()]
    found, told = list[Relation](), list[frozenset[int]]()
    for i in reversed(varied):  # what is derived usually stands after what it is made of
        others = [j for j in varied if j != i]
        for some, formula, value in _formulas(V, names, i, others):
            facts = frozenset((i, *some))
            fits = _fits(V[i], value)
            if fits >= _FITTING and facts not in told:
                told.append(facts)
                found.append(Relation(names[i], tuple(names[j] for j in some), formula, fits))
                break
    formed = {relation.name for relation in found}
    found += _moving_together(V, names, [i for i in varied if names[i] not in formed])
    return sorted(found, key=lambda relation: list(names).index(relation.name))


def _formulas(
    V: Array, names: Sequence[str], i: int, others: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], str, Array]]:
    """Yield formulas that give a column in its first rows: the columns they are of, the words, the values (rows,)."""
    for j in others:
        slope = np.ptp(V[i]) / np.ptp(V[j]) * (1.0 if np.corrcoef(V[i], V[j])[0, 1] > 0 else -1.0)
        shift = float(np.median(V[i] - slope * V[j]))
        if abs(shift) <= _EXACT * np.ptp(V[i]):
            shift = 0.0
        slope, shift = float(f"{slope:.10g}"), float(f"{shift:.10g}")
        if _begins(V[i], (value := slope * V[j] + shift)):
            times = "" if slope == 1.0 else f"{slope:.10g} * "
            plus = "" if shift == 0.0 else f" {'+' if shift > 0 else '-'} {abs(shift):.10g}"
            yield (j,), f"{times}{_said(names[j])}{plus}", value
    ways = {"+": np.add, "*": np.multiply, "-": np.subtract, "/": np.divide}
    for sign, way in ways.items():
        pairs = itertools.combinations(others, 2) if sign in "+*" else itertools.permutations(others, 2)
        for j, k in pairs:
            with np.errstate(divide="ignore", invalid="ignore"):
                if _begins(V[i], way(V[j, :_FIRST], V[k, :_FIRST])):
                    yield (j, k), f"{_said(names[j])} {sign} {_said(names[k])}", way(V[j], V[k])


def _begins(column: Array, value: Array) -> bool:
    """Whether the first rows of a column are those of a formula, nearly all of them."""
    return bool(_near(column, value[:_FIRST]).mean() >= 1 - 1.5 / _FIRST)


def _fits(column: Array, value: Array) -> float:
    return float(_near(column, value).mean())


def _near(column: Array, value: Array) -> Bools:
    gap = np.abs(column[: len(value)] - value)
    return np.asarray(np.isfinite(gap) & (gap <= _EXACT * max(float(np.ptp(column)), 1e-300)))


def _moving_together(V: Array, names: Sequence[str], some: Sequence[int]) -> Iterator[Relation]:
    """Yield columns, out of some, that move nearly as one before them does."""
    for place, i in enumerate(some):
        alike = [(abs(float(np.corrcoef(V[i], V[j])[0, 1])), j) for j in some[:place]]
        if alike and (best := max(alike))[0] >= _TOGETHER:
            yield Relation(names[i], (names[best[1]],), "", best[0])


def _said(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
