"""Who decides whether a row will do: today's model, or with it enough of its retrainings, and a margin.

Every engine learns this in ``fit`` and asks ``classifier``; what a plan shows are scores of today's model alone.

*Chance* is the third way: today's model alone decides, and among the rows that it accepts the easiest chance of a yes is
taken, ``effort ÷ share`` of the retrainings that accept the row (``reap.recourse.chance``). A share that is asked for at any
price costs some people ten times the effort of the easiest plan; a plan at the very edge is a coin toss. Who has to try until it
succeeds spends ``effort ÷ share``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from scipy.stats import norm

from reap._errors import InputError, whole
from reap._typing import Array, Frame
from reap.language import _, localized
from reap.models import Classifier
from reap.models.durable import (
    SAMPLE,
    Spread,
    accepting,
    agreed,
    differing,
    durable,
    given,
    needed,
    retrained,
    trainable,
)
from reap.models.trees import read
from reap.plan import Plan
from reap.recourse.advice import warned
from reap.recourse.fitting import check
from reap.scores import Scale

#: Retrainings that say how likely a plan is to be accepted, and the margin in their place, of a probability.
REFITS, MARGIN = 20, 0.03
#: A chance below this counts as this.
_LEAST = 0.02


@dataclass(frozen=True)
class Durability:
    """What should accept a plan beside today's model, where there is more to say than the share.

    Parameters
    ----------
    share : float, or "chance"
        The share of retrainings that should accept a plan: 0.95. "chance": none is demanded; the plan of least effort for each
        chance that an update of the model accepts it is taken.
    refits : int, optional
        Retrainings that ``fit(X, y)`` makes of the model, each on a bootstrap sample of the rows. By default 20; up to 100 of a
        linear model, which takes no time and lets plans hold with less effort. 0, with "chance": none, and no margin; the plan is
        the easiest that today's model accepts.
    models : list of models, optional
        Models to use in their place: last year's, challengers.
    n_jobs : int, optional
        Processes in which to retrain, as in joblib.
    verbose : bool
        Show a progress bar.

    Examples
    --------
    >>> Durability.of(0.9)
    Durability(share=0.9, refits=None, models=None, n_jobs=None, verbose=False)
    """

    share: float | Literal["chance"]
    _: KW_ONLY
    refits: int | None = None
    models: Sequence[Any] | None = None
    n_jobs: int | None = None
    verbose: bool = False

    @classmethod
    def of(cls, given: float | Literal["chance"] | Self) -> Self:
        """Return a share as durability, durability as it is."""
        return given if isinstance(given, cls) else cls(given)  # type: ignore[arg-type]  # it is a share then

    @property
    def settings(self) -> dict[str, Any]:
        """What of it decides which plans are accepted, by name: not how the retrainings are made."""
        more = {"refits": self.refits, "models": None if self.models is None else len(self.models)}
        return {"durability": self.share} | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Acceptance:
    """Today's model, the others that should accept as well, and how many of them.

    Parameters
    ----------
    today : Classifier
    others : sequence of Classifier
        Retrainings, or models that the user gave.
    durability : float
        The share of them that should accept.
    by_chance : bool
        Whether today's model alone decides, and the others only say which of two rows is the easier chance of a yes.
    margin : float
        What today's score must have beyond the threshold, in the unit of the scores.
    quick : Classifier, optional
        Today's model again, scored without its pipeline.
    usual : Spread, optional
        How far the others usually differ, where they have no gradient.
    for_people : bool
        Whether plans are advice to people: what a space calls nobody's advice is left alone (``Feature.advice``).
    """

    today: Classifier
    others: Sequence[Classifier] = ()
    durability: float = 0.0
    by_chance: bool = False
    margin: float = 0.0
    quick: Classifier | None = None
    usual: Spread | None = None
    for_people: bool = False

    @classmethod
    def learnt(
        cls,
        today: Classifier,
        X: Frame | None,
        y: Any,
        asked: Durability,
        *,
        margin: float = 0.0,
        random_state: int = 0,
    ) -> Acceptance:
        """Return who must accept, by an engine's settings; retrainings are made here, of rows X and labels y.

        Where chances are asked for and there are no labels, or the model cannot be trained again, a margin stands in for them.
        """
        by_chance = asked.share == "chance"
        whole("refits", None if by_chance and asked.refits == 0 else asked.refits)
        share = 0.0 if isinstance(asked.share, str) and by_chance else asked.share
        durable(today, [], share=share, margin=margin)  # type: ignore[arg-type]  # says what is wrong before the work
        check(today, X, y)
        others: list[Classifier] = []
        if asked.models is not None:
            others = given(asked.models, today)
        elif by_chance and (asked.refits == 0 or y is None or X is None or not trainable(today.model)):
            margin = margin or (_usual_margin(today.scale) if asked.refits != 0 else 0.0)
            return cls(today, margin=margin, for_people=True)
        elif asked.share:
            if y is None or X is None:
                raise InputError(
                    "durability needs the labels to retrain the model with: fit(X, y); without them, give "
                    "durability=reap.Durability(0.9, models=[…]) to compare with, or margin= instead of durability="
                )
            others = retrained(
                today,
                X,
                y,
                REFITS if by_chance and asked.refits is None else asked.refits,
                random_state=random_state,
                n_jobs=asked.n_jobs,
                verbose=asked.verbose,
            )
        if others and X is not None:
            quick, *others = (_quick(one, X) for one in (today, *others))
            usual = differing(quick, others, X)
            return cls(today, others, share, by_chance, margin, quick, usual, by_chance)  # type: ignore[arg-type]
        return cls(today, others, share, by_chance and bool(others), margin, for_people=by_chance)  # type: ignore[arg-type]

    def holding(self, share: float) -> Acceptance:
        """Return who must accept where a share of the same others should; for 0 today's model alone."""
        margin = self.margin if share else 0.0
        return replace(self, durability=share, by_chance=False, margin=margin)

    def __getstate__(self) -> dict[str, Any]:
        # what was worked out on the way is left out, so that a fitted engine has one hash, used or not
        return {name: value for name, value in self.__dict__.items() if name != "classifier"}

    @property
    def exact(self) -> bool:
        """Whether today's model alone decides."""
        return not self.margin and (self.by_chance or not self.others or not self.durability)

    @cached_property
    def classifier(self) -> Classifier:
        """What decides whether a row will do."""
        if self.exact:
            return self.today
        today = self.quick or self.today
        if self.by_chance:
            return durable(self.today, [], margin=self.margin)
        return durable(today, self.others, share=self.durability, margin=self.margin, usual=self.usual)

    @property
    def needed(self) -> int:
        """How many of the others must accept."""
        return needed(self.durability, len(self.others))

    def told(self, plans: Sequence[Plan], today: Classifier | None = None) -> list[Plan]:
        """Return plans with the share of the others that accept where they end, and with the cliffs they stand on.

        ``today``: a quicker way to ask today's model, where there is one.
        """
        plans = warned(today or self.quick or self.today, plans)
        made = [plan for plan in plans if plan.status == "ok"]
        if not self.others or not made:
            return list(plans)
        count = len(self.others)
        rows = np.stack([plan.path[-1] for plan in made])
        held = (accepting(self.others, rows) / count).tolist()
        likely = self.likely(rows).round(6).tolist() if self.by_chance else [None] * len(made)
        said = {id(plan): each for plan, each in zip(made, zip(held, likely, strict=True), strict=True)}
        return [
            replace(plan, durability=said[id(plan)][0], refits=count, chance=said[id(plan)][1])
            if id(plan) in said
            else plan
            for plan in plans
        ]

    def likely(self, rows: Array) -> Array:
        """Return how likely one more update of the model accepts rows (n, d), (n,), by what those at hand say.

        ``Φ((ū − ½) / (s̃ √(1 + 1/m)))`` with the mean and the deviation of ``reap.models.durable``; of few the plain count. A
        search finds rows where these m happen to agree, so that the count alone is too hopeful.
        """
        count = len(self.others)
        if count < SAMPLE:
            return np.maximum(accepting(self.others, rows) / count, _LEAST)
        u = agreed(np.stack([one.logit(rows) for one in self.others]), self.today.boundary)
        mean, deviation = u.mean(axis=0), u.std(axis=0, ddof=1)
        if self.usual is not None:
            deviation = self.usual.drawn(mean, deviation, count)
        away = (mean - 0.5) / np.maximum(deviation * np.sqrt(1 + 1 / count), 1e-9)
        return np.asarray(np.maximum(norm.cdf(away), _LEAST))

    def fragile(self, rows: Array) -> str:
        """Return what is to be said where today's model accepts rows (n, d), but not enough of the others do."""
        most = accepting(self.others, rows).max()
        return _(
            "Today's computer would say yes to a plan, but we found none that is likely to hold: {needed} of {count} possible "
            "updates of the computer must still say yes. For the best plan of today {most} of them do."
        ).format(needed=self.needed, count=len(self.others), most=most)

    def short(self, rows: Array) -> str:
        """Return why rows (n, d) that today's model accepts will not do: too few of the others, or too little above."""
        if self.others:
            return self.fragile(rows)
        scale = self.today.scale
        said = _(
            "Today's computer would say yes to a plan, but only just: {needed}, and {margin} beyond it, is needed."
        )
        return said.format(needed=scale.needed, margin=localized(f"{self.margin:g}"))


def _usual_margin(scale: Scale) -> float:
    """Return what a score should have beyond the threshold where changes are unknown: half of what is left at most."""
    low, high = scale.ends
    if scale.output == "probability":
        return min(MARGIN, (1 - low) / 2)
    return min(4 * MARGIN * scale.spread, (high - low) / 4)


def _quick(classifier: Classifier, X: Frame) -> Classifier:
    """Return a model of trees as it was read, which is scored without its pipeline; any other as it is."""
    reader = None if classifier.has_gradient else read(classifier, classifier.space, X)
    return classifier if reader is None else reader.classifier
