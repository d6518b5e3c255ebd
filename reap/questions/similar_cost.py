"""Similar effort, the paper's heuristic (it says "cost"): compare options of about the same effort."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from reap._typing import Array, Ints
from reap.questions.strategy import Choice, Strategy, Task, check_number, check_options, first_above


@dataclass(frozen=True)
class SimilarCost(Strategy):
    """Neighbours in the order of effort, whose cut passes nearest to the estimate of the effort matrix.

    Options are sorted by their effort s under the estimate A; each window of k neighbours is scored by the
    average over its k − 1 adjacent pairs of ``|s_i − s_j| / ‖M_ij‖_F``, the distance of A to the cut
    ``⟨A, M_ij⟩ = 0``; the lowest average wins, in O(N log N). `Choice.score` is that average.

    Parameters
    ----------
    options : int
        Options to a question, k; fewer where no window of k is left.
    min_gap : float
        γ, "the disparity between their costs": neighbours whose efforts differ by less are near-ties, which
        people answer by chance, and are not asked. The text can also be read as a least *distance* to the
        cut; we take the words for what they say, a difference of efforts under A. Where no window of
        neighbours qualifies (all near-ties, or all asked), each option is paired with the nearest one that
        asks at least γ more, then with the one after it, and so on, until a question is found.

    References
    ----------
    The paper's section "Recourse-Pair Determination", "Multiple-option Questions" for k options, and
    "Heuristics to address human inconsistencies" for γ.

    Examples
    --------
    >>> moves = np.array([[1.0, 0.0], [0.0, 1.1], [2.0, 0.0], [0.0, 3.0]])
    >>> SimilarCost().choose(moves, np.eye(2) / 2).options
    (0, 1)
    >>> SimilarCost(options=3).choose(moves, np.eye(2) / 2).options
    (0, 1, 2)
    >>> SimilarCost(min_gap=1.0).choose(moves, np.eye(2) / 2).options
    (2, 3)
    """

    options: int = 2
    min_gap: float = 0.0

    def __post_init__(self) -> None:
        check_options(self.options)
        check_number("min_gap", self.min_gap, 0.0)

    def best(self, task: Task) -> Choice | None:
        """Return the best window, or None where nothing is left to ask."""
        matrix, examined = task.matrix, 0
        order, efforts = task.ascending(matrix)
        for size in range(min(self.options, len(order)), 1, -1):
            for width, steps in enumerate(_steps(efforts, self.min_gap)):
                windows = order[_windows(steps, size)]
                if width and not len(windows):
                    break
                pairs = zip(windows.T[:-1], windows.T[1:], strict=True)
                scores = np.mean([task.distances(matrix, i, j) for i, j in pairs], axis=0)
                examined += len(scores)
                scores[task.clash(windows)] = np.inf
                best = task.lowest(scores, windows)
                if best is not None:
                    return Choice(tuple(sorted(windows[best].tolist())), float(scores[best]), examined)
        return None


def _steps(efforts: Array, min_gap: float) -> Iterator[Ints]:
    """Yield, for ever wider windows, the position (n,) that follows each position; n where none does.

    First the neighbour, if it is not a near-tie; then the first option that asks at least γ more; then later ones.
    """
    n = len(efforts)
    first, next_one = first_above(efforts, min_gap), np.arange(n) + 1
    if min_gap > 0:
        yield np.where(first == next_one, next_one, n)
    for stride in range(n - 1):
        yield np.minimum(first + stride, n)


def _windows(steps: Ints, size: int) -> Ints:
    """Follow the steps from every position: (m, size), only windows that do not run out of options."""
    n = len(steps)
    onward = np.append(steps, n)
    windows = [np.arange(n)]
    for _ in range(size - 1):
        windows.append(onward[windows[-1]])
    return np.column_stack(windows)[windows[-1] < n]
