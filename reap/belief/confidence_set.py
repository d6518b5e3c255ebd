"""All effort matrices that agree with the answers."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Self

import numpy as np

from reap import effort
from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import centers, relaxed, worst_case
from reap.belief.answers import Answer, Moves, Others, as_moves
from reap.belief.centers import Center, Form
from reap.belief.cuts import Cut, Reduced, reduce
from reap.belief.relaxed import PATIENCE, RelaxedCenter
from reap.belief.spectral import Solution
from reap.belief.worst_case import WorstCasePlan, WorstCases


class ConfidenceSet:
    """All matrices ``0 ⪯ A ⪯ I`` under which every preferred option asks at most ε more than the other.

    An answer that prefers moves P to moves O is the cut ``⟨A, PᵀP − OᵀO⟩ ≤ ε``. Every problem about the set is solved
    exactly, in the space that the answers' moves span, so the time it takes does not grow with the number of columns.

    Parameters
    ----------
    dimension : number of encoded columns d.
    epsilon : ε > 0, how much more effort a preferred option may ask: what a person cannot tell apart.

    Examples
    --------
    >>> beliefs = ConfidenceSet(2)
    >>> beliefs.center().matrix
    array([[0.5, 0. ],
           [0. , 0.5]])
    >>> beliefs.add([1.0, 0.0], [0.0, 1.0])  # the first column is easier to change
    >>> center = beliefs.center()
    >>> center.matrix.round(3), round(center.radius, 3)
    (array([[0.296, 0.   ],
           [0.   , 0.704]]), 0.296)
    >>> beliefs.worst_case(np.eye(2)).costs.round(6)
    array([1., 1.])
    """

    def __init__(self, dimension: int, epsilon: float = 0.01) -> None:
        if int(dimension) != dimension or dimension < 1:
            raise InputError(f"dimension is {dimension}; give the number of encoded columns, at least 1")
        if not (np.isfinite(epsilon) and epsilon > 0):
            raise InputError(f"epsilon is {epsilon}; give a positive number, for example 0.01")
        self.dimension = int(dimension)
        self.epsilon = float(epsilon)
        self.answers: list[Answer] = []
        self._cuts: tuple[Cut, ...] = ()
        self._reduced: Reduced | None = None
        #: By form: the centre, and its matrix (p, p) in reduced coordinates.
        self._known: dict[Form, tuple[Center, Array]] = {}

    def __len__(self) -> int:
        return len(self.answers)

    def __repr__(self) -> str:
        return f"ConfidenceSet(dimension={self.dimension}, epsilon={self.epsilon}, answers={len(self)})"

    def copy(self) -> Self:
        """Return an independent copy; cheap, because answers and solutions are never changed in place."""
        other = copy.copy(self)
        other.answers, other._known = self.answers.copy(), self._known.copy()
        return other

    def without(self, answers: Iterable[int]) -> Self:
        """Return the set of all other answers, nothing solved."""
        other, left_out = type(self)(self.dimension, self.epsilon), set(answers)
        for i, answer in enumerate(self.answers):
            if i not in left_out:
                other._learn(answer)
        return other

    # Answers ----------------------------------------------------------------------------------------------------

    def add(self, preferred: Moves, other: Moves) -> None:
        """Add one answer: `preferred` asks no more effort than `other`; moves (d,) or (s, d).

        Examples
        --------
        >>> beliefs = ConfidenceSet(2)
        >>> beliefs.add([1, 0], [[0, 1], [1, 1]])
        >>> len(beliefs)
        1
        """
        self._choice(preferred, [other])

    def add_same(self, a: Moves, b: Moves) -> None:
        """Add one answer: `a` and `b` ask the same effort, within ε (two cuts)."""
        self.update_same([a, b])

    def update(self, chosen: Moves, others: Others) -> None:
        """Add one answer: `chosen` asks no more effort than each of `others` (moves, or a list of moves)."""
        several = isinstance(others, (list, tuple)) and any(np.ndim(other) for other in others)
        self._choice(chosen, list(others) if several else [others])

    def update_same(self, options: Sequence[Moves]) -> None:
        """Add one answer: all options ask the same effort, within ε."""
        if len(options) < 2:
            raise InputError(f"'same' compares {len(options)} option(s); give at least 2")
        self._learn(Answer("same", tuple(as_moves(option, self.dimension) for option in options)))

    def _choice(self, chosen: Moves, others: Sequence[object]) -> None:
        first = as_moves(chosen, self.dimension, "the preferred option")
        rest = [as_moves(other, self.dimension, "the other option") for other in others]
        if not rest:
            raise InputError("an answer compares at least 2 options; give the options that were not chosen")
        self._learn(Answer("preferred", (first, *rest)))

    def _learn(self, answer: Answer) -> None:
        first, *rest = answer.options
        pairs = permutations(answer.options, 2) if answer.kind == "same" else ((first, o) for o in rest)
        made = (Cut.of(p, o, len(self.answers)) for p, o in pairs)
        cuts = [cut for cut in made if cut.norm > 0]
        if not cuts:
            raise InputError(
                "the options are identical or ask the same effort of everybody, so the answer says nothing; "
                "compare options that differ"
            )
        self.answers.append(answer)
        self._cuts, self._reduced, self._known = (*self._cuts, *cuts), None, {}

    @property
    def reduced(self) -> Reduced:
        """The distinct cuts, in the coordinates of their span."""
        if self._reduced is None:
            self._reduced = reduce(self._cuts, self.dimension, self.epsilon)
        return self._reduced

    # Centres ----------------------------------------------------------------------------------------------------

    def center(self, form: Form = "chebyshev") -> Center:
        """Return a centre of the set, with the radius of its ball: a second or less up to 40 columns.

        Parameters
        ----------
        form :
            "chebyshev", the largest Frobenius ball inside the set: maximise r over ``rI ⪯ A ⪯ (1−r)I`` and
            ``⟨A, Mₖ⟩ + r‖Mₖ‖ ≤ ε``, since a ball of radius r keeps inside ``0 ⪯ A ⪯ I`` exactly if its centre keeps r
            away from both bounds. With no answer it is I/2, radius ½.
            "published", Theorem 1 of the paper, which keeps the ball off the cuts only: ``0 ⪯ A ⪯ I`` and the cuts. Its
            first answers can mislead. With no answer: I/2, radius infinite.
            "analytic", the maximum of the product of all distances; its radius is that of the ball around it.

        Notes
        -----
        Where the optimum is not unique, the centre is the point of the central path at a relative duality gap of 1e-8.
        The paper's displayed definition is the centre of the smallest *enclosing* ball; its theorem, like this method,
        is about the largest ball inside.
        """
        if form not in centers.FORMS:
            raise unknown("form of centre", form, centers.FORMS)
        if not self.knows(form):
            self.keep(form, centers.solve_many([self.reduced], form)[0])
        known = self._known[form][0]
        return Center(known.matrix.copy(), known.radius, known.bound)

    def knows(self, form: Form) -> bool:
        """Whether this centre has been solved for."""
        return form in self._known

    def keep(self, form: Form, found: Solution) -> None:
        """Keep a centre that was solved for, alone or in a batch."""
        cuts, B, r = self.reduced, found.A[0], float(found.r[0])
        if form == "analytic":
            spectrum = np.linalg.eigvalsh(B)
            r = float(min([0.5, *spectrum, *(1 - spectrum), *(cuts.slack - cuts.values(B))]))
        center = Center(cuts.lift(B), r, centers.upper_bound(cuts, found.u[0], form))
        self._known[form] = center, B

    def _point(self, form: Form) -> Array:
        """Return the matrix (p, p) of a centre in reduced coordinates."""
        self.center(form)
        return self._known[form][1]

    def estimate(self) -> Array:
        """Return the Chebyshev centre (d, d), the matrix to plan with."""
        return self.center().matrix

    def contains(self, A: Array, tolerance: float = 1e-8) -> bool:
        """Whether A (d, d) is in the set, or at most `tolerance` (Frobenius) outside each of its walls."""
        matrix = np.asarray(A, dtype=np.float64)
        if matrix.shape != (self.dimension, self.dimension):
            raise InputError(f"A has shape {matrix.shape}; give ({self.dimension}, {self.dimension})")
        if not np.allclose(matrix, matrix.T, rtol=0, atol=max(tolerance, 1e-12)):
            return False
        spectrum = np.linalg.eigvalsh(matrix)
        # aᵀAb of the factors, as in ``Reduced.values``
        over = [float(np.sum((cut.a @ matrix) * cut.b)) - self.epsilon / cut.norm for cut in self._cuts]
        return bool(max([-spectrum[0], spectrum[-1] - 1, *over]) <= tolerance)

    # Worst cases ------------------------------------------------------------------------------------------------

    def worst_case(self, V: Array) -> WorstCases:
        """Return the largest effort ``max vᵀAv`` over the set for each of n separate directions.

        Parameters
        ----------
        V : (n, d) or (d,), one direction a row. The sum over the steps of a plan bounds its worst case from above.

        Examples
        --------
        >>> beliefs = ConfidenceSet(2, epsilon=0.01)
        >>> beliefs.add([2.0, 0.0], [1.0, 0.0])  # nobody's true preference: it forces the first column to be easy
        >>> beliefs.worst_case([[1.0, 0.0], [0.0, 3.0]]).costs.round(4).tolist()
        [0.0033, 9.0]
        """
        rows = as_moves(V, self.dimension, "V")
        if not self.answers:
            return worst_case.without_cuts(rows)
        return worst_case.directions(
            self.reduced, rows, self._point("published"), lambda: self._point("analytic")
        )

    def worst_case_plan(self, moves: Moves) -> WorstCasePlan:
        """Return the largest effort ``max ⟨A, VᵀV⟩`` over the set of a whole plan V (s, d), with one matrix for all steps.

        Examples
        --------
        >>> beliefs = ConfidenceSet(2)
        >>> beliefs.worst_case_plan([[1.0, 0.0], [0.0, 1.0]]).cost
        2.0
        """
        V = as_moves(moves, self.dimension, "the plan")
        size = float(effort.size(V.ravel()))
        if size == 0 or not self.answers:
            return WorstCasePlan(size, size, effort.identity(self.dimension))
        return worst_case.plan(self.reduced, V, self._point("analytic"))

    # Contradictions ---------------------------------------------------------------------------------------------

    def relaxed_center(
        self, violations: int | float, *, time_limit: float | None = PATIENCE
    ) -> RelaxedCenter:
        """Return the largest ball when some answers may be wrong, and which: proven optimal by branch and bound.

        Parameters
        ----------
        violations : how many answers may be left out; a float under 1 is a share of them, rounded down.
        time_limit : seconds after which no more subsets are looked at: `proven` is False then, and the `bound` holds.
            Answers that contradict each other throughout leave exponentially many. None: to the end.

        Examples
        --------
        >>> beliefs = ConfidenceSet(2)
        >>> beliefs.add([1.0, 0.0], [0.0, 1.0])
        >>> beliefs.add([0.0, 1.0], [1.0, 0.0])
        >>> beliefs.add([0.0, 1.0], [1.1, 0.0])
        >>> beliefs.relaxed_center(violations=1).dropped
        (0,)
        """
        allowed = relaxed.allowed(violations, len(self))
        if not allowed:
            known = self.center()
            return RelaxedCenter(known.matrix, known.radius, known.bound)
        found = relaxed.search(self._every, allowed, time_limit)
        known = self.without(found.dropped).center()
        bound = max(found.bound, known.radius)
        proven = found.bound <= known.radius + relaxed.PROVEN
        return RelaxedCenter(known.matrix, known.radius, bound, found.dropped, found.nodes, proven)

    def conflicts(self, largest: int = 3, *, time_limit: float | None = PATIENCE) -> list[tuple[int, ...]]:
        """Return the smallest groups of answers in tension, to show to the person: tuples of indices of answers.

        A group is in tension if nobody could give these answers together: a preferred option strictly easier, "same"
        within ε. Groups are minimal; all up to `largest` answers are found, and if the only ones are larger, one.
        After `time_limit` seconds those found by then are returned.

        Examples
        --------
        >>> beliefs = ConfidenceSet(2)
        >>> beliefs.add([1.0, 0.0], [0.0, 1.0])
        >>> beliefs.add([0.0, 1.0], [1.0, 0.0])
        >>> beliefs.conflicts()
        [(0, 1)]
        """
        if largest < 1:
            raise InputError(
                f"largest is {largest}; give the size of the largest groups to look for, at least 1"
            )
        same = np.array([self.answers[cut.answer].kind == "same" for cut in self._cuts], dtype=bool)
        return relaxed.conflicts(self._every, same, largest, time_limit)

    @property
    def _every(self) -> Reduced:
        """All cuts in the coordinates of their span, parallel ones too: each belongs to an answer."""
        return reduce(self._cuts, self.dimension, self.epsilon, distinct=False)
