"""A belief about a person's effort matrix that forgives wrong answers."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Self

import numpy as np

from reap._errors import InputError
from reap._typing import Array, Ints, Seed
from reap.belief.answers import (
    NARROW,
    Answers,
    People,
    as_seen,
    choice_probabilities,
    moves_of,
    pair_probabilities,
    people,
)
from reap.belief.columns import answering, labelled, learnt, movable
from reap.belief.cuts import as_moves, one_step
from reap.belief.learned_prior import LearnedPrior
from reap.belief.particles import Particles
from reap.belief.prior import Difficulties, Prior, PriorLike, opened
from reap.effort import grams

#: Options whose efforts are taken at once, so that a large pool needs little memory.
_CHUNK = 2048
#: Sets of options whose efforts are remembered: of plans, of parts of them, and of both before a search.
_REMEMBERED = 3
#: Numbers in all particles together: about 8 s of processor time an answer, 1 GB in all.
_LARGEST = 30_000_000


class Posterior:
    """What a person's answers say about the effort matrix, where answers may be wrong.

    Particles `A_1 … A_n`, each of trace d, follow `p(A) Σ_t p_t Π_k P(answer_k | A, κ_t, η_t)`: a prior over people,
    and kinds t of careful and careless ones, summed out for each particle over all answers. Sequential Monte
    Carlo: each answer weighs the particles, resamples them systematically, and moves them by steps that leave
    the prior as it is.

    Parameters
    ----------
    dimension : int
        Number of encoded columns `d`.
    prior : str, (d,) sequence, LearnedPrior or Path, default "people"
        "people" (a mixture), one of its families ("gaussian", "positive", "rank-one", "diagonal",
        "scaled", "causal", "alike-50"), what past sessions taught (`reap.learn`, or a file that `reap learn` wrote), or the
        difficulties alone, which then scale the mixture.
    difficulties : (d,) sequence, optional
        How hard each column is to change: positive factors, or words from "very easy" to "very hard".
    lapse : float, optional
        Share of answers given at random. With `lapse` or `sharpness` there is one kind of people; by default there
        are three, (κ, lapse) = (200, .01), (50, .1), (20, .3), of shares .6, .3, .1.
    sharpness : float, optional
        κ, the slope by which relative differences of effort decide an answer.
    particles : int, default 300
        Number of matrices kept.
    columns : sequence of int, optional
        The columns that can move at all; nothing can be learnt about the others, which keep an average effort of 1
        and take no time. By default all.
    features : (d,) sequence of int, optional
        Which feature each column belongs to: a category takes several, and −1 is one that no question shows. By default each
        column is a feature. People may weigh only what a question shows as different, and not what its options share.
    beside : int, default 0
        Further columns after the d, each with a weight of its own, 0 for most people, and no cross terms: what is minded
        whatever changes, on the scale of a typical change. `.dimension` counts them. Particles have trace d without them.
    time_limit : float, optional
        Seconds that learning from one answer may take. What ends in time is the same with and without a limit; what does not
        has moved its particles less: still those that the answers leave, but fewer of them differ. By default none:
        then the same answers always give the same state.
    random_state : int or Generator, default 0
        The k-th answer draws from `default_rng([seed, k])`: the same answers give the same state, to the bit.

    Examples
    --------
    >>> belief = Posterior(2)
    >>> for _ in range(3):
    ...     belief.update(chosen=[1.0, 0.0], others=[0.0, 1.0])  # the first column is easier to change
    >>> bool(belief.mean[0, 0] < belief.mean[1, 1]), round(float(belief.mean.trace()), 9)
    (True, 2.0)
    >>> int(belief.probability_best([[1.0, 0.0], [0.0, 1.0]]).argmax())
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
        particles: int = 300,
        columns: Sequence[int] | Ints | None = None,
        features: Sequence[int] | Ints | None = None,
        beside: int = 0,
        time_limit: float | None = None,
        random_state: Seed = 0,
    ) -> None:
        if dimension < 1:
            raise InputError(f"dimension is {dimension}; it must be at least 1.")
        if particles < 2:
            raise InputError(f"particles is {particles}; it must be at least 2.")
        moving = dimension if columns is None else len(columns)
        if particles * moving**2 > _LARGEST:
            raise InputError(
                f"{particles} matrices over {moving} columns are too many to learn with in seconds; "
                "name the columns that can change, or take fewer particles."
            )
        if isinstance(random_state, np.random.Generator):
            random_state = int(random_state.integers(2**62))
        if beside < 0:
            raise InputError(f"beside is {beside}; give 0 or more columns.")
        if time_limit is not None and not time_limit > 0:
            raise InputError(f"time_limit is {time_limit!r}; give seconds above 0, or None")
        self.dimension = dimension + beside
        self._time_limit = time_limit
        self._beside = np.arange(dimension, dimension + beside)
        self._seed = random_state
        self._answers = Answers()
        #: Efforts of options that were asked for last, since the last answer: a round asks for the same ones several times.
        self._known: dict[bytes, Array] = {}
        self._columns = movable(columns, dimension)
        who, prior = people(lapse, sharpness), opened(prior)
        if isinstance(prior, LearnedPrior):
            self._columns = learnt(prior, dimension, None if columns is None else self._columns)
            who = answering(prior, who)
        elif not isinstance(prior, str):
            prior, difficulties = "people", prior
        if difficulties is not None and len(difficulties) == dimension:
            difficulties = [difficulties[i] for i in self._columns]
        known = Prior(len(self._columns), prior, difficulties, beside)
        self._columns = np.concatenate([self._columns, self._beside])
        self._features = labelled(features, dimension, beside)
        narrow = NARROW if lapse is None and sharpness is None else 0.0
        self._cloud = Particles(known, who, particles, self._rng(), narrow=narrow)

    def __len__(self) -> int:
        return self._answers.count

    def __repr__(self) -> str:
        return f"Posterior(dimension={self.dimension}, answers={len(self)}, particles={len(self._cloud)})"

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
        self._learn([chosen, *others] if several else [chosen, np.asarray(others)], same=False)

    def update_same(self, options: Sequence[Array]) -> None:
        """Learn that the options, a list of moves, are about equally hard."""
        self._learn(options, same=True)

    def _learn(self, options: Sequence[Array], *, same: bool) -> None:
        if len(options) < 2:
            raise InputError(f"the answer compares {len(options)} option(s); give at least 2.")
        begin = time.monotonic()
        whole = moves_of(options, self.dimension)
        moves, seen = (
            [V[:, self._columns] for V in each] for each in (whole, as_seen(whole, self._features))
        )
        self._answers, self._known = self._answers.add(moves, same=same, seen=seen), {}
        deadline = np.inf if self._time_limit is None else begin + self._time_limit
        self._cloud.learn(self._answers, self._rng(), deadline=deadline)

    def copy(self) -> Self:
        """Return an independent copy; cheap, since arrays are replaced and never written to."""
        other = copy.copy(self)
        other._cloud, other._known = self._cloud.copy(), {}
        return other

    @property
    def matrices(self) -> Array:
        """The particles `(particles, d, d)`, each of trace d."""
        return self._whole(self._cloud.matrices)

    @property
    def weights(self) -> Array:
        """The particles' weights `(particles,)`: equal, since every answer ends with a resampling."""
        return np.full(len(self._cloud), 1 / len(self._cloud))

    @property
    def effective_sample_size(self) -> float:
        """How many particles the last answer left effective, before they were resampled and moved."""
        return self._cloud.effective

    @property
    def kinds(self) -> Array:
        """How likely the person is of each kind `(t,)`, most careful first, given the answers."""
        return self._cloud.kinds

    @property
    def people(self) -> People:
        """The kinds of people, with how likely the person is of each, given the answers."""
        return self._cloud.people._replace(share=self.kinds)

    @property
    def consistency(self) -> float:
        """How well the answers agree with one another, from 0 to 1: careful people count 1, middling ½, careless 0.

        The expectation over `kinds`: ¾ before any answer, rising while answers fit one effort matrix and falling
        with every contradiction. With a single kind given there is nothing to compare: 1.
        """
        kinds = self.kinds
        return float(kinds @ np.linspace(1.0, 0.0, len(kinds))) if len(kinds) > 1 else 1.0

    @property
    def minds(self) -> Array:
        """How likely it is that the person minds each of the columns beside at all, (beside,)."""
        return self._cloud.minds

    @property
    def mean(self) -> Array:
        """The expected effort matrix `(d, d)`, of trace d."""
        return self._whole(self._cloud.mean)

    def estimate(self) -> Array:
        """Return the matrix `(d, d)` to plan with, the mean: effort is linear in A, so its plan has least expected effort."""
        return self.mean

    def sample(self, n: int, random_state: Seed | None = None) -> Array:
        """Draw n particles `(n, d, d)`, without repetition while there are enough.

        By default the draw is fixed by the seed and the number of answers so far.
        """
        if n < 1:
            raise InputError(f"n is {n}; it must be at least 1.")
        rng = self._rng(1) if random_state is None else np.random.default_rng(random_state)
        picked = rng.choice(len(self._cloud), size=n, replace=n > len(self._cloud))
        return self._whole(self._cloud.some(picked))

    def efforts(self, options: Sequence[Array] | Array) -> Array:
        """Return the effort `⟨A_i, VᵀV⟩` `(particles, m)` of m options: a list of moves, or `(m, d)`, one step each."""
        parts = [self._efforts(options[i : i + _CHUNK]) for i in range(0, len(options), _CHUNK)]
        return np.maximum(np.hstack(parts), 0.0) if parts else np.empty((len(self._cloud), 0))

    def _efforts(self, options: Sequence[Array] | Array) -> Array:
        moves = one_step(options, self.dimension)
        if moves is not None:
            known = self._known.get(name := moves.tobytes())
            if known is None:
                columns, flat = self._cloud.over(moves[:, self._columns])
                known = self._product(flat, grams(moves[:, self._columns[columns]]))
                while len(self._known) >= _REMEMBERED:
                    self._known.pop(next(iter(self._known)))
                self._known[name] = known
            return known
        listed = [as_moves(option, self.dimension)[:, self._columns] for option in options]
        columns, flat = self._cloud.over(np.vstack(listed))
        return self._product(flat, grams([V[:, columns] for V in listed]))

    @staticmethod
    def _product(flat: Array, squares: Array) -> Array:
        """Return `⟨A, VᵀV⟩` `(n, m)` of flat matrices `(n, k·k)` and Gram matrices `(m, k, k)` in one product."""
        squares = squares.reshape(len(squares), -1).astype(flat.dtype, copy=False)
        return np.asarray((flat @ squares.T).astype(float, copy=False))

    def answer_probabilities(
        self, efforts: Array, people: Ints | None = None, *, slips: bool = True
    ) -> Array:
        """Return how likely people are to choose each option, `(s, q, k)` from efforts `(s, q, k)`; see `Sampled`.

        The kinds of people are as likely as the answers so far make them, the same for every particle.
        """
        who = self.people if slips else self.people._replace(slip=np.zeros_like(self.people.slip))
        if efforts.shape[-1] == 2:
            return pair_probabilities(efforts, who)
        return np.asarray(choice_probabilities(efforts, who) @ who.share)

    def choice_probabilities(self, options: Sequence[Array] | Array) -> Array:
        """Return how likely each of k options, shown side by side, is to be chosen `(k,)`; slips are counted in.

        Examples
        --------
        >>> belief = Posterior(2)
        >>> belief.update([1.0, 0.0], [0.0, 1.0])
        >>> belief.choice_probabilities([[1.0, 0.0], [0.0, 1.0]]).argmax()
        np.int64(0)
        """
        seen = as_seen(moves_of(list(options), self.dimension), self._features)
        views = [
            self._pool(options),
            self._pool(seen or options),
        ]  # as people weigh them whole, and as they see them
        each = np.stack([choice_probabilities(efforts, self._cloud.people) for efforts in views], axis=1)
        result: Array = np.einsum("nskt,nst->k", each, self._cloud.care) / len(each)
        return result

    def probability_best(self, options: Sequence[Array] | Array, tolerance: float = 0.0) -> Array:
        """Return `P(c_j ≤ (1 + tolerance) min_l c_l)` `(m,)` for each of m options."""
        efforts = self._pool(options)
        result: Array = (efforts <= (1 + tolerance) * efforts.min(axis=1, keepdims=True)).mean(axis=0)
        return result

    def expected_excess(self, options: Sequence[Array] | Array) -> Array:
        """Return the expected relative excess `(m,)` of each of m options over the best of them.

        `E[(c_j − min_l c_l) / max(min_l c_l, median_l c_l / 10)]`; without the floor the expectation need not exist.
        """
        efforts = self._pool(options)
        excess = (efforts - efforts.min(axis=1, keepdims=True)) / _yardstick(efforts)[:, None]
        result: Array = excess.mean(axis=0)
        return result

    def _pool(self, options: Sequence[Array] | Array) -> Array:
        if len(options) == 0:
            raise InputError("there are no options to compare; give at least 1.")
        return self.efforts(options)

    def _whole(self, A: Array) -> Array:
        """Return matrices `(…, k, k)` over the columns that can move as `(…, d, d)`."""
        if len(self._columns) == self.dimension:
            return A
        whole = np.zeros((*A.shape[:-2], self.dimension, self.dimension))
        whole[..., np.arange(self.dimension), np.arange(self.dimension)] = 1.0
        whole[..., self._columns[:, None], self._columns] = A
        return whole

    def _rng(self, *purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, len(self), *purpose])


def _yardstick(efforts: Array) -> Array:
    """Return `max(min_j c_ij, median_j c_ij / 10)` `(n,)`, the effort against which person i measures others."""
    floor = np.median(efforts, axis=1) / 10
    result: Array = np.maximum(np.maximum(efforts.min(axis=1), floor), np.finfo(float).tiny)
    return result
