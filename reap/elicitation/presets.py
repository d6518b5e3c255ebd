"""The two ways to hold a session: our own, and the paper's to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import numpy as np

from reap._errors import InputError
from reap.belief import Belief, ConfidenceSet, LearnedPrior, Posterior
from reap.belief.learned_prior import LearnedPriorLike, learned_prior
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
    said = None if factors is None else tuple(factors.tolist())
    columns = None if space.movable is None else tuple(space.movable)
    beside = minds.columns(space) if minding else 0
    return _unasked(space.dimension, prior, said, columns, _features(space), beside, seed).copy()


def _features(space: ActionSpace) -> tuple[int, ...]:
    """Return which feature each encoded column belongs to, (d,); −1 for what comes by itself, which no question shows."""
    features = np.full(space.dimension, -1)
    for i, feature in enumerate(space.features):
        if feature.derived is None and feature.clock is None:
            features[space.slices[feature.name]] = i
    return tuple(features.tolist())


@lru_cache(maxsize=8)
def _unasked(
    dimension: int,
    prior: LearnedPrior | None,
    difficulties: tuple[float, ...] | None,
    columns: tuple[int, ...] | None,
    features: tuple[int, ...],
    beside: int,
    seed: int,
) -> Posterior:
    """Return the belief before any answer, with its matrices: all people of a service begin with the same one."""
    belief = Posterior(
        dimension,
        prior="people" if prior is None else prior,
        difficulties=difficulties,
        columns=columns,
        features=features,
        beside=beside,
        random_state=seed,
    )
    belief.estimate()  # makes the matrices, so that copies share them
    return belief


def checked(
    given: LearnedPriorLike | None, preset: Preset, belief: Belief | None, space: str
) -> LearnedPrior | None:
    """Return the learnt prior of a session, checked."""
    if given is None:
        return None
    if preset == "reap" or belief is not None:
        raise InputError(
            'a learnt prior is for the posterior of preset "bayes"; leave out prior=, or preset="reap" and belief='
        )
    prior = learned_prior(given)
    prior.fits(space)
    return prior


def check_same(began: str | None, given: LearnedPrior | None) -> None:
    """Refuse to bring a session back with another prior than the one it began with, by hash."""
    if began == (None if given is None else given.hash):
        return
    if began is None:
        raise InputError("the session began without a learnt prior; load it without prior=")
    said = "none was given" if given is None else f"given was {given.hash[:12]}"
    raise InputError(f"the session began with the learnt prior {began[:12]}, {said}; give prior= that file")
