"""What a plan is made of: its steps, how sure we are that it fits the person, and where the model is a cliff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reap import words
from reap.language import _
from reap.space import Change

if TYPE_CHECKING:
    from reap.plan import Plan


@dataclass(frozen=True)
class Confidence:
    """How sure we are that no other plan suits the person better.

    Parameters
    ----------
    within : float
        Probability that the plan is within 5 % of the person's best.
    excess : float
        Expected extra effort, relative to the person's best.
    """

    within: float
    excess: float

    def __str__(self) -> str:
        return self.words()

    def words(self, asking: bool = True) -> str:
        """Return it in words, without a figure: people read "82 %" as the odds of a yes.

        Where nothing more is asked (``asking``), nobody is told that more answers would help.
        """
        if self.within >= 0.5:
            return _("this fits you well") if self.within >= 0.8 else _("this fits you fairly well")
        return _("we are still guessing; more answers would help") if asking else _("we are still guessing")

    @property
    def detail(self) -> str:
        """The figure behind the words."""
        said = _(
            "as far as your answers tell, we are {percent} % sure that no other plan is noticeably easier for you"
        )
        return said.format(percent=round(100 * self.within))


@dataclass(frozen=True)
class Step:
    """One step of a plan: what the person changes in it, what follows from that, and the model's score once it is done.

    ``month`` is when it is done, from now; a step without changes is waiting. ``on_the_day`` is what the application asks for.
    """

    number: int
    changes: tuple[Change, ...]
    score: float
    follows: tuple[Change, ...] = ()
    month: int = 0
    on_the_day: bool = False

    def __str__(self) -> str:
        return f"{self.number}. {words.step(self)}"


@dataclass(frozen=True)
class Cliff:
    """A change too small to notice on which a decision hangs: a flaw of the model.

    Parameters
    ----------
    feature, label : str
    below, above : str
        The two values, in words, the accepted one last.
    score_below, score_above : float
        The model's scores at them.
    """

    feature: str
    label: str
    below: str
    above: str
    score_below: float
    score_above: float


def steps_of(plan: Plan) -> tuple[Step, ...]:
    """Return what changes at each step of a plan; see ``Plan.steps``."""
    space, path = plan.space, plan.path
    took = space.action_months(path[0], path[-1]) if space.timed else {}
    made = []
    for i in range(len(path) - 1):
        changes, follows = between(plan, i, i + 1) if len(path) > 2 else plan._whole
        features = [space.feature(change.feature) for change in changes]
        last = bool(features) and all(feature.when == "application" for feature in features)
        month = month_of(plan, i + 1)
        # Actions begin together, each has its own end; a plan of one step is done when all of it is, waiting included.
        if changes and not last and not plan.along and len(path) > 2:
            month = max(took.get(feature.name, 0) for feature in features)
        made.append(Step(i + 1, changes, float(plan.scores[i + 1]), follows, month, last))
    return tuple(made)


def month_of(plan: Plan, stage: int) -> int:
    """Return the months from the start to a stage; 0 where nothing is timed."""
    return int(np.nan_to_num(plan.space.months(plan.path[0], plan.path[stage])[0]))


def date(plans: Sequence[Plan]) -> None:
    """Work out the months of plans that start at one place, of all that do not know theirs at once."""
    new = [plan for plan in plans if "months" not in vars(plan)]
    if len(new) > 1:
        ends = np.stack([plan.path[-1] for plan in new])
        months = np.nan_to_num(new[0].space.months(new[0].path[0], ends))
        for plan, n in zip(new, months.tolist(), strict=True):
            vars(plan)["months"] = int(n)


def between(plan: Plan, i: int, j: int) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Return what a person does between two stages, and what follows from it."""
    every = plan.space.changes(plan.path[i], plan.path[j])
    acts = {f.name for f in plan.space.features if f.derived is None and f.clock is None}
    return (
        tuple(change for change in every if change.feature in acts),
        tuple(change for change in every if change.feature not in acts),
    )
