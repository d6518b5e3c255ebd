"""The problems of a confidence set, handed to Clarabel as they stand: no reduced basis, no low rank, no barrier of ours."""

from __future__ import annotations

from dataclasses import dataclass

import clarabel
import numpy as np
from scipy import sparse

from reap._typing import Array
from reap.belief import ConfidenceSet

_ROOT = np.sqrt(2.0)


def svec(M: Array) -> Array:
    """Upper triangle by columns, off-diagonals times √2: Clarabel's form of a symmetric matrix."""
    rows, columns = _triangle(len(M))
    return np.where(rows == columns, 1.0, _ROOT) * M[rows, columns]


def smat(x: Array, d: int) -> Array:
    rows, columns = _triangle(d)
    M = np.zeros((d, d))
    M[rows, columns] = M[columns, rows] = x / np.where(rows == columns, 1.0, _ROOT)
    return M


def _triangle(d: int) -> tuple[Array, Array]:
    columns, rows = np.tril_indices(d)
    return rows, columns


def cut_matrices(belief: ConfidenceSet) -> list[Array]:
    """``PᵀP − OᵀO`` of every comparison, from the answers."""
    out = []
    for answer in belief.answers:
        grams = [option.T @ option for option in answer.options]
        if answer.kind == "preferred":
            out += [grams[0] - other for other in grams[1:]]
        else:
            out += [p - o for i, p in enumerate(grams) for j, o in enumerate(grams) if i != j]
    return out


@dataclass(frozen=True)
class Programme:
    """Minimise q·x over b − Kx in the cones; x = (svec A, r)."""

    q: Array
    K: sparse.csc_matrix
    b: Array
    cones: list[object]
    d: int

    def solve(self, accuracy: float = 1e-10) -> tuple[Array, float, float]:
        """Return A (d, d), r and the objective."""
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
        n = len(self.q)
        P = sparse.csc_matrix((n, n))
        found = clarabel.DefaultSolver(P, self.q, self.K, self.b, self.cones, settings).solve()
        x = np.array(found.x)
        return smat(x[:-1], self.d), float(x[-1]), -float(found.obj_val)


def programme(
    matrices: list[Array], d: int, epsilon: float, form: str, objective: Array | None = None
) -> Programme:
    """The largest ball ("chebyshev" or "published"), or the largest ``⟨A, objective⟩`` ("worst")."""
    n = d * (d + 1) // 2
    eye, identity = svec(np.eye(d)), sparse.identity(n)
    ball = {"chebyshev": 1.0, "published": 0.0, "worst": 0.0}[form]
    use = 0.0 if form == "worst" else 1.0
    blocks, right, cones = [], [], []
    if matrices:
        rows = np.array([[*svec(M), use * np.linalg.norm(M)] for M in matrices])
        blocks.append(sparse.csc_matrix(rows))
        right.append(np.full(len(matrices), epsilon))
        cones.append(clarabel.NonnegativeConeT(len(matrices)))
    if form == "worst":  # r is not used: keep it at zero
        blocks.append(sparse.csc_matrix(([1.0], ([0], [n])), shape=(1, n + 1)))
        right.append(np.zeros(1))
        cones.append(clarabel.ZeroConeT(1))
    blocks.append(sparse.hstack([-identity, sparse.csc_matrix(ball * eye[:, None])]))
    right.append(np.zeros(n))
    blocks.append(sparse.hstack([identity, sparse.csc_matrix(ball * eye[:, None])]))
    right.append(eye)
    cones += [clarabel.PSDTriangleConeT(d)] * 2
    q = np.zeros(n + 1)
    if form == "worst":
        q[:n] = -svec(objective)
    else:
        q[n] = -1.0
    return Programme(q, sparse.csc_matrix(sparse.vstack(blocks)), np.concatenate(right), cones, d)


def radius(belief: ConfidenceSet, form: str, matrices: list[Array] | None = None) -> float:
    chosen = cut_matrices(belief) if matrices is None else matrices
    return programme(chosen, belief.dimension, belief.epsilon, form).solve()[2]


def worst(belief: ConfidenceSet, V: Array) -> float:
    V = np.atleast_2d(V)
    return programme(cut_matrices(belief), belief.dimension, belief.epsilon, "worst", V.T @ V).solve()[2]
