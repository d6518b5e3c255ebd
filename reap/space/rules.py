"""What must hold across features: linear inequalities and implications; ``sentences.py`` reads them.

A rule answers three questions: does a change obey it (``allows``), which alternatives would make it hold
(``alternatives``, for the search of the nearest legal row), and how does it read (``describe``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._typing import Array, Bools
from reap.space.feature import Feature

#: Two codes closer than this share of the feature's scale are the same value.
SAME = 1e-9


@dataclass(frozen=True)
class Domain:
    """The values one feature may take: an interval for numbers, a set of level indices otherwise."""

    low: float = -np.inf
    high: float = np.inf
    levels: frozenset[int] | None = None

    def meet(self, other: Domain) -> Domain:
        """Return the intersection."""
        levels = (
            self.levels
            if other.levels is None
            else other.levels
            if self.levels is None
            else self.levels & other.levels
        )
        return Domain(max(self.low, other.low), min(self.high, other.high), levels)

    @property
    def empty(self) -> bool:
        """Whether nothing is left."""
        return self.low > self.high or (self.levels is not None and not self.levels)


@dataclass(frozen=True)
class Linear:
    """``Σ a_f x_f ≤ b`` in units: ``existing + 2 * new <= 5``."""

    text: str
    weights: tuple[tuple[int, float], ...]
    limit: float

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether rows of codes (n, f) obey; unknown values are not held against anybody."""
        total = sum(weight * after[:, i] for i, weight in self.weights)
        size = sum(abs(weight) * np.abs(after[:, i]) for i, weight in self.weights)
        return np.asarray(~(total > self.limit + SAME * (1 + abs(self.limit) + size)))

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return f"always {self.text}"


@dataclass(frozen=True)
class Condition:
    """One statement about one feature's change: "education increases by at least 2"."""

    index: int
    feature: Feature
    verb: str
    value: Any = None

    def holds(self, before: Array, after: Array) -> Bools:
        """Return where it is true, for codes (n, f)."""
        old, new = before[:, self.index], after[:, self.index]
        tolerance = SAME * self.feature.scale
        match self.verb:
            case "changes":
                return np.asarray(np.abs(new - old) > tolerance)
            case "stays":
                return ~(np.abs(new - old) > tolerance)
            case "increases":
                return np.asarray(new - old >= max(self.value, 2 * tolerance) - tolerance)
            case "decreases":
                return np.asarray(old - new >= max(self.value, 2 * tolerance) - tolerance)
            case "is":
                return np.asarray(np.abs(new - self.value) <= tolerance)
            case "is not":
                return np.asarray(~(np.abs(new - self.value) <= tolerance))
            case "becomes":
                return np.asarray((np.abs(new - self.value) <= tolerance) & (np.abs(new - old) > tolerance))
            case "is at least":
                return np.asarray(new >= self.value - tolerance)
            case _:
                return np.asarray(new <= self.value + tolerance)

    def just(self, before: Array, after: Array) -> Bools:
        """Return where codes (n, f) make it true and go no farther than that takes."""
        old, new = before[:, self.index], after[:, self.index]
        tolerance = SAME * self.feature.scale
        match self.verb:
            case "is" | "becomes":
                enough = np.ones(len(new), dtype=bool)
            case "is at least" | "is at most":
                enough = np.abs(new - self.value) <= tolerance
            case "increases" | "decreases" if self.value > 0:
                enough = np.abs(np.abs(new - old) - self.value) <= 2 * tolerance
            case _:
                enough = np.zeros(len(new), dtype=bool)
        return np.asarray(enough & self.holds(before, after))

    def domains(self, start: float, truth: bool) -> list[Domain]:
        """Return the alternatives for this feature under which the condition is ``truth``, from ``start``."""
        if not self.feature.is_number:
            codes = np.arange(len(self.feature.levels), dtype=float)
            rows = np.zeros((len(codes), self.index + 1))
            rows[:, self.index] = codes
            begin = np.zeros_like(rows)
            begin[:, self.index] = start
            picked = np.flatnonzero(self.holds(begin, rows) == truth)
            return [Domain(levels=frozenset(int(i) for i in picked))]
        gap = 2 * SAME * self.feature.scale
        below, above = Domain(high=start - gap), Domain(low=start + gap)
        here = Domain(start, start)
        match self.verb:
            case "changes" | "stays":
                return [below, above] if (self.verb == "changes") == truth else [here]
            case "increases":
                need = max(self.value, gap)
                return [Domain(low=start + need)] if truth else [Domain(high=start + need - gap)]
            case "decreases":
                need = max(self.value, gap)
                return [Domain(high=start - need)] if truth else [Domain(low=start - need + gap)]
            case "is at least":
                return [Domain(low=self.value)] if truth else [Domain(high=self.value - gap)]
            case "is at most":
                return [Domain(high=self.value)] if truth else [Domain(low=self.value + gap)]
        at = Domain(self.value, self.value)
        away = [Domain(high=self.value - gap), Domain(low=self.value + gap)]
        if self.verb == "becomes":  # "is", and different from the start
            unmoved = abs(start - self.value) <= gap
            return ([] if unmoved else [at]) if truth else ([Domain()] if unmoved else away)
        return [at] if (self.verb == "is") == truth else away


@dataclass(frozen=True)
class Implication:
    """``if a changes then b …``: where the first condition holds, the second must."""

    text: str
    when: Condition
    then: Condition

    def allows(self, before: Array, after: Array) -> Bools:
        """Return whether changes of codes (n, f) obey."""
        return ~self.when.holds(before, after) | self.then.holds(before, after)

    def entails(self, before: Array, after: Array) -> Bools:
        """Return where the first feature's change asks for the second's, and the second goes just as far, for codes (n, f)."""
        back = after.copy()
        back[:, self.then.index] = np.broadcast_to(before, after.shape)[:, self.then.index]
        first = Condition(self.when.index, self.when.feature, "changes").holds(before, after)
        return first & ~self.allows(before, back) & self.then.just(before, after)

    def alternatives(self, start: Array) -> list[tuple[int, Domain]]:
        """Return the restrictions, any one of which makes the rule hold for a subject with codes (f,)."""
        found = []
        for condition, truth in ((self.when, False), (self.then, True)):
            # what is missing stays so, and can neither refuse nor comply
            if not np.isnan(start[condition.index]):
                found += [(condition.index, d) for d in condition.domains(start[condition.index], truth)]
        return [(i, d) for i, d in found if not d.empty]

    def describe(self) -> str:
        """Return the rule as a sentence."""
        return self.text


Rule = Linear | Implication
