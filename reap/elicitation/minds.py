"""What people mind besides the changes themselves: how many there are, and how long they take.

``effort = ΔᵀAΔ + h·k + w·τ²`` with k actions and τ months over the horizon. It is linear in what is unknown, so a belief
learns h and w as it learns A: a plan's moves get two more columns, ``√(s_h k)`` and ``√s_w τ``, each with a weight of its own
and no cross terms (``Posterior(…, beside=2)``). The scales s make a weight of 1 worth a typical change of this person: they are
taken from the first plans found for them, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap import effort
from reap._typing import Array
from reap.plan import Plan
from reap.plan_parts import date
from reap.space import ActionSpace

#: The columns, as ``Learned`` names them.
COLUMNS = ("changes", "waiting")


def columns(space: ActionSpace) -> int:
    """Return how many columns there are: where nothing takes time, only the number of changes."""
    return 2 if space.timed else 1


def counted(space: ActionSpace, plans: Sequence[Plan]) -> Array:
    """Return the number of actions k and the time τ of each plan, (n, columns)."""
    if not plans:
        return np.empty((0, columns(space)))
    starts, ends = (np.stack([plan.path[at] for plan in plans]) for at in (0, -1))
    acts = np.array([feature.is_action for feature in space.features])
    actions: Array = space.changed(starts, ends)[:, acts].sum(axis=1).astype(float)
    if columns(space) == 1:
        return actions[:, None]
    date(plans)
    months = np.array([plan.months for plan in plans]) / space.horizon
    return np.asarray(np.column_stack([actions, months]))


def scales(space: ActionSpace, plans: Sequence[Plan]) -> Array:
    """Return ``s_h = median(|Δ|²/k)`` and ``s_w = median(|Δ|²) / median(τ²)`` over plans that take time, (columns,)."""
    sizes = np.array([(effort.changes(plan.path[-1], plan.path[0]) ** 2).sum() for plan in plans])
    counts = counted(space, plans)
    found = [float(np.median(sizes / np.maximum(counts[:, 0], 1.0)))]
    if counts.shape[1] > 1:
        slow = counts[:, 1] > 0
        found.append(float(np.median(sizes) / np.median(counts[slow, 1] ** 2)) if slow.any() else 0.0)
    return np.array(found)


def beside(space: ActionSpace, plans: Sequence[Plan], sizes: Array) -> Array:
    """Return the columns beside the moves of each plan, (n, columns)."""
    counts = counted(space, plans)
    counts[:, 0] = np.sqrt(counts[:, 0])
    return np.asarray(np.sqrt(sizes) * counts)


def extended(moves: Sequence[Array], more: Array) -> list[Array]:
    """Return moves (s, d) with the columns beside them; a path has them once, at its first move."""

    def wide(V: Array, row: Array) -> Array:
        V = np.atleast_2d(V)
        columns_ = np.zeros((len(V), len(row)))
        columns_[:1] = row
        return np.hstack([V, columns_])

    return [wide(V, row) for V, row in zip(moves, more, strict=True)]
