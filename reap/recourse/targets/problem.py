"""One subject's problem: where the person can go, and what the model says of rows there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reap import _clock, effort
from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.recourse.targets.pretext import Pretexts
from reap.space import ActionSpace
from reap.space.grid import Levels, Numbers, columns_of
from reap.space.rules import Linear
from reap.space.sentences import parse

#: A row counts as accepted from this logit above the boundary: ``accepts`` is strict, and scores are rounded.
MARGIN = 1e-3


@dataclass
class Problem:
    """Rows of few changes for one subject: put together, checked, scored.

    Parameters
    ----------
    space : ActionSpace
        Within the person's limits.
    classifier : Classifier
    z0 : (d,)
    max_changes : int, optional
        How many features may change, if the space does not say less.
    deadline : float
        ``time.monotonic()`` after which work stops with what it has.
    waits : bool
        Whether a row may wait longer than its actions take. Otherwise all clocks only follow the actions.
    """

    space: ActionSpace
    classifier: Classifier
    z0: Array
    max_changes: int | None = None
    deadline: float = np.inf
    waits: bool = False
    #: Takes rows (n, d) back to where the model still cannot tell them from what they are; None: it tells all apart.
    nearer: Callable[[Array], Array] | None = None
    closest: float = -np.inf  # the highest logit of any legal row scored, and that row
    nearest: Array = field(init=False)
    numbers: Numbers = field(init=False)
    choices: list[Levels] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers, self.choices = self.space.grid(self.z0)
        self.nearest = self.z0
        self.gaps = bool(np.isnan(self.z0).any())
        self.goal = self.classifier.boundary + MARGIN
        self.derived = np.array(self.space.following, dtype=np.intp)
        self.acts = np.array([f.is_action for f in self.space.features], dtype=bool)  # waiting is no change
        clocks = [f for f in self.space.features if f.clock is not None and self.space.timed]
        self._clocks = [self.space.slices[f.name].start for f in clocks]
        waiting = ~self.acts[self.numbers.feature]
        self._leading = self.numbers.only(waiting, self.numbers.first, self.numbers.last)
        if not self.waits:
            self.numbers = self.numbers.only(~waiting, self.numbers.first, self.numbers.last)
        #: All that may change: ``narrow`` leaves the search less, but a rule may still ask for the rest.
        self.all_numbers, self._all_choices = self.numbers, self.choices
        #: Columns that a person sets, (d,); waiting is one of them where it is open.
        self.own = np.ones(self.space.dimension, dtype=bool)
        self.own[self.derived] = False
        self.own[self.numbers.columns] = True
        counts = [count for count in (self.max_changes, self.space.most_changes) if count is not None]
        self.max_changes = min(counts) if counts else None
        #: Rows put together from the grid are legal but for their count, unless something ties features together.
        self.tied = bool(self.space.rules or len(self.derived))
        self.base = self._base()
        self._pretexts = Pretexts(self)

    def _base(self) -> Array:
        """The subject's row with nothing changed but what limits force, (d,)."""
        base = self.z0.copy()
        base[self.numbers.columns] = self.numbers.snap(self.numbers.start)
        for choice in self.choices:
            if choice.own < 0:
                base[choice.columns] = choice.options[0]
        return base

    @cached_property
    def lines(self) -> tuple[Array, Array]:
        """The linear rules as ``L z ≤ side`` on vectors: (R, d), (R,)."""
        features = self.space.features
        rules = [
            rule for text in self.space.rules for rule in parse(text, features) if isinstance(rule, Linear)
        ]
        L, side = np.zeros((len(rules), self.space.dimension)), np.zeros(len(rules))
        for k, rule in enumerate(rules):
            side[k] = rule.limit
            for i, weight in rule.weights:
                side[k] -= weight * self.space.origins[i]
                L[k, self.space.slices[features[i].name].start] += weight * self.space.scales[i]
        return L, side

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.deadline or _clock.late()

    @property
    def smooth(self) -> bool:
        """Whether the model has a gradient."""
        return self.classifier.has_gradient

    def moves(self, Z: Array) -> Array:
        """Return the whole changes (…, d) of rows; what is missing does not change."""
        return effort.changes(Z, self.z0) if self.gaps else Z - self.z0

    def changed(self, Z: Array) -> Bools:
        """Return which features rows (n, d) change, (n, f), waiting among them where it is open; what is derived only follows."""
        moved = np.zeros((len(Z), len(self.space.features)), dtype=bool)
        n = self.all_numbers
        moved[:, n.feature] = np.abs(Z[:, n.columns] - n.start) > 1e-9
        for choice in self._all_choices:
            moved[:, choice.feature] = (np.abs(Z[:, choice.columns] - self.z0[choice.columns]) > 1e-9).any(
                axis=1
            )
        return moved

    def counts(self, Z: Array) -> Ints:
        """Return how many actions rows (n, d) take, (n,)."""
        return np.asarray(self.changed(Z)[:, self.acts].sum(axis=1))

    def partly(self, Z: Array, kept: Bools, start: Array | None = None) -> Array:
        """Return rows (n, d) of which only some features (n, f) change, from the base or from another start (d,)."""
        return self.follow(self.kept(Z, kept, start))

    def kept(self, Z: Array, kept: Bools, start: Array | None = None) -> Array:
        """Return the same before anything follows; clocks that are kept stay where the rows have them."""
        start = self.base if start is None else start
        return np.where(np.repeat(kept, self._widths, axis=1), Z, start)

    def columns(self, feature: int) -> slice:
        """Return the encoded columns of a feature, by its position."""
        return self.space.slices[self.space.features[feature].name]

    @cached_property
    def score_now(self) -> float:
        """The logit of the subject as they are."""
        return float(self.score(self.z0[None])[0])

    @cached_property
    def _widths(self) -> Ints:
        return np.array([len(columns_of(self.space, f)) for f in self.space.features])

    def within(self, Z: Array, exact: bool = False) -> Array:
        """Return what the subject would become on the way to rows (n, d): each feature as near as it may come."""
        return self.space.project(self._still(Z), self.z0, exact=exact)

    def tidy(self, Z: Array) -> Array:
        """Return rows (n, d) with numbers on the grid and derived columns as they follow."""
        Z = Z.copy()
        Z[:, self.numbers.columns] = self.numbers.snap(Z[:, self.numbers.columns])
        return self.follow(Z)

    def narrow(self, down: Bools, up: Bools, levels: list[Bools]) -> None:
        """Leave only some ways of changing: which numbers may fall and rise, (m,) both, and which levels remain."""
        n = self.numbers
        forced = ~n.stays  # what cannot stay as it is keeps all its ways
        kept = down | up | forced
        here = (self.base[n.columns] * n.scale + n.base) / n.unit
        first = np.where(down | forced, n.first, np.maximum(n.first, np.ceil(here - 1e-6)))
        last = np.where(up | forced, n.last, np.minimum(n.last, np.floor(here + 1e-6)))
        self.numbers = n.only(kept & (first <= last), first, last)
        self.choices = [choice.only(kept) for choice, kept in zip(self.choices, levels, strict=True)]

    def later(self) -> Array:
        """Return the base (n, d) today and on later days, as the clocks go by themselves; nothing where there are none."""
        if len(self._leading.columns) == 0:
            return np.zeros((0, len(self.base)))
        values = np.sort(self._leading.values(0))
        rows = np.repeat(self.base[None], len(values), axis=0)
        rows[:, self._leading.columns[0]] = values
        return self.space.follow(rows, self.z0)

    def follow(self, Z: Array) -> Array:
        """Return rows (n, d) with derived columns recomputed, and clocks where the actions put them, or the waiting."""
        return self.space.follow(Z, self.z0, waiting=self.waits)

    def _still(self, Z: Array) -> Array:
        """Return rows (n, d) that ask for no waiting, unless it is open."""
        if not self.waits and self._clocks:
            Z = Z.copy()
            Z[:, self._clocks] = self.z0[self._clocks]
        return Z

    def legal(self, Z: Array, counted: bool = True) -> Bools:
        """Return which rows (n, d) on the grid are legal, (n,); ``counted=False``: however much they change."""
        fine = np.ones(len(Z), dtype=bool)
        if counted and self.max_changes is not None:
            fine = self.counts(Z) <= self.max_changes
        if self.tied and fine.any():
            some = Z[fine]
            fine[fine] = (
                self.space.allows(self.z0, some) if self.space.rules else self.space.derives(self.z0, some)
            )
        return fine

    def possible(self, Z: Array) -> Bools:
        """Return which rows (n, d) on the grid ``space.allows``, (n,): more quickly where no rule ties features together."""
        if self.space.rules:
            return self.space.allows(self.z0, Z)
        fine = self.space.derives(self.z0, Z)
        most = self.space.most_changes
        return fine if most is None else fine & (self.counts(Z) <= most)

    def score(self, Z: Array) -> Array:
        """Return the logits of rows (n, d)."""
        return self.classifier.logit(Z) if len(Z) else np.empty(0)

    def accepted(self, Z: Array) -> Array:
        """Return the logits of the accepted ones of rows (n, d), −inf or less than the goal of all others, (n,)."""
        return self.classifier.from_least(Z, self.goal) if len(Z) else np.empty(0)

    def judge(self, Z: Array, counted: bool = True, *, all_scores: bool = False) -> Array:
        """Return the logits (…,) of the accepted ones of rows (…, d) on the grid, −inf or less than the goal of the others.

        With ``all_scores`` also what is not accepted has its logit, −inf only where a row is illegal.
        """
        flat = Z.reshape(-1, Z.shape[-1])
        scores = self.honest(flat, self.passed(flat, counted, all_scores=all_scores))
        if counted:
            self.saw(flat, scores)
        return scores.reshape(Z.shape[:-1])

    def passed(self, Z: Array, counted: bool = True, *, all_scores: bool = False) -> Array:
        """Return the same of rows (n, d), pretexts among them: to know one takes longer than a score."""
        scores, legal = np.full(len(Z), -np.inf), self.legal(Z, counted)
        scores[legal] = (self.score if all_scores else self.accepted)(Z[legal])
        return scores

    def saw(self, Z: Array, scores: Array) -> None:
        """Remember the legal row that comes closest of rows (n, d) with logits (n,)."""
        if len(scores) and scores[best := int(scores.argmax())] > self.closest:
            self.closest, self.nearest = float(scores[best]), Z[best].copy()

    def honest(self, Z: Array, scores: Array) -> Array:
        """Return the logits (n,) of legal rows (n, d), −inf where the slowest actions are a pretext for waiting."""
        return self._pretexts.refused(Z, scores) if self._clocks and not self.waits else scores
