"""Centres of confidence sets, one or thousands at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from reap._typing import Array, Bools
from reap.belief.cuts import Reduced, check_size
from reap.belief.path import GAP, Solution, follow
from reap.belief.spectral import Problems

#: The forms of a centre: see `ConfidenceSet.center`.
Form = Literal["chebyshev", "published", "analytic"]
FORMS: tuple[Form, ...] = get_args(Form)


def solve(cuts: Reduced, form: Form, slack: Array | None = None, *, deadline: float = np.inf) -> Solution:
    """Return the centres of B sets, each made of some of the k cuts. All use the same coordinates, those of ``cuts``.

    Parameters
    ----------
    cuts : the k cuts there are.
    form : which centre.
    slack : ``ε/‖M‖`` (B, k) of each cut in each set. Infinite: the set does not have this cut. By default there is one
        set, with all cuts.
    deadline : time of ``time.monotonic`` at which to stop with what there is.
    """
    check_size(len(cuts), cuts.dimension)
    rooms = cuts.slack[None] if slack is None else slack
    on = np.isfinite(rooms)
    # A cut that is left out becomes 0 ≤ 1: it binds nothing, and the batch stays rectangular.
    a, b = (np.where(on[:, :, None, None], X, 0.0) for X in (cuts.a, cuts.b))
    return _solve(a, b, np.where(on, rooms, 1.0), on * cuts.ball, form, deadline=deadline)


def solve_many(sets: Sequence[Reduced], form: Form, gap: float = GAP) -> list[Solution]:
    """Centres of many different sets; those of the same dimension are solved together."""
    for cuts in sets:
        check_size(len(cuts), cuts.dimension)
    out: dict[int, Solution] = {}
    for p in sorted({cuts.dimension for cuts in sets}):
        rows = [i for i, cuts in enumerate(sets) if cuts.dimension == p]
        k, m = max(len(sets[i]) for i in rows), max(sets[i].a.shape[1] for i in rows)
        a, b = np.zeros((2, len(rows), k, m, p))
        slack, ball = np.ones((len(rows), k)), np.zeros((len(rows), k))
        for j, i in enumerate(rows):
            cuts = sets[i]
            a[j, : len(cuts), : cuts.a.shape[1]], b[j, : len(cuts), : cuts.a.shape[1]] = cuts.a, cuts.b
            slack[j, : len(cuts)], ball[j, : len(cuts)] = cuts.slack, cuts.ball
        found = _solve(a, b, slack, ball, form, gap)
        for j, i in enumerate(rows):
            out[i] = Solution(found.A[j : j + 1], found.r[j : j + 1], found.u[j : j + 1, : len(sets[i])])
    return [out[i] for i in range(len(sets))]


def _solve(
    a: Array,
    b: Array,
    slack: Array,
    ball: Array,
    form: Form,
    gap: float = GAP,
    deadline: float = np.inf,
) -> Solution:
    B, p = len(slack), a.shape[-1]
    if p == 0:
        radius = np.inf if form == "published" else 0.5
        return Solution(np.zeros((B, 0, 0)), np.full(B, radius), np.zeros((B, slack.shape[1])))
    trace = np.einsum("bkmi,bkmi->bk", a, b)  # tr Mₖ from the factors of the cuts
    if form == "analytic":
        everywhere = np.ones_like(slack, dtype=bool)
        start = _multiple(slack, trace, everywhere, p)
        return follow(Problems(a, b, slack, ball), start, np.zeros(B), deadline=deadline)
    # A is a multiple of I inside the cuts that bind the centre alone; r is low enough to clear all other cuts.
    A = _multiple(slack, trace, ball == 0, p)
    room = np.where(ball > 0, slack - A[:, :1, 0] * trace, np.inf)
    r = np.min(room, axis=1, initial=0.2) - 0.2
    sigma = float(form == "chebyshev")
    return follow(Problems(a, b, slack, ball, sigma, True), A, r, gap=gap, deadline=deadline)


def _multiple(slack: Array, trace: Array, which: Bools, p: int) -> Array:
    """Return the multiples τI (B, p, p), τ ≤ ½, that leave half the slack of the cuts in question."""
    share = np.divide(slack, 2.0 * trace, out=np.full_like(slack, 0.5), where=which & (trace > slack))
    out: Array = np.min(share, axis=1, initial=0.5)[:, None, None] * np.eye(p)
    return out


def multiple(cuts: Reduced, form: Form) -> tuple[Array, float]:
    """Return a multiple of I (p, p) that is in the set whatever the cuts, and the radius of its ball: what needs no solving."""
    trace = np.einsum("kmi,kmi->k", cuts.a, cuts.b)  # tr Mₖ from the factors of the cuts
    everywhere = np.ones((1, len(cuts)), dtype=bool)
    B = _multiple(cuts.slack[None], trace[None], everywhere, cuts.dimension)[0]
    share = float(B[0, 0]) if len(B) else 0.5
    walls = [share] if form == "chebyshev" else []
    return B, float(min([*walls, *(cuts.slack - share * trace)], default=np.inf))


def upper_bound(cuts: Reduced, u: Array, form: Form, slack: Array | None = None) -> float:
    """Certify that no ball is larger: weak duality for multipliers u (k,) ≥ 0 of the normalised cuts.

    With ``X = Σ uₖMₖ`` the Lagrangian is ``ε·u + tr X₋ + r(1 − Σu − Σ|λ(X)|)``, the last sum only where the ball keeps
    off the spectral bounds (and then r ≤ ½); u is scaled until r cannot escape.
    """
    if form == "analytic" or not len(cuts):
        return np.inf if form == "published" else 0.5
    p = cuts.dimension
    X = (cuts.a * u[:, None, None]).reshape(-1, p).T @ cuts.b.reshape(-1, p)
    spectrum = np.linalg.eigvalsh(0.5 * (X + X.T))
    weight = float(np.sum(u)) + (float(np.sum(np.abs(spectrum))) if form == "chebyshev" else 0.0)
    room = cuts.slack if slack is None else slack
    bound = float(room @ u - np.sum(np.minimum(spectrum, 0.0)))
    if form == "published":
        return bound / weight if weight > 0 else np.inf
    scale = 1.0 / max(1.0, weight)
    return scale * bound + 0.5 * (1.0 - scale * weight)
