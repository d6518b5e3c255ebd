"""What people may be like before they have said anything: a mixture of families, with what was stated or learnt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri

from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints
from reap.belief.families import FAMILIES, PEOPLE, Factor, Latents, mixed
from reap.belief.learned_prior import PLAIN, LearnedPrior, learned_prior

#: The five answers to "how hard is it for you to change this?", as factors on the effort of a feature.
DIFFICULTIES = {"very easy": 0.1, "easy": 0.4, "neither easy nor hard": 1.0, "hard": 2.5, "very hard": 10.0}
#: Share of people who do not mind the number of changes at all; the same of waiting (p₀).
ABSENT = 0.9
#: With this many columns or more only the columns that answers compare are moved.
WIDE = 48

#: Stated difficulties: factors, or words, one for each column.
Difficulties: TypeAlias = Sequence[str] | Sequence[float] | Array
#: A mixture or a family by name, stated difficulties, or a learnt prior or its file.
PriorLike: TypeAlias = str | Difficulties | LearnedPrior | Path


class Prior:
    """A distribution of effort matrices, each with trace `dimension`.

    The latents of a person are `(d + 1, d)` standard normals (``families``): rows `g_1 … g_d`, then one row `u`.
    With `D = diag(exp u)`, the families are

    - ``gaussian``: `A ∝ Σ g_i g_iᵀ`;  ``positive``: the same of `|g_i|`, each column with a sign of its own, that
      of `u` (features share a direction, whichever way each is coded);
    - ``rank-one``: `A ∝ g_1 g_1ᵀ` (a single dominant concern);
    - ``diagonal``: `A ∝ D`;  ``scaled``: `A ∝ D^½ (Σ g_i g_iᵀ) D^½`, plus 30 % of the identity;
    - ``causal``: `A ∝ (I−W)ᵀ(I−W)`, W from half of the `g_ij`, the larger ones, where `u_i > u_j`: changes bring others about;
    - ``alike-50``: half ``gaussian``, half the identity: columns are nearly alike.

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
            self.families, learnt, self._shares = _learnt(kind, dimension)
            turns = [(kind.root, learnt), (None, ~learnt)]
        else:
            if not isinstance(kind, str):
                kind, difficulties = "people", kind
            if kind not in (*PEOPLE, "people"):
                raise unknown("prior", kind, ["people", *PEOPLE])
            chosen = PEOPLE if kind == "people" else {kind: 1.0}
            self.families, self._shares = tuple(chosen), _shares(chosen)
            turns = [(None, np.ones(len(chosen), dtype=bool))]
        if difficulties is not None:
            sizes = np.sqrt(_difficulties(difficulties, dimension))
            turns = [(np.diag(sizes) if T is None else T * sizes, own) for T, own in turns]
        #: T, by which `A ∝ TᵀBT` has what was learnt and how hard columns are said to be, and the families it is for.
        self._turns: list[tuple[Array | None, Bools]] = turns

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Array, Ints]:
        """Draw the latents `(n, d+1, d)` and families `(n,)` of n people; with rows for weights beside, where there are any."""
        shape = n, self.dimension + 1 + self.further, self.dimension
        precision: Any = (
            np.float32
        )  # half the memory and time of doubles, and digits enough for what is known of an effort
        return rng.standard_normal(shape, dtype=precision), self.draw_families(n, rng)

    def draw_families(self, n: int, rng: np.random.Generator) -> Ints:
        """Draw n families `(n,)`, as positions in `families`."""
        return rng.choice(len(self.families), size=n, p=self._shares)

    def matrices(self, latents: Array, families: Ints, columns: Ints | None = None) -> Array:
        """Turn latents `(n, d+1, d)` and families `(n,)` into effort matrices `(n, d, d)` of trace d.

        With columns beside: `(n, d+e, d+e)`, block-diagonal. With latents of some columns (k,) alone (``flat``) `(n, k+e, k+e)`.
        """
        d, k = self.dimension, self.dimension if columns is None else len(columns)
        precision = float if columns is None else latents.dtype
        whole = np.zeros((len(latents), k + self.beside, k + self.beside), dtype=precision)
        for of, factor, turn in self._people(latents, families, columns):
            A = factor._replace(rows=factor.rows.astype(precision, copy=False)).matrices()
            if columns is None:
                A = A if turn is None else turn.T @ A @ turn  # in other coordinates; no effort
                A *= (d / np.einsum("nii->n", A))[:, None, None]  # to trace d
            else:
                t = self._sizes(turn)
                A *= (d / factor.weighted_trace(columns, t**2))[:, None, None] * np.outer(
                    t[columns], t[columns]
                )
            whole[of, :k, :k] = A
        if self.beside:
            r = self._minded(latents)
            whole[:, np.arange(k, k + self.beside), np.arange(k, k + self.beside)] = r
            whole /= (1 + r.sum(axis=1))[:, None, None]
        return whole

    def efforts(self, latents: Array, families: Ints, V: Array, columns: Ints | None = None) -> Array:
        """Return `vᵀAv` `(n, m)` of changes `(m, d+e)` for the same people, without their matrices.

        With latents of some columns alone, those in which V moves (``touched``).
        """
        return self.weighed(self.own_efforts(latents, families, V, columns), latents, V)

    def own_efforts(self, latents: Array, families: Ints, V: Array, columns: Ints | None = None) -> Array:
        """Return the same without what the columns beside count: it does not depend on their weights."""
        d = self.dimension
        found = np.empty((len(latents), len(V)))
        for of, factor, turn in self._people(latents, families, columns):
            if columns is None:
                turned = V[:, :d] if turn is None else V[:, :d] @ turn.T
                size = factor.trace() if turn is None else factor.efforts(turn.T).sum(axis=1)
            else:
                t = self._sizes(turn)
                turned, size = V[:, columns] * t[columns], factor.weighted_trace(columns, t**2)
            found[of] = factor.efforts(turned) * (d / size)[:, None]
        return found

    def weighed(self, own: Array, latents: Array, V: Array) -> Array:
        """Return efforts `(n, m)` with the columns beside, from those without them."""
        if not self.beside:
            return own
        r = self._minded(latents)
        return np.asarray((own + r @ (V[:, self.dimension :] ** 2).T) / (1 + r.sum(axis=1))[:, None])

    def expected(self, latents: Array, families: Ints, columns: Ints) -> Array:
        """Return the average diagonal `(d,)` of the matrices, of people whose latents are known in some columns; 0 in these."""
        d, total = self.dimension, np.zeros(self.dimension)
        share = d / (1 + self._minded(latents).sum(axis=1)) / len(latents)
        for of, factor, turn in self._people(latents, families, columns):
            assert factor.others is not None
            squares = self._sizes(turn) ** 2
            diagonal = (factor.others + factor.ridge[:, None]) * squares
            total += (share[of] / factor.weighted_trace(columns, squares)) @ diagonal
        total[columns] = 0.0
        return total

    def touched(self, V: Array) -> Ints | None:
        """Return the columns (k,) whose latents alone say what changes `(m, d+e)` cost; None: all of them, or they are few."""
        tied = any(turn is not None and np.count_nonzero(turn) > self.dimension for turn, _ in self._turns)
        if self.dimension < WIDE or tied:
            return None
        return np.flatnonzero((V[:, : self.dimension] != 0).any(axis=0))

    def minded(self, latents: Array) -> Array:
        """Return how many columns beside each person minds at all `(e,)`, as a share."""
        return np.asarray((self._minded(latents) > 0).mean(axis=0))

    def _sizes(self, turn: Array | None) -> Array:
        """Return the diagonal `(d,)` of T, where it is no more than that."""
        return np.ones(self.dimension) if turn is None else np.diagonal(turn)

    def _people(
        self, latents: Array, families: Ints, columns: Ints | None = None
    ) -> Iterator[tuple[Ints, Factor, Array | None]]:
        """Yield people who share T, `A ∝ TᵀBT`: their places, family by family, their factors B, and T."""
        n, d = len(latents), self.dimension
        k = d if columns is None else len(columns)
        flat = latents.reshape(n, -1)
        order = np.argsort(families, kind="stable")
        for turn, own in self._turns:
            of = order if own.all() else order[own[families[order]]]
            if len(of):
                drawn = flat[of, : d * k].reshape(len(of), d, k)
                split = Latents(drawn, flat[of, d * k : d * k + d], columns)
                yield of, mixed(self.families, split, families[of]), turn

    def _minded(self, latents: Array) -> Array:
        """Return the weights `(n, e)` of the columns beside; their latents stand last."""
        flat = latents.reshape(len(latents), -1)
        more = flat[:, flat.shape[1] - self.further * self.dimension :]
        return weight(more[:, : self.beside], self._absent, self._heavy)


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
    minded = u > 0  # few are, and what follows takes longest
    r = np.zeros(np.shape(u))
    shift = np.broadcast_to(heavy, r.shape)[minded]
    r[minded] = np.exp(shift + ndtri(np.clip(u[minded], 1e-12, 1 - 1e-12)))
    return r


def opened(kind: PriorLike) -> str | Difficulties | LearnedPrior:
    """Return a prior, read where a file of a learnt one is named."""
    if isinstance(kind, Path) or (isinstance(kind, str) and kind.endswith(".json")):
        return learned_prior(kind)
    return kind


def _learnt(learned: LearnedPrior, dimension: int) -> tuple[tuple[str, ...], Bools, Array]:
    """Return families, which of them were learnt, and their shares: those learnt, then, rare, those of the default."""
    if len(learned.columns) != dimension:
        raise InputError(
            f"the prior was learnt for {len(learned.columns)} columns that can move; here are {dimension}."
        )
    for name in learned.families:
        if name not in FAMILIES:
            raise unknown("family of people in the prior", name, FAMILIES)
    if learned.learnt == "nothing":
        return tuple(PEOPLE), np.zeros(len(PEOPLE), dtype=bool), _shares(PEOPLE)
    names = (*learned.families, *PEOPLE)
    shares = np.append((1 - PLAIN) * _shares(learned.families), PLAIN * _shares(PEOPLE))
    return names, np.arange(len(names)) < len(learned.families), shares


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
