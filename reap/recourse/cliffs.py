"""Cliffs: a change too small to notice that flips the decision by a wide jump of the score.

"Reduce capital gains from 3,137 to 3,100 $": .04 → .93. Such a plan is cheap, and no advice: it lives on a flaw of the model. A
plan says so, and an audit lists the cliffs for whoever made the model.

A plan stands on a cliff where one number, taken back from its end by no more than people notice (``Feature.notice``, else its
``step``), costs the decision and at least ``JUMP`` of ``expit(logit − boundary)``: 30 points of 100 at a threshold of 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import expit

from reap._typing import Array
from reap.models import Classifier
from reap.plan import Cliff, Plan
from reap.space import ActionSpace, Feature

#: How far the score jumps at a cliff, of 1.
JUMP = 0.3


def warned(classifier: Classifier, plans: Sequence[Plan]) -> list[Plan]:
    """Return plans with the cliffs on which they stand; all rows are scored in one batch.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> X = pd.DataFrame({"gains": np.arange(3000, 3200)})
    >>> space = reap.ActionSpace([reap.Feature("gains", "integer", range=(3000, 3200), notice=50)])
    >>> model = lambda rows: np.where(rows["gains"] < 3120, 0.93, 0.04)
    >>> engine = reap.Recourse(model, space).fit(X)
    >>> engine.plans(X.iloc[[137]], np.eye(1))[0].cliffs[0].feature
    'gains'
    """
    tried: list[tuple[int, Feature, Array]] = []
    for place, plan in enumerate(plans):
        if plan.status == "ok":
            tried += [
                (place, feature, row) for feature, row in _back(plan.space, plan.path[0], plan.path[-1])
            ]
    if not tried:
        return list(plans)
    ends = sorted({place for place, _, _ in tried})
    rows = [plans[place].path[-1] for place in ends] + [row for *_, row in tried]
    Z = np.stack(rows)
    u = expit(classifier.logit(Z) - classifier.boundary)
    of = {place: k for k, place in enumerate(ends)}
    at = [k for k, (place, *_) in enumerate(tried, len(ends)) if u[k] <= 0.5 and u[of[place]] - u[k] >= JUMP]
    if not at:
        return list(plans)
    scores = classifier.score(Z)
    found: dict[int, list[Cliff]] = {}
    for k in at:
        place, feature, row = tried[k - len(ends)]
        values = plans[place].space.values(row), plans[place].space.values(plans[place].path[-1])
        found.setdefault(place, []).append(
            Cliff(
                feature.name,
                feature.label,
                feature.show(values[0][feature.name]),
                feature.show(values[1][feature.name]),
                float(scores[k]),
                float(scores[of[place]]),
            )
        )
    return [replace(p, cliffs=tuple(found[i])) if i in found else p for i, p in enumerate(plans)]


def _back(space: ActionSpace, start: Array, end: Array) -> list[tuple[Feature, Array]]:
    """Return the end of a plan with one number at a time taken back by no more than people notice."""
    made = []
    for k, feature in enumerate(space.features):
        least = feature.notice or feature.step
        if not feature.is_action or not feature.is_number or least is None:
            continue
        column = space.slices[feature.name].start
        change = end[column] - start[column]
        if not abs(change) > 1e-9:
            continue
        row = end.copy()
        row[column] -= np.sign(change) * min(abs(change), least / space.scales[k])
        row = space.follow(space.snap(row[None]), start)[0]
        if abs(row[column] - end[column]) > 1e-9:
            made.append((feature, row))
    return made
