"""Exhaustive search: the pair whose cut passes nearest to the estimate, exact at the price of a sort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Ints
from reap.questions.strategy import Choice, Strategy, Task, check_number, first_above

#: Pairs bounded at a time, and how many of them are measured before the others.
_BLOCK, _FIRST = 1 << 14, 256


@dataclass(frozen=True)
class Exhaustive(Strategy):
    """The best of all pairs: the smallest distance ``|⟨A, M_ij⟩| / ‖M_ij‖_F`` of the estimate A to a cut.

    The paper measures all N² pairs. Here options are sorted by effort s, and
    ``|s_i − s_j| / sqrt(‖V_iᵀV_i‖² + ‖V_jᵀV_j‖²)`` is a lower bound of a pair's distance that needs no vectors.
    So a pair can only win if ``|s_i − s_j| < best · √2 · ‖VᵀV‖`` for the larger of the two: every option looks
    at a short window around it, up and down, that shrinks with the best distance so far, and an option of
    huge size widens its own window and no other. The optimum is exact up to rounding; `Choice.examined`
    counts the distances that had to be taken. `Choice.score` is the distance.

    Parameters
    ----------
    min_gap : float
        γ: pairs whose efforts differ by less are not asked, because people cannot tell them apart.
        See `SimilarCost` for how the paper's γ is read.

    Examples
    --------
    >>> moves = np.array([[1.0, 0.0], [0.0, 1.1], [2.0, 0.0], [0.0, 3.0]])
    >>> Exhaustive().choose(moves, np.eye(2) / 2).options
    (0, 1)
    >>> Exhaustive().choose(moves, np.eye(2) / 2, asked=[(1, 0)]).options
    (2, 3)
    """

    min_gap: float = 0.0

    def __post_init__(self) -> None:
        check_number("min_gap", self.min_gap, 0.0)

    def best(self, task: Task) -> Choice | None:
        """Return the nearest pair, or None where every pair was asked."""
        return _Search(task).run(self.min_gap)


class _Search:
    """The nearest unasked pair so far, among options in ascending order of effort."""

    def __init__(self, task: Task) -> None:
        self.task, self.matrix = task, task.matrix
        self.order, self.efforts = task.ascending(self.matrix)
        self.sizes = task.sizes[self.order]
        # Below this a distance is nothing but rounding: no pair can be better, no bound tighter.
        self.floor = 4 * task.dimension * np.finfo(float).eps * float(np.linalg.norm(self.matrix))
        self.best, self.pair, self.examined = np.inf, (-1, -1), 0

    def run(self, min_gap: float) -> Choice | None:
        """Look up, then down, from every option, starting with partners `min_gap` away."""
        row, above = np.arange(len(self.order)), first_above(self.efforts, min_gap)
        self.scan(row, above, 1)
        self.scan(row, np.searchsorted(above, row, side="right") - 1, -1)
        if not np.isfinite(self.best):
            return None
        return Choice((min(self.pair), max(self.pair)), self.best, self.examined)

    def scan(self, row: Ints, partner: Ints, step: int) -> None:
        """Compare each row with its partners, one `step` after the other, until its window closes."""
        width = 1
        while self.best > self.floor:
            inside = (partner >= 0) & (partner < len(self.order))
            row, partner = row[inside], partner[inside]
            if np.isfinite(self.best):
                gaps = np.abs(self.efforts[partner] - self.efforts[row])
                still = gaps < self.bar * np.sqrt(2 * self.sizes[row])
                row, partner = row[still], partner[still]
            if not row.size:
                return
            i, j = np.repeat(row, width), (partner[:, None] + step * np.arange(width)).ravel()
            inside = (j >= 0) & (j < len(self.order))
            self.compare(i[inside], j[inside])
            partner = partner + step * width
            width = max(1, min(2 * width, _BLOCK // row.size))

    @property
    def bar(self) -> float:
        """What a pair's bound must stay under to be looked at."""
        return self.best + 2 * self.floor

    def compare(self, i: Ints, j: Ints) -> None:
        """Weigh the pairs at these positions: the most promising first, which mostly settles the rest."""
        bounds = np.abs(self.efforts[i] - self.efforts[j]) / np.sqrt(self.sizes[i] + self.sizes[j])
        if len(bounds) > _FIRST:
            first = np.argpartition(bounds, _FIRST)[:_FIRST]
            self.measure(i[first], j[first])
            bounds[first] = np.inf
        left = bounds < self.bar
        self.measure(i[left], j[left])

    def measure(self, i: Ints, j: Ints) -> None:
        """Take the distances of the pairs at these positions and keep the best."""
        i, j = self.order[i], self.order[j]
        scores = self.task.distances(self.matrix, i, j)
        self.examined += len(scores)
        pairs = np.column_stack([i, j])
        scores[self.task.clash(pairs)] = np.inf
        k = self.task.lowest(scores, pairs)
        if k is not None and scores[k] < self.best:
            self.best, self.pair = float(scores[k]), (int(i[k]), int(j[k]))
