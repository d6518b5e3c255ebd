"""Centres and worst cases of confidence sets, against cvxpy + Clarabel, Clarabel's own API, and SCS."""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from functools import partial

import clarabel
import cvxpy as cp
import numpy as np
import scs
from scipy import sparse

from benchmarks._harness import Row, median_seconds, save_plot
from reap import effort
from reap._typing import Array
from reap.belief import ConfidenceSet, centers

EPSILON = 0.01
#: Hoped for against cvxpy. Reached are 2.2 to 3.0, and in a batch 14.8 to 23, by the machine and its hour: printed as missed. A
#: single centre takes 25 steps of about 280 calls on matrices of 10 × 10: LAPACK is 10 % of its time, in a batch 33 %. The rest
#: is calls and products of small matrices, which only compiled code would save; pieces of 64 to 500 are no faster than 1,000.
SINGLE, BATCH = 4.0, 25.0
#: Both sides are single-threaded: processor time is fair to both when the machine has other work.
_seconds = partial(median_seconds, clock=time.process_time)
END_TO_END = "cvxpy + Clarabel, end to end"


def run(quick: bool) -> list[Row]:
    rng = np.random.default_rng(0)
    repeats = 3 if quick else 9
    rows = [*_single(rng, repeats), *_batch(rng, 100 if quick else 1000)]
    rows += _own_apis(rng, repeats)
    rows += _columns(rng, repeats)
    rows += _worst_cases(rng, 100 if quick else 1000, 3 if quick else 25)
    if not quick:
        _plot(rng)
    return rows


def person_and_answers(d: int, answers: int, rng: np.random.Generator) -> ConfidenceSet:
    """A set made by a random person's choices between random one-step options."""
    G = rng.normal(size=(d, d))
    A = G @ G.T / np.linalg.eigvalsh(G @ G.T)[-1]
    belief = ConfidenceSet(d, EPSILON)
    for _ in range(answers):
        belief.add(*sorted(rng.normal(size=(2, d)) * np.sqrt(2 / d), key=lambda v: float(v @ A @ v)))
    return belief


def matrices(belief: ConfidenceSet) -> list[Array]:
    return [effort.gram(a.options[0]) - effort.gram(a.options[1]) for a in belief.answers]


def fresh(belief: ConfidenceSet) -> ConfidenceSet:
    """The same answers with nothing solved yet; the peers, too, get their matrices ready."""
    return belief.without(())


# Peers ---------------------------------------------------------------------------------------------------------


def cvxpy_center(M: list[Array]) -> float:
    d = len(M[0])
    A, r = cp.Variable((d, d), symmetric=True), cp.Variable()
    walls = [A - r * np.eye(d) >> 0, (1 - r) * np.eye(d) - A >> 0]
    cuts = [cp.trace(m @ A) + r * float(np.linalg.norm(m)) <= EPSILON for m in M]
    problem = cp.Problem(cp.Maximize(r), walls + cuts)
    return float(problem.solve(solver=cp.CLARABEL))


def cvxpy_worst(M: list[Array], v: Array) -> float:
    d = len(v)
    A = cp.Variable((d, d), symmetric=True)
    cuts = [cp.trace(m @ A) <= EPSILON for m in M]
    problem = cp.Problem(cp.Maximize(v @ A @ v), [A >> 0, np.eye(d) - A >> 0, *cuts])
    return float(problem.solve(solver=cp.CLARABEL))


def _triangle(d: int, *, upper: bool) -> tuple[Array, Array]:
    columns, rows = np.tril_indices(d)
    if upper:  # Clarabel: the upper triangle, column by column
        return rows, columns
    columns, rows = np.triu_indices(d)  # SCS: the lower triangle, column by column
    return rows, columns


def _svec(M: Array, *, upper: bool) -> Array:
    rows, columns = _triangle(len(M), upper=upper)
    return np.where(rows == columns, 1.0, np.sqrt(2.0)) * M[rows, columns]


