"""What the answers say about the person's effort matrix: a confidence set, or a posterior that forgives."""

from __future__ import annotations

from reap.belief.answers import Answer, Belief, Sampled
from reap.belief.centers import Center, solve_centers
from reap.belief.confidence_set import ConfidenceSet
from reap.belief.learned_prior import LearnedPrior
from reap.belief.posterior import Posterior
from reap.belief.relaxed import RelaxedCenter
from reap.belief.worst_case import WorstCasePlan, WorstCases

__all__ = [
    "Answer",
    "Belief",
    "Center",
    "ConfidenceSet",
    "LearnedPrior",
    "Posterior",
    "RelaxedCenter",
    "Sampled",
    "WorstCasePlan",
    "WorstCases",
    "solve_centers",
]
