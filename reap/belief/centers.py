"""Centres of confidence sets, one or thousands at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from reap._errors import unknown
from reap._typing import Array, Bools
from reap.belief.cuts import Reduced, check_size
from reap.belief.spectral import GAP, Problems, Solution, follow

if TYPE_CHECKING:
    from reap.belief.confidence_set import ConfidenceSet

#: The forms of a centre: see `ConfidenceSet.center`.
Form = Literal["chebyshev", "published", "analytic"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True)
class Center:
    """A centre of the set.

    Parameters
    ----------
    matrix : (d, d).
    radius : of the ball around it that the form speaks of.
    bound : no ball of that form is larger than this (a dual certificate).
    """

    matrix: Array
    radius: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the radius may be from the largest one."""
        return max(0.0, self.bound - self.radius) if np.isfinite(self.radius) else 0.0


def solve_many(sets: Sequence[Reduced], form: Form, gap: float = GAP) -> list[Solution]:
    """Return the centres of different sets; those of the same dimension are solved together."""
    for cuts in sets:
        check_size(len(cuts), cuts.dimension)
    out: dict[int, Solution] = {}
    for p in sorted({cuts.dimension for cuts in sets}):
        rows = [i for i, cuts in enumerate(sets) if cuts.dimension == p]
        k, m = max(len(sets[i]) for i in rows), max(sets[i].a.shape[1] for i in rows)
        # A cut that a set does not have is 0 ≤ 1: it binds nothing, and the batch stays rectangular.
        a, b = np.zeros((2, len(rows), k, m, p))
        slack, ball = np.ones((len(rows), k)), np.zeros((len(rows), k))
        for j, i in enumerate(rows):
            cuts = sets[i]
            a[j, : len(cuts), : cuts.a.shape[1]], b[j, : len(cuts), : cuts.a.shape[1]] = cuts.a, cuts.b
            slack[j, : len(cuts)], ball[j, : len(cuts)] = cuts.slack, cuts.ball
        found = solve(a, b, slack, ball, form, gap)
        for j, i in enumerate(rows):
            out[i] = Solution(found.A[j : j + 1], found.r[j : j + 1], found.u[j : j + 1, : len(sets[i])])
    return [out[i] for i in range(len(sets))]


def solve(a: Array, b: Array, slack: Array, ball: Array, form: Form, gap: float = GAP) -> Solution:
    """Return the centres of B sets of k cuts each: factors (B, k, m, p), slack and ball (B, k), as in `Reduced`."""
    B, p = len(slack), a.shape[-1]
    if p == 0:
        radius = np.inf if form == "published" else 0.5
        return Solution(np.zeros((B, 0, 0)), np.full(B, radius), np.zeros((B, slack.shape[1])))
    trace = np.einsum("bkmi,bkmi->bk", a, b)  # tr Mₖ from the factors of the cuts
    if form == "analytic":
        start = _multiple(slack, trace, np.ones_like(slack, dtype=bool), p)
        return follow(Problems(a, b, slack, ball), start, np.zeros(B))
    # A is a multiple of I inside the cuts that bind the centre alone; r is low enough to clear all other cuts.
    A = _multiple(slack, trace, ball == 0, p)
    room = np.where(ball > 0, slack - A[:, :1, 0] * trace, np.inf)
    r = np.min(room, axis=1, initial=0.2) - 0.2
    sigma = float(form == "chebyshev")
    return follow(Problems(a, b, slack, ball, sigma, True), A, r, gap=gap)


def _multiple(slack: Array, trace: Array, which: Bools, p: int) -> Array:
    """Return the multiples τI (B, p, p), τ ≤ ½, that leave half the slack of the cuts in question."""
    share = np.divide(slack, 2.0 * trace, out=np.full_like(slack, 0.5), where=which & (trace > slack))
    out: Array = np.min(share, axis=1, initial=0.5)[:, None, None] * np.eye(p)
    return out


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


def solve_centers(sets: Sequence[ConfidenceSet], form: Form = "chebyshev") -> None:
    """Solve the centres of many sets together; afterwards ``center(form)`` of each of them is at hand.

    One batch takes about a tenth of the time of one solution after the other. Sets whose centre is known are left as
    they are. Sets with equally many answers go together, so that no centre depends on who else is in the batch.

    Examples
    --------
    >>> from reap import ConfidenceSet
    >>> one, two = ConfidenceSet(2), ConfidenceSet(2)
    >>> two.add([1.0, 0.0], [0.0, 1.0])
    >>> solve_centers([one, two])
    >>> round(two.center().radius, 3)
    0.296
    """
    if form not in FORMS:
        raise unknown("form of centre", form, FORMS)
    alike: dict[tuple[int, ...], dict[int, ConfidenceSet]] = {}
    for one in sets:
        if not one.knows(form):
            alike.setdefault(one.reduced.a.shape, {})[id(one)] = one
    for group in alike.values():
        found = solve_many([one.reduced for one in group.values()], form)
        for one, center in zip(group.values(), found, strict=True):
            one.keep(form, center)
