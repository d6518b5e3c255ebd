"""Drift: do the people of new sessions still fit a learnt prior, or has the default become better for them?

The gain of a person is the log-likelihood of their answers under the learnt prior minus that under the default. Where its mean
is below zero by more than chance (two standard errors), the prior does harm and is to be learnt again or left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reap._errors import InputError
from reap.belief import LearnedPrior
from reap.belief.learning import Fit, gains
from reap.belief.learning.gate import T
from reap.belief.learning.shares import FAMILIES, Shares
from reap.language import _, ngettext
from reap.learning.reading import Session, read_sessions
from reap.space import ActionSpace


@dataclass(frozen=True)
class Drift:
    """What new sessions say about a learnt prior.

    Parameters
    ----------
    people : int
    gain : float
        Mean gain of a person in log-likelihood over the default; negative: the default fits better.
    error : float
        Its standard error.
    """

    people: int
    gain: float
    error: float

    @property
    def harmful(self) -> bool:
        """Whether new people fit the prior worse than the default, by more than chance."""
        return self.gain < -T * self.error

    @property
    def helpful(self) -> bool:
        """Whether they fit it better, by more than chance."""
        return self.gain > T * self.error

    def __str__(self) -> str:
        who = ngettext("{n} new person", "{n} new people", self.people).format(n=self.people)
        figures = _("{who}: gain of {gain} ± {error} in log-likelihood a person over the default.").format(
            who=who, gain=f"{self.gain:+.2f}", error=f"{T * self.error:.2f}"
        )
        if self.harmful:
            return f"{figures} " + _(
                "Warning: they fit the learnt prior worse than the default. "
                "Learn it again from recent sessions, or serve without it."
            )
        if self.helpful:
            return f"{figures} " + _("The learnt prior still helps.")
        return f"{figures} " + _("That is too little to tell from chance: no sign of harm.")


def check(prior: LearnedPrior, sessions: Iterable[Session], space: ActionSpace) -> Drift:
    """Return how well the people of new sessions fit a learnt prior, against the default.

    Parameters
    ----------
    prior : LearnedPrior
    sessions : iterable of sessions
        As for ``learn``; those that taught the prior would flatter it.
    space : ActionSpace
    """
    prior.fits(space.digest)
    past = read_sessions(sessions, space).past
    if len(past) < 2:
        who = "1 person" if len(past) == 1 else f"{len(past)} people"
        raise InputError(f"{who} answered a question in these sessions; a check needs 2 or more")
    if prior.learnt == "nothing" and not prior.minders:
        return Drift(len(past), 0.0, 0.0)
    with threadpool_limits(1):
        each = gains(past, _fit(prior, past.extra))
    return Drift(len(past), float(each.mean()), float(each.std(ddof=1) / np.sqrt(len(each))))


def _fit(prior: LearnedPrior, extra: int) -> Fit:
    """Return a prior as it was learnt; what it does not say of e columns beside is as by default."""
    weights = np.array([prior.families.get(name, 0.0) for name in FAMILIES])
    default = Shares.default(extra)
    shares = Shares(
        weights / weights.sum(),
        np.array(prior.kinds) / sum(prior.kinds),
        prior.guessing,
        np.array(prior.minders) if prior.minders else default.minders,
    )
    sizes = np.array(prior.weights) if prior.weights else np.zeros(extra)
    scales, directions = (prior.scales, prior.scales_sd), (prior.directions, prior.directions_sd)
    return Fit(*scales, *directions, shares, shares, sizes, sizes)
