"""A belief about a person that forgives wrong answers: a bank of people, weighed by what the person answers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Ints, Seed
from reap.belief.answers import as_moves, as_seen, chances, check_answering, same_chance, stacked
from reap.belief.learned_prior import PLAIN, LearnedPrior, learned_prior
from reap.belief.prior import Bank, Difficulties, Population, drawn, factors, unknown_people
from reap.effort import Efforts

#: People of a bank, and how often it is drawn from for those who stand for it where many options are compared.
BANK, DRAWN = 4000, 1000
#: Below so many equally likely people the bank is renewed: so many are drawn from it, and each moves by these steps.
FEW, RENEWED, STEPS = 100, 1000, (0.5, 0.3) * 3
#: Options whose efforts are taken at once, so that a large pool needs little memory.
_CHUNK = 256
#: Sets of options whose efforts are remembered: of plans, of parts of them, and of both before a search.
_REMEMBERED = 3
_TINY = 1e-300

#: "people", or a learnt prior or its file.
PriorLike: TypeAlias = str | LearnedPrior | Path


class Posterior:
    """What a person's answers say about what changes ask of them, where answers may be wrong.

    A bank of people is drawn once from a prior (``reap.belief.prior``); each has weights of columns, a curvature, a sharpness,
    a share of lapses, may weigh changes together or one by one, may find some welcome, and may mind how many there are. An
    answer multiplies the weight of each of these people by how likely they were to give it. Where few of them are left likely,
    the bank is renewed: people are drawn by their weights, and each moves to somebody near, by steps that keep the prior
    and are taken as the answers so far allow (Metropolis-Hastings, with preconditioned Crank-Nicolson steps of what is normal).
    The same answers in the same order give the same state, to the bit.

    Parameters
    ----------
    dimension : int
        Number of encoded columns `d`.
    prior : "people", LearnedPrior or Path, default "people"
        People of whom nothing is known; or what past sessions taught (`reap.learn`, or a file that `reap learn` wrote).
    difficulties : (d,) sequence, optional
        How hard each column is to change: positive factors, or words from "very easy" to "very hard".
    lapse : float, optional
        Share of answers given at random. By default people differ: 2 %, 10 % or 30 %.
    sharpness : float, optional
        κ: of options with efforts `e` and mean effort `ē` one is chosen with chance ∝ `exp(−κ e/ē)`. By default people differ,
        about 8.
    columns : sequence of int, optional
        The columns that can move at all; nothing can be learnt about the others, which keep an effort of 1. By default all.
    features : (d,) sequence of int, optional
        Which feature each column belongs to: a category takes several, and −1 is one that no question shows. By default each
        column is a feature. People may weigh only what a question shows as different, and not what its options share.
    beside : int, default 0
        Further columns after the d, each with a weight of its own, 0 for most people, that counts its square: what is minded
        whatever changes, on the scale of a typical change. `.dimension` counts them.
    bank : int, default 4000
        Number of people n.
    renew : bool, default True
        Whether the bank is renewed where fewer than 100 equally likely people are left of it. Without, the order of answers does
        not matter.
    random_state : int or Generator, default 0
        What the bank is drawn from.

    Examples
    --------
    >>> belief = Posterior(2)
    >>> for _ in range(3):
    ...     belief.update(chosen=[1.0, 0.0], others=[0.0, 1.0])  # the first column is easier to change
    >>> bool(belief.mean[0, 0] < belief.mean[1, 1])
    True
    >>> int(belief.expected([[1.0, 0.0], [0.0, 1.0]]).argmin())
    0
    """

    def __init__(
        self,
        dimension: int,
        prior: PriorLike = "people",
        *,
        difficulties: Difficulties | None = None,
        lapse: float | None = None,
        sharpness: float | None = None,
        columns: Sequence[int] | Ints | None = None,
        features: Sequence[int] | Ints | None = None,
        beside: int = 0,
        bank: int = BANK,
        renew: bool = True,
        random_state: Seed = 0,
    ) -> None:
        if dimension < 1:
            raise InputError(f"dimension is {dimension}; it must be at least 1.")
        if beside < 0:
            raise InputError(f"beside is {beside}; give 0 or more columns.")
        if bank < 2:
            raise InputError(f"bank is {bank}; it must have at least 2 people.")
        check_answering(lapse, sharpness)
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**62))
        if isinstance(prior, Path) or (isinstance(prior, str) and prior.endswith(".json")):
            prior = learned_prior(prior)
        self.dimension = dimension + beside
        self._seed, self._renews = random_state, renew
        self._asked: tuple[_Asked, ...] = ()
        self._columns = _movable(columns, dimension)
        populations = unknown_people(len(self._columns), beside)
        if isinstance(prior, LearnedPrior):
            self._columns = _learnt(prior, dimension, None if columns is None else self._columns)
            populations = _populations(prior, beside)
        elif prior != "people":
            raise unknown("prior", prior, ["people"])
        known = None if difficulties is None else factors(difficulties, dimension)[self._columns]
        self._features = _labelled(features, dimension, beside)
        self._moving = np.concatenate([self._columns, np.arange(dimension, self.dimension)])
        if lapse is not None or sharpness is not None:
            populations = [(share, each.answering(lapse, sharpness)) for share, each in populations]
        self._populations, self._difficulties = [each for _, each in populations], known
        self._bank = drawn(populations, bank, self._rng(), known)
        self._logs = np.zeros(bank)
        self._forget()

    def __len__(self) -> int:
        return len(self._asked)

    def __repr__(self) -> str:
        return f"Posterior(dimension={self.dimension}, answers={len(self)}, bank={len(self._bank)})"

    def update(self, chosen: Array, others: Array | Sequence[Array]) -> None:
        """Learn that one option was preferred to the others.

        Parameters
        ----------
        chosen : (d,) or (s, d) array
            Moves of the chosen option.
        others : moves, or list of moves
            The other option, or the k−1 other options of a question with k.
        """
        several = not isinstance(others, np.ndarray) and any(np.ndim(other) for other in others)
        self._learn([chosen, *others] if several else [chosen, np.asarray(others)], False)

    def update_same(self, options: Sequence[Array]) -> None:
        """Learn that the options, a list of moves, are about equally hard."""
        self._learn(options, True)

    def _question(self, options: Sequence[Array], same: bool = False) -> _Asked:
        if len(options) < 2:
            raise InputError(f"the answer compares {len(options)} option(s); give at least 2.")
        whole = [as_moves(option, self.dimension) for option in options]
        return _Asked([self._rows(each) for each in (whole, as_seen(whole, self._features)) if each], same)

    def _learn(self, options: Sequence[Array], same: bool) -> None:
        asked = self._question(options, same)
        self._logs = self._logs + asked.logs(self._bank)
        self._asked = (*self._asked, asked)
        self._forget()
        if self._renews and self.effective_sample_size < min(FEW, len(self._bank) / 10):
            self._renew()

    def _renew(self) -> None:
        """Draw people by their weights, and move them by steps that leave what prior and answers say as it is."""
        rng, n = self._rng(3), min(RENEWED, len(self._bank))
        people = self._bank.take(self._systematic(n, rng))
        logs = _together(self._asked, people)
        for far in STEPS:
            other = Bank.of(people.moved(self._populations, far, rng), self._difficulties)
            there = _together(self._asked, other)
            yes = np.log1p(-rng.random(n)) < there - logs
            people, logs = people.where(yes, other), np.where(yes, there, logs)
        self._bank, self._logs = people, np.zeros(n)
        self._forget()

    def _forget(self) -> None:
        #: People who stand for the bank, their weights, and efforts of options that were asked for last.
        self._standing: tuple[Bank, Array] | None = None
        self._known: dict[bytes, Array] = {}

    def copy(self) -> Self:
        """Return an independent copy; cheap, since arrays are replaced and never written to."""
        other = copy.copy(self)
        other._known = self._known.copy()
        return other

    # people --------------------------------------------------------------------------------------------

    @property
    def shares(self) -> Array:
        """How likely the person is each of the people of the bank, (bank,)."""
        weights = np.exp(self._logs - self._logs.max())
        return np.asarray(weights / weights.sum())

    @property
    def effective_sample_size(self) -> float:
        """How many equally likely people the bank is worth: ``1/Σ shares²``."""
        return float(1 / (self.shares**2).sum())

    @property
    def weights(self) -> Array:
        """How likely the person is each of the n people who stand for the bank, (n,); ``efforts`` is of these."""
        return self._stand()[1]

    def _stand(self) -> tuple[Bank, Array]:
        """Return people who stand for the bank: those that a fixed number of evenly spaced draws hits, and how often."""
        if self._standing is None:
            people, often = np.unique(self._systematic(DRAWN, self._rng(1)), return_counts=True)
            self._standing = self._bank.take(people), often / DRAWN
        return self._standing

    def _systematic(self, n: int, rng: np.random.Generator) -> Ints:
        cumulative = np.cumsum(self.shares)
        points = (np.arange(n) + rng.random()) / n
        found: Ints = np.searchsorted(cumulative / cumulative[-1], points, side="right")
        return np.minimum(found, len(cumulative) - 1)

    # what changes ask ----------------------------------------------------------------------------------

    @property
    def mean(self) -> Array:
        """The expected effort matrix `(d, d)`, of changes of the typical size; its trace is about d."""
        mean = np.eye(self.dimension)
        mean[self._moving[:, None], self._moving] = self._bank.mean(self.shares)
        return mean

    def estimate(self) -> Array:
        """Return the matrix `(d, d)` to plan with, the mean."""
        return self.mean

    def sample(self, n: int, random_state: Seed | None = None) -> Efforts:
        """Draw n people by how likely they are, as engines take them.

        What they mind beside counts as the columns beside do: with the square of a column. By default the draw is fixed by the
        seed and the number of answers so far.
        """
        if n < 1:
            raise InputError(f"n is {n}; it must be at least 1.")
        rng = self._rng(2) if random_state is None else np.random.default_rng(random_state)
        people = self._bank.take(self._systematic(n, rng))
        dimension = self.dimension - people.beside.shape[1]
        return people.efforts(self._columns, dimension)[rng.permutation(n)]

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return what m options, a list of moves or `(m, d)`, ask of the n people who stand for the bank, `(n, m)`."""
        people = self._stand()[0]
        rows, firsts = stacked(options, self.dimension)
        name = rows.tobytes() + firsts.tobytes()
        if name not in self._known:
            parts = [options[i : i + _CHUNK] for i in range(0, len(options), _CHUNK)]
            each = [self._ask(part, people) for part in parts]
            while len(self._known) >= _REMEMBERED:
                self._known.pop(next(iter(self._known)))
            self._known[name] = np.hstack(each) if each else np.empty((len(people), 0))
        return self._known[name]

    def expected(self, options: Sequence[Array] | Array) -> Array:
        """Return the expected effort `(m,)` of each of m options, over the whole bank."""
        if len(options) == 0:
            raise InputError("there are no options to compare; give at least 1.")
        return np.asarray(self.shares @ self._ask(options, self._bank))

    def _rows(self, options: Sequence[Array] | Array) -> tuple[Array, Ints]:
        """Return the moves of options one below the other, in the columns that move, and where each option begins."""
        rows, firsts = stacked(options, self.dimension)
        return rows[:, self._moving], firsts

    def _ask(self, options: Sequence[Array] | Array, people: Bank) -> Array:
        """Return what options ask of people, (n, m)."""
        return _summed(people.ask((rows := self._rows(options))[0])[0], rows[1])

    # answers to come -----------------------------------------------------------------------------------

    def choice_probabilities(self, options: Sequence[Array] | Array) -> Array:
        """Return how likely each of k options, shown side by side, is to be chosen `(k,)`; slips are counted in.

        Examples
        --------
        >>> belief = Posterior(2)
        >>> belief.update([1.0, 0.0], [0.0, 1.0])
        >>> belief.choice_probabilities([[1.0, 0.0], [0.0, 1.0]]).argmax()
        np.int64(0)
        """
        return np.asarray(self.shares @ self._question(list(options)).chances(self._bank))

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely people who stand for the bank are to choose each option, `(s, q, k)` from efforts `(s, q, k)`."""
        known = self._stand()[0]
        which = slice(None) if people is None else people
        each = known.sharpness[which, None], known.lapses[which, None] * slips
        return chances(efforts, efforts, *(np.broadcast_to(x, efforts.shape[:-1]) for x in each))

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, len(self), *purpose])


def _movable(given: Sequence[int] | Ints | None, dimension: int) -> Ints:
    """Return the columns (k,) that can move, in their order."""
    columns = np.arange(dimension) if given is None else np.unique(np.asarray(given, dtype=np.intp))
    if len(columns) == 0 or columns[0] < 0 or columns[-1] >= dimension:
        raise InputError(f"columns is {given!r}; give positions from 0 to {dimension - 1}, at least one.")
    return columns


def _labelled(given: Sequence[int] | Ints | None, dimension: int, beside: int) -> Ints:
    """Return the feature of each column (d + beside,); every column beside is one of its own."""
    features = np.asarray(np.arange(dimension) if given is None else given)
    whole = features.shape == (dimension,) and np.issubdtype(features.dtype, np.integer)
    if not whole or features.min() < -1:
        raise InputError(
            f"features is {given!r}; give a whole number for each of the {dimension} columns, −1 where no question shows it."
        )
    return np.concatenate([features, features.max() + 1 + np.arange(beside)]).astype(np.intp)


def _learnt(prior: LearnedPrior, dimension: int, columns: Ints | None) -> Ints:
    """Return the columns a prior was learnt for, which must be those, or more than those, that can move here."""
    if prior.dimension != dimension:
        raise InputError(
            f"the prior was learnt for {prior.dimension} encoded columns; here are {dimension}: it belongs to another space."
        )
    if columns is not None and not set(columns.tolist()) <= set(prior.columns):
        raise InputError("the prior was learnt in a space where fewer columns can move; learn it again.")
    return np.array(prior.columns, dtype=np.intp)


def _populations(prior: LearnedPrior, beside: int) -> list[tuple[float, Population]]:
    """Return populations with their shares: that of a learnt prior, and a few people of whom nothing is known."""
    people = unknown_people(len(prior.columns), beside)
    if prior.learnt == "nothing":
        return people
    return [(1 - PLAIN, prior.population.minding(beside)), *((PLAIN * share, each) for share, each in people)]


@dataclass(frozen=True)
class _Asked:
    """A question and what was said: the options whole, then what they show as different where that is less, as `Posterior._rows`.

    The first option is the one that was chosen, or all are about the same.
    """

    views: list[tuple[Array, Ints]]
    same: bool

    @property
    def rows(self) -> Array:
        return np.concatenate([rows for rows, _ in self.views])

    def logs(self, people: Bank) -> Array:
        """Return how likely each of n people is to say so, as logarithms (n,)."""
        return self.told(people, *people.ask(self.rows))

    def told(self, people: Bank, asked: Array, glad: Array) -> Array:
        """The same, of what the rows ask of people, and what is welcome in them, (n, r) each."""
        said = self._by_view(people, asked, glad, same_chance if self.same else chances)
        return np.log(np.maximum(said if self.same else said[:, 0], _TINY))

    def chances(self, people: Bank) -> Array:
        """Return how likely each of n people is to choose each of k options, (n, k)."""
        return self._by_view(people, *people.ask(self.rows), chances)

    def _by_view(self, people: Bank, asked: Array, glad: Array, likely: Callable[..., Array]) -> Array:
        found, begin = [], 0
        for rows, firsts in self.views:
            own = slice(begin, begin := begin + len(rows))
            a, b = _summed(asked[:, own], firsts), _summed(glad[:, own], firsts)
            found.append(likely(a - b, a + b, people.sharpness, people.lapses))
        if len(found) > 1:
            found[0][people.narrow] = found[1][people.narrow]
        return found[0]


def _together(asked: Sequence[_Asked], people: Bank) -> Array:
    """Return how likely each of n people is to have given all answers, as logarithms (n,)."""
    rows = [each.rows for each in asked]
    ends = np.cumsum([len(each) for each in rows])[:-1]
    all_, glad = (np.split(found, ends, axis=1) for found in people.ask(np.concatenate(rows)))
    return np.asarray(sum(each.told(people, *parts) for each, *parts in zip(asked, all_, glad, strict=True)))


def _summed(efforts: Array, firsts: Ints) -> Array:
    """Return efforts (n, m) of options whose moves ask (n, r), of which those of each option begin at ``firsts`` (m,)."""
    return efforts if len(firsts) == efforts.shape[1] else np.add.reduceat(efforts, firsts, axis=1)
