"""Effort, in one place: what a change asks of a person whose matrix is A.

*A plan* asks ``ΔᵀAΔ`` of its whole change ``Δ = x − x0``, whatever its steps. *A path* of the paper's graph, with moves
``V (s, d)``, asks ``Σ vᵀAv = ⟨A, VᵀV⟩``. A plan is a path of one move, so both are ``⟨A, VᵀV⟩``, and they agree
there and nowhere else: four even steps of a path ask a quarter of their whole change. Never compare one with the other.

*People* differ in more than the matrix (``Efforts``): a change may count by ``φ_p(δ) = sign(δ)|δ|^p`` a column (p = 1: the
paper's square, p = ½: linear in amounts), and some mind the number of changes k, or the time τ, whatever changes:
``φ_p(Δ)ᵀ A φ_p(Δ) + h·k + w·τ²``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError
from reap._typing import Array, Bools, Ints

#: Numbers that are made at once, 8 MB: more leave the processor's cache, and the system hands their memory out page by page.
_BLOCK = 1 << 20


def identity(dimension: int) -> Array:
    """Return the matrix (d, d) of somebody of whom nothing is known: every column counts the same."""
    return np.eye(dimension)


def matrices(A: Array, dimension: int) -> Array:
    """Return effort matrices (b, d, d), or one (d, d), as (b, d, d): finite, symmetric, no effort below 0.

    Examples
    --------
    >>> matrices([[1.0, 0.2], [0.0, 1.0]], 2)
    array([[[1. , 0.1],
            [0.1, 1. ]]])
    """
    d = dimension
    try:
        A = np.asarray(A, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"effort matrices are numbers of shape (b, {d}, {d}); given was {type(A).__name__}"
        ) from None
    if A.ndim == 2:
        A = A[None]
    if A.ndim != 3 or A.shape[1:] != (d, d) or not np.isfinite(A).all():
        raise InputError(f"effort matrices must be finite and of shape (b, {d}, {d}); given was {A.shape}")
    A = (A + A.transpose(0, 2, 1)) / 2
    scale = np.abs(np.trace(A, axis1=1, axis2=2))
    try:
        np.linalg.cholesky(A + (1e-7 * scale + 1e-12)[:, None, None] * np.eye(d))
    except np.linalg.LinAlgError:
        raise InputError(
            "an effort matrix is not positive semidefinite, so some effort would be negative; give A with zᵀAz ≥ 0 for all z"
        ) from None
    return A


@dataclass(frozen=True, eq=False)
class Efforts:
    """What changes ask of b people: ``φ_p(Δ)ᵀ A φ_p(Δ) + h·k + w·τ²``, each with their own A, p, h and w.

    Engines take them where they take matrices (b, d, d), which are people with p = 1 and h = w = 0.

    Parameters
    ----------
    matrices : (b, d, d)
    powers : (b,)
        p of each person: 1 counts squares, ½ amounts.
    per_change : (b,)
        h: what each change asks beside its size.
    per_wait : (b,)
        w: what waiting asks, for τ in shares of the space's horizon.

    Examples
    --------
    >>> people = Efforts.of(np.array([np.eye(2), np.eye(2)]), powers=[1.0, 0.5])
    >>> people.ask(np.array([[0.25, 0.0], [0.25, -0.25]]))
    array([[0.0625, 0.125 ],
           [0.25  , 0.5   ]])
    >>> len(people), len(people[:1]), len(Efforts.joined([people, people[1:]]))
    (2, 1, 3)
    """

    matrices: Array
    powers: Array
    per_change: Array
    per_wait: Array

    @classmethod
    def of(
        cls,
        matrices: Array | Self,
        powers: Array | Sequence[float] | float = 1.0,
        per_change: Array | Sequence[float] | float = 0.0,
        per_wait: Array | Sequence[float] | float = 0.0,
    ) -> Self:
        """Return the efforts of people with matrices (b, d, d) and numbers for each, or one for all; efforts as they are."""
        if isinstance(matrices, cls):
            return matrices
        A = np.asarray(matrices, dtype=float)
        each = (np.broadcast_to(np.asarray(v, float), len(A)).copy() for v in (powers, per_change, per_wait))
        return cls(A, *each)

    @classmethod
    def checked(cls, given: Array | Self, dimension: int) -> Self:
        """Return efforts, or matrices (b, d, d) or (d, d), as efforts: finite, symmetric, none below 0."""
        if not isinstance(given, Efforts):
            return cls.of(matrices(given, dimension))
        made = cls(matrices(given.matrices, dimension), given.powers, given.per_change, given.per_wait)
        for name, least in (("powers", "above"), ("per_change", "of at least"), ("per_wait", "of at least")):
            value = np.asarray(getattr(made, name), dtype=float)
            low = value <= 0 if name == "powers" else value < 0
            if value.shape != (len(made),) or not np.isfinite(value).all() or low.any():
                raise InputError(
                    f"{name} of the efforts must be {len(made)} numbers {least} 0; given was {getattr(made, name)!r}"
                )
        return made

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the people of several efforts, one after the other."""
        names = ("matrices", "powers", "per_change", "per_wait")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.matrices)

    def __getitem__(self, which: slice | Ints | Bools) -> Self:
        return type(self)(
            self.matrices[which], self.powers[which], self.per_change[which], self.per_wait[which]
        )

    def within(self, columns: Ints) -> Self:
        """Return the efforts of changes in some columns (m,), where all others stay."""
        return replace(self, matrices=self.matrices[:, columns[:, None], columns])

    @property
    def square(self) -> bool:
        """Whether all of them are the paper's ``ΔᵀAΔ``: p = 1 and h = w = 0."""
        return bool((self.powers == 1).all() and not self.per_change.any() and not self.per_wait.any())

    def ask(self, V: Array, counts: Array | None = None, waits: Array | None = None) -> Array:
        """Return what whole changes (n, d) with counts k (n,) and times τ (n,) ask of each person, (b, n)."""
        out = np.empty((len(self), len(V)))
        for p in np.unique(self.powers):
            some = self.powers == p
            out[some] = of_changes(self.matrices[some], curved(V, p))
        if counts is not None:
            out += self.per_change[:, None] * counts
        if waits is not None:
            out += self.per_wait[:, None] * np.square(waits)
        return out

    def ask_each(self, V: Array, counts: Array | None = None, waits: Array | None = None) -> Array:
        """Return what whole changes (b, …, d), those of each person, ask of that person, (b, …); counts and times likewise."""
        out = of_each(self.matrices, curved(V, _for_each(self.powers, V.ndim)))
        if counts is not None:
            out = out + _for_each(self.per_change, out.ndim) * counts
        if waits is not None:
            out = out + _for_each(self.per_wait, out.ndim) * np.square(waits)
        return out


