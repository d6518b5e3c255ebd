"""The plans that could be recommended to one person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from reap import effort
from reap._typing import Array, Bools, Ints
from reap.belief import Belief
from reap.elicitation.comparisons import ROWS, WORTH_A_ROW, Comparisons
from reap.elicitation.minds import beside, extended
from reap.elicitation.options import asked, at, key
from reap.elicitation.parts import Parts
from reap.plan import Plan
from reap.questions import Choice, Strategy
from reap.questions.losing import Losing
from reap.questions.saving import Saving
from reap.questions.shown import Shown
from reap.questions.strategy import Sampled
from reap.recourse.reduce import undominated
from reap.space import ActionSpace, Limits

#: Where a search for plans saved a smaller share of the expected effort, the engine is not asked again for what people choose.
SAVED = 0.005


class Pool:
    """Plans that lead one person to a yes, each once, and none that asks for all that another asks for and more.

    Reducing the loan leads to a yes; reducing the loan *and* finding a guarantor is then no plan to offer, and it leaves when
    the smaller one joins. Paths are exempt: two paths to one row are different plans.

    Parameters
    ----------
    space : ActionSpace
    plans : iterable of Plan
    sizes : (e,) array, optional
        Scales of what people mind besides (``minds.scales``); then ``moves`` have these columns too.

    Attributes
    ----------
    plans : list of Plan
    moves : list of arrays (s, d), what effort is counted of, plan by plan.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [900, 2000, 900, 2500], "debts": [3, 3, 1, 0]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> now, *targets = space.encode(X)
    >>> plans = [Plan(space, np.stack([now, to]), np.array([0.2, 0.8])) for to in targets]
    >>> pool = Pool(space, plans)  # the third raises the income further than the first, and pays debts too
    >>> len(pool), len(pool.new(plans))
    (2, 0)
    """

    def __init__(self, space: ActionSpace, plans: Iterable[Plan] = (), sizes: Array | None = None) -> None:
        self.space, self.sizes = space, sizes
        # What follows from other features, or goes by itself, is not for the person to do.
        self._free = np.ones(space.dimension, dtype=bool)
        self._free[space.following] = False
        self.plans: list[Plan] = []
        self.moves: list[Array] = []
        self._places: dict[bytes, int] = {}
        self.add(plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    def add(self, plans: Iterable[Plan]) -> None:
        """Take plans in, in their order; the ones that ask for more than another leave."""
        self.plans = self._worth_offering([*self.plans, *plans])
        self.moves = self.priced(self.plans)
        self._places = {key(plan): i for i, plan in enumerate(self.plans)}
        self._comparisons: Comparisons | None = None
        self._parts: tuple[Limits, list[int], Parts] | None = None

    def parts(self, limits: Limits, some: Ints) -> Parts:
        """Return what can be asked about of some of the plans, by their places (k,); made once, while both stay the same."""
        if self._parts is None or self._parts[:2] != (limits, some.tolist()):
            made = Parts(self.space, limits, [self.plans[i] for i in some], self.sizes)
            self._parts = limits, some.tolist(), made
        return self._parts[2]

    def priced(self, plans: Sequence[Plan]) -> list[Array]:
        """Return what effort is counted of, plan by plan: its moves, with the columns beside them."""
        moves = [plan.moves for plan in plans]
        return moves if self.sizes is None else extended(moves, beside(self.space, plans, self.sizes))

    def _worth_offering(self, plans: Iterable[Plan]) -> list[Plan]:
        once: dict[bytes, Plan] = {}
        for plan in plans:
            once.setdefault(key(plan), plan)
        listed = list(once.values())
        whole = [i for i, plan in enumerate(listed) if not plan.along]
        if not whole:
            return listed
        ends = np.stack([listed[i].path[-1] for i in whole])
        changes = effort.changes(ends, listed[0].path[0])[:, self._free]
        gone = set(np.array(whole)[~undominated(changes)])
        return [plan for i, plan in enumerate(listed) if i not in gone]

    def place(self, name: bytes) -> int | None:
        """Return the position of a plan by its ``key``; None if it is not among them."""
        return self._places.get(name)

    def new(self, found: Iterable[Plan]) -> list[Plan]:
        """Return the plans among those an engine found that lead to a yes and would join."""
        accepted = [plan for plan in found if plan.status == "ok" and plan.valid]
        known = {id(plan) for plan in self.plans}
        return [plan for plan in self._worth_offering([*self.plans, *accepted]) if id(plan) not in known]

    def within(self, space: ActionSpace) -> Pool:
        """Return the pool of the plans that are legal in a tighter space: where they lead, for a path every stage."""

        def legal(plan: Plan) -> bool:
            rows = plan.path[1:] if plan.along else plan.path[-1:]
            return bool(space.allows(plan.path[:1], rows).all())

        return Pool(self.space, [plan for plan in self.plans if legal(plan)], self.sizes)

    def without(self, gone: Bools) -> Pool:
        """Return the pool without some of its plans (n,); itself where none goes."""
        if not gone.any():
            return self
        kept = [plan for plan, out in zip(self.plans, gone, strict=True) if not out]
        return Pool(self.space, kept, self.sizes)

    def choose(
        self,
        strategy: Strategy,
        belief: Belief | Array,
        shown: Iterable[Iterable[bytes]],
        rng: np.random.Generator,
        most: int | None = ROWS,
        parts: Parts | None = None,
        losing: Losing | None = None,
        again: Iterable[Iterable[bytes]] = (),
    ) -> Choice | None:
        """Return the next question; None where nothing is left to ask.

        ``most`` rows differ, one more where that is worth it (None: any number), and each by something one can feel. No
        option asks for all of another and more. Nothing reads like a question that was shown (``Comparisons``). Paths may
        differ in any number of rows; two to the same row are compared only where there is nothing else to ask. ``parts``
        may be asked about too, where the strategy knows what to make of them; they count on after the plans. ``losing`` says
        what plans have lost so far. Two plans of ``again`` may be compared although they were shown.
        """
        if len(self) < 2:
            return None
        twice = asked(self.place, again)
        before = [each for each in asked(self.place, shown) if sorted(each) not in map(sorted, twice)]
        if any(plan.along for plan in self.plans):
            rows = np.array(self._compared().rows)
            tries: Iterable[tuple[Array, float, Shown | None]] = [
                (np.where(rows == 0, np.inf, rows), 0.0, None),
                (rows, 0.0, None),
            ]
        else:
            tries = self._tries(self._known(shown), most, parts, twice)
        both: dict[str, Any] = {}
        if isinstance(strategy, Saving):
            both = {"losing": losing} if parts is None else {"losing": losing, "parts": parts.moves}
        for burden, least, shown_rows in tries:
            here = burden if "parts" in both else burden[: len(self), : len(self)]
            if isinstance(strategy, Saving):
                both["shown"] = shown_rows
            choice = strategy.choose(self.moves, belief, asked=before, burden=here, random_state=rng, **both)
            if choice is not None and not choice.gain < least:  # a gain may be unknown, NaN
                return choice
        return None

    def _tries(
        self, known: list[list[Array]], most: int | None, parts: Parts | None, twice: list[Sequence[int]]
    ) -> Iterator[tuple[Array, float, Shown]]:
        """Yield who may stand beside whom, parts after plans, the least gain, and how many rows all may differ in together.

        As the rules say; then what may help else.
        """
        compared = self._compared()
        limit = np.inf if most is None else most
        for rows, least in ((limit, 0.0), (limit + 1, WORTH_A_ROW)):
            whole = compared.burden(rows, known)
            for i, j in twice:
                whole[i, j] = whole[j, i] = compared.rows[i, j]
            apart = (
                [compared.apart] if parts is None or parts.apart is None else [compared.apart, parts.apart]
            )
            shown = Shown(apart, rows)
            if parts is None:
                yield whole, least, shown
            else:
                yield _block(whole, parts.burden(limit, known)), least, shown

    def burden(self, shown: Iterable[Iterable[bytes]]) -> Array:
        """Return in how many rows two plans differ, (n, n), infinite where a question would be unfair, long or asked before."""
        if len(self) < 2 or any(plan.along for plan in self.plans):
            return np.full((len(self), len(self)), np.inf)
        return self._compared().burden(ROWS, self._known(shown))

    def _compared(self) -> Comparisons:
        if self._comparisons is None:
            ends = np.stack([plan.path[-1] for plan in self.plans])
            self._comparisons = Comparisons(self.space, self.plans[0].path[0], ends)
        return self._comparisons

    def _known(self, shown: Iterable[Iterable[bytes]]) -> list[list[Array]]:
        """Return the whole changes of the options that were shown."""
        return [[effort.changes(*at(name, self.space.dimension)) for name in names] for names in shown]


def saved(belief: Belief, before: Sequence[Array], after: Sequence[Array]) -> float:
    """Return ``1 − E[min_i c_i] / E[min_j c_j]``, i over the moves of more plans than j: what they are worth at most.

    1 where there was no plan before, or the belief has no samples.
    """
    if not (len(before) and isinstance(belief, Sampled)):
        return 1.0
    least = [float(belief.efforts(moves).min(axis=1) @ belief.weights) for moves in (after, before)]
    return 1 - least[0] / least[1] if least[1] > 0 else 0.0


def _block(first: Array, second: Array) -> Array:
    """Return a matrix of two blocks, infinite outside them."""
    n, m = len(first), len(second)
    both = np.full((n + m, n + m), np.inf)
    both[:n, :n], both[n:, n:] = first, second
    return both
