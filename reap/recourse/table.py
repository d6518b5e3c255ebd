"""Plans for a table of people, and plans as a table: one line a person."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from joblib import Parallel, delayed
from rich.progress import track

from reap._typing import Frame
from reap.effort import Efforts
from reap.plan import Plan
from reap.space import ActionSpace, Limits

if TYPE_CHECKING:
    from reap.recourse.engine import Engine

#: People whose plans the model judges together.
TOGETHER = 32


def plan_all(
    engine: Engine, X: Frame, A: Efforts, limits: Limits | None, n_jobs: int | None, verbose: bool
) -> list[Plan]:
    """Return the plan of everybody in a frame for the efforts of one; the first error ends it."""
    parts = [X.iloc[i : i + TOGETHER] for i in range(0, len(X), TOGETHER)]
    if n_jobs in (None, 1):
        listed = track(parts, "Looking for plans") if verbose else parts
        found = [engine.plan_each(part, A, limits) for part in listed]
    else:
        found = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)(
            delayed(engine.plan_each)(part, A, limits) for part in parts
        )
    plans = list[Plan]()
    for one in itertools.chain.from_iterable(found):
        if isinstance(one, Exception):
            raise one
        plans.append(one)
    return plans


def table(space: ActionSpace, X: Frame, plans: Sequence[Plan]) -> Frame:
    """Return the targets of plans and what is to be known of them, with the index and dtypes of ``X``."""
    start, end = (np.stack([plan.path[k] for plan in plans]) for k in (0, -1))
    frame = space.decode(end, like=X, index=X.index)[space.table_columns]
    for feature, moved in zip(space.features, space.changed(start, end).T, strict=True):
        if not feature.columns:  # what stays is the person's own, to the bit
            frame[feature.name] = frame[feature.name].where(moved, X[feature.name])
    acts = [f.derived is None and f.clock is None for f in space.features]
    frame["recourse_valid"] = [plan.valid for plan in plans]
    frame["recourse_effort"] = [plan.effort for plan in plans]
    frame["recourse_status"] = [plan.status for plan in plans]
    frame["recourse_changes"] = space.changed(start, end)[:, acts].sum(axis=1)
    frame["recourse_months"] = np.nan_to_num(space.months(start, end)).astype(int)
    return frame
