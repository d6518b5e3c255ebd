"""Who decides whether a row will do: today's model, or with it enough of its retrainings, and a margin.

Every engine learns this in ``fit`` and asks ``classifier``; what a plan shows are scores of today's model alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reap._errors import InputError, whole
from reap._typing import Array, Frame
from reap.language import _, localized
from reap.models import Classifier
from reap.models.agreement import needed
from reap.models.durable import accepting, differing, durable, given, retrained
from reap.models.spread import Spread
from reap.models.trees import read
from reap.plan import Plan
from reap.recourse import fit_checks
from reap.recourse.cliffs import warned
from reap.words import counted


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
    margin : float
        What today's score must have beyond the threshold, in the unit of the scores.
    quick : Classifier, optional
        Today's model again, scored without its pipeline.
    usual : Spread, optional
        How far the others usually differ, where they have no gradient.
    """

    today: Classifier
    others: Sequence[Classifier] = ()
    durability: float = 0.0
    margin: float = 0.0
    quick: Classifier | None = None
    usual: Spread | None = None

    @classmethod
    def learnt(
        cls,
        today: Classifier,
        X: Frame | None,
        y: Any,
        *,
        durability: float = 0.0,
        refits: int | None = None,
        models: Sequence[Any] | None = None,
        margin: float = 0.0,
        random_state: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Acceptance:
        """Return who must accept, by an engine's settings; retrainings are made here, of rows X and labels y."""
        whole("refits", refits)
        durable(today, [], share=durability, margin=margin)  # says what is wrong before the work
        fit_checks.check(today, X, y)
        others: list[Classifier] = []
        if models is not None:
            others = given(models, today)
        elif durability:
            if y is None or X is None:
                raise InputError(
                    "durability needs the labels to retrain the model with: fit(X, y); without them, give models=[…] to "
                    "compare with, or margin= instead of durability="
                )
            others = retrained(today, X, y, refits, random_state=random_state, n_jobs=n_jobs, verbose=verbose)
        if others and X is not None:
            quick, *others = (_quick(one, X) for one in (today, *others))
            return cls(today, others, durability, margin, quick, differing(quick, others, X))
        return cls(today, others, durability, margin)

    def __getstate__(self) -> dict[str, Any]:
        # what was worked out on the way is left out, so that a fitted engine has one hash, used or not
        return {name: value for name, value in self.__dict__.items() if name != "classifier"}

    @property
    def exact(self) -> bool:
        """Whether today's model alone decides."""
        return not self.others and not self.margin

    @cached_property
    def classifier(self) -> Classifier:
        """What decides whether a row will do."""
        if self.exact:
            return self.today
        today = self.quick or self.today
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
        held = accepting(self.others, np.stack([plan.path[-1] for plan in made])) / count
        shares = {id(plan): float(share) for plan, share in zip(made, held, strict=True)}
        return [
            replace(plan, durability=shares[id(plan)], refits=count) if id(plan) in shares else plan
            for plan in plans
        ]

    def describe(self) -> str:
        """Return in a sentence who must agree beside today's model; empty where nobody must."""
        if not self.others:
            return ""
        return f"Of {counted(len(self.others), 'retraining')} {self.needed} must agree."

    def fragile(self, rows: Array) -> str:
        """Return what is to be said where today's model accepts rows (n, d), but not enough of the others do."""
        most = accepting(self.others, rows).max()
        return _(
            "Today's model would accept a plan, but none was found that holds: {needed} of {count} retrainings must accept "
            "it. Of the plans that today's model accepts the best is accepted by {most} of them."
        ).format(needed=self.needed, count=len(self.others), most=most)

    def short(self, rows: Array) -> str:
        """Return why rows (n, d) that today's model accepts will not do: too few of the others, or too little above."""
        if self.others:
            return self.fragile(rows)
        scale = self.today.scale
        said = _(
            "Today's model would accept a plan, but only just: {needed}, and {margin} beyond it, is needed."
        )
        return said.format(needed=scale.needed, margin=localized(f"{self.margin:g}"))


def _quick(classifier: Classifier, X: Frame) -> Classifier:
    """Return a model of trees as it was read, which is scored without its pipeline; any other as it is."""
    reader = None if classifier.has_gradient else read(classifier, classifier.space, X)
    return classifier if reader is None else reader.classifier
