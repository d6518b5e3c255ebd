"""Centres of confidence sets, one or thousands at a time, each solved for at most once."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from reap._errors import unknown
from reap._typing import Array, Bools
from reap.belief.cuts import Cut, Reduced, check_size, reduce
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


class Solutions:
    """The cuts of a confidence set, and the centres found so far.

    Parameters
    ----------
    cuts : any number of cuts
    dimension : number of encoded columns d
    epsilon : ε of the set
    """

    def __init__(self, cuts: Iterable[Cut], dimension: int, epsilon: float) -> None:
        self.cuts, self.dimension, self.epsilon = tuple(cuts), dimension, epsilon
        #: By form: the centre, and its matrix (p, p) in reduced coordinates.
        self._known: dict[Form, tuple[Center, Array]] = {}

    def __contains__(self, form: Form) -> bool:
        """Whether this centre has been found."""
        return form in self._known

    def copy(self) -> Solutions:
        """Return the same solutions; what is solved later in one of them is not known to the other."""
        other = copy.copy(self)
        other._known = self._known.copy()
        return other

    def with_(self, cuts: Iterable[Cut]) -> Solutions:
        """Return these cuts and more, nothing solved."""
        return Solutions((*self.cuts, *cuts), self.dimension, self.epsilon)

    def without(self, answers: Iterable[int]) -> Solutions:
        """Return the cuts of all other answers, nothing solved."""
        kept = [cut for cut in self.cuts if cut.answer not in answers]
        return Solutions(kept, self.dimension, self.epsilon)

    @cached_property
    def reduced(self) -> Reduced:
        """The distinct cuts, in the coordinates of their span."""
        return reduce(self.cuts, self.dimension, self.epsilon)

    @property
    def every(self) -> Reduced:
        """All cuts in the coordinates of their span, parallel ones too: each belongs to an answer."""
        return reduce(self.cuts, self.dimension, self.epsilon, distinct=False)

    def contains(self, matrix: Array, tolerance: float = 1e-8) -> bool:
        """Whether a matrix (d, d) is in the set, or at most `tolerance` (Frobenius) outside each of its walls."""
        if not np.allclose(matrix, matrix.T, rtol=0, atol=max(tolerance, 1e-12)):
            return False
        spectrum = np.linalg.eigvalsh(matrix)
        if spectrum[0] < -tolerance or spectrum[-1] > 1 + tolerance:
            return False
        # aᵀAb of the factors, as in ``Reduced.values``
        values = (float(np.sum((cut.a @ matrix) * cut.b)) - self.epsilon / cut.norm for cut in self.cuts)
        return all(value <= tolerance for value in values)

    def center(self, form: Form, deadline: float = np.inf) -> Center:
        """Return a centre; after the deadline the best that is certain, which is not kept."""
        if form not in self._known:
            cuts = self.reduced
            found = solve(cuts, form, deadline=deadline)
            if time.monotonic() > deadline:  # perhaps not the end of the path
                B, r = found.A[0], float(found.r[0])
                simple, least = multiple(cuts, form)
                B, r = (B, r) if form == "analytic" or r >= least else (simple, least)
                return self._lifted(form, B, r, found.u[0])
            self.keep(form, found)
        known = self._known[form][0]
        return Center(known.matrix.copy(), known.radius, known.bound)

    def point(self, form: Form) -> Array:
        """Return the matrix (p, p) of a centre in reduced coordinates."""
        self.center(form)
        return self._known[form][1]

    def keep(self, form: Form, found: Solution) -> None:
        """Keep a centre that was solved for, alone or in a batch."""
        B = found.A[0]
        self._known[form] = self._lifted(form, B, float(found.r[0]), found.u[0]), B

    def _lifted(self, form: Form, B: Array, r: float, u: Array) -> Center:
        cuts = self.reduced
        if form == "analytic":
            spectrum = np.linalg.eigvalsh(B)
            r = float(min([0.5, *spectrum, *(1 - spectrum), *(cuts.slack - cuts.values(B))]))
        return Center(cuts.lift(B), r, upper_bound(cuts, u, form))


def solve_centers(sets: Sequence[ConfidenceSet], form: Form = "chebyshev") -> None:
    """Solve the centres of many sets together; afterwards ``center(form)`` of each of them is at hand.

    One batch takes about a tenth of the time of one solution after the other. Sets whose centre is known are left as
    they are. Sets with equally many answers go together, so that no centre depends on who else is in the batch.

    Parameters
    ----------
    sets : any number of sets, of any dimensions
    form : as in `ConfidenceSet.center`

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
    alike: dict[tuple[int, ...], dict[int, Solutions]] = {}
    for one in sets:
        if form not in one.solutions:
            alike.setdefault(one.solutions.reduced.a.shape, {})[id(one.solutions)] = one.solutions
    for group in alike.values():
        todo = list(group.values())
        found = solve_many([solutions.reduced for solutions in todo], form)
        for solutions, center in zip(todo, found, strict=True):
            solutions.keep(form, center)
