"""What people may be like before they have said anything.

Every family turns the same standard normal latents into an effort matrix, so that a Crank–Nicolson step on the
latents keeps the prior exactly, and a person can change family without drawing anything anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from reap._errors import InputError, unknown
from reap._typing import Array, Ints
from reap.belief.learned_prior import PLAIN, LearnedPrior, learned_prior

#: Weight of each family in the mixture "people". People with one single concern are rare here: they are so easily
#: pleased that, at the weight of the others, guarding against them makes plans harder for everybody else (see docs/method.md).
PEOPLE = {
    "gaussian": 4.0,
    "positive": 1.0,
    "rank-one": 0.25,
    "rank-one-positive": 0.25,
    "diagonal": 1.0,
    "scaled": 1.0,
}
#: The five answers to "how hard is it for you to change this?", as factors on the effort of a feature.
DIFFICULTIES = {"very easy": 0.1, "easy": 0.4, "neither easy nor hard": 1.0, "hard": 2.5, "very hard": 10.0}
#: Share of people who do not mind the number of changes at all; the same of waiting (p₀).
ABSENT = 0.9
#: From so many columns on latents and matrices are of single precision: half the time of a move, and digits enough for a sample.
WIDE = 48
#: The part of the identity added to the matrices of the family "scaled", beside their own trace.
RIDGE = 0.3

#: Families for people who hardly differ from one another, which only a learnt prior uses: `(1−ρ)B + ρI`, B ``gaussian``.
ALIKE = {"alike-50": 0.5, "alike-80": 0.8, "alike-95": 0.95}

#: Stated difficulties: factors, or words, one for each column.
Difficulties: TypeAlias = Sequence[str] | Sequence[float] | Array
#: A mixture or a family by name, stated difficulties, or a learnt prior or its file.
PriorLike: TypeAlias = str | Difficulties | LearnedPrior | Path


class Prior:
    """A distribution of effort matrices, each with trace `dimension`.

    The latents of a person are `(d + 1, d)` standard normals: rows `g_1 … g_d` of a factor, then one row `u`.
    With `D = diag(exp u)`, the families are

    - ``gaussian``: `A ∝ Σ g_i g_iᵀ`;  ``positive``: the same of `|g_i|` (features share a direction);
    - ``rank-one``, ``rank-one-positive``: `A ∝ g_1 g_1ᵀ` (a single dominant concern), of `g_1` or `|g_1|`;
    - ``diagonal``: `A ∝ D`;  ``scaled``: `A ∝ D^½ (Σ g_i g_iᵀ) D^½`, plus 30 % of the identity.

    A learnt prior has shares of its own, and `A = RᵀBR` with B of a family; a few of its people are those of "people".
    Stated difficulties `s` turn every `A` into `diag(s)^½ A diag(s)^½`.

    Columns `beside` them have a weight of their own and no cross terms: what a person minds whatever they change, such as
    the number of changes (see ``weight``). A person is then divided by `1 + Σ r`: a typical plan is as hard for everybody.

    Parameters
    ----------
    dimension : int
        Number of encoded columns `d`.
    kind : str, (d,) sequence, LearnedPrior or Path
        "people", the name of one family, a learnt prior or its file; or difficulties, then of the mixture "people".
    difficulties : (d,) sequence, optional
        Positive factors, or words of `DIFFICULTIES`.
    beside : int
        Number of further columns e, each with a weight r on the scale of a typical change.

    Examples
    --------
    >>> prior = Prior(3, "diagonal")
    >>> latents, families = prior.draw(2, np.random.default_rng(0))
    >>> latents.shape, prior.matrices(latents, families).trace(axis1=1, axis2=2).round(12).tolist()
    ((2, 4, 3), [3.0, 3.0])
    """

    def __init__(
        self,
        dimension: int,
        kind: PriorLike = "people",
        difficulties: Difficulties | None = None,
        beside: int = 0,
    ) -> None:
        self.dimension, self.beside = dimension, beside
        #: Rows of latents after the d + 1 of the matrix, in which the latents of the weights stand.
        self.further = -(-beside // dimension)
        kind = opened(kind)
        #: Share of people who do not mind each column beside, and the logarithm of what it counts for the others.
        self._absent, self._heavy = np.full(beside, ABSENT), np.zeros(beside)
        if isinstance(kind, LearnedPrior):
            if len(kind.minders) == beside:
                self._absent, self._heavy = 1 - np.array(kind.minders), np.array(kind.weights)
            self.families, self._roots, self._shares = _learnt(kind, dimension)
        else:
            if not isinstance(kind, str):
                kind, difficulties = "people", kind
            if kind not in (*PEOPLE, "people"):
                raise unknown("prior", kind, ["people", *PEOPLE])
            chosen = PEOPLE if kind == "people" else {kind: 1.0}
            self.families, self._roots = tuple(chosen), [None] * len(chosen)
            self._shares = _shares(chosen)
        self._sizes = None if difficulties is None else np.sqrt(_difficulties(difficulties, dimension))

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Ints]:
        """Draw the latents `(n, d+1, d)` and families `(n,)` of n people; with rows for weights beside, where there are any."""
        shape = n, self.dimension + 1 + self.further, self.dimension
        latents: Array = rng.standard_normal(
            shape, dtype=np.float32 if self.dimension >= WIDE else np.float64
        )  # type: ignore[assignment]
        return latents, self.draw_families(n, rng)

    def draw_families(self, n: int, rng: np.random.Generator) -> Ints:
        """Draw n families `(n,)`, as positions in `families`."""
        return rng.choice(len(self.families), size=n, p=self._shares)

    def matrices(self, latents: Array, families: Ints) -> Array:
        """Turn latents `(n, d+1, d)` and families `(n,)` into effort matrices `(n, d, d)` of trace d.

        With columns beside: `(n, d+e, d+e)`, block-diagonal.
        """
        d = self.dimension
        latents, more = latents[:, : d + 1], latents[:, d + 1 :]
        A = np.empty((len(latents), d, d), dtype=latents.dtype)
        for position, name in enumerate(self.families):
            of = np.flatnonzero(families == position)
            A[of] = FAMILIES[name](latents[of])
            if (root := self._roots[position]) is not None:
                A[of] = root.T @ A[of] @ root
        if self._sizes is not None:
            A *= self._sizes[:, None] * self._sizes
        A *= (d / np.einsum("nii->n", A))[:, None, None]
        return self._with_weights(A, more) if self.beside else A

    def _with_weights(self, A: Array, latents: Array) -> Array:
        """Return matrices (n, d, d) with the weights that latents `(n, rows, d)` stand for."""
        n, d = A.shape[:2]
        r = weight(latents.reshape(n, -1)[:, : self.beside], self._absent, self._heavy)
        whole = np.zeros((n, d + self.beside, d + self.beside), dtype=A.dtype)
        whole[:, :d, :d] = A
        whole[:, np.arange(d, d + self.beside), np.arange(d, d + self.beside)] = r
        whole /= (1 + r.sum(axis=1))[:, None, None]
        return whole


def weight(latents: Array, absent: float | Array = ABSENT, heavy: float | Array = 0.0) -> Array:
    """Return the weights of columns beside, on the scale of a typical change: 0 for most people, else log-normal.

    `u = (Φ(z) − p₀)/(1 − p₀)`; `r = 0` where u ≤ 0, else `exp(μ + Φ⁻¹(u))`: one latent z, so that a Crank–Nicolson step keeps it.
    Past sessions teach the share ``absent`` p₀ and ``heavy`` μ.

    Examples
    --------
    >>> weight(np.array([0.0, 1.5, 3.0])).round(2).tolist()
    [0.0, 0.65, 9.13]
    """
    u = (ndtr(latents) - absent) / (1 - np.asarray(absent))
    return np.asarray(np.where(u > 0, np.exp(heavy + ndtri(np.clip(u, 1e-12, 1 - 1e-12))), 0.0))


def _gram(factors: Array) -> Array:
    """Return `Σ_i g_i g_iᵀ` `(n, d, d)` of factors `(n, r, d)`."""
    product: Array = factors.transpose(0, 2, 1) @ factors
    return product


def _diagonal(latents: Array) -> Array:
    return np.exp(latents[:, -1])[:, :, None] * np.eye(latents.shape[2])


def _scaled(latents: Array) -> Array:
    A = _gram(latents[:, :-1] * np.exp(latents[:, -1:] / 2))
    ridge = RIDGE * np.einsum("nii->n", A) / A.shape[1]
    A += ridge[:, None, None] * np.eye(A.shape[1])
    return A


def _alike(share: float, latents: Array) -> Array:
    A = _gram(latents[:, :-1])
    d = A.shape[1]
    A *= ((1 - share) * d / np.einsum("nii->n", A))[:, None, None]
    A += share * np.eye(d)
    return A


#: How each family turns latents `(n, d+1, d)` into matrices `(n, d, d)` of any trace.
FAMILIES: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda latents: _gram(latents[:, :-1]),
    "positive": lambda latents: _gram(np.abs(latents[:, :-1])),
    "rank-one": lambda latents: _gram(latents[:, :1]),
    "rank-one-positive": lambda latents: _gram(np.abs(latents[:, :1])),
    "diagonal": _diagonal,
    "scaled": _scaled,
    **{name: partial(_alike, share) for name, share in ALIKE.items()},
}


def opened(kind: PriorLike) -> str | Difficulties | LearnedPrior:
    """Return a prior, read where a file of a learnt one is named."""
    if isinstance(kind, Path) or (isinstance(kind, str) and kind.endswith(".json")):
        return learned_prior(kind)
    return kind


def _learnt(learned: LearnedPrior, dimension: int) -> tuple[tuple[str, ...], list[Array | None], Array]:
    """Return families, the root of each and their shares: those learnt, then, rare, those of the default."""
    if len(learned.columns) != dimension:
        raise InputError(
            f"the prior was learnt for {len(learned.columns)} columns that can move; here are {dimension}."
        )
    for name in learned.families:
        if name not in FAMILIES:
            raise unknown("family of people in the prior", name, FAMILIES)
    if learned.learnt == "nothing":
        return tuple(PEOPLE), [None] * len(PEOPLE), _shares(PEOPLE)
    names = (*learned.families, *PEOPLE)
    roots = [learned.root] * len(learned.families) + [None] * len(PEOPLE)
    return names, roots, np.append((1 - PLAIN) * _shares(learned.families), PLAIN * _shares(PEOPLE))


def _shares(weights: Mapping[str, float]) -> Array:
    return np.array(list(weights.values())) / sum(weights.values())


def _difficulties(stated: Difficulties, dimension: int) -> Array:
    """Return stated difficulties as positive factors `(d,)`."""
    words = [value for value in stated if isinstance(value, str)]
    for word in words:
        if word not in DIFFICULTIES:
            raise unknown("difficulty", word, DIFFICULTIES)
    factors = np.array([DIFFICULTIES[s] if isinstance(s, str) else s for s in stated], dtype=float)
    if factors.shape != (dimension,):
        raise InputError(
            f"the prior has difficulties of shape {factors.shape}; "
            f"give one positive number for each of the {dimension} columns."
        )
    if not (np.isfinite(factors).all() and (factors > 0).all()):
        raise InputError(f"the prior has the difficulty {factors.min():g}; all must be positive and finite.")
    return factors
