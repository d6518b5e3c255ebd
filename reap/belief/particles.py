"""The sampler under the posterior: particles that are weighed, resampled and moved, and keep their prior."""

from __future__ import annotations

import copy
import time

import numpy as np

from reap import _clock
from reap._typing import Array, Ints
from reap.belief.answers import Answers, People
from reap.belief.prior import Prior

#: Moves after each answer; every fourth proposes another family.
MOVES = 8
#: An answer that leaves a smaller share of the particles effective is learnt in stages, and their largest number.
ENOUGH, STAGES = 0.1, 10
#: Share of proposals that should be accepted, and the factors by which the step then grows or shrinks.
ACCEPTANCE, GROW, SHRINK = 0.3, 1.15, 0.87
#: The step of a proposal of other weights for the columns beside.
WEIGHTS = 0.44
#: What a particle is made of.
STATE = ("_latents", "_families", "_before", "_last")


class Particles:
    """People that may be the one who answers, as latents of the prior, with what each makes of the answers.

    The target is `p(z) Σ_t p(t) Π_k P(answer_k | A(z), t)` over latents z and families, t the kinds of people.

    Parameters
    ----------
    prior : Prior
    who : People
        Kinds of people t.
    n : int
        Number of particles.
    rng : Generator

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> from reap.belief.answers import people
    >>> cloud = Particles(Prior(2), people(), 100, rng)
    >>> cloud.learn(Answers().add(np.eye(2)[:, None], same=False), rng)
    >>> bool(cloud.matrices[:, 0, 0].mean() < cloud.matrices[:, 1, 1].mean())
    True
    """

    def __init__(self, prior: Prior, who: People, n: int, rng: np.random.Generator) -> None:
        begin = time.monotonic()
        self._prior, self.people = prior, who
        self._latents, self._families = prior.draw(n, rng)
        self._matrices: Array | None = prior.matrices(self._latents, self._families)
        #: Seconds that a move took last; the first draw is the same work. Only a deadline is judged by it.
        self._pace = time.monotonic() - begin
        # Per particle and kind of people: log-likelihood of the answers before the last one and how usual that kind
        # is, and log-likelihood of the last.
        self._before = np.tile(np.log(who.share), (n, 1))
        self._last = np.zeros_like(self._before)
        self.step = 0.4
        self.acceptance = float("nan")
        self.effective = float(n)

    def __len__(self) -> int:
        return len(self._families)

    @property
    def matrices(self) -> Array:
        """The particles' effort matrices `(n, d, d)`; made when they are wanted, since moving needs none."""
        if self._matrices is None:
            self._matrices = self._prior.matrices(self._latents, self._families)
        return self._matrices

    def copy(self) -> Particles:
        """Return an independent copy; arrays are shared, since they are written to only after resampling renewed them."""
        return copy.copy(self)

    @property
    def kinds(self) -> Array:
        """How likely each kind of people is `(t,)`, given the answers."""
        shares: Array = self.care.mean(axis=0)
        return shares

    @property
    def care(self) -> Array:
        """The same for each particle `(n, t)`."""
        total = self._before + self._last
        return np.asarray(np.exp(total - _log_sum(total)[:, None]))

    def learn(self, answers: Answers, rng: np.random.Generator, *, deadline: float = np.inf) -> None:
        """Take in the last of the answers: weigh, resample, move.

        Where too few particles agree with it, its likelihood is raised to a growing power instead, each stage
        as much as leaves enough of them, so that the particles can walk to where it holds. A move that would not end
        by the `deadline` is not begun: the particles are those that the answers leave, only fewer of them differ.
        """
        self._before, self._last = self._likelihood(self._latents, self._families, answers)
        self.effective = _effective(self._gain(0.0, 1.0))
        power = 0.0
        for stage in range(STAGES):
            last = stage == STAGES - 1 or time.monotonic() > deadline
            following = 1.0 if last else self._following(power)
            self._resample(_positions(self._gain(power, following), rng))
            power = following
            self.move(answers, rng, power=power, deadline=deadline)
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
        noise, proposed = np.empty_like(self._latents), np.empty_like(self._latents)
        for index in range(1, moves + 1):
            _clock.check()
            begin = time.monotonic()
            if begin + self._pace > deadline:
                break
            if index % 4 == 0:
                self._accept(self._latents, self._prior.draw_families(len(self), rng), answers, power, rng)
                continue
            step = np.minimum(1.0, self.step * rng.uniform(0.5, 1.5, size=len(self)))[:, None, None]
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
        rows = slice(-self._prior.further, None)
        for step in (1.0, WEIGHTS):
            proposed = self._latents.copy()
            noise = rng.standard_normal(proposed[:, rows].shape, dtype=proposed.dtype.type)
            proposed[:, rows] = np.sqrt(1 - step**2) * proposed[:, rows] + step * noise
            self._accept(proposed, self._families, answers, power, rng)

    def _accept(
        self, latents: Array, families: Ints, answers: Answers, power: float, rng: np.random.Generator
    ) -> float:
        """Replace the particles whose proposal is accepted, and return their share."""
        before, last = self._likelihood(latents, families, answers)
        gain = _log_sum(before + power * last) - _log_sum(self._before + power * self._last)
        yes = np.log1p(-rng.random(len(self))) < gain
        kept = np.flatnonzero(yes)
        for name, new in zip(STATE, (latents, families, before, last), strict=True):
            if new is not getattr(self, name):
                getattr(self, name)[kept] = new[kept]
        self._matrices = None
        return float(yes.mean())

    def _likelihood(self, latents: Array, families: Ints, answers: Answers) -> tuple[Array, Array]:
        """Return log-likelihoods `(n, t)`: of the answers before the last one with the kind's share, and of the last."""
        usual = np.log(self.people.share)
        if not answers.count:
            return np.tile(usual, (len(latents), 1)), np.zeros_like(self._last)
        efforts = answers.efforts(self._prior.efforts(latents, families, answers.moves))
        each = answers.log_likelihood(efforts, self.people)
        return usual + each[:, :-1].sum(axis=1), each[:, -1]

    def _gain(self, power: float, following: float) -> Array:
        """Return the log-weights `(n,)` when the power of the last answer grows."""
        return _log_sum(self._before + following * self._last) - _log_sum(self._before + power * self._last)

    def _following(self, power: float) -> float:
        """Return the largest next power that leaves enough particles effective, by bisection."""
        low, high = power, 1.0
        if _effective(self._gain(power, high)) >= ENOUGH * len(self):
            return high
        for _ in range(20):
            middle = (low + high) / 2
            if _effective(self._gain(power, middle)) >= ENOUGH * len(self):
                low = middle
            else:
                high = middle
        return high

    def _resample(self, positions: Ints) -> None:
        for name in STATE:
            setattr(self, name, getattr(self, name)[positions])
        self._matrices = None


