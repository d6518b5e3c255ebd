"""What a session may ask about and recommend: plans, parts of plans, and which of them may stand side by side.

A plan's effort is counted of its moves. People mind besides how many changes there are and how long they take:
``effort = ΔᵀAΔ + h·k + w·τ²`` with k actions and τ months over the horizon. It is linear in what is unknown, so a belief
learns h and w as it learns A: a plan's moves get two more columns, ``√(s_h k)`` and ``√s_w τ``, each with a weight of its own
and no cross terms (``Posterior(…, beside=2)``). The scales s make a weight of 1 worth a typical change of this person: they are
taken from the first plans found for them, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from reap import effort
from reap._arrays import row_keys
from reap._typing import Array, Bools, Ints
from reap.belief import Belief
from reap.plan import Plan, date
from reap.questions import Choice, Strategy
from reap.recourse.reduce import asks_no_more, undominated
from reap.space import ActionSpace, Limits

#: Rows that differ in a question at most.
ROWS = 3
#: Changes in a part of a plan at most, and the largest number of parts.
CHANGES, PARTS = 2, 80
#: The smallest difference of a number that a person feels, where its feature does not say: as a share of what the person
#: has, within these shares of its span.
OWN, LEAST, NOTICE = 0.05, 0.005, 0.02


def key(plan: Plan) -> bytes:
    """Return what makes a plan the same as another: where it leads; for a path every stage of it."""
    return (plan.path if plan.along else plan.path[[0, -1]]).tobytes()


def _at(name: bytes, dimension: int) -> tuple[Array, Array]:
    """Return where the plan of a ``key`` leads and where it starts, (d,) each."""
    path = np.frombuffer(name).reshape(-1, dimension)
    return path[-1], path[0]


def places(place: Callable[[bytes], int | None], shown: Iterable[Iterable[bytes]]) -> list[Sequence[int]]:
    """Return questions by the places of their options; one with an option that has left cannot come again."""
    found = [[place(name) for name in names] for names in shown]
    return [[i for i in here if i is not None] for here in found if None not in here]


def minded(space: ActionSpace) -> int:
    """Return how many columns there are: where nothing takes time, only the number of changes."""
    return 2 if space.timed else 1


def counted(space: ActionSpace, plans: Sequence[Plan]) -> Array:
    """Return the number of actions k and the time τ of each plan, (n, columns)."""
    if not plans:
        return np.empty((0, minded(space)))
    starts, ends = (np.stack([plan.done[at] for plan in plans]) for at in (0, -1))
    acts = np.array([feature.is_action for feature in space.features])
    actions: Array = space.encoding.changed(starts, ends)[:, acts].sum(axis=1).astype(float)
    if minded(space) == 1:
        return actions[:, None]
    date(plans)
    months = np.array([plan.months for plan in plans]) / space.horizon
    return np.asarray(np.column_stack([actions, months]))


def scales(space: ActionSpace, plans: Sequence[Plan]) -> Array:
    """Return ``s_h = median(|Δ|²/k)`` and ``s_w = median(|Δ|²) / median(τ²)`` over plans that take time, (columns,)."""
    sizes = np.array([(effort.changes(plan.done[-1], plan.path[0]) ** 2).sum() for plan in plans])
    counts = counted(space, plans)
    found = [float(np.median(sizes / np.maximum(counts[:, 0], 1.0)))]
    if counts.shape[1] > 1:
        slow = counts[:, 1] > 0
        found.append(float(np.median(sizes) / np.median(counts[slow, 1] ** 2)) if slow.any() else 0.0)
    return np.array(found)


def beside(space: ActionSpace, plans: Sequence[Plan], sizes: Array) -> Array:
    """Return the columns beside the moves of each plan, (n, columns)."""
    counts = counted(space, plans)
    counts[:, 0] = np.sqrt(counts[:, 0])
    return np.asarray(np.sqrt(sizes) * counts)


def extended(moves: Sequence[Array], more: Array) -> list[Array]:
    """Return moves (s, d) with the columns beside them; a path has them once, at its first move."""

    def wide(V: Array, row: Array) -> Array:
        V = np.atleast_2d(V)
        columns_ = np.zeros((len(V), len(row)))
        columns_[:1] = row
        return np.hstack([V, columns_])

    return [wide(V, row) for V, row in zip(moves, more, strict=True)]


def noticed(space: ActionSpace, start: Array) -> Array:
    """Return the smallest difference worth asking about, of each encoded column (d,), of a person who stands at ``start`` (d,).

    The feature's ``notice`` in units; without it 2 % of the span of a number or 5 % of what the person has, whichever is
    less, but 0.5 % of the span and a step at least: who pays 300 a month feels 20. Ordered levels differ by a level,
    categories by being another.
    """
    least = np.zeros(space.dimension)
    for i, feature in enumerate(space.features):
        if not feature.is_number:
            continue
        column, scale = space.slices[feature.name].start, space.encoding.scale[i]
        own = abs(space.encoding.origin[i] + start[column] * scale)
        felt = np.clip(np.nan_to_num(OWN * own), LEAST * feature.scale, NOTICE * feature.scale)
        least[column] = (felt if feature.notice is None else feature.notice) / scale
    return np.asarray(np.maximum(np.maximum(least, space.encoding.steps) - 1e-9, 1e-9))


class Comparisons:
    """Every two of n options, as the person would read them.

    Parameters
    ----------
    space : ActionSpace
    start : (d,)
        Where the person stands.
    ends : (n, d)
        Where the person's own doing leads for each option.

    Attributes
    ----------
    apart : (n, n, f)
        In which features two options differ, of those that are for the person to do.
    rows : (n, n)
        How many features two options differ in, without those that follow from others, go by themselves or are entailed.
    """

    def __init__(self, space: ActionSpace, start: Array, ends: Array) -> None:
        own = [feature.is_set for feature in space.features]
        columns = np.array([space.slices[f.name].start for f in space.features])
        self._changes = effort.changes(ends, start)
        gaps = np.abs(self._changes[:, None] - self._changes[None])
        self._least = noticed(space, start)
        self._columns, self._own = columns, np.array(own)
        self._differ = np.maximum.reduceat(gaps > 1e-9, columns, axis=-1)[..., self._own]
        felt = np.maximum.reduceat(gaps >= self._least, columns, axis=-1)[..., self._own]
        # "35 months instead of 36" is not felt either, however far the other option goes
        sizes = np.abs(self._changes)
        slight = (sizes > 1e-9) & (sizes < self._least)
        slight = np.logical_or.reduceat(slight, columns, axis=-1)[:, self._own]
        felt &= ~(slight[:, None] | slight[None])
        self.apart: Bools = self._differ & ~self._entailed(space, start, ends)
        self.rows: Array = self.apart.sum(axis=-1).astype(float)
        free = np.repeat(self._own, np.diff([*columns, space.dimension]))
        asked = _with_included(space, self._changes)
        below = asks_no_more(asked[:, free], asked[:, free])
        if any(feature.deed for feature in space.features):
            doings = self._doings(space, start, ends, asked, free)
            below |= asks_no_more(doings, doings)
        self._fair: Bools = (felt == self._differ).all(axis=-1) & ~below & ~below.T

    def _doings(self, space: ActionSpace, start: Array, ends: Array, asked: Array, free: Bools) -> Array:
        """Return what a person does for each option, (n, c): how long they do what one deed brings about, and all other changes.

        Whoever pays on time for a year makes up for one late payment and for another: that is one doing, not two.
        """
        months, columns = space.time.each(start, ends), []
        free = free.copy()
        for deed in sorted({feature.deed for feature in space.features} - {""}):
            own = [i for i, feature in enumerate(space.features) if feature.deed == deed]
            moved = np.zeros(len(ends), dtype=bool)
            for i in own:
                block = space.slices[space.features[i].name]
                moved |= (np.abs(self._changes[:, block]) > 1e-9).any(axis=1)
                free[block] = False
            columns.append(np.maximum(months[:, own].max(axis=1), moved))
        return np.column_stack([asked[:, free], *columns])

    def _entailed(self, space: ActionSpace, start: Array, ends: Array) -> Bools:
        """Return which features (n, n, own) two options change, if at all, only because a rule asks for it."""
        if not space.rules:
            return np.zeros_like(self._differ)
        still = ~np.maximum.reduceat(np.abs(self._changes) > 1e-9, self._columns, axis=-1)
        quiet = (still | (space.legal.entailing(start, ends) >= 0))[:, self._own]
        return np.asarray(quiet[:, None] & quiet[None])

    def burden(
        self, most: float, asked: Iterable[Sequence[Array]], stale: Iterable[Sequence[Array]] = ()
    ) -> Array:
        """Return ``rows``, infinite for two options that must not stand together, (n, n).

        One asks for all that is to be done for the other, or for all of it and more; they differ in more than ``most`` rows, or
        in one by less than one can feel; the rows in which they differ read like those of two options (k, d) that
        were ``asked`` about; or they are the same rows, whatever their values, as in a ``stale`` question.
        """
        fair = self._fair & (self.rows <= most)
        for question in asked:
            for i in range(len(question)):
                for j in range(i):
                    alike = self._alike(question[i], question[j])
                    fair &= ~alike & ~alike.T
        for question in stale:
            for i in range(len(question)):
                for j in range(i):
                    fair &= ~self._same_rows(question[i], question[j])
        return np.where(fair, self.rows, np.inf)

    def _same_rows(self, first: Array, second: Array) -> Bools:
        """Return which pairs (n, n) differ in the same features as two changes (d,)."""
        apart: Bools = np.abs(first - second) > 1e-9
        rows: Bools = np.maximum.reduceat(apart[None], self._columns, axis=-1)[0, self._own]
        return np.asarray((self._differ == rows).all(axis=-1))

    def _alike(self, first: Array, second: Array) -> Bools:
        """Return which pairs (n, n) a person cannot tell from two changes (d,) that were compared."""
        apart: Bools = np.abs(first - second) > 1e-9
        same_rows = self._same_rows(first, second)
        gaps = np.abs(self._changes[None] - np.stack([first, second])[:, None])  # (2, n, d)
        near: Bools = np.asarray((gaps < self._least)[..., apart].all(axis=-1))
        return np.asarray(same_rows & near[0, :, None] & near[1])


def _with_included(space: ActionSpace, changes: Array) -> Array:
    """Return changes (n, d) in which a level that ``includes`` others takes these too.

    Whoever keeps 200 DM in an account keeps it above 0: seen so, the first asks for all of the second and more, although
    the levels of a category have no order.

    Examples
    --------
    >>> from reap.space import Feature
    >>> levels = ("none", "some", "much")
    >>> space = ActionSpace([Feature("savings", "categorical", levels=levels, includes=[("much", "some")])])
    >>> _with_included(space, np.array([[-1.0, 0.0, 1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])).tolist()
    [[-1.0, 1.0, 1.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]
    """
    taken = changes
    for feature in space.features:
        first = space.slices[feature.name].start
        pairs = [
            (first + feature.levels.index(a), first + feature.levels.index(b)) for a, b in feature.includes
        ]
        for _ in pairs:  # "1,000" includes "500", and that "100": a chain is no longer than the list
            for more, less in pairs:
                too = (taken[:, more] > 0) & (taken[:, less] == 0)
                if too.any():
                    taken = taken.copy()
                    taken[too, less] = taken[too, more]
    return taken


class PlanParts:
    """What can be asked about beside whole plans, and is never recommended: one may not be enough by itself.

    A plan of one or two changes is a part too, but no question shows it beside one: it leads to a yes, the other may not.

    Parameters
    ----------
    space : ActionSpace
    limits : Limits
        What the person cannot or will not do: a part must be legal by itself.
    plans : sequence of Plan
        Whose parts they are.
    sizes : (e,) array, optional
        As in ``Pool``.

    Attributes
    ----------
    plans : list of Plan, whose scores are not known (NaN).
    moves : list of arrays (1, d), what effort is counted of.
    compared : Comparisons, optional
        Every two of them; None where there are none.
    """

    def __init__(
        self, space: ActionSpace, limits: Limits, plans: Sequence[Plan], sizes: Array | None = None
    ) -> None:
        self._space = space.tighten(limits)
        self._start = plans[0].path[0]
        targets = [plan.done[-1] for plan in plans if not plan.along]
        ends = self._ends(targets)
        self._whole = np.isin(row_keys(ends), row_keys(np.array(targets))) if len(ends) else np.zeros(0, bool)
        unknown = np.full(2, np.nan)
        self.plans = [
            Plan(space, np.stack([self._start, end]), unknown, scale=plans[0].scale)
            for end in space.legal.brought(ends, self._start)
        ]
        moves = list(effort.changes(ends, self._start)[:, None])
        self.moves = moves if sizes is None else extended(moves, beside(space, self.plans, sizes))
        self.compared = Comparisons(space, self._start, ends) if len(ends) else None

    def __len__(self) -> int:
        return len(self.plans)

    def burden(self, most: float, asked: Sequence[Sequence[Array]]) -> Array:
        """Return in how many rows two parts differ, (m, m), infinite where they must not stand together; see ``Comparisons``.

        Steps of the same features are compared once: "57 months or savings" and "54 months or savings" read like one question.
        """
        if self.compared is None:
            return np.empty((0, 0))
        plan = self._whole[:, None] | self._whole  # plans are compared with plans: both lead to a yes
        return np.where(plan, np.inf, self.compared.burden(most, asked, asked))

    def _ends(self, targets: Sequence[Array]) -> Array:
        """Return where the parts lead (m, d): legal, and each different from the others by what one can feel."""
        space, start = self._space, self._start
        actions = [feature.name for feature in space.features if feature.is_action]
        rows = []
        for target in targets:
            moved = effort.changes(target, start) != 0
            changed = [space.slices[name] for name in actions if moved[space.slices[name]].any()]
            for size in range(1, min(CHANGES, len(changed)) + 1):
                for chosen in combinations(changed, size):
                    row = start.copy()
                    for columns in chosen:
                        row[columns] = target[columns]
                    rows.append(row)
        if not rows:
            return np.empty((0, len(start)))
        least, seen = noticed(space, start), set()
        kept = []
        for row in rows:
            felt = np.rint(effort.changes(row, start) / least).tobytes()
            if felt not in seen:
                seen.add(felt)
                kept.append(row)
        ends = space.legal.follow(np.array(kept), start)
        legal = space.allows(np.tile(start, (len(ends), 1)), space.legal.brought(ends, start))
        return np.asarray(ends[legal][:PARTS])


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
        self._free[space.legal.following] = False
        self.plans = self._worth_offering(plans)
        self.moves = self.priced(self.plans)
        self._places = {key(plan): i for i, plan in enumerate(self.plans)}
        self._parts: tuple[Limits, list[int], PlanParts] | None = None

    def __len__(self) -> int:
        return len(self.plans)

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __getitem__(self, i: int) -> Plan:
        return self.plans[i]

    @property
    def chances(self) -> Array:
        """How likely each plan is to lead to a yes, (n,); 1 where the engine does not weigh that."""
        return np.array([1.0 if plan.chance is None else max(plan.chance, 1e-3) for plan in self.plans])

    def parts(self, limits: Limits, some: Ints) -> PlanParts:
        """Return what can be asked about of some of the plans, by their places (k,).

        They are made once while both stay the same: 2 of the 8 ms of a next question for which no engine is asked.
        """
        if self._parts is None or self._parts[:2] != (limits, some.tolist()):
            made = PlanParts(self.space, limits, [self.plans[i] for i in some], self.sizes)
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
        ends = np.stack([listed[i].done[-1] for i in whole])
        changes = effort.changes(ends, listed[0].path[0])[:, self._free]
        # who does more for a better chance of a yes does not do it for nothing
        risk = [0.0 if (chance := listed[i].chance) is None else 1 - chance for i in whole]
        changes = np.column_stack([changes, risk])
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
        belief: Belief,
        shown: Iterable[Iterable[bytes]],
        rng: np.random.Generator,
        most: int | None = ROWS,
        parts: PlanParts | None = None,
    ) -> Choice | None:
        """Return the next question; None where nothing is left to ask.

        ``most`` rows differ (None: any number), and each by something one can feel. No
        option asks for all of another and more. Nothing reads like a question that was shown (``Comparisons``). Paths may
        differ in any number of rows; two to the same row are compared only where there is nothing else to ask. ``parts``
        may be asked about too; they count on after the plans.
        """
        if len(self) < 2:
            return None
        moves = self.moves if parts is None else [*self.moves, *parts.moves]
        before = places(self.place, shown)
        for burden in self._tries(shown, most, parts):
            choice = strategy.choose(
                moves,
                belief,
                asked=before,
                burden=burden,
                plans=len(self),
                chances=self.chances,
                random_state=rng,
            )
            if choice is not None:
                return choice
        return None

    def _tries(
        self, shown: Iterable[Iterable[bytes]], most: int | None, parts: PlanParts | None
    ) -> Iterator[Array]:
        """Yield who may stand beside whom, parts after plans; of paths also what may help where the first is nothing to ask."""
        compared, limit = self._compared, np.inf if most is None else most
        if any(plan.along for plan in self.plans):
            yield np.where(compared.rows == 0, np.inf, compared.rows)
            yield compared.rows
            return
        known = self._known(shown)
        whole = compared.burden(limit, known, known[-1:])  # never of the same features twice in a row
        yield whole if parts is None or parts.compared is None else _block(whole, parts.burden(limit, known))

    def covered(self, less: Sequence[Plan], *, alike: bool = False) -> Bools:
        """Return which plans (n,) ask for all that one of other plans asks for; a path only for all of itself.

        ``alike``: those that nobody can tell from one of them, too.
        """
        found = np.zeros(len(self), dtype=bool)
        if not less or not len(self):
            return found
        first, second = self._own_changes(less), self._own_changes(self.plans)
        covers = asks_no_more(first, second)
        for i, plan in enumerate(less):
            for j, other in enumerate(self.plans):
                if plan.along or other.along:
                    covers[i, j] = key(plan) == key(other)
        if alike:
            least = noticed(self.space, self.plans[0].path[0])
            covers |= (np.abs(first[:, None] - second[None]) < least).all(axis=-1)
        return np.asarray(covers.any(axis=0))

    def _own_changes(self, plans: Sequence[Plan]) -> Array:
        """What the person does in each plan, (n, d)."""
        ends = np.array([plan.done[-1] for plan in plans])
        return np.where(self._free, effort.changes(ends, plans[0].path[0]), 0.0)

    @property
    def alike(self) -> bool:
        """Whether no two plans may stand side by side: nobody would feel the difference, or one asks for all of the other."""
        if len(self) < 2 or any(plan.along for plan in self.plans):
            return True
        return bool(np.isinf(self._compared.burden(ROWS, ())).all())

    @cached_property
    def _compared(self) -> Comparisons:
        return Comparisons(
            self.space, self.plans[0].path[0], np.stack([plan.done[-1] for plan in self.plans])
        )

    def _known(self, shown: Iterable[Iterable[bytes]]) -> list[list[Array]]:
        """Return the whole changes of the options that were shown."""
        legal = self.space.legal
        return [[legal.moves(*_at(name, self.space.dimension))[0] for name in names] for names in shown]


def _block(first: Array, second: Array) -> Array:
    """Return a matrix of two blocks, infinite outside them."""
    n, m = len(first), len(second)
    both = np.full((n + m, n + m), np.inf)
    both[:n, :n], both[n:, n:] = first, second
    return both


def row_place(moves: Array, start: Array, name: bytes) -> int | None:
    """Return the position among rows, as changes (n, d) from a start (d,), of the one that a plan leads to, by its ``key``."""
    change = np.nan_to_num(_at(name, len(start))[0] - start)
    hits = np.flatnonzero((np.abs(moves - change) < 1e-12).all(axis=1))
    return int(hits[0]) if len(hits) else None