def _ready(M: list[Array], *, upper: bool) -> tuple[Array, sparse.csc_matrix, Array]:
    """The centre as ``min q·x, b − Kx in cones`` with x = (svec A, r), everything assembled."""
    d = len(M[0])
    n, eye = d * (d + 1) // 2, _svec(np.eye(d), upper=upper)
    cuts = np.array([[*_svec(m, upper=upper), np.linalg.norm(m)] for m in M])
    identity, wall = sparse.identity(n), sparse.csc_matrix(eye[:, None])
    K = sparse.vstack([cuts, sparse.hstack([-identity, wall]), sparse.hstack([identity, wall])])
    q = np.zeros(n + 1)
    q[n] = -1.0
    return q, sparse.csc_matrix(K), np.concatenate([np.full(len(M), EPSILON), np.zeros(n), eye])


def clarabel_center(M: list[Array]) -> Callable[[], float]:
    q, K, b = _ready(M, upper=True)
    cones = [clarabel.NonnegativeConeT(len(M)), *[clarabel.PSDTriangleConeT(len(M[0]))] * 2]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    P = sparse.csc_matrix((len(q), len(q)))
    return lambda: -float(clarabel.DefaultSolver(P, q, K, b, cones, settings).solve().obj_val)


def scs_center(M: list[Array]) -> Callable[[], float]:
    q, K, b = _ready(M, upper=False)
    data, cone = {"A": K, "b": b, "c": q}, {"l": len(M), "s": [len(M[0])] * 2}
    return lambda: -float(scs.SCS(data, cone, verbose=False).solve()["info"]["pobj"])


# Rows ----------------------------------------------------------------------------------------------------------


def _single(rng: np.random.Generator, repeats: int) -> list[Row]:
    belief = person_and_answers(10, 10, rng)
    M = matrices(belief)
    ours = _seconds(lambda: fresh(belief).center(), repeats=repeats)
    theirs = _seconds(lambda: cvxpy_center(M), repeats=repeats)
    note = (
        f"{_agreement(belief.center().radius, cvxpy_center(M))}; {_profile(lambda: fresh(belief).center())}"
    )
    return [
        Row.speedup("centre, d=10, 10 cuts, single", END_TO_END, ours, theirs, at_least=SINGLE, note=note)
    ]


def _batch(rng: np.random.Generator, size: int) -> list[Row]:
    sets = [person_and_answers(10, 10, rng) for _ in range(size)]

    def ours() -> None:
        centers.solve_many([fresh(belief).reduced for belief in sets], "chebyshev")

    some = [matrices(belief) for belief in sets[:10]]
    each = _seconds(ours, repeats=3, warmup=0) / size
    theirs = _seconds(lambda: [cvxpy_center(M) for M in some], repeats=3) / len(some)
    found = centers.solve_many([belief.reduced for belief in sets[:10]], "chebyshev")
    note = f"{_agreement([float(f.r[0]) for f in found], [cvxpy_center(M) for M in some])}; {_profile(ours)}"
    return [
        Row.speedup(
            "centre, d=10, 10 cuts, batch of 1,000", END_TO_END, each, theirs, at_least=BATCH, note=note
        )
    ]


def _own_apis(rng: np.random.Generator, repeats: int) -> list[Row]:
    belief = person_and_answers(40, 10, rng)
    M = matrices(belief)
    ours = _seconds(lambda: fresh(belief).center(), repeats=repeats)
    exact, rough = clarabel_center(M), scs_center(M)
    name = "centre, d=40, 10 cuts"
    return [
        Row.speedup(
            f"{name}: Clarabel",
            "Clarabel's own API, matrices ready",
            ours,
            _seconds(exact, repeats=3),
            at_least=40,
            note=_agreement(belief.center().radius, exact()),
        ),
        Row.speedup(
            f"{name}: SCS",
            "SCS's own API, matrices ready, default accuracy",
            ours,
            _seconds(rough, repeats=3),
            at_least=3,
            note=_agreement(belief.center().radius, rough()),
        ),
    ]


def _columns(rng: np.random.Generator, repeats: int) -> list[Row]:
    few, many = (person_and_answers(d, 5, rng) for d in (10, 1000))
    small = _seconds(lambda: fresh(few).center(), repeats=repeats)
    large = _seconds(lambda: fresh(many).center(), repeats=repeats)
    name = "centre, 5 one-step cuts, d=1000 against d=10"
    return [Row(name, large / small, "× the time", 3.0, "at most", "itself", large, small)]


