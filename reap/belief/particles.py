"""The sampler under the posterior: particles that are weighed, resampled and moved, and keep their prior."""

from __future__ import annotations

import copy
import time

import numpy as np

from reap import _clock
from reap._typing import Array, Ints
from reap.belief.answers import Answers, People
from reap.belief.prior import Prior
from reap.belief.resampling import effective, log_sum, positions

#: Moves after each answer, every fourth of which proposes another family; fewer after one that leaves this share effective.
MOVES, FEWER, EXPECTED = 8, 4, 0.7
#: An answer that leaves a smaller share of the particles effective is learnt in stages, and their largest number.
ENOUGH, STAGES = 0.1, 10
#: Share of proposals that should be accepted, and the factors by which the step then grows or shrinks.
ACCEPTANCE, GROW, SHRINK = 0.3, 1.15, 0.87
#: The step of a proposal of other weights for the columns beside.
WEIGHTS = 0.44
#: A share so small that it comes to nothing, and still has a logarithm.
_NEVER = 1e-300
#: What a particle is made of.
STATE = ("_latents", "_families", "_own", "_before", "_last")


class Particles:
    """People that may be the one who answers, as latents of the prior, with what each makes of the answers.

    The target is `p(z) Σ_t p(t) Π_k P(answer_k | A(z), t)` over latents z and families, t the kinds of people
    (how careful they are, and whether they weigh what options have in common). Where columns are
    many, most of them never move in an answer. Their latents are as the prior has them, whatever was answered, and independent
    of the others': each place keeps those it drew at first, and neither weighing nor moving concerns them.

    Parameters
    ----------
    prior : Prior
    who : People
        Kinds of people t.
    n : int
        Number of particles.
    rng : Generator
    narrow : float
        Share of people who weigh only what a question shows as different.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> from reap.belief.answers import people
    >>> cloud = Particles(Prior(2), people(), 100, rng)
    >>> cloud.learn(Answers().add(np.eye(2)[:, None], same=False), rng)
    >>> bool(cloud.matrices[:, 0, 0].mean() < cloud.matrices[:, 1, 1].mean())
    True
    """

    def __init__(
        self, prior: Prior, who: People, n: int, rng: np.random.Generator, *, narrow: float = 0.0
    ) -> None:
        begin = time.monotonic()
        self._prior, self.people = prior, who
        #: How usual each kind of people is, (2t,): who weigh options whole, then who weigh what differs.
        self._usual = np.log(np.maximum(np.outer([1 - narrow, narrow], who.share).ravel(), _NEVER))
        drawn, self._families = prior.draw(n, rng)
        #: Columns whose latents answers speak of; None: all.
        self._columns = prior.touched(np.zeros((0, prior.dimension)))
        first = (
            0 if self._columns is None else prior.dimension
        )  # where none is spoken of yet, the rows after those of columns
        self._latents = drawn[:, first:].reshape(n, -1)
        #: Latents as they were drawn, for columns that no answer has moved; None where all are moved.
        self._drawn = None if self._columns is None else drawn
        self._matrices: Array | None = None
        self._some: tuple[Ints, Array] | None = None
        if self._columns is None:
            self._matrices = prior.matrices(self._latents, self._families)
        #: Seconds that a move took last; the first draw is the same work. Only a deadline is judged by it.
        self._pace = time.monotonic() - begin
        # Per particle and kind of people: log-likelihood of the answers before the last one and how usual that kind
        # is, and log-likelihood of the last.
        self._before = np.tile(self._usual, (n, 1))
        self._last = np.zeros_like(self._before)
        #: While particles move: the log-likelihood (n,) of all answers, at the power of the last; None: not known.
        self._level: Array | None = None
        #: Efforts (n, m) of the answers' options, without what the columns beside count.
        self._own = np.empty((n, 0))
        self.step = 0.4
        self.acceptance = float("nan")
        self.effective = float(n)

    def __len__(self) -> int:
        return len(self._families)

    @property
    def matrices(self) -> Array:
        """The particles' effort matrices `(n, d, d)`; made when they are wanted, since moving needs none."""
        if self._matrices is None:
            self._matrices = self.some(np.arange(len(self)))
        return self._matrices

    @property
    def mean(self) -> Array:
        """The mean `(d, d)` of the matrices.

        A column that no answer has moved is tied to none on average, since no family cares about its sign.
        """
        if self._columns is None:
            return np.asarray(self.matrices.mean(axis=0))
        d, beside = self._prior.dimension, self._prior.beside
        mean = np.zeros((d + beside, d + beside))
        mean[np.arange(d), np.arange(d)] = self._prior.expected(self._latents, self._families, self._columns)
        own = np.concatenate([self._columns, np.arange(d, d + beside)])
        each = self._prior.matrices(self._latents, self._families, self._columns)
        mean[own[:, None], own] = each.mean(axis=0, dtype=float)
        return mean

    def some(self, places: Ints) -> Array:
        """Return the matrices `(m, d, d)` of some particles."""
        if self._matrices is not None:
            return np.asarray(self._matrices[places])
        latents = self._latents[places]
        if self._columns is not None:
            latents = self._with(np.arange(self._prior.dimension), places)
        return self._prior.matrices(latents, self._families[places])

    def over(self, V: Array) -> tuple[Ints, Array]:
        """Return columns (k,), those in which changes V `(m, d+e)` move among them, and the matrices `(n, k·k)` over these."""
        d, beside = self._prior.dimension, self._prior.beside
        columns = None if self._columns is None else self._prior.touched(V)
        if columns is None:
            return np.arange(d + beside), self.matrices.reshape(len(self), -1)
        if self._some is None or not np.isin(columns, self._some[0]).all():
            A = self._prior.matrices(self._with(columns), self._families, columns)
            own = np.concatenate([columns, np.arange(d, d + beside)])
            self._some = own, A.reshape(len(A), -1)
        return self._some

    def _with(self, columns: Ints, places: Ints | slice = slice(None)) -> Array:
        """Return the latents `(n, …)` in some columns, flat: those that were moved, else as they were drawn."""
        assert self._columns is not None
        assert self._drawn is not None
        d, k, m = self._prior.dimension, len(self._columns), len(columns)
        drawn, moved = self._drawn[places], self._latents[places]
        known, at = np.isin(columns, self._columns), np.searchsorted(self._columns, columns)
        made = np.empty((len(moved), d * m + moved.shape[1] - d * k), dtype=moved.dtype)
        made[:, d * m :] = moved[:, d * k :]
        # One by one: each fits into the processor's cache, and all of them are 80 MB at d = 200.
        for i in range(len(made)):
            own, before = made[i, : d * m].reshape(d, m), moved[i, : d * k].reshape(d, k)
            if not known.all():
                np.take(drawn[i, :d], columns, axis=1, out=own, mode="clip")
            own[:, known] = before[:, at[known]]
        return made

    @property
    def minds(self) -> Array:
        """The share `(e,)` of particles that mind each of the columns beside."""
        return self._prior.minded(self._latents)

    def copy(self) -> Particles:
        """Return an independent copy; arrays are shared, since they are written to only after resampling renewed them."""
        return copy.copy(self)

    @property
    def kinds(self) -> Array:
        """How likely each kind of people is `(t,)`, given the answers."""
        shares: Array = self.care.sum(axis=1).mean(axis=0)
        return shares

    @property
    def care(self) -> Array:
        """The same for each particle `(n, 2, t)`: of those who weigh options whole, and of the others."""
        total = self._before + self._last
        return np.asarray(np.exp(total - log_sum(total)[:, None])).reshape(len(total), 2, -1)

    def learn(self, answers: Answers, rng: np.random.Generator, *, deadline: float = np.inf) -> None:
        """Take in the last of the answers: weigh, resample, move.

        Where too few particles agree with it, its likelihood is raised to a growing power instead, each stage
        as much as leaves enough of them, so that the particles can walk to where it holds. A move that would not end
        by the `deadline` is not begun: the particles are those that the answers leave, only fewer of them differ.
        """
        columns, known = self._prior.touched(answers.moves), self._columns
        if columns is not None and known is not None and not np.array_equal(columns, known):
            self._latents, self._columns = self._with(columns), columns
        self._own, self._before, self._last = self._likelihood(self._latents, self._families, answers)
        self._level = None
        self.effective = effective(self._gain(0.0, 1.0))
        power, moves = 0.0, FEWER if self.effective > EXPECTED * len(self) else MOVES
        for stage in range(STAGES):
            last = stage == STAGES - 1 or time.monotonic() > deadline
            following = 1.0 if last else self._following(power)
            self._resample(positions(self._gain(power, following), rng))
            power = following
            self.move(answers, rng, power=power, moves=moves, deadline=deadline)
            if power == 1.0:
                break

    def move(
        self,
        answers: Answers,
        rng: np.random.Generator,
        *,
        power: float = 1.0,
        moves: int = MOVES,
        deadline: float = np.inf,
    ) -> None:
        """Move the particles without changing their distribution.

        Three Crank–Nicolson steps `z' = √(1−β²) z + β ξ`, β jittered per particle, then one proposal of another
        family for the same latents. Both leave the prior as it is, so that a proposal is accepted with the
        ratio of likelihoods alone. β follows the share of accepted steps.
        """
        shares: list[float] = []
        self._level = None
        noise, proposed = np.empty_like(self._latents), np.empty_like(self._latents)
        for index in range(1, moves + 1):
            _clock.check()
            begin = time.monotonic()
            if begin + self._pace > deadline:
                break
            if index % 4 == 0:
                self._accept(self._latents, self._prior.draw_families(len(self), rng), answers, power, rng)
                continue
            step = np.minimum(1.0, self.step * rng.uniform(0.5, 1.5, size=len(self)))[:, None]
            step = step.astype(noise.dtype)
            _antithetic(noise, rng)
            noise *= step
            np.multiply(self._latents, np.sqrt(1 - step**2), out=proposed)
            proposed += noise
            shares.append(self._accept(proposed, self._families, answers, power, rng))
            self.step = min(1.0, self.step * (GROW if shares[-1] > ACCEPTANCE else SHRINK))
            self._pace = time.monotonic() - begin
        self.acceptance = float(np.mean(shares)) if shares else float("nan")
        if self._prior.further and time.monotonic() + self._pace <= deadline:
            self._weigh(answers, power, rng)

    def _weigh(self, answers: Answers, power: float, rng: np.random.Generator) -> None:
        """Propose other weights for the columns beside, the rest as it is: anew, then a step from where they are."""
        last = slice(-self._prior.further * self._prior.dimension, None)
        for step in (1.0, WEIGHTS):
            proposed = self._latents.copy()
            noise = rng.standard_normal(proposed[:, last].shape, dtype=proposed.dtype.type)
            proposed[:, last] = np.sqrt(1 - step**2) * proposed[:, last] + step * noise
            self._accept(proposed, self._families, answers, power, rng, self._own)

    def _accept(
        self,
        latents: Array,
        families: Ints,
        answers: Answers,
        power: float,
        rng: np.random.Generator,
        own: Array | None = None,
    ) -> float:
        """Replace the particles whose proposal is accepted, and return their share; ``own`` efforts where they are known."""
        own, before, last = self._likelihood(latents, families, answers, own)
        level = log_sum(before + power * last)
        if self._level is None:
            self._level = log_sum(self._before + power * self._last)
        yes = np.log1p(-rng.random(len(self))) < level - self._level
        kept = np.flatnonzero(yes)
        self._level[kept] = level[kept]
        for name, new in zip(STATE, (latents, families, own, before, last), strict=True):
            if new is not getattr(self, name):
                getattr(self, name)[kept] = new[kept]
        self._matrices = self._some = None
        return float(yes.mean())

    def _likelihood(
        self, latents: Array, families: Ints, answers: Answers, own: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Return own efforts `(n, m)`, and log-likelihoods `(n, t)`: of the answers before the last with their share, of it."""
        if not answers.count:
            return self._own, np.tile(self._usual, (len(latents), 1)), np.zeros_like(self._last)
        if own is None:
            own = self._prior.own_efforts(latents, families, answers.moves, self._columns)
        efforts = answers.efforts(self._prior.weighed(own, latents, answers.moves))
        each = answers.log_likelihood(efforts, self.people).reshape(len(latents), answers.count, -1)
        return own, self._usual + each[:, :-1].sum(axis=1), each[:, -1]

    def _gain(self, power: float, following: float) -> Array:
        """Return the log-weights `(n,)` when the power of the last answer grows."""
        return log_sum(self._before + following * self._last) - log_sum(self._before + power * self._last)

    def _following(self, power: float) -> float:
        """Return the largest next power that leaves enough particles effective, by bisection."""
        low, high = power, 1.0
        if effective(self._gain(power, high)) >= ENOUGH * len(self):
            return high
        for _ in range(20):
            middle = (low + high) / 2
            if effective(self._gain(power, middle)) >= ENOUGH * len(self):
                low = middle
            else:
                high = middle
        return high

    def _resample(self, positions: Ints) -> None:
        for name in STATE:
            setattr(self, name, getattr(self, name)[positions])
        self._matrices = self._some = None


def _antithetic(noise: Array, rng: np.random.Generator) -> None:
    """Fill `(n, k)` with standard normals: a quarter is drawn, a quarter is the same turned by some columns, half the negative.

    To each particle its noise is as good as any: independent of where it stands. Drawing takes most of a move's time.
    """
    n, k = noise.shape
    half, quarter = (n + 1) // 2, (n + 3) // 4
    rng.standard_normal(dtype=noise.dtype.type, out=noise[:quarter])
    turn = int(rng.integers(1, k)) if k > 1 else 0
    noise[quarter:half, :turn] = noise[: half - quarter, k - turn :]
    noise[quarter:half, turn:] = noise[: half - quarter, : k - turn]
    np.negative(noise[: n - half], out=noise[half:])
