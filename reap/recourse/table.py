"""Plans as a table: one line a person."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap._typing import Frame
from reap.plan import Plan
from reap.space import ActionSpace


def table(space: ActionSpace, X: Frame, plans: Sequence[Plan]) -> Frame:
    """Return the targets of plans and what is to be known of them, with the index and dtypes of ``X``."""
    columns = [c for f in space.features for c in (f.columns or (f.name,))]
    start, end = (np.stack([plan.path[k] for plan in plans]) for k in (0, -1))
    frame = space.decode(end, like=X, index=X.index)[columns]
    acts = [f.derived is None and f.clock is None for f in space.features]
    frame["recourse_valid"] = [plan.valid for plan in plans]
    frame["recourse_effort"] = [plan.effort for plan in plans]
    frame["recourse_status"] = [plan.status for plan in plans]
    frame["recourse_changes"] = space.changed(start, end)[:, acts].sum(axis=1)
    frame["recourse_months"] = np.nan_to_num(space.months(start, end)).astype(int)
    return frame
