"""The next question: exhaustive search against all pairs, and the default strategy on a pool of plans."""

from __future__ import annotations

import numpy as np

from benchmarks._harness import Row, median_seconds
from reap import effort
from reap.belief import Posterior
from reap.questions import Decision, Exhaustive, Information, SimilarCost


def brute_force(moves, A, rows=256):
    """Least ``|s_i − s_j| / ‖M_ij‖`` of all pairs, vectorised: upper triangle, in blocks."""
    n = len(moves)
    squares = effort.size(moves)
    efforts = effort.of_change(A, moves)
    best = np.inf, (0, 0)
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        dots = moves[start:stop] @ moves[start:].T
        norms = squares[start:stop, None] ** 2 + squares[None, start:] ** 2 - 2 * dots**2
        gaps = np.abs(efforts[start:stop, None] - efforts[None, start:])
        low = np.tril_indices(stop - start)
        gaps[low], norms[low] = np.inf, 1.0
        scores = gaps / np.sqrt(norms)
        i, j = np.unravel_index(scores.argmin(), scores.shape)
        if scores[i, j] < best[0]:
            best = float(scores[i, j]), (start + int(i), start + int(j))
    return best


def run(quick: bool) -> list[Row]:
    """Exhaustive search, then the time of one choice for each strategy that values plans."""
    rng = np.random.default_rng(0)
    n, d = (2_000 if quick else 10_000), 10
    moves, G = rng.normal(size=(n, d)), rng.normal(size=(d, d))
    A = G @ G.T / np.linalg.norm(G, 2) ** 2
    choice, (least, pair) = Exhaustive().choose(moves, A), brute_force(moves, A)
    same = choice.options == pair and np.isclose(choice.score, least, rtol=1e-6)
    ours = median_seconds(lambda: Exhaustive().choose(moves, A), repeats=15)
    theirs = median_seconds(lambda: brute_force(moves, A), repeats=3, warmup=0)
    heuristic = median_seconds(lambda: SimilarCost().choose(moves, A), repeats=15)
    rows = [
        Row.speedup(
            "exhaustive question, N=10,000, d=10",
            "vectorised brute force",
            ours,
            theirs,
            at_least=None if quick else 100,
            note=f"{'same optimum' if same else 'ANOTHER OPTIMUM'}, {choice.examined:,} of {n * (n - 1) // 2:,} pairs",
        ),
        Row.limit(
            "exhaustive against similar cost, N=10,000, d=10", ours / heuristic, "×", peer="similar cost"
        ),
    ]

    plans = [rng.normal(size=(rng.integers(1, 5), d)) for _ in range(60)]
    belief = Posterior(d)
    burden = rng.integers(1, d, (60, 60)).astype(float)
    for options in (2, 4):
        strategy = Decision(options=options, min_gain=0.0)
        spent = median_seconds(lambda s=strategy: s.choose(plans, belief, burden=burden), repeats=15)
        rows.append(
            Row.limit(f"decision, 60 plans, 500 particles, {options} options", spent * 1e3, "ms", at_most=10)
        )
    spent = median_seconds(lambda: Information().choose(plans, belief), repeats=3 if quick else 7)
    rows.append(Row.limit("information, 60 plans, 500 particles, 2 options", spent * 1e3, "ms"))
    return rows