def _antithetic(noise: Array, rng: np.random.Generator) -> None:
    """Fill with standard normals, the second half the negative of the first.

    To each particle its noise is as good as any: independent of where it stands. Drawing takes most of a move's time.
    """
    half = (len(noise) + 1) // 2
    rng.standard_normal(dtype=noise.dtype.type, out=noise[:half])
    np.negative(noise[: len(noise) - half], out=noise[half:])


def _log_sum(values: Array) -> Array:
    """Return `log Σ_t exp` over the last axis; for three kinds of people in half the time of scipy's `logsumexp`."""
    return np.asarray(np.logaddexp.reduce(values, axis=-1))


def _effective(log_weights: Array) -> float:
    """Return the effective sample size `(Σw)² / Σw²`."""
    weights = np.exp(log_weights - log_weights.max())
    return float(weights.sum() ** 2 / (weights**2).sum())


def _positions(log_weights: Array, rng: np.random.Generator) -> Ints:
    """Return the particles `(n,)` that systematic resampling keeps: one uniform draw, then even spacing."""
    cumulative = np.cumsum(np.exp(log_weights - log_weights.max()))
    points = (np.arange(len(log_weights)) + rng.random()) / len(log_weights)
    kept: Ints = np.searchsorted(cumulative / cumulative[-1], points, side="right")
    return np.minimum(kept, len(log_weights) - 1)
