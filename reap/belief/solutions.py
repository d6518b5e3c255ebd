"""What has been solved of one list of cuts: its reduced form and its centres, each at most once.

Another answer makes another list, so what is kept here never grows old.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from reap._errors import unknown
from reap._typing import Array
from reap.belief import centers
from reap.belief.cuts import Cut, Reduced, reduce
from reap.belief.path import Solution
from reap.belief.results import Center

if TYPE_CHECKING:
    from reap.belief.confidence_set import ConfidenceSet


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
        self._known: dict[centers.Form, tuple[Center, Array]] = {}

    def __contains__(self, form: centers.Form) -> bool:
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

    def center(self, form: centers.Form, deadline: float = np.inf) -> Center:
        """Return a centre; after the deadline the best that is certain, which is not kept."""
        if form not in self._known:
            cuts = self.reduced
            found = centers.solve(cuts, form, deadline=deadline)
            if time.monotonic() > deadline:  # perhaps not the end of the path
                B, r = found.A[0], float(found.r[0])
                simple, least = centers.multiple(cuts, form)
                B, r = (B, r) if form == "analytic" or r >= least else (simple, least)
                return self._lifted(form, B, r, found.u[0])
            self.keep(form, found)
        known = self._known[form][0]
        return Center(known.matrix.copy(), known.radius, known.bound)

    def point(self, form: centers.Form) -> Array:
        """Return the matrix (p, p) of a centre in reduced coordinates."""
        self.center(form)
        return self._known[form][1]

    def keep(self, form: centers.Form, found: Solution) -> None:
        """Keep a centre that was solved for, alone or in a batch."""
        B = found.A[0]
        self._known[form] = self._lifted(form, B, float(found.r[0]), found.u[0]), B

    def _lifted(self, form: centers.Form, B: Array, r: float, u: Array) -> Center:
        cuts = self.reduced
        if form == "analytic":
            spectrum = np.linalg.eigvalsh(B)
            r = float(min([0.5, *spectrum, *(1 - spectrum), *(cuts.slack - cuts.values(B))]))
        return Center(cuts.lift(B), r, centers.upper_bound(cuts, u, form))


def solve_centers(sets: Sequence[ConfidenceSet], form: centers.Form = "chebyshev") -> None:
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
    if form not in centers.FORMS:
        raise unknown("form of centre", form, centers.FORMS)
    alike: dict[tuple[int, ...], dict[int, Solutions]] = {}
    for one in sets:
        if form not in one.solutions:
            alike.setdefault(one.solutions.reduced.a.shape, {})[id(one.solutions)] = one.solutions
    for group in alike.values():
        todo = list(group.values())
        found = centers.solve_many([solutions.reduced for solutions in todo], form)
        for solutions, center in zip(todo, found, strict=True):
            solutions.keep(form, center)
