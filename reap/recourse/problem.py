"""One person's problem: where they can go, by places on ladders, and what the model says of rows there."""

from __future__ import annotations

import itertools
import time
from functools import cached_property

import numpy as np

from reap import _clock, effort
from reap._typing import Array, Bools, Ints
from reap.effort import Efforts
from reap.models import Classifier
from reap.recourse.ladders import ladders
from reap.space import ActionSpace

#: Rows of the highest scores that are looked at for a legal one, where features move each other.
_LED = 64
#: Rows that the model is asked about at once; between two such calls the clock is looked at.
_ROWS = 4_096


class Problem:
    """Rows of one subject: put together from places, checked, scored.

    Rows here are of what the person does: effort, time and counts are of that. Where features move each other, models and rules
    see them with all that this brings (``then``).

    Parameters
    ----------
    space : ActionSpace
        Within the person's limits.
    classifier : Classifier
        Who decides.
    z0 : (d,)
    most : int, optional
        Actions of a row at most, if the space does not say less; waiting is none.
    deadline : float
        ``time.monotonic()`` after which no model is asked any more.
    waits : bool
        Whether a row may wait longer than its actions take. Otherwise clocks only follow the actions.
    edges : dict, optional
        What trees tell apart; see ``ladders``.
    beyond : float
        How far beyond the boundary a score must be, in log-odds: more than rounding, where the classifier is a copy of the model.

    Attributes
    ----------
    ladders : list of Ladder, f of them
    own : (f,)
        The places where nothing changes but what limits force.
    goal : float
        The least log-odds that are enough.
    closest, nearest : float, (d,)
        The highest log-odds of any legal row that was scored, and that row.
    """

    def __init__(
        self,
        space: ActionSpace,
        classifier: Classifier,
        z0: Array,
        most: int | None = None,
        *,
        deadline: float = np.inf,
        waits: bool = False,
        edges: dict[int, Array] | None = None,
        beyond: float = 0.0,
    ) -> None:
        self.space, self.classifier, self.z0 = space, classifier, z0
        self.deadline, self.waits, self.edges = deadline, waits, edges
        self.ladders = ladders(space, z0, waits=waits, edges=edges)
        self.own = np.array([ladder.own for ladder in self.ladders], dtype=np.intp)
        self.length = np.array([ladder.length for ladder in self.ladders], dtype=np.intp)
        self.ordered = np.array([ladder.ordered for ladder in self.ladders], dtype=bool)
        self.forced = np.array([ladder.forced for ladder in self.ladders], dtype=bool)
        self.feature = np.array([ladder.feature for ladder in self.ladders], dtype=np.intp)
        self.acts = np.array([f.is_action for f in space.features], dtype=bool)
        #: Which ladders are actions, (f,): all but waiting.
        self.counted = self.acts[self.feature]
        counts = [count for count in (most, space.legal.most_changes) if count is not None]
        self.most = min(counts) if counts else None
        self.goal = float(np.nextafter(classifier.boundary + beyond, np.inf))
        self.closest, self.nearest = -np.inf, z0
        #: Whether features depend on each other, so that not every row of places is legal.
        self.tied = bool(space.rules or space.legal.derived.names or space.legal.following)
        #: Whether rows of rungs are all there are.
        self.whole = all(one.whole for one in self.ladders)
        clocks = [f for f in space.features if f.clock is not None and space.timed]
        self.clocks = [space.slices[f.name].start for f in clocks]
        moving = {int(c) for ladder in self.ladders for c in ladder.columns} | set(space.legal.following)
        #: The encoded columns that can move at all, (m,).
        self.moving = np.array(sorted(moving), dtype=np.intp)
        #: By their keys, places that the model accepts: whether they are illegal or a pretext all the same.
        self._refused: dict[int, bool] = {}
        self._key = np.random.default_rng(0).integers(1, 2**62, size=len(self.own)) * 2 + 1

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline or _clock.late()

    @cached_property
    def base(self) -> Array:
        """The subject's row with nothing changed but what limits force, (d,)."""
        return np.asarray(self.rows(self.own[None])[0])

    # rows of places ------------------------------------------------------------------------------------

    def rows(self, places: Ints) -> Array:
        """Return the encoded rows (n, d) at places (n, f), with clocks and derived columns as they follow."""
        Z = np.repeat(self.z0[None], len(places), axis=0)
        for f in np.flatnonzero((places != self.own).any(axis=0) | self.forced).tolist():
            Z[:, self.ladders[f].columns] = self.ladders[f].values(places[:, f])
        return self.follow(Z)

    def moves(self, Z: Array) -> Array:
        """Return the whole changes (…, d) of rows; what is missing does not change."""
        return effort.changes(Z, self.z0)

    def changes(self, places: Ints) -> Array:
        """Return the whole changes (n, m) of places (n, f) in the columns that can move."""
        return self.moves(self.rows(places))[:, self.moving]

    def ask(self, people: Efforts, places: Ints) -> Array:
        """Return what places (n, f) ask of each of b people, by their efforts in the columns that can move, (b, n)."""
        return people.ask(self.changes(places), *self.beside(people, places))

    def efforts(self, people: Efforts, which: Ints, places: Ints) -> Array:
        """Return the effort (s, …) of places (s, …, f), those of the first axis each of its own person, (s,)."""
        flat, shape = places.reshape(-1, places.shape[-1]), places.shape[:-1]
        counts, waits = self.beside(people, flat)
        return people[which].ask_each(
            self.changes(flat).reshape(*shape, len(self.moving)),
            None if counts is None else counts.reshape(shape),
            None if waits is None else waits.reshape(shape),
        )

    def beside(self, people: Efforts, places: Ints) -> tuple[Array | None, Array | None]:
        """Return the counts (n,) of places (n, f) and their times in shares of the horizon, where these people mind."""
        counts = self.counts(places).astype(float) if people.per_change.any() else None
        if not people.per_wait.any() or not self.space.timed:
            return counts, None
        return counts, self.space.legal.lengths(self.z0, self.rows(places)) / self.space.horizon

    def counts(self, places: Ints) -> Ints:
        """Return how many actions places (n, f) take, (n,); what limits force is one."""
        return np.asarray((((places != self.own) | self.forced) & self.counted).sum(axis=1))

    def supports(self, places: Ints) -> Ints:
        """Number the supports (n,) of places (n, f): which numbers rise or fall, and which levels are taken."""
        side = np.where(self.ordered, np.sign(places - self.own), places - self.own)
        return np.unique(side @ self._key, return_inverse=True)[1].ravel()

    def distinct(self, places: Ints) -> tuple[Ints, Ints]:
        """Return the index of the first of each set of equal places (n, f), and for each which of these it equals (n,)."""
        _, first, which = np.unique(self.keys(places), return_index=True, return_inverse=True)
        return first, which.ravel()

    def keys(self, places: Ints) -> Ints:
        """Return a number for each of places (n, f): the same for equal ones and, but for chance, for no others."""
        return np.asarray(places @ self._key)

    # what is said of them ------------------------------------------------------------------------------

    def logits(self, places: Ints) -> Array:
        """Return the log-odds (n,) of places (n, f), each distinct row asked for once; −inf where time ran out before."""
        if len(places) == 0:
            return np.empty(0)
        first, which = self.distinct(places)
        rows, scores = self.rows(places[first]), np.full(len(first), -np.inf)
        for begin in range(0, len(rows), _ROWS):
            if self.late:
                break
            scores[begin : begin + _ROWS] = self.score(rows[begin : begin + _ROWS])
        self._saw(rows, scores)
        return np.asarray(scores[which])

    def judge(self, places: Ints) -> Array:
        """Return the log-odds (n,) of places (n, f) that are accepted and legal; less than the goal of all others."""
        return self.legal(places, self.logits(places))

    def legal(self, places: Ints, scores: Array) -> Array:
        """Return log-odds (n,) of places (n, f) with −inf where an accepted one is illegal or a pretext for waiting."""
        if self.most is not None:
            scores = np.where(self.counts(places) > self.most, -np.inf, scores)
        fine = np.flatnonzero(scores >= self.goal)
        if len(fine) == 0 or not self.tied:
            return scores
        first, which = self.distinct(places[fine])
        keys = self.keys(places[fine[first]]).tolist()
        new = np.array([key not in self._refused for key in keys], dtype=bool)
        if new.any():  # the few that are accepted come again and again
            Z = self.rows(places[fine[first[new]]])
            bad = ~self._possible(Z)
            bad[~bad] = self._pretexts(places[fine[first[new]]][~bad], Z[~bad])
            self._refused.update(zip(itertools.compress(keys, new), bad.tolist(), strict=True))
        refused = np.array([self._refused[key] for key in keys], dtype=bool)
        scores = scores.copy()
        scores[fine[refused[which]]] = -np.inf
        return scores

    def score(self, Z: Array) -> Array:
        """Return the log-odds (n,) of rows (n, d)."""
        return self.classifier.logit(self.then(Z)) if len(Z) else np.empty(0)

    @cached_property
    def score_now(self) -> float:
        """The log-odds of the subject as they are."""
        return float(self.score(self.z0[None])[0])

    @cached_property
    def idle(self) -> Array:
        """The log-odds (t,) of doing nothing for 0, 1, … months; of today alone where nothing takes time, or waiting is open."""
        rows = self.later() if self.clocks and not self.waits else self.base[None][:0]
        if len(rows) == 0:
            return self.score(self.base[None])
        month = self.space.legal.lengths(self.z0, rows).astype(np.intp)
        last = np.searchsorted(month, np.arange(month.max() + 1), side="right").clip(1) - 1
        return np.asarray(self.score(rows)[last])

    def months(self, places: Ints) -> Ints:
        """Return the whole months (n,) that the actions of places (n, f) take, as far as ``idle`` knows them."""
        if len(self.idle) == 1:
            return np.zeros(len(places), dtype=np.intp)
        months = self.space.legal.lengths(self.z0, self.rows(places), waiting=False)
        return np.minimum(months.astype(np.intp), len(self.idle) - 1)

    def _saw(self, Z: Array, scores: Array) -> None:
        """Remember the legal row that comes closest, of rows (n, d) with log-odds (n,)."""
        # of rows that lead too far by what they bring there may be many
        most = _LED if len(self.space.legal.derived.moved) else 4
        for k in np.argsort(-scores, kind="stable")[:most].tolist():
            if not scores[k] > self.closest:
                return
            if not self.tied or self._possible(Z[k : k + 1])[0]:
                self.closest, self.nearest = float(scores[k]), self.then(Z[k : k + 1])[0].copy()
                return

    def _possible(self, Z: Array) -> Bools:
        """Return which rows (n, d) the space allows, (n,): rows of places can only break rules and what is derived."""
        if self.space.rules:
            return self.space.allows(self.z0, self.then(Z))
        return self.space.legal.derives(self.z0, Z)

    # pretexts ------------------------------------------------------------------------------------------

    def _pretexts(self, places: Ints, Z: Array) -> Bools:
        """Return which of accepted legal places (n, f), as rows (n, d), live on waiting, (n,).

        Somebody is accepted in ten months whatever they do, because a clock goes on: then "reduce your cards by 1 % over
        ten months" is no advice. A row is a pretext where it is one by its slowest actions, or where it is accepted without
        one of its actions, or with less of it, and a pretext then: more of it does not make it better advice.
        """
        if not self.clocks or self.waits:
            return np.zeros(len(Z), dtype=bool)
        bad = self._idle(Z)
        row, ladder = np.nonzero((places != self.own) & ~bad[:, None])
        each = np.arange(len(row))
        out, back = places[row], places[row]
        out[each, ladder] = self.own[ladder]
        back[each, ladder] += np.sign(self.own[ladder] - back[each, ladder]) * self.ordered[ladder]
        less, row = np.concatenate([out, back]), np.concatenate([row, row])
        some = (less != self.own).any(axis=1)
        less, row = less[some], row[some]
        first, which = self.distinct(less)
        rows = self.rows(less[first])
        hollow = self._accepted(rows)
        hollow[hollow] = self._idle(rows[hollow])
        bad[row[hollow[which]]] = True
        return bad

    def _idle(self, Z: Array) -> Bools:
        """Return which accepted rows (n, d) are accepted without their slowest actions, but only because time goes by, (n,)."""
        out, slow = np.zeros(len(Z), dtype=bool), self.space.legal.slowest(self.z0, Z)
        left = np.where(np.repeat(~slow, self._widths, axis=1), Z, self.base)
        still = np.setdiff1d(np.arange(len(self.z0)), self.space.legal.following)
        # what a limit asks for cannot be left out, however long it takes
        some = np.flatnonzero(slow.any(axis=1) & (left[:, still] != Z[:, still]).any(axis=1))
        if len(some):
            then, soon = (self.space.legal.follow(left[some], self.z0, waiting=w) for w in (True, False))
            late, at_once = np.split(self._accepted(np.concatenate([then, soon])), 2)
            honest = at_once.copy()
            honest[at_once] = ~self._idle(soon[at_once])
            out[some] = (late | at_once) & ~honest
        return out

    def _accepted(self, Z: Array) -> Bools:
        """Return which rows (n, d) are accepted and legal, (n,)."""
        if len(Z) == 0:
            return np.zeros(0, dtype=bool)
        fine = self.score(Z) >= self.goal
        fine[fine] = self._possible(Z[fine])
        return np.asarray(fine)

    # rows that are no places -----------------------------------------------------------------------------

    def then(self, Z: Array) -> Array:
        """Return rows (n, d) of what the person does with all that effects bring."""
        return self.space.legal.brought(Z, self.z0)

    def follow(self, Z: Array) -> Array:
        """Return rows (n, d) with derived columns recomputed, and clocks where the actions put them, or the waiting."""
        return self.space.legal.follow(Z, self.z0, waiting=self.waits) if self.space.legal.following else Z

    def changed(self, Z: Array) -> Bools:
        """Return which features rows (n, d) change, (n, f), waiting among them where it is open; what is derived only follows."""
        out = np.zeros((len(Z), len(self.space.features)), dtype=bool)
        for ladder in self.ladders:
            gap = np.abs(Z[:, ladder.columns] - self.z0[ladder.columns])
            out[:, ladder.feature] = (gap > 1e-9).any(axis=1)
        return out

    def partly(self, Z: Array, kept: Bools, start: Array | None = None) -> Array:
        """Return rows (n, d) of which only some features (n, features) change, from the base or from another start (d,)."""
        start = self.base if start is None else start
        return self.follow(np.where(np.repeat(kept, self._widths, axis=1), Z, start))

    @cached_property
    def _widths(self) -> Ints:
        return np.array([f.width for f in self.space.features])

    def later(self) -> Array:
        """Return the base today and on later days (n, d), as the clocks go by themselves; nothing where there are none."""
        numbers, _ = self.space.legal.grid(self.z0)
        lead = [j for j, f in enumerate(numbers.feature) if not self.acts[f]]
        if not lead:
            return np.zeros((0, len(self.z0)))
        values = np.sort(numbers.values(lead[0]))
        rows = np.repeat(self.base[None], len(values), axis=0)
        rows[:, numbers.columns[lead[0]]] = values
        return self.space.legal.follow(rows, self.z0)