def _worst_cases(rng: np.random.Generator, directions: int, compared: int) -> list[Row]:
    belief = person_and_answers(10, 10, rng)
    M, V = matrices(belief), rng.normal(size=(directions, 10))
    ours = _seconds(lambda: fresh(belief).worst_case(V), repeats=5)
    found = belief.worst_case(V)
    # The hard ones take part in the comparison of accuracy, whichever the sample is.
    hard = np.argsort(found.costs / effort.size(V))[: max(3, compared // 3)]
    sample = np.unique(np.concatenate([hard, np.arange(compared)]))
    reference: list[float] = []

    def loop() -> None:
        reference[:] = [cvxpy_worst(M, v) for v in V[sample]]

    theirs = _seconds(loop, repeats=3, warmup=0) / len(sample) * directions
    free = float(np.mean(found.costs == effort.size(V)))
    note = f"{_agreement(found.costs[sample], reference)}; {free:.0%} free"
    peer = f"cvxpy + Clarabel loop (timed on {len(sample)})"
    rows = [
        Row.speedup("worst case, 1,000 directions, d=10, 10 cuts", peer, ours, theirs, at_least=50, note=note)
    ]
    # Directions that no free answer decides: the solver alone.
    kept = V[found.costs < effort.size(V)]
    solver = _seconds(lambda: belief.worst_case(kept), repeats=5) / len(kept)
    rows.append(
        Row.speedup("worst case, a direction that is not free, in a batch", peer, solver, theirs / directions)
    )
    return rows


def _profile(call: Callable[[], object]) -> str:
    """Where the time goes: Newton steps, and the shares of LAPACK and of everything that is Python and NumPy calls."""
    profile = cProfile.Profile()
    profile.runcall(call)
    entries = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    total = sum(entry[2] for _, entry in entries)
    lapack = sum(entry[2] for key, entry in entries if key[2] in ("eigh", "eigvalsh", "inv", "svd"))
    steps = sum(entry[1] for key, entry in entries if key[2] == "_advance")
    calls = sum(entry[1] for _, entry in entries)
    return f"{steps} steps, LAPACK {lapack / total:.0%} of the time, {calls:,} calls"


def _agreement(ours: object, theirs: object) -> str:
    """Largest relative difference, in words."""
    a, b = np.atleast_1d(ours), np.atleast_1d(theirs)
    return f"equal to {np.max(np.abs(a - b) / np.abs(b)):.0e}"


def _plot(rng: np.random.Generator) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), sharey=True)
    for axis, sizes, label in (
        (axes[0], [(d, 10) for d in (2, 4, 7, 10, 15, 20, 30, 100, 300, 1000)], "columns d, 10 cuts"),
        (axes[1], [(10, k) for k in (1, 2, 5, 10, 20, 40, 80, 160)], "cuts, d = 10"),
    ):
        x = [d if axis is axes[0] else k for d, k in sizes]
        sets = [person_and_answers(d, k, rng) for d, k in sizes]
        ours = [_seconds(lambda s=s: fresh(s).center(), repeats=3) for s in sets]
        axis.loglog(x, np.multiply(ours, 1e3), marker="o", label="reap")
        for name, solve, largest in (("Clarabel's API", clarabel_center, 30), (END_TO_END, _delayed, 20)):
            some = [(s, size) for s, size in zip(sets, x, strict=True) if s.dimension <= largest]
            times = [_seconds(solve(matrices(s)), repeats=3) for s, _ in some]
            axis.loglog([size for _, size in some], np.multiply(times, 1e3), marker=".", label=name)
        axis.set_xlabel(label)
    axes[0].set_ylabel("centre, ms (one thread)")
    axes[0].legend(frameon=False, fontsize=8)
    save_plot(figure, "belief")
    plt.close(figure)


def _delayed(M: list[Array]) -> Callable[[], float]:
    return lambda: cvxpy_center(M)
