"""What past sessions teach about people who have not been asked yet: a population, by expectation and maximisation.

Each round draws a bank of people from the population that is believed (``reap.belief.prior``), weighs it by the answers of every
past person, and takes the mean and the covariance of all these weighted people as the next population; shares likewise. Who gave
few answers stands for nearly the population itself, so little data moves little. A gate lets what was learnt through only where
it predicts people who were held out better than the default does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp

from reap._typing import Array, Bools, Ints
from reap.belief.answers import chances, same_chance
from reap.belief.learned_prior import PLAIN, WIDEST
from reap.belief.prior import INTERACTION, LAPSES, POWERS, Bank, Population, drawn, unknown_people

#: Rounds, and people drawn in each; people on whom a population is judged.
ROUNDS, DRAWN, JUDGED = 12, 1000, 4000
#: So many people with the spread of the default count with those who taught, and half a person of each kind.
PSEUDO, HALF = 4.0, 0.5
#: Share of people expected to name options without looking, before they answer; and the same where a population is learnt:
#: five answers at random look like those of somebody soft, and it would stretch for them.
GUESSING, SUSPECTED = 0.05, 0.4
#: Of people who always name the option in one place, the share of answers that are as if at random.
_STRAY = 0.05
#: Answers of one person that count, the first ones: nobody teaches more than others.
MOST = 10
#: Standard errors by which the mean gain must be above zero.
T = 2.0
#: People whose answers are looked at together.
_PART = 25


class Comparison(NamedTuple):
    """One answer: the moves `(s, k)` of each option, the chosen one first; or all were called the same.

    ``beside`` `(options, e)`: the columns beside the moves, such as the number of changes; None where they are not known.
    ``place``: where the chosen one stood, from 0; None where that is not known.
    """

    moves: tuple[Array, ...]
    same: bool = False
    beside: Array | None = None
    place: int | None = None

    @property
    def digest(self) -> str:
        """A hash of what was compared and said."""
        arrays = [*self.moves] if self.beside is None else [*self.moves, self.beside]
        parts = [np.ascontiguousarray(np.round(array, 9) + 0.0).tobytes() for array in arrays]
        place = b"" if self.place is None else str(self.place).encode()
        return hashlib.sha256(b"|".join([bytes([self.same]), *parts, place])).hexdigest()

    def rows(self, beside: int) -> list[Array]:
        """Return the moves (s, k + e) of each option; what stands beside comes with the first move."""
        given = np.zeros((len(self.moves), beside)) if self.beside is None else self.beside
        wide = [np.hstack([V, np.zeros((len(V), beside))]) for V in self.moves]
        for V, row in zip(wide, given, strict=True):
            V[0, V.shape[1] - beside :] = row
        return wide


@dataclass(frozen=True, eq=False)
class Past:
    """Who answered what, people in an order that does not depend on how they were listed.

    Parameters
    ----------
    people : tuple of tuple of Comparison
        The answers of each of n people, at least one each.
    dimension : int
        Columns k of the moves.
    extra : int
        Columns e beside them.

    Examples
    --------
    >>> short, long = np.array([[1.0, 0.0]]), np.array([[0.0, 2.0]])
    >>> past = Past.of([[Comparison((short, long))], [Comparison((long, short)), Comparison((short, long), True)]], 2)
    >>> len(past), past.answers
    (2, 3)
    """

    people: tuple[tuple[Comparison, ...], ...]
    dimension: int
    extra: int = 0

    @classmethod
    def of(
        cls,
        people: Sequence[Sequence[Comparison]],
        dimension: int,
        extra: int = 0,
        most: int | None = MOST,
    ) -> Past:
        """Return the answers of those who gave any, the first ``most`` of each."""
        said = [tuple(answers[:most]) for answers in people if answers]
        return cls(tuple(sorted(said, key=_name)), dimension, extra)

    def __len__(self) -> int:
        return len(self.people)

    def take(self, positions: Sequence[int] | Ints) -> Past:
        """Return the answers of some of the people."""
        return Past(tuple(self.people[i] for i in positions), self.dimension, self.extra)

    @property
    def fingerprint(self) -> str:
        """A hash of all that was said; one answer more or less is another."""
        return hashlib.sha256("\n".join(map(_name, self.people)).encode()).hexdigest()

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return sum(map(len, self.people))


def _name(answers: Sequence[Comparison]) -> str:
    return "\n".join(answer.digest for answer in answers)


def _guessed(answers: Sequence[Comparison]) -> float:
    """Return the log-likelihood of somebody's answers if they did not look: at random, or always the same place.

    Where options stand is random, so a place fits nobody who looks better than chance, and who always says "left" at once.
    """
    sizes = np.array([len(answer.moves) for answer in answers])
    places = np.array([-1 if answer.same or answer.place is None else answer.place for answer in answers])
    hits = places == np.arange(sizes.max())[:, None]
    by_place = np.log(_STRAY / sizes + (1 - _STRAY) * hits).sum(axis=1)
    always = logsumexp(by_place) - np.log(sizes.max())
    return float(np.logaddexp(-np.log(sizes).sum(), always) - np.log(2))


def likelihoods(past: Past, people: Bank) -> Iterator[tuple[Array, Bools]]:
    """Yield for each past person how likely people of a bank would have answered the same, log `(n,)`, and what was expected.

    The second `(a,)`: whether each answer was the likeliest, given those before it; "same" is never expected.
    """
    for begin in range(0, len(past), _PART):
        some = past.people[begin : begin + _PART]
        answers = [answer for person in some for answer in person]
        options = [V for answer in answers for V in answer.rows(past.extra)]
        asked, glad = people.ask(np.concatenate(options))
        starts = np.cumsum([0, *map(len, options[:-1])])
        asked, glad = (np.add.reduceat(x, starts, axis=1).T for x in (asked, glad))
        begins = np.cumsum([0, *(len(answer.moves) for answer in answers)])
        likely: list[Array] = [np.empty(0)] * len(answers)  # of each option (n, k); of "same" (n,)
        for same, k in {(answer.same, len(answer.moves)) for answer in answers}:
            at = [i for i, each in enumerate(answers) if (each.same, len(each.moves)) == (same, k)]
            own = begins[at][:, None] + np.arange(k)
            felt, size = (np.moveaxis(x[own], 1, 2) for x in (asked - glad, asked + glad))
            said = (same_chance if same else chances)(felt, size, people.sharpness, people.lapses)
            for i, each in zip(at, said, strict=True):
                likely[i] = each
        told = iter(likely)
        for person in some:
            logs, expected = np.zeros(len(people)), np.zeros(len(person), dtype=bool)
            for i, each in enumerate(islice(told, len(person))):
                if each.ndim > 1:
                    expected[i] = (np.exp(logs - logs.max()) @ each).argmax() == 0
                logs = logs + np.log(np.maximum(each if each.ndim == 1 else each[:, 0], 1e-300))
            yield logs, expected


class Fit(NamedTuple):
    """What was learnt: the population, and the share of past people who seem not to have looked."""

    population: Population
    guessing: float


def fit(past: Past, *, seed: int = 0, tick: Callable[[], None] = lambda: None) -> Fit:
    """Return the population that past answers speak of.

    Examples
    --------
    >>> easy, hard = np.array([[0.3, 0.0]]), np.array([[0.0, 0.3]])
    >>> found = fit(Past.of([[Comparison((easy, hard))] * 3] * 40, 2))
    >>> bool(found.population.mean[0] < found.population.mean[1])
    True
    """
    start = replace(
        Population.default(past.dimension, past.extra), level=1.0, interaction=np.array([0.4, 0.2, 0.4])
    )
    usual = start.root @ start.root.T
    population, k = start, past.dimension
    guessed = np.array([_guessed(answers) for answers in past.people])
    for round_ in range(ROUNDS):
        rng = np.random.default_rng([seed, round_])
        people = drawn([(1.0, population)], DRAWN, rng)
        logs = np.array([found for found, _ in likelihoods(past, people)])
        whole = logsumexp(logs, axis=1)
        # who seems not to have looked teaches little
        looked = whole - np.log(DRAWN) - guessed
        honest = expit(looked + logit(1 - SUSPECTED))
        # (n,), the people of the bank, as often as past people are like them
        each = honest @ np.exp(logs - whole[:, None])
        N, Z = honest.sum(), people.latents
        mean = (each @ Z + PSEUDO * start.mean) / (N + PSEUDO)
        apart = Z - mean
        covariance = ((apart * each[:, None]).T @ apart + PSEUDO * usual) / (N + PSEUDO)
        mean[:k] -= mean[:k].mean()  # nobody can tell the size of all weights together
        liked = (each @ (people.liked > 0) + PSEUDO * start.welcome) / (N + PSEUDO)
        minds = people.beside > 0
        heavy = np.log(np.where(minds, people.beside, 1.0))
        count = each @ minds
        population = Population(
            np.clip(mean, -WIDEST, WIDEST),
            np.linalg.cholesky(covariance),
            1.0,
            # who weighs changes together counts squares, whatever was drawn
            _shares(each * (people.interaction == 0), people.powers, POWERS),
            _shares(each, people.lapses, LAPSES),
            _shares(each, people.interaction, INTERACTION),
            liked,
            (count + PSEUDO * start.minded) / (N + PSEUDO),
            np.clip((each @ heavy) / (count + PSEUDO), -WIDEST, WIDEST),
        )
        tick()
    return Fit(population, float(1 - expit(looked + logit(1 - GUESSING)).mean()))


def _shares(each: Array, values: Array, kinds: Array) -> Array:
    counts = np.array([each[values == kind].sum() + HALF for kind in kinds])
    return np.asarray(counts / counts.sum())


# the gate --------------------------------------------------------------------------------------------


class Held(NamedTuple):
    """What two populations make of people who taught neither: log-likelihoods (n,), and which answers they expected (a,)."""

    default: Array
    learnt: Array
    default_hits: Bools
    learnt_hits: Bools


def held_out(past: Past, found: Population) -> Held:
    """Return what a population that was learnt from others makes of these people, beside the default."""
    made = []
    for populations in (unknown_people(past.dimension, past.extra), [(1.0, found)]):
        people = drawn(populations, JUDGED, np.random.default_rng(1))
        each = list(likelihoods(past, people))
        logs = logsumexp([log for log, _ in each], axis=1) - np.log(JUDGED)
        made.append((np.asarray(logs), np.concatenate([hits for _, hits in each])))
    (default, default_hits), (learnt, learnt_hits) = made
    mixed = np.logaddexp(np.log(PLAIN) + default, np.log1p(-PLAIN) + learnt)
    return Held(default, np.asarray(mixed), default_hits, learnt_hits)


def folds(past: Past) -> list[tuple[Past, Past]]:
    """Return halves of the people, each with the other: who teaches, and who is asked."""
    halves = [past.take(range(i, len(past), 2)) for i in (0, 1)]
    return [(halves[0], halves[1]), (halves[1], halves[0])]


def judged(parts: Sequence[Held]) -> tuple[bool, dict[str, float]]:
    """Return whether what was learnt predicts people better than chance would have it, and the figures for it.

    Examples
    --------
    >>> no, noise = np.zeros(50, dtype=bool), np.random.default_rng(0).normal(size=50)
    >>> [judged([Held(0 * noise, gain + noise, no, ~no)])[0] for gain in (1.0, 0.0)]
    [True, False]
    """
    default, learnt, before, after = (np.concatenate(each) for each in zip(*parts, strict=True))
    gain = learnt - default
    mean, error = float(gain.mean()), standard_error(gain)
    t = mean / error if 0 < error < np.inf else 0.0
    figures = {
        "gate_t": t,
        "held_out_people": float(len(gain)),
        "default_log_likelihood": float(default.sum() / len(before)),
        "learnt_log_likelihood": float(learnt.sum() / len(after)),
        "gain": mean,
        "gain_low": mean - 1.96 * error,
        "gain_high": mean + 1.96 * error,
        "default_predicted": float(before.mean()),
        "learnt_predicted": float(after.mean()),
    }
    return t > T, figures


def standard_error(values: Array) -> float:
    """Return the standard error of a mean (n,); infinite for one value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")
