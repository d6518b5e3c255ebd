"""Several tree ensembles on the same rows: where features lie is read off a row once, not once for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from reap import _clock
from reap._typing import Array
from reap.models.classifier import Classifier
from reap.models.together import OneByOne
from reap.models.trees.joined import Joined
from reap.models.trees.scoring import Scoring


@dataclass(frozen=True, eq=False)
class Several:
    """Classifiers whose trees were read, all in one space."""

    members: Sequence[Classifier]

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        _clock.check()
        if self._joined is None:
            p = self._one_by_one(Z)
        else:
            raw = self._joined.raw(Z)
            p = np.stack([k.reader.forest.combined(raw[:, [i]]) for i, k in enumerate(self._kernels)])
        for i in np.flatnonzero(np.isnan(p).any(axis=1)).tolist():
            # what is missing and must not be gets the words of the model itself
            p[i] = self.members[i].probability(Z)
        return self.members[0].linked(p)  # all are probabilities

    def _one_by_one(self, Z: Array) -> Array:
        """Return the probabilities of all members, (m, n), of ensembles too deep to be joined."""
        seen = self._kernels[0].reader.seen(Z)
        return np.stack([kernel.of(seen, len(Z)) for kernel in self._kernels])

    @cached_property
    def _kernels(self) -> list[Scoring]:
        return [member.kernel for member in self.members if isinstance(member.kernel, Scoring)]

    @cached_property
    def _joined(self) -> Joined | None:
        """All trees in one table; None where there is one ensemble, or some are too deep or vote."""
        words = [kernel.words for kernel in self._kernels]
        leaves = [one for one in words if one is not None and len(one.base) == 1]
        if len(leaves) < len(words) or len(words) == 1:
            return None
        return Joined([kernel.reader for kernel in self._kernels], leaves)


def several(members: Sequence[Any]) -> Several | OneByOne:
    """Return classifiers as they are scored on the same rows."""
    read = all(isinstance(one.kernel, Scoring) and one.scale.output == "probability" for one in members)
    return Several(members) if read else OneByOne(members)
