"""How far features move each other, fitted to rows by least squares for a graph that somebody gives.

Each feature that the graph points at gets one linear equation of its causes; only what a *move* brings is kept, so that the rest
of each person, what makes them differ from others like them, stays theirs. Which feature causes which is never guessed here:
rows alone cannot tell a cause from what it causes, and advice that mistakes them is wrong advice. What rows can tell is that a
graph is wrong: what the causes leave unexplained must have nothing to do with anything that is not caused by the feature.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.space.encoding import frame_of
from reap.space.feature import plain
from reap.space.files import section
from reap.space.rules import written

#: Chance of a warning about a graph that is right, over all that is looked at; and correlations that are too small to matter.
_DOUBT, _SLIGHT = 0.01, 0.1
#: How sure an interval is.
_SURE = 0.95


@dataclass(frozen=True)
class Term:
    """What one cause brings: by how much the feature moves when a number rises by one, or where a level is taken."""

    name: str
    level: Any  # of a cause with levels, against the one that most rows have; else None
    slope: float
    low: float  # the ends of its 95 % interval, robust to uneven spread
    high: float

    def __str__(self) -> str:
        """Return it as a formula has it."""
        name = written(self.name)
        return f"{self.slope:.4g} * {name if self.level is None else f'({name} == {self.level!r})'}"

    @property
    def check(self) -> str:
        """What to look at: the interval, and whether it leaves room for nothing at all."""
        named = self.name if self.level is None else f"{self.name} = {self.level}"
        said = f"{named}: {self.slope:.4g} ({self.low:.4g} to {self.high:.4g} in 95 of 100 such tables)"
        return said if self.low * self.high > 0 else f"{said}; it may be nothing at all"


@dataclass(frozen=True)
class Fitted:
    """Linear effects for a graph, one equation for each feature that it points at; see ``effects``.

    Parameters
    ----------
    equations : mapping of feature to its terms
    rows : int
        The rows that were used: those in which nothing is missing.
    doubts : mapping of feature to sentences
        Where the rows contradict the graph.
    """

    equations: Mapping[str, tuple[Term, ...]]
    rows: int
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def formulas(self) -> dict[str, str]:
        """The effect on each feature, as a space says it."""
        return {
            name: " + ".join(map(str, terms)).replace("+ -", "- ") for name, terms in self.equations.items()
        }

    @property
    def features(self) -> dict[str, dict[str, str]]:
        """The effects, as ``ActionSpace.from_frame`` takes them: ``features=``."""
        return {name: {"effect": formula} for name, formula in self.formulas.items()}

    def to_toml(self) -> str:
        """Return the lines for a space file, each with what to check."""
        lines = list[str]()
        for name in dict.fromkeys((*self.equations, *self.doubts)):
            said = [*(term.check for term in self.equations.get(name, ())), *self.doubts.get(name, ())]
            facts = {"effect": self.formulas[name]} if name in self.equations else {}
            lines += [*section(name, facts.items(), [f"check: {one}" for one in said]), ""]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_toml()


def effects(X: Frame, graph: Any) -> Fitted:
    """Return linear effects for a graph of causes, fitted to rows.

    Parameters
    ----------
    X : DataFrame
        Rows of people; those with something missing are left out.
    graph : list of (cause, effect), or networkx.DiGraph
        What moves what. Effects are numbers; causes may have levels.

    Returns
    -------
    Fitted
        ``print`` it for lines of a space file; ``features=fitted.features`` gives them to ``ActionSpace.from_frame``. Where the
        rows contradict the graph a ``UserWarning`` says so, and so do the lines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> income = rng.normal(3000, 800, 500)
    >>> X = pd.DataFrame({"income": income, "savings": 0.2 * income + rng.normal(0, 100, 500)})
    >>> print(effects(X, [("income", "savings")]))
    [features.savings]
    # check: income: 0.2006 (0.1902 to 0.211 in 95 of 100 such tables)
    effect = "0.2006 * income"
    <BLANKLINE>
    """
    X = frame_of(X)
    causes = _causes(graph, [str(column) for column in X.columns])
    try:
        order = list(TopologicalSorter(causes).static_order())
    except CycleError as error:
        circle = " → ".join(map(repr, error.args[1]))
        raise InputError(f"the graph goes round in a circle: {circle}; leave one arrow out") from None
    X = X.set_axis([str(column) for column in X.columns], axis=1)[list(order)].dropna()
    columns = {name: _columns(X, name) for name in order}
    equations, left = dict[str, tuple[Term, ...]](), dict[str, Array]()
    for name in order:
        if not causes[name]:
            left[name] = np.column_stack([values for _, values in columns[name]])
            continue
        if [level for level, _ in columns[name]] != [None]:
            raise InputError(f"{name!r} has levels; only a number can move along with others")
        parts = [(cause, level, values) for cause in causes[name] for level, values in columns[cause]]
        equations[name], left[name] = _equation(name, columns[name][0][1], parts)
    doubts = _doubts(causes, order, columns, left)
    for said in doubts.values():
        for one in said:
            warnings.warn(one, UserWarning, stacklevel=2)
    return Fitted(equations, len(X), doubts)


def _causes(graph: Any, names: list[str]) -> dict[str, list[str]]:
    """Return the causes of each feature of a graph, or say what is wrong with it."""
    edges: Any = getattr(graph, "edges", graph)
    if (edges is graph and isinstance(graph, str | Mapping)) or not isinstance(edges, Iterable):
        raise InputError(
            f"the graph is {graph!r}; give pairs (cause, effect), such as [('income', 'savings')]"
        )
    causes = dict[str, list[str]]()
    for edge in edges:
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) != 2:
            raise InputError(f"{edge!r} is no arrow of the graph; give pairs (cause, effect)")
        for name in edge:
            if name not in names:
                raise unknown("column", name, names)
        cause, effect = edge
        causes.setdefault(cause, [])
        if cause not in causes.setdefault(effect, []):
            causes[effect].append(cause)
    if not causes:
        raise InputError("the graph has no arrows; give pairs (cause, effect), such as ('income', 'savings')")
    return causes


def _columns(X: Frame, name: str) -> list[tuple[Any, Array]]:
    """Return a feature as numbers (n,): itself, or one for each level but that which most rows have."""
    column = X[name]
    numbers = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    if numbers:
        return [(None, column.to_numpy(dtype=float))]
    levels = column.value_counts().sort_values(ascending=False, kind="stable").index[:]
    return [(plain(level), (column == level).to_numpy(dtype=float)) for level in levels[1:]]


def _equation(name: str, y: Array, parts: list[tuple[str, Any, Array]]) -> tuple[tuple[Term, ...], Array]:
    """Return the terms of one equation, and what they leave unexplained, (n, 1)."""
    n, k = len(y), len(parts) + 1
    if n < k + 2:
        raise InputError(f"{n} rows without gaps are too few to fit {name!r} to {k - 1} causes")
    A = np.column_stack([np.ones(n), *(values for _, _, values in parts)])
    scale = np.where(np.ptp(A, axis=0) > 0, np.abs(A).max(axis=0), 1.0)
    A = A / scale
    if np.linalg.matrix_rank(A) < k:
        raise InputError(
            f"the causes of {name!r} cannot be told apart: one of them is constant, or follows from the others"
        )
    inverse = np.linalg.inv(A.T @ A)
    slopes = inverse @ A.T @ y
    rest = y - A @ slopes
    lever = 1 - np.einsum("ni,ij,nj->n", A, inverse, A).clip(0, 1 - 1e-9)
    meat = A.T * (rest / lever) ** 2 @ A  # HC3: rows that pull hard count as much less sure
    wide = stats.t.ppf((1 + _SURE) / 2, n - k) * np.sqrt(np.diag(inverse @ meat @ inverse)) / scale
    slopes = slopes / scale
    terms = tuple(
        Term(cause, level, float(slope), float(slope - half), float(slope + half))
        for (cause, level, _), slope, half in zip(parts, slopes[1:], wide[1:], strict=True)
    )
    return terms, rest[:, None]


# does the graph fit the rows? ---------------------------------------------------------------------------


def _doubts(
    causes: Mapping[str, list[str]],
    order: list[str],
    columns: Mapping[str, list[tuple[Any, Array]]],
    left: Mapping[str, Array],
) -> dict[str, tuple[str, ...]]:
    """Return where what causes leave unexplained goes with something that the feature does not cause."""
    before = dict[str, set[str]]()  # all that comes before a feature, along arrows
    for name in order:
        before[name] = {*causes[name], *(far for near in causes[name] for far in before[near])}
    looked = [
        (name, other)
        for place, name in enumerate(order)
        for other in order[:place] + [o for o in order[place + 1 :] if causes[name]]
        if other not in causes[name] and name not in before[other]
    ]
    found = dict[str, tuple[str, ...]]()
    for name, other in looked:
        values = np.column_stack([each for _, each in columns[other]])
        known = [each for cause in causes[name] for _, each in columns[cause]]
        size, chance = _together(left[name], values, known)
        if size > _SLIGHT and chance * len(looked) < _DOUBT:
            rest = f"what its causes leave of {name!r}" if causes[name] else repr(name)
            said = (
                f"{rest} goes with {other!r} (correlation {size:.2f}), and the graph has no arrow between them: an arrow "
                "may be missing or turned round, or both have a cause that the graph leaves out"
            )
            found[name] = (*found.get(name, ()), said)
    return found


def _together(left: Array, values: Array, known: list[Array]) -> tuple[float, float]:
    """Return how closely columns (n, a) go with others (n, b) beside what is known, and the chance of that by accident."""
    base = np.column_stack([np.ones(len(left)), *known])
    Y, V = (block - base @ np.linalg.lstsq(base, block, rcond=None)[0] for block in (left, values))
    best, least = 0.0, 1.0
    for y in Y.T:
        spread = float(y @ y)
        explained = float(((V @ np.linalg.lstsq(V, y, rcond=None)[0]) ** 2).sum())
        share = explained / spread if spread > 0 else 0.0
        free = len(y) - base.shape[1] - V.shape[1]
        if not 0 < share < 1 or free < 1:
            continue
        chance = float(stats.f.sf(share / V.shape[1] / ((1 - share) / free), V.shape[1], free)) * Y.shape[1]
        best, least = max(best, float(np.sqrt(share))), min(least, chance)
    return best, least
