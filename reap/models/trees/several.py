"""Several tree ensembles on the same rows: where features lie is read off a row once, not once for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reap import _clock
from reap._typing import Array
from reap.models.classifier import Classifier
from reap.models.together import OneByOne
from reap.models.trees.scoring import Scoring


@dataclass(frozen=True, eq=False)
class Several:
    """Classifiers whose trees were read, all in one space."""

    members: Sequence[Classifier]

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        _clock.check()
        seen, out = None, np.empty((len(self.members), len(Z)))
        for i, member in enumerate(self.members):
            kernel = member.kernel
            assert isinstance(kernel, Scoring)
            seen = kernel.reader.seen(Z) if seen is None else seen
            p = kernel.of(seen, len(Z))
            # what is missing and must not be gets the words of the model itself
            out[i] = member.linked(p if not np.isnan(p).any() else member.probability(Z))
        return out


def several(members: Sequence[Any]) -> Several | OneByOne:
    """Return classifiers as they are scored on the same rows."""
    read = all(isinstance(one.kernel, Scoring) and one.scale.output == "probability" for one in members)
    return Several(members) if read else OneByOne(members)
