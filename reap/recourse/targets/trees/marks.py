"""Changes by number: which rung of which ladder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reap._typing import Ints
from reap.recourse.targets.trees.ladders import Ladder


@dataclass(frozen=True)
class Marks:
    """Which rung of which ladder a mark stands for."""

    first: Ints  # (m,)
    ladder: Ints  # (marks,), −1 for mark 0
    rung: Ints

    @classmethod
    def of(cls, ladders: list[Ladder]) -> Marks:
        """Return the marks of ladders."""
        counts = [len(ladder) - 1 for ladder in ladders]
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        ladder = np.concatenate([[-1], np.repeat(np.arange(len(ladders)), counts)])
        rungs = [np.arange(1, len(ladder)) for ladder in ladders]
        return cls(first, ladder, np.concatenate([[0], *rungs]).astype(np.intp))

    def at(self, ladders: tuple[int, ...], rungs: list[Ints], chosen: tuple[Ints, ...]) -> Ints:
        """Return the cells (n, 3) that places ``chosen`` among rungs of some ladders stand for."""
        out = np.zeros((len(chosen[0]), 3), dtype=np.intp)
        for axis, (k, r, place) in enumerate(zip(ladders, rungs, chosen, strict=True)):
            out[:, axis] = np.where(r[place] > 0, self.first[k] + r[place], 0)
        return out
