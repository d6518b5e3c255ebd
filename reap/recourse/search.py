"""How a plan is found: one search for every model, from scores of rows alone.

A row is a vector of places on ladders of legal values, one ladder for each feature that the person can move (``ladders``). Where
all rows of few changes are few, every one is scored. Otherwise, once for each person (``cells``):

1. score every single change, and pairs of changes at a few rungs of each ladder;
2. guess the score of three changes from singles and pairs;
3. keep the cells where acceptance begins; where three changes are not enough, climb to more of them, or wait.

Then for the matrices that are asked for, all together:

4. take the best cells of each matrix's best supports, accepted or guessed, and polish them on the full ladders (``polish``);
5. take back what is not needed (``reduce``), offer every row that was found to every matrix, and polish each one's best again.

Trees say with their split thresholds which values they can tell apart, so their ladders are short; that is all a search knows of
a model but its scores. What it returns was accepted by the model itself, asked as a user would ask it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from cachetools import LRUCache

from reap import effort
from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.models import Classifier
from reap.plan import Plan
from reap.recourse.cells import cells, every_row, row_count
from reap.recourse.engine import Subject
from reap.recourse.polish import LadderSteps, climb, exchange
from reap.recourse.problem import Problem
from reap.recourse.reduce import ONE_STEP, reduced, undominated
from reap.space import ActionSpace, Limits

#: Where there are up to so many rows, every one is scored.
_ENUMERATED = 12_000
#: Guessed cells that are scored for everybody, and climb where no row is known.
_SCORED = 400
#: Supports of each matrix whose best cell is polished.
_SUPPORTS = 8
#: Lengths of steps on a ladder that are tried where many rows are polished, and at the end, where few are.
_COARSE, _FINE = 9, 26
#: Accepted people who are looked at where nothing else is found: the nearest.
_OTHERS = 64
#: Rows of a climb that are kept.
_CLIMBED = 200
#: How often another row is taken where the model itself refuses one, and how far from the boundary a quicker copy of it, in
#: log-odds, may be wrong about a decision.
_CONFIRMED, _UNSURE = 4, 1e-5
#: Subjects that are kept: a session asks for plans of the same person again and again.
_KEPT = 128
#: How far a score of a quicker copy of the model may be from the model's own: rounding is far below.
_MISREAD = 1e-5


class Reachable:
    """All that is known of where one subject can go, shared by all questions about them.

    Parameters
    ----------
    problem : Problem
    accepts : function, optional
        Says of rows (n, d) which the model itself accepts, asked as a user would ask it, (n,); where the problem asks a
        quicker copy of the model.
    others : (k, d), optional
        Rows of people whom the model accepts; they are looked at where nothing else is found.

    Attributes
    ----------
    places : (n, f)
        Accepted legal places, known before anything is asked.
    complete : bool
        Whether all rows were looked at.
    plans : dict
        Plans that were made, by what their words depend on and by the row they lead to.
    """

    def __init__(
        self, problem: Problem, accepts: Callable[[Array], Bools] | None = None, others: Array | None = None
    ) -> None:
        self.problem, self._accepts = problem, accepts
        self.plans: dict[tuple[str, bool, bool, int], Plan] = {}
        self.complete = False
        self.lock = threading.RLock()
        self._guessed = problem.own[None][:0]
        self._steps = LadderSteps(problem, _COARSE)
        self._fine_steps = LadderSteps(problem, _FINE)
        self.places = self._known(problem.z0[None][:0] if others is None else others)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def rows(self) -> Array:
        """The accepted legal rows (n, d) that are known before anything is asked, of what the person does."""
        return self.problem.rows(self.places)

    # once for each person ------------------------------------------------------------------------------

    def _known(self, others: Array) -> Ints:
        """Return accepted places (n, f) where acceptance begins; what is only guessed goes to ``_guessed``.

        Where no row of so few changes is found, ``problem.most`` rises until one is, or to what the person allows.
        """
        problem = self.problem
        if problem.forced.any() and problem.judge(problem.own[None])[0] >= problem.goal:
            return problem.own[None]  # what limits force is enough
        if problem.whole and row_count(problem, problem.space.legal.most_changes) <= _ENUMERATED:
            return self._every(problem.space.legal.most_changes)
        if problem.whole and row_count(problem, problem.most) <= _ENUMERATED:
            known = self._every(problem.most)
            self.complete = len(known) > 0
            starts = problem.own[None]
        else:
            known, self._guessed = cells(problem)
            some = self._guessed[_spread(problem, self._guessed, _SCORED)]
            known = np.concatenate([known, some[problem.judge(some) >= problem.goal]])
            starts = np.concatenate([problem.own[None], some])
        if len(known) == 0 and not self.complete:
            asked, known = problem.most, self._of_others(others)
            known = known if len(known) else climb(problem, self._steps, starts)
            if (
                len(known) == 0 and asked is not None
            ):  # no path of single steps: somebody is there all the same
                problem.most = problem.space.legal.most_changes
                known = self._of_others(others)
                problem.most = max(asked, int(problem.counts(known).min(initial=len(problem.own))))
                known = known[problem.counts(known) <= problem.most]
            known = known[_spread(problem, known, _CLIMBED)]
        return known[problem.distinct(known)[0]]

    def _of_others(self, others: Array) -> Ints:
        """Return accepted places (n, f) with the least that is enough of what accepted people (k, d) have; few changes or none.

        Where several changes help only together, no path of single steps leads there; somebody whom the model accepts is there.
        """
        problem, asked = self.problem, self.problem.most
        others = problem.space.legal.done(others, problem.z0)
        places = np.tile(problem.own, (len(others), 1))
        for f, ladder in enumerate(problem.ladders):
            places[:, f] = ladder.nearest(others[:, ladder.columns])
        problem.most = problem.space.legal.most_changes
        places = places[problem.judge(places) >= problem.goal]
        places = places[np.argsort(effort.size(problem.changes(places)), kind="stable")[:_OTHERS]]
        places = reduced(problem, _of_nobody(problem), np.zeros(len(places), dtype=np.intp), places)
        problem.most = asked
        return places if asked is None else places[problem.counts(places) <= asked]

    def _every(self, most: int | None) -> Ints:
        """Return the accepted places (n, f) of which nothing can be taken back, out of all with at most so many changes.

        Rows of more changes than were asked for count only where there is no other, and then those of the fewest.
        """
        problem, asked = self.problem, self.problem.most
        problem.most, every = most, every_row(problem, most)
        scores = problem.logits(every)
        self.complete, fine = not problem.late, scores >= problem.goal
        bare = _minimal(problem, every[fine])
        if (
            problem.legal(every[fine][bare], scores[fine][bare]) < problem.goal
        ).any():  # else what is more is not needed
            fine = problem.legal(every, scores) >= problem.goal
            bare = _minimal(problem, every[fine])
        found = every[fine][bare]
        problem.most, counts = asked, problem.counts(found)
        if asked is not None and len(found):
            problem.most = max(asked, int(counts.min()))
            found = found[counts <= problem.most]
        return self._undominated(found)

    def _undominated(self, places: Ints) -> Ints:
        """Return those of places (n, f) that do not ask for all that another of them asks for, each once."""
        problem = self.problem
        places = places[problem.distinct(places)[0]]
        still = np.setdiff1d(np.arange(len(problem.z0)), problem.space.legal.following)
        return places[undominated(problem.moves(problem.rows(places))[:, still])]

    # for matrices --------------------------------------------------------------------------------------

    def least(self, people: Efforts) -> tuple[Array, Array]:
        """Return the row (b, d) of least effort for each of b people, of what they do, and its effort (b,)."""
        problem, people = self.problem, people.within(self.problem.moving)
        places = self.places if self.complete else self._searched(people)
        places = self._undominated(self._confirmed(people, self._undominated(places)))
        efforts = problem.ask(people, places)
        best = efforts.argmin(axis=1)
        return problem.rows(places)[best], efforts[np.arange(len(people)), best]

    def _confirmed(self, people: Efforts, places: Ints) -> Ints:
        """Return places (b, f) of least effort for each of b people, out of places (n, f), as the model itself decides.

        What it refuses is left out, and nothing that it does not need is kept: the last digits of a score may decide.
        """
        problem, every = self.problem, np.arange(len(people))
        efforts = problem.ask(people, places)
        best = efforts.argmin(axis=1)
        if self._accepts is None:
            return reduced(problem, people, every, places[best])
        for _ in range(_CONFIRMED):
            asked = np.unique(best)
            fine = self._exactly(places[asked])
            if fine.all():
                break
            efforts[:, asked[~fine]] = np.inf
            best = efforts.argmin(axis=1)
        return reduced(problem, people, every, places[best], self._exactly, parts=ONE_STEP)

    def _exactly(self, places: Ints) -> Bools:
        """Return which places (n, f) are legal and accepted by the model itself, (n,)."""
        problem = self.problem
        if len(places) == 0 or self._accepts is None:
            return np.zeros(len(places), dtype=bool)
        scores = problem.logits(places)
        unsure = np.flatnonzero(np.abs(scores - problem.goal) < 2 * _UNSURE)
        if len(unsure):
            first, which = problem.distinct(places[unsure])
            fine = self._accepts(problem.then(problem.rows(places[unsure[first]])))[which]
            scores[unsure] = np.where(fine, problem.goal, -np.inf)
        return np.asarray(problem.legal(places, scores) >= problem.goal)

    def _searched(self, people: Efforts) -> Ints:
        """Return irreducible accepted places (n, f), the best for each of b people among them."""
        problem, every = self.problem, np.arange(len(people))
        guides = _with_squares(people)
        which, starts = _best_supports(
            problem, guides, np.concatenate([self.places, self._guessed]), _SUPPORTS
        )
        # refused ones too, since a guess may be wrong by a step or two: without them HELOC with a network (clocks that help and
        # hurt) asks for 7 % more, and of single people for four times as much
        scores = problem.judge(starts)
        keep = np.isfinite(scores)
        which, starts, scores = which[keep], starts[keep], scores[keep]
        # where changes help each other, less effort may lead to what is reducible, and back to more effort: both are kept
        tried = np.concatenate(
            [starts, exchange(problem, self._steps, guides, which, starts, scores, wide=True)]
        )
        fine = problem.judge(tried) >= problem.goal
        if not fine.any():  # time is over
            return self.places
        found = reduced(problem, guides, np.tile(which, 2)[fine], tried[fine])
        best = found[problem.ask(people, found).argmin(axis=1)]  # who takes another's row polishes it
        best = exchange(problem, self._fine_steps, people, every, best, problem.judge(best))
        return np.concatenate([found, reduced(problem, people, every, best)])


def _of_nobody(problem: Problem) -> Efforts:
    """Return the efforts of one person of whom nothing is known, in the columns that can move."""
    return Efforts.of(np.eye(len(problem.moving))[None])


def _with_squares(people: Efforts) -> Efforts:
    """Return people, and where all have p < 1 each once more as if they counted squares.

    Counted by p < 1 a first step of another feature costs most, so single steps stop early: without this German with a logistic
    model asks people with p = ½ for 1.29 times as much, single ones for four times. Where somebody counts squares, as in every
    session, rows found for them serve the others too, and this would take 1.4 times as long.
    """
    if not len(people) or people.powers.max() >= 1:
        return people
    return Efforts.joined([people, replace(people, powers=np.ones(len(people)))])


def _best_supports(problem: Problem, people: Efforts, places: Ints, count: int) -> tuple[Ints, Ints]:
    """Return (person (s,), places (s, f)): for each of b people the cell of least effort of each of its best supports."""
    support = problem.supports(places)
    order = np.argsort(support, kind="stable")
    places, support = places[order], support[order]
    efforts = problem.ask(people, places)
    begins = np.flatnonzero(np.append(True, np.diff(support) > 0))
    ends = np.append(begins[1:], len(support))
    least = np.minimum.reduceat(efforts, begins, axis=1)
    count = min(count, len(begins))
    top = np.argpartition(least, count - 1, axis=1)[:, :count]
    which = np.repeat(np.arange(len(people)), count)
    best = [
        begins[t] + efforts[b, begins[t] : ends[t]].argmin() for b, t in zip(which, top.ravel(), strict=True)
    ]
    return which, places[np.array(best, dtype=np.intp)]


def _spread(problem: Problem, places: Ints, count: int) -> Ints:
    """Return which of places (n, f) to keep: the nearest of every support, then the second nearest, up to a number."""
    size, support = effort.size(problem.changes(places)), problem.supports(places)
    order = np.lexsort((size, support))
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order)) - np.searchsorted(support[order], support[order])
    return np.sort(np.lexsort((size, rank))[:count])


def _minimal(problem: Problem, places: Ints) -> Bools:
    """Return which of all accepted places (n, f) of a small space are irreducible, (n,): no other asks for a part of the same."""
    keys, out = problem.keys(places), np.ones(len(places), dtype=bool)
    for f, ladder in enumerate(problem.ladders):
        moved = np.flatnonzero(places[:, f] != ladder.own)
        less = places[moved]
        less[:, f] = ladder.own
        out[moved[np.isin(problem.keys(less), keys)]] = False
        if ladder.ordered:
            at = np.searchsorted(ladder.rungs, places[moved, f])
            less[:, f] = ladder.rungs[at - np.sign(places[moved, f] - ladder.own)]
            out[moved[np.isin(problem.keys(less), keys)]] = False
    return out


# people ----------------------------------------------------------------------------------------------------


@dataclass
class Searches:
    """Where people can go, each looked for once.

    Parameters
    ----------
    classifier : Classifier
        Who decides.
    max_changes : int, optional
        Actions of a plan at most, where such a plan exists.
    quick : Classifier, optional
        A quicker copy of it, to be asked about thousands of rows.
    edges : dict, optional
        What its trees tell apart; see ``ladders``.
    others : (n, d), optional
        Rows of people who are accepted.
    for_people : bool
        Whether what people are advised last is left alone as long as there is another plan.
    """

    classifier: Classifier
    max_changes: int | None
    quick: Classifier | None = None
    edges: dict[int, Array] | None = None
    others: Array | None = None
    for_people: bool = False
    _known: LRUCache[Any, Reachable] = field(default_factory=lambda: LRUCache(_KEPT))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def of(self, subject: Subject, limits: Limits | None, deadline: float) -> Iterator[Reachable]:
        """Lend where a subject can go within limits, looked for on first use; nobody else has it meanwhile.

        Others are served at the same time: who comes anew, which takes longest, keeps nobody waiting.
        """
        own = (
            subject.space.encoding.own
        )  # whose numbers differ in a last bit are told apart: a plan shows them
        key = subject.z.tobytes(), None if own is None else own[1].tobytes(), repr(limits or None)
        with self._lock:
            kept = self._known.get(key)
        if kept is None:
            kept = self.find(subject, deadline)
            if not kept.problem.late:  # what was cut short may come out better next time
                with self._lock:
                    kept = self._known.setdefault(key, kept)
        with kept.lock:
            kept.problem.deadline = deadline
            yield kept

    def find(self, subject: Subject, deadline: float) -> Reachable:
        """Return where a subject can go; to what is advised last only where there is no other plan."""
        last = (
            [f.name for f in subject.space.features if f.is_action and f.advice == "last"]
            if self.for_people
            else []
        )
        space = subject.space.tighten(Limits(fixed=tuple(last))) if last else subject.space
        if last and space.legal.obstacle(subject.z) is None:
            found = self._find(replace(subject, space=space), deadline)
            if len(found) or found.problem.late:
                return found
        return self._find(subject, deadline)

    def _find(self, subject: Subject, deadline: float) -> Reachable:
        """Return where a subject can go: with actions that are ready before mere waiting is enough, else with waiting."""
        quick, edges, accepts = self.quick, self.edges, self.classifier.accepts
        if quick is not None and abs(float(quick.score(subject.z[None])[0]) - subject.score) > _MISREAD:
            quick, edges = None, None  # what was read of the model says something else of this person
        asked = quick or self.classifier
        # of hundreds of rows at the very threshold a copy may accept every one, and the model itself none
        settings: dict[str, Any] = {
            "deadline": deadline,
            "edges": edges,
            "beyond": 0.0 if quick is None else _UNSURE,
        }
        first = Problem(subject.space, asked, subject.z, self.max_changes, **settings)
        space = _sooner(first)
        if space is not subject.space:
            first = Problem(space, asked, subject.z, self.max_changes, **settings)
        exact = None if quick is None else accepts
        found = Reachable(first, exact, self.others)
        if len(found) or not subject.space.timed or first.late:
            return found
        waiting = Problem(subject.space, asked, subject.z, self.max_changes, waits=True, **settings)
        return Reachable(waiting, exact, self.others)


def _sooner(problem: Problem) -> ActionSpace:
    """Return the space up to the month before mere waiting is enough for the subject of a problem; all of it where that never is.

    From that month on whoever does nothing is accepted, so a plan that takes as long asks for what is not needed.
    """
    rows = problem.later()
    enough = rows[problem.score(rows) >= problem.goal]
    if len(enough) == 0:
        return problem.space
    first = int(problem.space.time.months(problem.z0, enough).min())
    return problem.space.tighten(Limits(within_months=max(first - 1, 0)))
