"""The two ways to hold a session: our own, and the paper's to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from reap.belief import ConfidenceSet, LearnedPrior, Posterior
from reap.elicitation import minds
from reap.elicitation.difficulty import FACTORS
from reap.questions import AnswerValue, SimilarCost, Strategy
from reap.space import ActionSpace

Preset = Literal["bayes", "reap"]
PRESETS = ("bayes", "reap")


def strategy(preset: Preset, options: int) -> Strategy:
    """Return which questions a preset asks, with this number of options."""
    return SimilarCost(options=options) if preset == "reap" else AnswerValue(options=options)


def belief(
    preset: Preset,
    space: ActionSpace,
    difficulties: Mapping[str, int],
    seed: int,
    prior: LearnedPrior | None = None,
    *,
    minding: bool = False,
) -> ConfidenceSet | Posterior:
    """Return what a preset believes of a person before any answer, with what they said of single features.

    ``prior``: what past sessions taught. ``minding``: whether the number of changes and waiting are learnt too.
    """
    if preset == "reap":
        return ConfidenceSet(space.dimension)
    factors = None
    if difficulties:
        factors = np.ones(space.dimension)
        for name, level in difficulties.items():
            factors[space.slices[name]] = FACTORS[level]
    return Posterior(
        space.dimension,
        prior="people" if prior is None else prior,
        difficulties=factors,
        columns=space.movable,
        beside=minds.columns(space) if minding else 0,
        random_state=seed,
    )
