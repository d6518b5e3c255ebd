"""The two ways to hold a dialogue: our own, and the paper's to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from reap.belief import ConfidenceSet, Posterior
from reap.questions import Decision, SimilarCost, Strategy
from reap.space import ActionSpace

Preset = Literal["bayes", "reap"]
PRESETS = ("bayes", "reap")
#: What a level of difficulty (1 very easy … 5 very hard) multiplies the effort of a feature by.
DIFFICULTY = {1: 0.1, 2: 0.4, 3: 1.0, 4: 2.5, 5: 10.0}


def strategy(preset: Preset, options: int) -> Strategy:
    """Return which questions a preset asks, of so many options."""
    return SimilarCost(options=options) if preset == "reap" else Decision(options=options)


def belief(
    preset: Preset, space: ActionSpace, difficulties: Mapping[str, int], seed: int
) -> ConfidenceSet | Posterior:
    """Return what a preset believes of a person before any answer, with what they said of single features."""
    if preset == "reap":
        return ConfidenceSet(space.dimension)
    prior: Any = "people"
    if difficulties:
        prior = np.ones(space.dimension)
        for name, level in difficulties.items():
            prior[space.slices[name]] = DIFFICULTY[level]
    return Posterior(space.dimension, prior=prior, columns=space.movable, random_state=seed)
