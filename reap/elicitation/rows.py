"""The rows that the paper's questions compare."""

from __future__ import annotations

import numpy as np

from reap._typing import Array
from reap.plan import Plan
from reap.recourse import Candidates


class Rows:
    """Rows that the model accepts, as one-step plans from where a person stands; made by ``Engine.candidates``.

    Parameters
    ----------
    candidates : Candidates
    start : (d,)
    """

    def __init__(self, candidates: Candidates, start: Array) -> None:
        self.candidates, self.start = candidates, start
        self.moves = candidates.moves

    def __getitem__(self, i: int) -> Plan:
        return self.candidates[i]

    def place(self, path: bytes) -> int | None:
        """Return the position of the row that a path, given by its bytes, leads to; None if it is not among them."""
        deviation = np.frombuffer(path).reshape(-1, len(self.start))[-1] - self.start
        hits = np.flatnonzero((np.abs(self.moves - np.nan_to_num(deviation)) < 1e-12).all(axis=1))
        return int(hits[0]) if len(hits) else None