def _for_each(values: Array, axes: int) -> Array:
    """Return values (b,) with as many axes, to be used for arrays (b, …)."""
    return values.reshape(-1, *[1] * (axes - 1))


def curved(V: Array, power: Array | float) -> Array:
    """Return ``φ_p(δ) = sign(δ)|δ|^p`` of changes (…, d), column by column; they themselves for p = 1.

    Examples
    --------
    >>> curved(np.array([0.25, -0.25]), 0.5)
    array([ 0.5, -0.5])
    """
    return V if np.all(power == 1.0) else np.sign(V) * np.abs(V) ** power


def changes(rows: Array, start: Array) -> Array:
    """Return the whole changes ``Δ = x − x0`` (…, d) of rows; a value that is missing does not change.

    Examples
    --------
    >>> changes(np.array([[0.5, np.nan]]), np.array([0.2, np.nan]))
    array([[0.3, 0. ]])
    """
    return zero_missing(rows - start)


def moves(path: Array) -> Array:
    """Return the moves (s, d) along a path (s + 1, d); a value that is missing does not move."""
    return zero_missing(np.diff(path, axis=0))


def size(V: Array) -> Array:
    """Return ``|v|²`` (…,) of changes (…, d): their effort at the identity."""
    return np.asarray((V * V).sum(axis=-1))


def of_change(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` (n,) of changes (n, d) under one matrix (d, d)."""
    return np.asarray(np.maximum(((V @ A) * V).sum(axis=-1), 0.0))


def of_changes(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` (b, n) of changes (n, d) under matrices (b, d, d).

    Examples
    --------
    >>> of_changes(np.array([np.eye(2), np.diag([1.0, 4.0])]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    array([[1., 2.],
           [1., 5.]])
    """
    b, d = A.shape[:2]
    flat, efforts = A.transpose(1, 0, 2).reshape(d, b * d), np.empty((b, len(V)))
    # whole eights: then each row comes out as in one large product
    rows = max(8, _BLOCK // max(b * d, 1) // 8 * 8)
    for k in range(0, len(V), rows):
        some = V[k : k + rows]
        product = (some @ flat).reshape(len(some), b, d)  # one product, not b of them
        np.einsum("nbd,nd->bn", product, some, out=efforts[:, k : k + rows])
    return np.maximum(efforts, 0.0, out=efforts)


def of_each(A: Array, V: Array) -> Array:
    """Return ``vᵀAv`` (n, …) of changes (n, …, d), each under its own matrix of (n, d, d)."""
    flat = V.reshape(len(V), int(np.prod(V.shape[1:-1])), V.shape[-1])
    return np.asarray(np.maximum(((flat @ A) * flat).sum(axis=-1), 0.0).reshape(V.shape[:-1]))


def of_moves(A: Array, V: Array) -> float:
    """Return ``⟨A, VᵀV⟩`` of the moves of one plan or path, (d,) or (s, d), under one matrix (d, d).

    Examples
    --------
    >>> of_moves(np.diag([1.0, 4.0]), np.array([[0.5, 0.0], [0.5, 1.0]]))
    4.5
    """
    return float(of_change(A, np.atleast_2d(V)).sum())


def gram(V: Array) -> Array:
    """Return ``VᵀV`` (d, d) of moves (d,) or (s, d): all of a plan or path that its effort depends on."""
    V = np.atleast_2d(V)
    return np.asarray(V.T @ V)


def grams(options: Sequence[Array] | Array) -> Array:
    """Return ``VᵀV`` (m, d, d) of m plans or paths, each with moves (d,) or (s, d); an array (m, d) is m plans of one move."""
    if isinstance(options, np.ndarray) and options.ndim == 2:
        return np.asarray(options[:, :, None] * options[:, None, :])
    return np.stack([gram(V) for V in options])
