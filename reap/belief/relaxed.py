"""Answers that contradict each other: which to leave out, and which are in tension.

With ε > 0 the set is never empty; contradictions shrink its ball instead. Leaving answers out makes it grow, and the
multipliers say which can matter: leaving out D raises r by at most ``Σ_{k∈D} uₖ (tr(Mₖ)₊ + ‖Mₖ‖/2 − εₖ)``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from reap._clock import deadline
from reap._errors import InputError
from reap._typing import Array, Bools
from reap.belief import centers
from reap.belief.centers import Center
from reap.belief.cuts import Reduced, check_size, parallel
from reap.belief.spectral import Solution

#: Gains of radius under this are none.
TOLERANCE = 1e-8
#: A bound no further than this above the radius proves it: duality gaps of the centres, not of the search.
PROVEN = 1e-6
#: Seconds that a search over subsets of the answers takes at most, unless another limit is given.
PATIENCE = 10.0
#: Subsets of a search, and groups that may be in tension, that are solved side by side.
BATCH, GROUPS = 32, 256
#: Answers whose largest ball, choices taken as strict, is smaller than this contradict each other.
TENSION = 1e-6

Answers = frozenset[int]


@dataclass(frozen=True)
class RelaxedCenter(Center):
    """The largest ball when some answers may be wrong.

    Parameters
    ----------
    dropped : indices of the answers left out.
    nodes : how many subsets the search solved.
    proven : whether no other subset is better; else time ran out, and `bound` says how much larger a ball can be.
    """

    dropped: tuple[int, ...] = ()
    nodes: int = 1
    proven: bool = True


def allowed(violations: int | float, answers: int) -> int:
    """Return how many of the answers may be left out; a float under 1 is a share of them, rounded down."""
    if isinstance(violations, float) and not violations.is_integer():
        if not 0 <= violations < 1:
            raise InputError(f"violations is {violations}; give a whole number, or a share from 0 to 1")
        return int(np.floor(violations * answers + 1e-9))
    if violations < 0:
        raise InputError(f"violations is {violations}; give 0 or more")
    return min(int(violations), answers)


class Search(NamedTuple):
    """Result of the branch and bound: the answers to leave out, the bound of the radius, subsets solved."""

    dropped: tuple[int, ...]
    bound: float
    nodes: int


@dataclass(frozen=True)
class _Node:
    """A subset of the answers that is left out, those decided to stay, and the largest radius that can come of it."""

    reach: float
    gone: Answers
    stays: Answers

    @property
    def order(self) -> tuple[float, int, list[int]]:
        """Most promising first; among equals the deepest, so that a good subset is known soon."""
        return -self.reach, -len(self.gone), sorted(self.gone)


class _Family:
    """All sets made of a subset of the answers, in the same coordinates, parallel cuts merged."""

    def __init__(self, cuts: Reduced) -> None:
        first = parallel(cuts)
        self._rows, self._group = np.unique(first, return_inverse=True)
        self.all, self.cuts = cuts, cuts.take(self._rows)
        spectrum = np.linalg.eigvalsh(self.cuts.matrices())
        self._worth: Array = np.sum(np.maximum(spectrum, 0.0), axis=1) + 0.5

    def slack(self, dropped: Iterable[Answers]) -> Array:
        """Slack (B, k) of each merged cut when the answers are left out; infinite where nothing is left."""
        out = []
        for gone in dropped:
            kept = ~np.isin(self.all.answer, list(gone))
            room = np.full(len(self._rows), np.inf)
            np.minimum.at(room, self._group[kept], self.all.slack[kept])
            out.append(room)
        return np.array(out)

    def solve(self, slack: Array) -> Solution:
        """Return the Chebyshev centres of sets made of some of the cuts each; infinite slack: the set lacks this cut."""
        cuts, on = self.cuts, np.isfinite(slack)
        check_size(len(cuts), cuts.dimension)
        a, b = (np.where(on[:, :, None, None], X, 0.0) for X in (cuts.a, cuts.b))
        return centers.solve(a, b, np.where(on, slack, 1.0), on * cuts.ball, "chebyshev")

    def gains(self, slack: Array, u: Array, gone: Answers) -> dict[int, float]:
        """How much leaving out one more answer can raise the radius, for those that can at all."""
        most = u * np.maximum(self._worth - np.where(np.isfinite(slack), slack, 0.0), 0.0)
        tight = self.all.slack <= slack[self._group]
        out: dict[int, float] = {}
        for k in np.nonzero(tight & ~np.isin(self.all.answer, list(gone)))[0]:
            answer = int(self.all.answer[k])
            out[answer] = out.get(answer, 0.0) + float(most[self._group[k]])
        return {answer: gain for answer, gain in out.items() if gain > TOLERANCE}


def search(cuts: Reduced, violations: int, time_limit: float | None) -> Search:
    """Leave out at most this many answers so that the ball is largest, most promising subsets first.

    Only an answer with a cut of positive multiplier can be worth leaving out. Sorted by what each can bring, the i-th child of
    a subset leaves the i-th out and keeps those before it, so no subset is met twice; a child whose bound cannot beat the best
    radius found is not solved. When time is over, the bound is that of the best subset not yet looked into.
    """
    family, end = _Family(cuts), deadline(time_limit)
    waiting = [_Node(0.5, frozenset(), frozenset())]
    best, radius, nodes, certain = frozenset[int](), -np.inf, 0, 0.5
    while waiting and (nodes == 0 or time.monotonic() < end):
        waiting.sort(key=lambda node: node.order)
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        slack = family.slack(node.gone for node in batch)
        found = family.solve(slack)
        nodes += len(batch)
        for i, node in enumerate(batch):
            rows = np.nonzero(np.isfinite(slack[i]))[0]
            ceiling = centers.upper_bound(
                family.cuts.take(rows), found.u[i, rows], "chebyshev", slack[i, rows]
            )
            if found.r[i] > radius + TOLERANCE:
                best, radius, certain = node.gone, float(found.r[i]), ceiling
            gains = family.gains(slack[i], found.u[i], node.gone)
            waiting += _children(node, ceiling, gains, violations - len(node.gone))
        waiting = [node for node in waiting if node.reach > radius + TOLERANCE]
    bound = max([certain, radius, *(node.reach for node in waiting)])
    return Search(tuple(sorted(best)), bound, nodes)


def _children(node: _Node, ceiling: float, gains: dict[int, float], left: int) -> list[_Node]:
    """Return the subsets with one more answer left out, where `left` more may be."""
    ordered = sorted((answer for answer in gains if answer not in node.stays), key=lambda a: (-gains[a], a))
    out = []
    for i, answer in enumerate(ordered if left else ()):
        brings = sum(gains[a] for a in ordered[i : i + left])
        reach = min(0.5, node.reach, ceiling + brings)
        out.append(_Node(reach, node.gone | {answer}, node.stays | set(ordered[:i])))
    return out


def conflicts(cuts: Reduced, same: Bools, largest: int, time_limit: float | None) -> list[tuple[int, ...]]:
    """Return the groups that ``ConfidenceSet.conflicts`` tells; ``same`` (k,): which cuts come from answers "same"."""
    end = deadline(time_limit)
    answers = sorted(set(cuts.answer.tolist()))
    found: list[tuple[int, ...]] = []
    # Choices are strict and the ball keeps off them; "same" binds the centre, within ε.
    cuts = replace(cuts, slack=np.where(same, cuts.slack, 0.0), ball=np.where(same, 0.0, 1.0))
    if not answers or not _tense(cuts, [tuple(answers)])[0]:
        return found
    for size in range(1, min(largest, len(answers)) + 1):
        groups = [g for g in combinations(answers, size) if not any(set(f) <= set(g) for f in found)]
        for start in range(0, len(groups), GROUPS):
            if time.monotonic() > end:
                return found
            some = groups[start : start + GROUPS]
            found += [g for g, tense in zip(some, _tense(cuts, some), strict=True) if tense]
    return found or [_shrink(cuts, tuple(answers))]


def _tense(cuts: Reduced, groups: list[tuple[int, ...]]) -> list[bool]:
    """Whether each group of answers leaves no ball."""
    parts = [cuts.take(np.nonzero(np.isin(cuts.answer, group))[0]).narrow() for group in groups]
    # An absolute gap well under the tolerance is enough to tell.
    return [bool(found.r[0] < TENSION) for found in centers.solve_many(parts, "chebyshev", gap=1e-3)]


def _shrink(cuts: Reduced, group: tuple[int, ...]) -> tuple[int, ...]:
    """Drop answers one by one while the rest still conflicts."""
    for answer in group:
        smaller = tuple(a for a in group if a != answer)
        if smaller and _tense(cuts, [smaller])[0]:
            group = smaller
    return group
