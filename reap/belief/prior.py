"""What people may be like before they have said anything: a population, and a bank of people drawn from it once.

A person has weights of columns w, a curvature p, a sharpness κ, a lapse η, columns whose change is welcome, and minds what stands
beside a change (how many there are, waiting) or not. A change δ asks of them

    ``φᵀAφ + Σ_b r_b x_b²``,  ``φ_j = s sign(δ_j) |δ_j/s|^p``,  ``A = D^½ ((1−ρ) I + ρ GGᵀ/g) D^½``,  D = diag(w),

so that a change of the typical size s counts the same whatever the curvature: p = 1 counts squares, p = ½ amounts. Some people
weigh columns one by one, ρ = 0. For the others, who count squares, changes help or hinder each other: G (d, g) is normal,
g ≤ 16, and ``ρ = ι √(g/d)``. With ι = 1 the entries of A then have the mean and the spread of those of the paper's people,
``A ∝ GGᵀ`` with G (d, d), at a part of the price.

Two kinds of people are expected. Most answer as people did who were asked (``Population.default``). The others are as the paper
imagines people (``Population.imagined``): columns weigh nearly the same, ι = 1, and they name the easier option nearly always. A
part of these are causal: changes bring others about, ``A = D^½ (I−W)ᵀ E (I−W) D^½`` with W strictly triangular in an order of the
columns.
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
POWER_SHARES, LAPSE_SHARES, INTERACTION_SHARES = (0.4, 0.3, 0.3), (0.5, 0.35, 0.15), (0.9, 0.05, 0.05)
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
#: s, the size of a change that counts the same for every curvature, on the scale of encoded columns. It changes no answer, only
#: whose efforts count in an expectation: larger, and who counts amounts decides alone what is recommended of small changes.
TYPICAL = 0.02
#: Share of people as the paper imagines them, and of these of causal ones; spread of their weights; median and spread of κ.
IMAGINED, CAUSAL, NEARLY, SHARP, SHARP_SPREAD = 0.25, 0.25, 0.2, 100.0, 0.7
#: Chance that an earlier column acts on a later one in a causal person, and the spread of the logarithm of E.
EDGE, OWN_SPREAD = 0.5, 0.3
#: Columns of G, at most.
RANK = 16

#: Stated difficulties: factors, or words, one for each column.
Difficulties: TypeAlias = Sequence[str] | Sequence[float] | Array


@dataclass(frozen=True, eq=False)
class Bank:
    """n people, those of one curvature together, among these first those who weigh columns one by one, and causal ones last.

    Parameters
    ----------
    latents : (n, k + 1)
        Logarithms of the weights of k columns, then of κ.
    powers, lapses, interaction : (n,)
        p, η and ι.
    narrow : (n,)
        Who weighs only what a question shows as different.
    welcome : (n, k)
        Which changes are welcome.
    beside : (n, e)
        r, what is minded beside the changes.
    part : (n,)
        Of which population each is.
    normals : (k, q, g)
        G of the q people with ι > 0.
    links : (k, c, g)
        Of the c causal people: 1 where a column acts on the g-th, 2 where it is the g-th.
    weights : (n, k)
        The diagonal of A without the share of G; 0 where a change is welcome.
    liked : (n, k)
        What a change that is welcome would ask if it were not.
    factor : (k, q, g)
        F, whose FFᵀ is the rest of A; 0 where a change is welcome.
    """

    latents: Array
    powers: Array
    lapses: Array
    interaction: Array
    narrow: Bools
    welcome: Bools
    beside: Array
    part: Ints
    normals: Array
    links: Array
    weights: Array
    liked: Array
    factor: Array

    @classmethod
    def of(cls, drawn: dict[str, Any], difficulties: Array | None = None) -> Self:
        """Return people with these traits, each scaled so that A has trace k before anything is welcome.

        ``difficulties`` (k,): how hard columns are said to be, as factors.
        """
        latents, welcome, G, links = (drawn[name] for name in ("latents", "welcome", "normals", "links"))
        k, q, g = G.shape
        dense, c = drawn["interaction"] > 0, links.shape[1]
        rho = drawn["interaction"] * np.sqrt(g / k)
        F = G * np.sqrt(rho[dense] / g)[:, None].astype(G.dtype)
        squares = np.tile(1 - rho[:, None], (1, k))
        if c:  # the last ones
            last, own = G[:, q - c :], links == 2
            size = np.exp(OWN_SPREAD * (last * own).sum(axis=0))
            F[:, q - c :] = (own - last * (links == 1)) * size
            squares[len(squares) - c :] = 1.0 - own.any(axis=2).T
        single = squares.copy()
        squares[dense] += np.einsum("kqg,kqg->qk", F, F)
        w = np.exp(latents[:, :k] - latents[:, :k].max(axis=1, keepdims=True))
        w = w if difficulties is None else w * difficulties
        w *= (k / (w * squares).sum(axis=1))[:, None]
        liked = np.where(welcome, w * squares, 0.0)
        w[welcome] = 0.0
        F *= np.sqrt(w[dense]).T[:, :, None].astype(F.dtype)
        return cls(**drawn, weights=w * single, liked=liked, factor=F)

    def __len__(self) -> int:
        return len(self.powers)

    @cached_property
    def sharpness(self) -> Array:
        """κ of each person (n,)."""
        return np.exp(self.latents[:, -1])

    def take(self, people: Ints) -> Self:
        """Return some of the people, given in ascending order."""
        q, c = self.normals.shape[1], self.links.shape[1]
        dense = (np.cumsum(self.interaction > 0) - 1)[people[self.interaction[people] > 0]]
        some = {name: getattr(self, name)[people] for name in _EACH}
        links = self.links[:, dense[dense >= q - c] - (q - c)]
        return replace(
            self, **some, normals=self.normals[:, dense], links=links, factor=self.factor[:, dense]
        )

    def moved(
        self, populations: Sequence[Population], far: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Return traits of people near these, for ``Bank.of``: steps that leave the prior as it is, ``far`` from 0 to 1."""
        near = np.sqrt(1 - far**2)
        mean = np.stack([population.mean for population in populations])[self.part]
        heavy = np.stack([population.heavy for population in populations])[self.part]
        step = np.empty_like(self.latents)
        for i, population in enumerate(populations):
            own = self.part == i
            step[own] = population.spread(self.interaction[own], rng)
        normals = near * self.normals + far * rng.standard_normal(self.normals.shape, dtype=_SINGLE)
        minds = self.beside > 0
        weight = np.log(np.where(minds, self.beside, 1.0)) - heavy
        weight = heavy + near * weight + far * rng.standard_normal(weight.shape)
        traits = {name: getattr(self, name) for name in _TRAITS}
        return traits | {
            "latents": mean + near * (self.latents - mean) + far * step,
            "beside": np.where(minds, np.exp(weight), 0.0),
            "normals": normals.astype(_SINGLE),
        }

    def where(self, yes: Bools, other: Self) -> Self:
        """Return these people, and in the place of some (n,) those of another bank that moved from it."""
        dense = yes[self.interaction > 0]
        changed = {
            name: np.where(yes[:, None], getattr(other, name), getattr(self, name))
            for name in ("latents", "beside", "weights", "liked")
        }
        for name in ("normals", "factor"):
            changed[name] = np.where(dense[:, None], getattr(other, name), getattr(self, name))
        return replace(self, **changed)

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


