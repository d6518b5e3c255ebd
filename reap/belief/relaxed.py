"""Answers that contradict each other: which to leave out, and which are in tension.

With ε > 0 the set is never empty; contradictions shrink its ball instead. Leaving answers out makes it grow, and the
multipliers say which can matter: leaving out D raises r by at most ``Σ_{k∈D} uₖ (tr(Mₖ)₊ + ‖Mₖ‖/2 − εₖ)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from reap._typing import Array, Bools
from reap.belief import centers
from reap.belief.cuts import Reduced, parallel

#: Gains of radius under this are none.
TOLERANCE = 1e-8
#: Answers whose largest ball, choices taken as strict, is smaller than this contradict each other.
TENSION = 1e-6

Answers = frozenset[int]


@dataclass(frozen=True)
class Search:
    """Result of the branch and bound: the answers to leave out, the radius, its bound, subsets solved."""

    dropped: tuple[int, ...]
    radius: float
    bound: float
    nodes: int


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

    def gains(self, slack: Array, u: Array, gone: Answers) -> dict[int, float]:
        """How much leaving out one more answer can raise the radius, for those that can at all."""
        most = u * np.maximum(self._worth - np.where(np.isfinite(slack), slack, 0.0), 0.0)
        tight = self.all.slack <= slack[self._group]
        out: dict[int, float] = {}
        for k in np.nonzero(tight & ~np.isin(self.all.answer, list(gone)))[0]:
            answer = int(self.all.answer[k])
            out[answer] = out.get(answer, 0.0) + float(most[self._group[k]])
        return {answer: gain for answer, gain in out.items() if gain > TOLERANCE}


def search(cuts: Reduced, violations: int) -> Search:
    """Leave out at most this many answers so that the ball is largest; proven, level by level.

    Only an answer with a cut of positive multiplier can be worth leaving out, so the children of a subset are those;
    a subset whose bound cannot beat the best radius found has none.
    """
    family = _Family(cuts)
    level: set[Answers] = {frozenset()}
    best, radius, nodes, certain = frozenset[int](), -np.inf, 0, np.inf
    for depth in range(violations + 1):
        members = sorted(level, key=sorted)
        slack = family.slack(members)
        found = centers.solve(family.cuts, "chebyshev", slack)
        nodes += len(members)
        for gone, r in zip(members, found.r, strict=True):
            if r > radius + TOLERANCE:
                best, radius = gone, float(r)
        level = set()
        for i, gone in enumerate(members):
            rows = np.nonzero(np.isfinite(slack[i]))[0]
            ceiling = centers.upper_bound(
                family.cuts.take(rows), found.u[i, rows], "chebyshev", slack[i, rows]
            )
            if gone == best:
                certain = ceiling
            gains = family.gains(slack[i], found.u[i], gone)
            reachable = ceiling + sum(sorted(gains.values())[::-1][: violations - depth])
            if min(reachable, 0.5) > radius + TOLERANCE:
                level |= {gone | {answer} for answer in gains}
        if not level:
            break
    return Search(tuple(sorted(best)), radius, max(certain, radius), nodes)


def conflicts(cuts: Reduced, same: Bools, largest: int) -> list[tuple[int, ...]]:
    """Smallest groups of answers that nobody could give together, choices taken as strict.

    Parameters
    ----------
    same : (k,) which cuts come from answers "same": those bind the matrix within ε, not the ball.
    largest : groups of up to this many answers are searched in full; if the answers conflict only in larger groups,
        one of those is given.
    """
    answers = sorted(set(cuts.answer.tolist()))
    found: list[tuple[int, ...]] = []
    # Choices are strict and the ball keeps off them; "same" binds the centre, within ε.
    cuts = replace(cuts, slack=np.where(same, cuts.slack, 0.0), ball=np.where(same, 0.0, 1.0))
    if not answers or not _tense(cuts, [tuple(answers)])[0]:
        return found
    for size in range(1, min(largest, len(answers)) + 1):
        groups = [g for g in combinations(answers, size) if not any(set(f) <= set(g) for f in found)]
        found += [g for g, tense in zip(groups, _tense(cuts, groups), strict=True) if tense]
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
