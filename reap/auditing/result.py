"""What an audit found: as objects, JSON, a sentence, a page."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap import language
from reap._typing import Array, Frame
from reap.auditing.figures import GroupComparison, shown
from reap.language import _, ngettext


@dataclass(frozen=True)
class Grouping:
    """One way to divide people, by a column or by several joined by " · ", and what differs.

    ``table`` has one line a group: ``people, without_plan, share`` (with its interval), ``median`` effort (with its interval),
    ``way`` (median, as a share of the typical span), ``mean, p90, changes`` (actions of a plan, on average).
    """

    name: str
    table: Frame
    compared: list[
        str
    ]  # groups large enough to be told about; of others only the number of people is, the rest is NaN
    share_comparison: GroupComparison
    effort_comparison: GroupComparison
    features: Frame  # share of each group's effort that each feature carries; rows sum to 1
    relative: (
        Frame  # (matrices, groups): median effort over everybody's, under matrices of people nobody has asked
    )
    efforts: dict[str, Array]  # of each group that is compared
    whole: float  # the median effort of everybody

    def sensitivity(self) -> Frame:
        """Return one line a group: the range of its relative effort over matrices, and how often it is above 1."""
        ratios = self.relative
        return pd.DataFrame(
            {
                "assumed": [float(np.median(self.efforts[g])) / self.whole for g in ratios.columns],
                "low": ratios.quantile(0.05),
                "median": ratios.median(),
                "high": ratios.quantile(0.95),
                "above": (ratios > 1).mean(),
            }
        )

    def hardest(self) -> tuple[str, float] | None:
        """Return the group with the hardest plans as assumed, and the share of matrices under which it stays so."""
        if len(self.relative.columns) < 2 or len(self.relative) == 0:
            return None
        name = str(self.sensitivity()["assumed"].idxmax())
        return name, float((self.relative.idxmax(axis=1) == name).mean())


@dataclass(frozen=True)
class ModelCliff:
    """A number at which plans stand on a cliff of the model: how many, their share, the widest jump of the score in words."""

    feature: str
    label: str
    plans: int
    share: float
    example: str

    def __str__(self) -> str:
        return ngettext(
            "{label}: {n} plan ({share} of all); {example}",
            "{label}: {n} plans ({share} of all); {example}",
            self.plans,
        ).format(
            label=self.label,
            n=language.number(self.plans),
            share=f"{language.number(100 * self.share, 1)} %",
            example=self.example,
        )


@dataclass(frozen=True)
class Audit:
    """What recourse asks of people, and of whom. Made by ``reap.audit``.

    Parameters
    ----------
    people, without_plan : int
        Rejected people, and those among them without any legal plan.
    share, share_low, share_high : float
        The latter over the former, with its interval.
    statuses : dict
        Rejected people by status.
    unread : int
        Rows that could not be read; no part of any figure.
    median, median_low, median_high, p90 : float
        Effort of those with a plan. 1 is the mean effort of becoming an accepted person drawn at random.
    way : float
        How far the median plan goes, as a share of the typical span: 1 is one number moved by all of it.
    features : Series
        Share of all effort that each feature carries.
    changed : Series
        Share of plans that change it.
    groupings : list of Grouping
    confidence : float
        Of all intervals.
    manifest : dict
        What the plans were made from.
    cliffs : list of ModelCliff
        Where a change too small to notice decides: flaws of the model.
    """

    people: int
    without_plan: int
    share: float
    share_low: float
    share_high: float
    statuses: dict[str, int]
    unread: int
    median: float
    median_low: float
    median_high: float
    p90: float
    way: float
    features: Any
    changed: Any
    groupings: list[Grouping]
    confidence: float
    manifest: dict[str, Any]
    cliffs: list[ModelCliff] = field(default_factory=list)

    def __getitem__(self, name: str) -> Grouping:
        return next(g for g in self.groupings if g.name == name)

    def __str__(self) -> str:
        lines = [
            f"{self.without_plan:,} of {self.people:,} rejected people ({self.share:.1%}) have no legal plan "
            f"({self.confidence:.0%} interval {self.share_low:.1%} to {self.share_high:.1%}).",
            f"Half of those who have one need to go no farther than {shown(self.way)} of a feature's typical span, or as much "
            f"in several. Their median effort is {shown(self.median)} ({shown(self.median_low)} to "
            f"{shown(self.median_high)}); 100 % is what it takes to become an accepted person drawn at random.",
        ]
        for grouping in self.groupings:
            lines += [
                "",
                f"By {grouping.name}: no plan, {grouping.share_comparison}; effort, {grouping.effort_comparison}",
            ]
            lines += [
                f"  {name}: {row.people:,} people, {row.share:.1%} without a plan, median effort {shown(row.median)}, "
                f"{shown(row.way)} of a span"
                if name in grouping.compared
                else f"  {name} *: {row.people:,} people, too few to be told about"
                for name, row in zip(grouping.table.index, grouping.table.itertuples(), strict=True)
            ]
        if self.cliffs:
            lines += ["", _("Model cliffs: a change too small to notice decides.")]
            lines += [f"  {cliff}" for cliff in self.cliffs]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        tables = ("groupings", "features", "changed", "manifest", "cliffs")
        plain = {name: value for name, value in vars(self).items() if name not in tables}
        shown = ("reap", "engine", "model", "space", "data", "preferences", "rows", "statuses", "provenance")
        return {
            "format": "reap.audit",
            "version": 1,
            **plain,
            "cliffs": [asdict(cliff) for cliff in self.cliffs],
            "features": self.features.to_dict(),
            "changed": self.changed.to_dict(),
            "groupings": [
                {
                    "name": g.name,
                    "compared": g.compared,
                    "groups": g.table.to_dict("index"),
                    "share_comparison": asdict(g.share_comparison),
                    "effort_comparison": asdict(g.effort_comparison),
                    "features": g.features.to_dict("index"),
                    "sensitivity": g.sensitivity().to_dict("index"),
                    "hardest_stays": g.hardest(),
                }
                for g in self.groupings
            ],
            "made_from": {k: self.manifest[k] for k in shown if k in self.manifest},
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the figures as JSON, and write them where a path is given; what does not exist is null."""
        text = json.dumps(_nulls(self.to_dict()), indent=1, ensure_ascii=False, allow_nan=False)
        if path is not None:
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def to_html(self, path: str | Path | None = None) -> str:
        """Return a self-contained page with plots, and write it where a path is given. Needs the extra ``plots``."""
        from reap.auditing.report import page

        text = page(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def _repr_html_(self) -> str:
        return self.to_html()


def _nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _nulls(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_nulls(v) for v in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value.item() if isinstance(value, np.generic) else value