#: What a bank has of each person, and what a person is made of.
_EACH = (
    "latents", "powers", "lapses", "interaction", "narrow", "welcome", "beside", "part", "weights", "liked"
)  # fmt: skip
_TRAITS = (*_EACH[:-2], "normals", "links")
#: Numbers of G: half the memory, and twice the pace.
_SINGLE: Any = np.float32


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
    narrow, causal : float
        Shares of those who weigh only what differs, and of causal ones among those with ι > 0.
    lapse : float, optional
        η of everybody, where it is known.
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
    narrow: float = NARROW
    causal: float = 0.0
    lapse: float | None = None

    @classmethod
    def default(cls, k: int, beside: int = 0) -> Self:
        """Return people who answer as people did who were asked, over k columns."""
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

    @classmethod
    def imagined(cls, k: int, beside: int = 0) -> Self:
        """Return people as the paper imagines them, over k columns."""
        return replace(
            cls.default(k, beside),
            mean=np.append(np.zeros(k), np.log(SHARP)),
            root=np.diag(np.append(np.full(k, NEARLY), SHARP_SPREAD)),
            level=1.0,
            lapses=np.eye(3)[0],
            interaction=np.eye(3)[2],
            welcome=np.zeros(k),
            narrow=0.0,
            causal=CAUSAL,
        )

    def minding(self, beside: int) -> Self:
        """Return the same people with so many columns beside; as by default where other ones were learnt."""
        if len(self.minded) == beside:
            return self
        return replace(self, minded=np.full(beside, MINDED), heavy=np.zeros(beside))

    def answering(self, lapse: float | None, sharpness: float | None) -> Self:
        """Return the same people, answering as is said; they weigh options whole."""
        root = self.root.copy()
        root[-1] = 0.0
        kappa = SHARPNESS if sharpness is None else sharpness
        return replace(
            self,
            mean=np.append(self.mean[:-1], np.log(kappa)),
            root=root,
            narrow=0.0,
            lapse=0.1 if lapse is None else lapse,
        )

    def spread(self, interaction: Array, rng: np.random.Generator) -> Array:
        """Return draws of the latents of people with these ι, less the mean, (n, k + 1)."""
        z = rng.standard_normal((len(interaction), len(self.mean))) @ self.root.T
        z[:, :-1] *= np.where(interaction > 0, self.level, 1.0)[:, None]
        return z

    def draw(self, n: int, rng: np.random.Generator) -> dict[str, Any]:
        """Draw n people, in any order, without G: what ``drawn`` makes a bank of."""
        k, e = len(self.welcome), len(self.minded)
        interaction = rng.choice(INTERACTION, n, p=self.interaction / self.interaction.sum())
        single = rng.choice(POWERS, n, p=self.powers / self.powers.sum())
        lapses = rng.choice(LAPSES, n, p=self.lapses / self.lapses.sum())
        minds = rng.random((n, e)) < self.minded
        return {
            "latents": self.mean + self.spread(interaction, rng),
            "powers": np.where(interaction > 0, 1.0, single),
            "lapses": lapses if self.lapse is None else np.full(n, self.lapse),
            "interaction": interaction,
            "narrow": rng.random(n) < self.narrow,
            "welcome": rng.random((n, k)) < self.welcome,
            "beside": np.where(minds, np.exp(self.heavy + rng.standard_normal((n, e))), 0.0),
            "causal": (rng.random(n) < self.causal) & (interaction > 0),
        }


