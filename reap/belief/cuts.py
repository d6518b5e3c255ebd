"""Answers as cuts of low rank.

An answer that prefers moves P to moves O says ``⟨A, M⟩ ≤ ε`` with ``M = PᵀP − OᵀO``. Row by row, with
``a = p + o`` and ``b = p − o``, ``ppᵀ − ooᵀ = (abᵀ + baᵀ)/2``: a cut is kept as the pairs (a, b), never as M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from reap._arrays import symmetric, transpose
from reap._errors import InputError
from reap._typing import Array, Ints

#: Numbers in the largest array of one problem, its cuts in the eigenbasis: a second a Newton step, 400 MB.
_LARGEST = 50_000_000
#: Singular values of the moves under this share of the largest span nothing.
_RANK = 1e-12


@dataclass(frozen=True)
class Cut:
    """One comparison: factors `a`, `b` (m, d) of ``M/‖M‖``, the norm ‖M‖, and which answer it came from."""

    a: Array
    b: Array
    norm: float
    answer: int

    @classmethod
    def of(cls, preferred: Array, other: Array, answer: int) -> Self:
        """Return the cut of one comparison; its norm is 0 where both options ask the same effort of everybody.

        ``‖M‖² = ½ Σᵢⱼ (aᵢ·aⱼ)(bᵢ·bⱼ) + (aᵢ·bⱼ)(bᵢ·aⱼ)``, as in `_products`: differences of fourth powers would lose every digit
        for near rows.
        """
        steps = max(len(preferred), len(other))
        p, o = (np.pad(rows, ((0, steps - len(rows)), (0, 0))) for rows in (preferred, other))
        a, b = p + o, p - o
        size = float(np.sqrt(max(0.0, _products(a[None], b[None])[0, 0])))
        if size <= 1e-15 * float(np.sum(a * a) + np.sum(b * b)):
            return cls(a, b, 0.0, answer)
        # Factors of equal length keep the reduced problem well scaled for long and for near options alike.
        share = np.sqrt(np.linalg.norm(b) / np.linalg.norm(a))
        scale = np.sqrt(size)
        return cls(a * (share / scale), b / (share * scale), size, answer)


@dataclass(frozen=True)
class Reduced:
    """Cuts of norm one, in coordinates of the space that their moves span.

    Replacing ``A`` by ``QBQᵀ + ½(I − QQᵀ)`` changes no cut and keeps ``0 ⪯ A ⪯ I``, so every problem is solved
    for B in p = rank dimensions, whatever d is.

    Parameters
    ----------
    basis : orthonormal Q (d, p).
    a, b : factors (k, m, p) of the normalised cuts ``M/‖M‖``.
    slack : ``ε/‖M‖`` (k,).
    answer : the answer each cut came from (k,).
    ball : 1 where a ball must keep off the cut, 0 where only its centre must (k,).
    """

    basis: Array
    a: Array
    b: Array
    slack: Array
    answer: Ints
    ball: Array

    def __len__(self) -> int:
        return len(self.slack)

    @property
    def dimension(self) -> int:
        """p, the number of reduced coordinates."""
        return int(self.basis.shape[1])

    def take(self, rows: Ints) -> Reduced:
        """Return some of the cuts, in the same coordinates."""
        return Reduced(
            self.basis, self.a[rows], self.b[rows], self.slack[rows], self.answer[rows], self.ball[rows]
        )

    def narrow(self) -> Reduced:
        """Return distinct cuts, in coordinates of their own span."""
        if not len(self):
            return self
        turn = _span(np.concatenate([self.a, self.b]).reshape(-1, self.dimension))
        return _distinct(replace(self, basis=self.basis @ turn, a=self.a @ turn, b=self.b @ turn))

    def values(self, B: Array) -> Array:
        """``⟨B, M⟩/‖M‖`` (…, k) of every cut at the matrices B (…, p, p)."""
        # aᵀBb of the factors: a cut is a difference of efforts, and its factors keep digits that the difference loses
        out: Array = np.einsum("kmi,...ij,kmj->...k", self.a, B, self.b, optimize=True)
        return out

    def matrices(self) -> Array:
        """Normalised cuts (k, p, p), for small p only."""
        return symmetric(transpose(self.a) @ self.b)

    def lift(self, B: Array, basis: Array | None = None) -> Array:
        """Return ``QBQᵀ + ½(I − QQᵀ)`` (d, d) for B (p, p), in another `basis` where one is given."""
        Q = self.basis if basis is None else basis
        return symmetric(Q @ (B - 0.5 * np.eye(len(B))) @ Q.T + 0.5 * np.eye(len(Q)))

    def widen(self, extra: int) -> tuple[Array, Array]:
        """Return the factors with `extra` more coordinates, in which the cuts are zero."""
        pad = ((0, 0), (0, 0), (0, extra))
        return np.pad(self.a, pad), np.pad(self.b, pad)


def check_size(cuts: int, dimension: int) -> None:
    """Refuse a problem of which one Newton step would take minutes, instead of beginning it."""
    if (cuts + 1) * dimension**2 > _LARGEST:
        raise InputError(
            f"{cuts} different comparisons that span {dimension} dimensions are too many to solve for; "
            "give fewer answers, or options that change fewer columns"
        )


def reduce(cuts: Sequence[Cut], dimension: int, epsilon: float, *, distinct: bool = True) -> Reduced:
    """Normalise the cuts and move to the span of their moves; `distinct` keeps one of several parallel cuts."""
    if not cuts:
        empty = np.zeros((0, 1, 0))
        none = np.zeros(0)
        return Reduced(np.zeros((dimension, 0)), empty, empty, none, np.zeros(0, dtype=np.intp), none)
    steps = max(len(cut.a) for cut in cuts)
    a, b = np.zeros((2, len(cuts), steps, dimension))
    for k, cut in enumerate(cuts):
        a[k, : len(cut.a)], b[k, : len(cut.b)] = cut.a, cut.b
    norms = np.array([cut.norm for cut in cuts])
    basis = _span(np.concatenate([a, b]).reshape(-1, dimension))
    answer = np.array([cut.answer for cut in cuts])
    whole = Reduced(basis, a @ basis, b @ basis, epsilon / norms, answer, np.ones(len(cuts)))
    return _distinct(whole) if distinct else whole


def _span(rows: Array) -> Array:
    """Orthonormal basis (d, p) of the space spanned by the rows."""
    if len(rows) >= 2 * rows.shape[1]:
        rows = np.linalg.qr(rows).R
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    out: Array = directions[sizes > _RANK * sizes[0]].T
    return out


def parallel(cuts: Reduced) -> Ints:
    """Return, for each cut, the first one with the same normalised matrix (k,)."""
    group = np.arange(len(cuts))
    if len(cuts) > 1:
        first, second = np.nonzero(np.triu(_products(cuts.a, cuts.b) > 1 - 1e-9, 1))
        near = np.unique(np.concatenate([first, second]))
        M = dict(zip(near.tolist(), cuts.take(near).matrices(), strict=True))
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        same = np.array([np.linalg.norm(M[i] - M[j]) < 1e-12 for i, j in pairs], dtype=bool)
        np.minimum.at(group, second[same], first[same])
    return group


def _products(a: Array, b: Array) -> Array:
    """``⟨Mᵢ, Mⱼ⟩`` (k, k) of cuts with factors (k, m, p), without the matrices."""
    k, m, p = a.shape
    rows, others = a.reshape(k * m, p), b.reshape(k * m, p)
    across = rows @ others.T
    sums = (rows @ rows.T) * (others @ others.T) + across * across.T
    out: Array = 0.5 * sums.reshape(k, m, k, m).sum(axis=(1, 3))
    return out


def _distinct(cuts: Reduced) -> Reduced:
    """Of parallel cuts keep the tightest: the others would bend the central path, not the set."""
    group = parallel(cuts)
    if (group == np.arange(len(cuts))).all():
        return cuts
    order = np.lexsort((np.arange(len(cuts)), cuts.slack))
    _, first = np.unique(group[order], return_index=True)
    return cuts.take(np.sort(order[first]))
