"""A question: plans side by side, only what differs, in units."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from reap.plan import Plan
from reap.space import Change
from reap.space.words import lowered
from reap.words import counted


@dataclass(frozen=True)
class Difference:
    """One feature in which the options differ: its value now, and in each option with the signed change."""

    label: str
    now: str
    values: tuple[str, ...]
    signed: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Question:
    """Which of these plans would be easiest for you?

    Parameters
    ----------
    id : str
        Names this question in this session.
    number : int
        1 for the first.
    options : tuple of Plan
    why : str
        One sentence on why it is asked.
    gain : float
        Share of the expected effort that the answer is expected to save; NaN where the strategy does not say.
    """

    id: str
    number: int
    options: tuple[Plan, ...] = field(repr=False)
    why: str = ""
    gain: float = float("nan")

    @property
    def names(self) -> tuple[str, ...]:
        """The options' names: A, B, …"""
        return tuple(chr(ord("A") + i) for i in range(len(self.options)))

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """The features in which the options' targets differ, in the order of the table, then the time where it differs.

        Clocks go by themselves: the time stands for them.
        """
        space = self.options[0].space
        now = space.values(self.options[0].path[0])
        targets = [space.values(option.path[-1]) for option in self.options]
        rows = []
        for feature in space.features:
            values = [target[feature.name] for target in targets]
            if feature.clock is not None or all(value == values[0] for value in values):
                continue
            before = now[feature.name]
            signed = [
                "no change"
                if value == before
                else Change.of(feature, before, value).signed
                if feature.is_number
                else "changed"
                for value in values
            ]
            shown = tuple(feature.show(value) for value in values)
            rows.append(Difference(feature.label, feature.show(before), shown, tuple(signed)))
        months = [option.months for option in self.options]
        if len(set(months)) > 1:
            took = tuple(counted(month, "month") if month else "none" for month in months)
            rows.append(Difference("Time it takes", "", took, ("",) * len(took)))
        return tuple(rows)

    @cached_property
    def shared(self) -> tuple[Change, ...]:
        """What every option changes alike."""
        changes = [{c.feature: c for c in option.changes} for option in self.options]
        return tuple(c for name, c in changes[0].items() if all(o.get(name) == c for o in changes[1:]))

    @property
    def same_target(self) -> bool:
        """Whether the options lead to the same row, by different stages; only paths can."""
        return not self.differences

    def __str__(self) -> str:
        lines = [f"Question {self.number}. Which of these would be easiest for you?"]
        if self.same_target:
            lines.append("All lead to the same result, by different stages:")
            for name, option in zip(self.names, self.options, strict=True):
                lines.append(f"  {name}: " + " ".join(f"{step}." for step in option.steps))
            return "\n".join(lines)
        table = [["", "now", *self.names]]
        for row in self.differences:
            cells = [_cell(value, sign) for value, sign in zip(row.values, row.signed, strict=True)]
            table.append([row.label, row.now, *cells])
        widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
        lines += [
            "  " + "  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip()
            for line in table
        ]
        if self.shared:
            lines.append(
                "Every option also asks you to " + "; ".join(lowered(str(c)) for c in self.shared) + "."
            )
        if self.why:
            lines.append(self.why)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from reap._views import question_html

        return question_html(self)


def _cell(value: str, signed: str) -> str:
    return value if signed in ("changed", "") else f"{value} ({signed})"


def why(gain: float) -> str:
    """Return one sentence on why a question is asked that is expected to save a share of the effort (NaN: unknown)."""
    if np.isnan(gain):
        return "As far as we know these take you about the same effort; your answer tells which matters more to you."
    saved = "a little" if gain < 0.05 else f"about {gain:.0%}" if gain < 0.5 else "half or more"
    return f"Each of these could be the best plan for you; your answer may save you {saved} of the effort."