def unknown_people(k: int, beside: int) -> list[tuple[float, Population]]:
    """Return the populations of people of whom nothing is known, over k columns, with their shares."""
    return [
        (1 - IMAGINED, Population.default(k, beside)),
        (IMAGINED, Population.imagined(k, beside)),
    ]


def drawn(
    populations: list[tuple[float, Population]],
    n: int,
    rng: np.random.Generator,
    difficulties: Array | None = None,
) -> Bank:
    """Return a bank of n people of several populations, as common as their shares say; ``difficulties`` as in ``Bank.of``."""
    counts = [round(share * n) for share, _ in populations]
    counts[0] = n - sum(counts[1:])
    parts = [population.draw(count, rng) for count, (_, population) in zip(counts, populations, strict=True)]
    traits = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    traits["part"] = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((traits["causal"], traits["interaction"] > 0, traits["powers"]))
    traits = {name: values[order] for name, values in traits.items()}
    k, c = traits["welcome"].shape[1], int(traits.pop("causal").sum())
    g = min(k, RANK)
    traits["normals"] = rng.standard_normal((k, int((traits["interaction"] > 0).sum()), g), dtype=_SINGLE)
    traits["links"] = _links(k, c, g, rng)
    return Bank.of(traits, difficulties)


def _links(k: int, c: int, g: int, rng: np.random.Generator) -> Array:
    """Return which columns act on which in c causal people, (k, c, g): of many columns, g drawn at random."""
    links: Array = np.zeros((k, c, g), dtype=_SINGLE)
    order = rng.random((c, k)).argsort(axis=1)[:, :g]
    acts = np.triu(rng.random((c, g, g)) < EDGE, 1)  # an earlier one on a later one
    people = np.arange(c)[:, None, None]
    links[order[:, :, None], people, np.arange(g)] = acts + 2 * np.eye(g, dtype=_SINGLE)
    return links


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
