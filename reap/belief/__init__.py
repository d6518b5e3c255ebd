"""What the answers say about the person's effort matrix: a confidence set, or a posterior that forgives."""

from __future__ import annotations

from reap.belief.belief import Answer, Belief, Sampled
from reap.belief.confidence_set import ConfidenceSet
from reap.belief.learned_prior import LearnedPrior
from reap.belief.posterior import Posterior
from reap.belief.results import Center, RelaxedCenter, WorstCasePlan, WorstCases
from reap.belief.solutions import solve_centers

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
