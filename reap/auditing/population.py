"""The result of a batch as arrays: who was rejected, who has a plan, what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Frame, Ints, Series
from reap.batch.store import moments, read_plans
from reap.space import ActionSpace

#: Statuses of rows that are no part of an audit: nobody was refused, or nobody could be advised.
_ACCEPTED, _UNREAD = "already_accepted", ("invalid_row", "failed")
#: A number with more values than this is cut into four groups of equal size.
_VALUES = 12


@dataclass(frozen=True)
class RejectedPeople:
    """The rejected people of a batch: their rows of the result, and what an audit counts of them."""

    frame: Frame
    space: ActionSpace
    Z: Array  # where they start, (n, d)
    planned: Bools  # who has a valid plan, (n,)
    V: Array  # the whole changes of the plans, (p, d)
    changes: Ints  # actions of each person's plan, (n,); 0 where there is none
    accepted: dict[str, Any]  # moments of the accepted people
    manifest: dict[str, Any]
    unread: int  # rows that could not be read

    def __len__(self) -> int:
        return len(self.Z)

    @cached_property
    def matrix(self) -> Array:
        """The effort matrix the batch assumed, (d, d)."""
        given = self.manifest.get("matrix")
        return effort.identity(self.space.dimension) if given is None else np.array(given, dtype=float)

    @cached_property
    def spread(self) -> Array:
        """Mean of ``(a − r)(a − r)ᵀ`` over accepted a and rejected r, on columns people can act on, (d, d).

        ``⟨A, S⟩`` is then the mean effort, under any matrix A, of becoming an accepted person drawn at random.
        With means and mean squares: ``S = E aaᵀ − E a E rᵀ − E r E aᵀ + E rrᵀ``.
        """
        own = moments(self.Z)
        if own is None:
            raise InputError("nobody in the table was rejected, so there is nothing to audit")
        a, r = np.array(self.accepted["mean"]), np.array(own["mean"])
        S = np.array(self.accepted["second"]) + np.array(own["second"]) - np.outer(a, r) - np.outer(r, a)
        free = np.zeros(self.space.dimension, dtype=bool)
        for feature in self.space.features:
            free[self.space.slices[feature.name]] = feature.is_action
        return np.asarray(np.where(np.outer(free, free), S, 0.0))

    def unit(self, A: Array) -> float:
        """Return the unit of effort ``⟨A, S⟩`` under a matrix."""
        return float(np.sum(A * self.spread))

    def group(self, names: Sequence[str]) -> Series:
        """Return the group of each person, (n,): the values of one column, or of several together."""
        parts = [self._labels(name) for name in names]
        return pd.Series([" · ".join(values) for values in zip(*parts, strict=True)], dtype=object)

    def _labels(self, name: str) -> list[str]:
        # A feature may have changed on the way: groups are made of what people were, not of what they become.
        if name in self.space.names:
            values = self.space.decode(self.Z)[name].reset_index(drop=True)
        elif name in self.frame.columns and not str(name).startswith("recourse_"):
            values = self.frame[name].reset_index(drop=True)
        else:
            further = [c for c in self.frame.columns if not c.startswith("recourse_")]
            raise unknown("column to group by", name, dict.fromkeys([*self.space.names, *further]))
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            values = _cut(values)
        kept = values.astype(object).where(values.notna(), "not known").astype(str)
        if kept.nunique() > 2 * _VALUES:
            raise InputError(
                f"{name!r} has {kept.nunique()} values; join them to at most {2 * _VALUES} groups first"
            )
        return list(kept)


def _cut(values: Series) -> Series:
    if values.nunique() <= _VALUES:
        whole = values.dropna().mod(1).eq(0).all()
        return values.map(lambda v: v if pd.isna(v) else f"{v:.0f}" if whole else f"{v:g}")
    ranks = pd.qcut(values, 4, duplicates="drop")
    spans = values.groupby(ranks, observed=True).agg(["min", "max"])
    names = {level: f"{low:g} to {high:g}" for level, low, high in spans.itertuples()}
    return ranks.astype(object).map(names)


def population(
    source: Frame | str | Path, space: ActionSpace | None = None, accepted: Frame | None = None
) -> RejectedPeople:
    """Return the rejected people of a batch result: a frame of ``reap.batch.run``, or its file or folder."""
    if isinstance(source, pd.DataFrame):
        frame, manifest = source, dict(source.attrs.get("reap", {}))
    else:
        frame, manifest = read_plans(source)
    for name in ("recourse_status", "recourse_valid", "recourse_changes", "recourse_path"):
        if name not in frame.columns:
            raise InputError(f"the table lacks the column {name!r}; give what reap.batch.run made")
    if space is None and manifest.get("toml") is None:
        raise InputError("the table does not say which action space it was made with; give it with space=")
    space = space or ActionSpace.from_toml(manifest["toml"])
    if list(space.columns) != list(manifest.get("columns", space.columns)):
        raise InputError("the plans were made with another action space; give the one they were made with")
    read = frame[~frame["recourse_status"].isin(_UNREAD)]
    paths = [np.asarray(path, dtype=float).reshape(-1, space.dimension) for path in read["recourse_path"]]
    starts, ends = (np.array([path[k] for path in paths]).reshape(-1, space.dimension) for k in (0, -1))
    rejected = (read["recourse_status"] != _ACCEPTED).to_numpy()
    known = manifest.get("accepted") or moments(starts[~rejected])
    if accepted is not None:
        known = moments(space.encode(accepted))
    if known is None:
        raise InputError(
            "effort has no unit without accepted people; give their rows with accepted=, or run the batch with "
            "reference="
        )
    own = read[rejected]
    planned = (own["recourse_valid"] & (own["recourse_status"] == "ok")).to_numpy(dtype=bool)
    return RejectedPeople(
        own,
        space,
        starts[rejected],
        planned,
        effort.changes(space.legal.done(ends, starts)[rejected], starts[rejected])[planned],
        own["recourse_changes"].to_numpy(dtype=np.intp),
        known,
        manifest,
        len(frame) - len(read),
    )
