"""What people may be like before they have said anything: a population, and a bank of people drawn from it once.

A person has weights of columns w, a curvature p, a sharpness κ, a lapse η, columns whose change is welcome, and minds what stands
beside a change (how many there are, waiting) or not. A change δ asks of them

    ``φᵀAφ + Σ_b r_b x_b²``,  ``φ_j = s sign(δ_j) |δ_j/s|^p``,  ``A = D^½ ((1−ρ) I + ρ GGᵀ/g) D^½``,  D = diag(w),

so that a change of the typical size s counts the same whatever the curvature: p = 1 counts squares, p = ½ amounts. Some people
weigh columns one by one, ρ = 0. For the others, who count squares, changes help or hinder each other: G (d, g) is normal,
g ≤ 16, and ``ρ = ι √(g/d)``. With ι = 1 the entries of A then have the mean and the spread of those of the paper's people,
``A ∝ GGᵀ`` with G (d, d), at a part of the price.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np

from reap import effort
from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints

#: The five answers to "how hard is it for you to change this?", as factors on the effort of a feature.
DIFFICULTIES = {"very easy": 0.1, "easy": 0.4, "neither easy nor hard": 1.0, "hard": 2.5, "very hard": 10.0}
#: Curvatures p, lapses η and interactions ι that people have, and how common each is before anything is known.
POWERS, LAPSES, INTERACTION = (
    np.array([0.5, 0.75, 1.0]),
    np.array([0.02, 0.1, 0.3]),
    np.array([0.0, 0.5, 1.0]),
)
POWER_SHARES, LAPSE_SHARES, INTERACTION_SHARES = (1 / 3, 1 / 3, 1 / 3), (0.5, 0.35, 0.15), (0.4, 0.2, 0.4)
#: Spread of the logarithms of weights, of those who weigh columns one by one and of the others.
SPREAD, LEVEL = 1.25, 0.8
#: Median of κ, and the spread of its logarithm.
SHARPNESS, SHARPNESS_SPREAD = 10.0, 1.2
#: Chance, column by column, that a change is welcome.
WELCOME = 0.03
#: Share of people who mind what stands beside the changes: how many there are; the same of waiting.
MINDED = 0.1
#: Share of people who weigh only what a question shows as different, and not what the options have in common.
NARROW = 0.3
#: s, the size of a change that counts the same for every curvature, on the scale of encoded columns.
TYPICAL = 0.25
#: Columns of G, at most.
RANK = 16

#: Stated difficulties: factors, or words, one for each column.
Difficulties: TypeAlias = Sequence[str] | Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class Bank:
    """n people, those of one curvature together, and among these first those who weigh columns one by one.

    Parameters
    ----------
    latents : (n, k + 1)
        Logarithms of the weights of k columns, then of κ.
    powers, lapses, interaction : (n,)
        p, η and ι.
    narrow : (n,)
        Who weighs only what a question shows as different.
    weights : (n, k)
        The diagonal of A without the share of G; 0 where a change is welcome.
    liked : (n, k)
        What a change that is welcome would ask if it were not.
    factor : (k, q, g)
        ``D^½ G √(ρ/g)`` of the q people with ι > 0; 0 where a change is welcome.
    beside : (n, e)
        r, what is minded beside the changes.
    """

    latents: Array
    powers: Array
    lapses: Array
    interaction: Array
    narrow: Bools
    weights: Array
    liked: Array
    beside: Array
    factor: Array

    def __len__(self) -> int:
        return len(self.powers)

    @cached_property
    def sharpness(self) -> Array:
        """κ of each person (n,)."""
        return np.exp(self.latents[:, -1])

    def take(self, people: Ints) -> Self:
        """Return some of the people, given in ascending order."""
        dense = np.cumsum(self.interaction > 0) - 1
        some = {name: getattr(self, name)[people] for name in _EACH}
        return replace(self, **some, factor=self.factor[:, dense[people[self.interaction[people] > 0]]])

    def ask(self, V: Array) -> tuple[Array, Array]:
        """Return what changes V (m, k + e) ask of each person, what is welcome counted as 0, and that itself, (n, m) each."""
        k = self.weights.shape[1]
        asked, glad = np.empty((2, len(self), len(V)))
        touched = np.flatnonzero(V[:, :k].any(axis=0))
        plain, liked = self.weights[:, touched], self.liked[:, touched]
        known = 0
        for p in np.unique(self.powers):
            own = slice(*np.searchsorted(self.powers, [p - 1e-9, p + 1e-9]))
            F = effort.curved(V[:, touched], p) * TYPICAL ** (1 - p)
            asked[own], glad[own] = plain[own] @ (F * F).T, liked[own] @ (F * F).T
            dense = own.start + np.flatnonzero(self.interaction[own])
            some = self.factor[touched, known : known + len(dense)]
            known += len(dense)
            if some.size:
                seen = (F.astype(some.dtype) @ some.reshape(len(touched), -1)).reshape(len(V), len(dense), -1)
                asked[dense] += np.einsum("mqg,mqg->qm", seen, seen)
        if self.beside.shape[1]:
            size = 1 + self.beside.sum(axis=1, keepdims=True)
            return (asked + self.beside @ np.square(V[:, k:]).T) / size, glad / size
        return asked, glad

    def efforts(self, columns: Ints, dimension: int) -> effort.Efforts:
        """Return these people as engines take them; a column that cannot move asks 1."""
        A = np.tile(np.eye(dimension), (len(self), 1, 1))
        own = self.weights[:, :, None] * np.eye(len(columns))
        F = self.factor.transpose(1, 0, 2).astype(float)
        own[self.interaction > 0] += F @ F.transpose(0, 2, 1)
        A[:, columns[:, None], columns] = own
        share = 1 / (1 + self.beside.sum(axis=1))
        A *= (share * TYPICAL ** (2 - 2 * self.powers))[:, None, None]
        beside = [*(self.beside * share[:, None]).T, *np.zeros((2, len(self)))][:2]
        return effort.Efforts.of(A, self.powers, *beside)

    def mean(self, shares: Array) -> Array:
        """Return the expected matrix (k + e, k + e), of people as common as shares (n,) say."""
        k, e = self.weights.shape[1], self.beside.shape[1]
        shares = shares / (1 + self.beside.sum(axis=1))
        mean = np.zeros((k + e, k + e))
        F = self.factor.reshape(k, -1)
        each = np.repeat(shares[self.interaction > 0], self.factor.shape[2]).astype(F.dtype)
        mean[:k, :k] = (F * each) @ F.T
        mean[np.arange(k), np.arange(k)] += shares @ self.weights
        mean[np.arange(k, k + e), np.arange(k, k + e)] = shares @ self.beside
        return (mean + mean.T) / 2


#: What a bank has of each person.
_EACH = ("latents", "powers", "lapses", "interaction", "narrow", "weights", "liked", "beside")


@dataclass(frozen=True, eq=False)
class Population:
    """What people are like of whom nothing is known: normal latents, and how common the rest is.

    Parameters
    ----------
    mean, root : (k + 1,), (k + 1, k + 1)
        Logarithms of the weights of k columns and of κ are ``mean + root z``, z standard normal.
    level : float
        The same for those who weigh columns together, with this share of the spread of weights.
    powers, lapses, interaction : (3,)
        Shares of ``POWERS``, of those who weigh columns one by one, of ``LAPSES`` and of ``INTERACTION``.
    welcome : (k,)
        How often a change of each column is welcome.
    minded, heavy : (e,)
        Share of people who mind what stands beside, and the mean logarithm of what it counts for them: `r = exp(heavy + z)`.
    """

    mean: Array
    root: Array
    level: float
    powers: Array
    lapses: Array
    interaction: Array
    welcome: Array
    minded: Array
    heavy: Array

    @classmethod
    def default(cls, k: int, beside: int = 0) -> Self:
        """Return people of whom nothing is known, over k columns."""
        return cls(
            np.append(np.zeros(k), np.log(SHARPNESS)),
            np.diag(np.append(np.full(k, SPREAD), SHARPNESS_SPREAD)),
            LEVEL / SPREAD,
            np.array(POWER_SHARES),
            np.array(LAPSE_SHARES),
            np.array(INTERACTION_SHARES),
            np.full(k, WELCOME),
            np.full(beside, MINDED),
            np.zeros(beside),
        )

    def minding(self, beside: int) -> Self:
        """Return the same people with so many columns beside; as by default where other ones were learnt."""
        if len(self.minded) == beside:
            return self
        return replace(self, minded=np.full(beside, MINDED), heavy=np.zeros(beside))

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """Draw n people, in any order: what ``banked`` makes a bank of."""
        k, e = len(self.welcome), len(self.minded)
        z = rng.standard_normal((n, k + 1)) @ self.root.T
        interaction = rng.choice(INTERACTION, n, p=self.interaction / self.interaction.sum())
        z[:, :k] *= np.where(interaction > 0, self.level, 1.0)[:, None]
        mind = rng.random((n, e)) < self.minded
        return {
            "latents": self.mean + z,
            "powers": np.where(
                interaction > 0, 1.0, rng.choice(POWERS, n, p=self.powers / self.powers.sum())
            ),
            "lapses": rng.choice(LAPSES, n, p=self.lapses / self.lapses.sum()),
            "interaction": interaction,
            "narrow": rng.random(n) < NARROW,
            "welcome": rng.random((n, k)) < self.welcome,
            "beside": np.where(mind, np.exp(self.heavy + rng.standard_normal((n, e))), 0.0),
        }


def banked(drawn: dict[str, Any], rng: np.random.Generator, difficulties: Array | None = None) -> Bank:
    """Return people drawn as a bank, each scaled so that A has trace k before anything is welcome.

    ``difficulties`` (k,): how hard columns are said to be, as factors.
    """
    order = np.lexsort((drawn["interaction"] > 0, drawn["powers"]))
    person = {name: values[order] for name, values in drawn.items()}
    welcome, latents = person.pop("welcome"), person["latents"]
    k = welcome.shape[1]
    g, dense = min(k, RANK), person["interaction"] > 0
    rho = person["interaction"] * np.sqrt(g / k)
    single: Any = np.float32
    G = rng.standard_normal((k, int(dense.sum()), g), dtype=single)
    G *= np.sqrt(rho[dense] / g)[:, None].astype(single)
    w = np.exp(latents[:, :k] - latents[:, :k].max(axis=1, keepdims=True))
    w = w if difficulties is None else w * difficulties
    squares = np.tile(1 - rho[:, None], (1, k))
    squares[dense] += np.einsum("kqg,kqg->qk", G, G)
    w *= (k / (w * squares).sum(axis=1))[:, None]
    person["liked"] = np.where(welcome, w * squares, 0.0)
    w[welcome] = 0.0
    G *= np.sqrt(w[dense]).T[:, :, None].astype(single)
    return Bank(**person, weights=w * (1 - rho)[:, None], factor=G)


def factors(stated: Difficulties, dimension: int) -> Array:
    """Return stated difficulties as positive factors `(d,)`."""
    words = [value for value in stated if isinstance(value, str)]
    for word in words:
        if word not in DIFFICULTIES:
            raise unknown("difficulty", word, DIFFICULTIES)
    made = np.array([DIFFICULTIES[s] if isinstance(s, str) else s for s in stated], dtype=float)
    if made.shape != (dimension,):
        raise InputError(
            f"the prior has difficulties of shape {made.shape}; "
            f"give one positive number for each of the {dimension} columns."
        )
    if not (np.isfinite(made).all() and (made > 0).all()):
        raise InputError(f"the prior has the difficulty {made.min():g}; all must be positive and finite.")
    return made
