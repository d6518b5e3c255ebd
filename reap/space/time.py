"""Time: how long actions take, and the clocks that go by themselves meanwhile.

A change takes as many whole months ``T`` as its slowest action: ``T = max ⌈|Δ| / pace⌉`` over numbers, ``⌈levels · pace⌉``
over levels; what has no pace takes none. A person may also wait longer. Every clock ends where ``T`` months put it: at
``start + T``, years at ``start + T / 12``, down to its step, and at most at its upper bound. So a row has a time only if all
clocks agree on one, and the actions fit in it. The horizon needs no search: ``T ≤ H`` exactly if every action fits in ``H``.

For an engine a clock is a derived feature, with one freedom more: *waiting*. The finest clock a person has, the *leading*
one, is open in ``space.legal.box`` from now to the horizon; an engine moves it like any number. ``space.project`` reads the
waiting time off it, takes the actions' time where that is longer, and puts all clocks there. An engine that puts rows
together itself lets the columns ``space.legal.following`` follow by ``space.legal.follow``, derived ones as well.
"""

from __future__ import annotations

import copy
import math
from datetime import date
from typing import Any

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError
from reap._typing import Array, Bools, Ints
from reap.language import _
from reap.language import month as month_of
from reap.space.encoding import Encoding
from reap.space.feature import Feature
from reap.space.limits import Limits

#: Months in a unit of a clock.
_MONTHS = {"months": 1.0, "years": 12.0}
#: Time and values are compared with this slack, in months and in steps.
_SLACK = 1e-6


class Clocks:
    """The time that changes of codes (n, f) take, and the codes of the clocks after it: ``space.time``.

    Examples
    --------
    >>> import pandas as pd
    >>> loan = Feature("debt", range=(0, 9000), pace="200 DM a month")
    >>> age = Feature("age", "integer", range=(18, 80), clock="years")
    >>> since = Feature("since", "integer", range=(0, 99), clock="months")
    >>> clocks = Clocks(Encoding([loan, age, since]), horizon=24)
    >>> rows = pd.DataFrame({"debt": [5000.0, 2000.0], "age": [30, 31], "since": [7, 22]})
    >>> clocks.months(rows[:1], rows[1:])
    array([15.])
    """

    def __init__(self, encoding: Encoding, horizon: int) -> None:
        self._encoding = encoding
        self.features = features = encoding.features
        paced = [i for i, f in enumerate(features) if f.is_action and f.pace is not None]
        #: Whether anything is dated: without a pace clocks stay, and no change takes time.
        self.on = bool(paced)
        self.horizon: float = horizon if self.on else np.inf
        which = [i for i, f in enumerate(features) if f.clock is not None]
        step = [features[i].step or 0.0 for i in which]
        unit = [_MONTHS[features[i].clock or "months"] for i in which]
        order = sorted(range(len(which)), key=lambda k: step[k] * unit[k])  # the finest first
        self.which: Ints = np.array([which[k] for k in order], dtype=np.intp)
        #: The months in a unit of each clock, and where it stops, in its own unit, (c,) both.
        self.unit, self._step = np.array(unit)[order], np.array(step)[order]
        own = [features[i] for i in self.which]
        self._power = 10.0 ** np.array([f.decimals or 0 for f in own], dtype=float)
        self.stop = np.array([f.bounds[1] if f.bounds else np.inf for f in own])
        self._tolerance = np.array([_SLACK * max(f.step or 0.0, 1e-3) for f in own])
        self.paced: Ints = np.array(paced, dtype=np.intp)
        self._nominal = np.array([features[i].kind in ("categorical", "binary") for i in paced], dtype=bool)
        self._weight = np.array([months_per_code(features[i]) for i in paced])

    def at(self, encoding: Encoding) -> Clocks:
        """Return the same clocks where rows are read by one person's encoding."""
        made = copy.copy(self)
        made._encoding = encoding
        return made

    # actions ------------------------------------------------------------------------------------------

    def each(self, z0: Any, Z: Any) -> Array:
        """Return the whole months (n, f) that each action from a vector (d,) to others (n, d) takes; 0 where it has no pace."""
        before, after = self._encoding.nearest(z0), self._encoding.nearest(Z)
        months = np.zeros(after.shape)
        months[:, self.paced] = self._each(after[:, self.paced] - before[:, self.paced])
        return months

    def actions(self, z0: Array, z: Array) -> dict[str, int]:
        """Return the whole months that each action between two vectors (d,) takes, by feature."""
        months, moved = self.each(z0, z)[0], self._encoding.changed(z0, z)[0]
        return {f.name: int(months[i]) for i, f in enumerate(self.features) if moved[i] and f.is_action}

    def months(self, z0: Any, Z: Any) -> Array:
        """Return the whole months (n,) that changes take, see ``ActionSpace.months``; effects are left out by the caller."""
        old, new = self._encoding.nearest(z0), self._encoding.nearest(Z)
        return self._months(np.broadcast_to(old, new.shape), new)

    def longest(self, gaps: Array) -> Array:
        """Return the whole months (n,) that changes (n, p) of the codes of ``paced`` features take."""
        return np.asarray(self._each(gaps).max(axis=1, initial=0.0))

    def slowest(self, gaps: Array) -> Bools:
        """Return the features (n, f) that make changes (n, p) of ``paced`` codes take as long as they do; none without time."""
        slow = np.zeros((len(gaps), len(self.features)), dtype=bool)
        months = self._each(gaps)
        slow[:, self.paced] = (months > 0) & (months == months.max(axis=1, keepdims=True, initial=0.0))
        return slow

    def _each(self, gaps: Array) -> Array:
        """Return the whole months (n, p) that each paced action takes."""
        gap = np.abs(gaps)
        if self._nominal.any():
            gap = np.where(self._nominal, gap > 0.5, gap)
        months = np.ceil(gap * self._weight - _SLACK)
        return np.asarray(np.fmax(months, 0.0, out=months))  # what is missing takes no time

    def _months(self, before: Array, after: Array) -> Array:
        """Return the months (n,) a change takes: the fewest at which all clocks agree and the actions are done.

        NaN where no number of months puts every clock where the row has it.
        """
        took = self.longest(after[:, self.paced] - before[:, self.paced])
        if not len(self.which):
            return took
        return self.agreed(before[:, self.which], after[:, self.which], took)

    def agreed(self, old: Array, new: Array, took: Array) -> Array:
        """Return the fewest months (n,), at least so many as actions take (n,), that move clocks (n or 1, c) to others (n, c)."""
        there = old
        if self.on:
            waited = np.ceil((new - old) * self.unit - _SLACK)
            took = np.maximum(took, zero_missing(waited).max(axis=1))
            there = self._gone(old, old + took[:, None] / self.unit)
        agree = (np.abs(there - new) <= self._tolerance) | (np.isnan(there) & np.isnan(new))
        return np.where(agree.all(axis=1), took, np.nan)

    @staticmethod
    def when(months: float, start: Any = None) -> str:
        """Return a time in words: "in month 5", or "by March 2027" where the day to count from is given.

        Examples
        --------
        >>> Clocks.when(5), Clocks.when(5, start="2026-10-16"), Clocks.when(0)
        ('in month 5', 'by March 2027', 'at once')
        """
        if not months >= 0 or months != int(months):
            raise InputError(f"the time is {months!r} months; give a whole number of months, 0 or more")
        if months == 0:
            return _("at once")
        if start is None:
            return _("in month {number}").format(number=int(months))
        try:
            day = date.fromisoformat(start) if isinstance(start, str) else start
            year, month = divmod(day.year * 12 + day.month - 1 + int(months), 12)
        except (AttributeError, ValueError):
            raise InputError(f"the start is {start!r}; give a day, such as 2026-11-16") from None
        return _("by {month}").format(month=month_of(year, month + 1))

    # clocks -------------------------------------------------------------------------------------------

    def advance(self, start: Array, months: Array) -> Array:
        """Return codes (n, f) with every clock where ``months`` (n,) put it, from codes (n or 1, f)."""
        codes = np.repeat(start, len(months), axis=0) if len(start) != len(months) else start.copy()
        if self.on and len(self.which):
            old = codes[:, self.which]
            codes[:, self.which] = self._gone(old, old + np.asarray(months)[:, None] / self.unit)
        return codes

    def _gone(self, old: Array, exact: Array) -> Array:
        """Return clocks (n, c) at their steps, never back and never beyond their upper bound."""
        step = np.where(self._step > 0, self._step, 1.0)
        stepped = np.rint(np.floor(exact / step + _SLACK) * step * self._power) / self._power
        return np.asarray(np.maximum(old, np.minimum(self.stop, np.where(self._step > 0, stepped, exact))))

    def leading(self, start: Array) -> int | None:
        """Return the place in ``which`` of the finest clock that a person with codes (f,) has; None where there is none."""
        if not self.on:
            return None
        room = zero_missing((self.stop - start[self.which]) * self.unit)  # months before it stops
        if not (room > 0).any():
            return None
        # the first, so the finest, that goes far enough
        return int(np.argmax(np.minimum(room, self.horizon)))

    def waited(self, start: Array, values: Array) -> Array:
        """Return the months (n,) of waiting that values (n,) of the leading clock ask for."""
        k = self.leading(start)
        if k is None:
            return np.zeros(len(values))
        step, power, own = self._step[k], self._power[k], start[self.which[k]]
        if step > 0:
            snapped = np.rint(np.rint(values / step) * step * power) / power
            values = np.where(np.abs(values - own) <= np.abs(values - snapped), own, snapped)
        values = np.minimum(values, self.stop[k])
        return np.asarray(np.maximum(np.ceil((values - own) * self.unit[k] - _SLACK), 0.0))

    def pace(self, i: int) -> float:
        """Return the months that feature ``i`` takes for one unit or one level; 0 without a pace."""
        return float(self._weight[self.paced == i].sum())

    # limits -------------------------------------------------------------------------------------------

    def until(self, limits: Limits) -> float:
        """Return the last month in which a plan may end: the horizon, or sooner if the person says so."""
        return self.horizon if limits.within_months is None else min(self.horizon, limits.within_months)

    def within(self, before: Array, after: Array, limits: Limits) -> Bools:
        """Return whether changes (n,) have a time, end by the last month, and keep a person's limits on clocks."""
        months = self._months(before, after)
        fine = months <= self.until(limits) + _SLACK  # NaN is not
        return np.asarray(fine & self._keeps(before[:, self.which], after[:, self.which], limits))

    def window(self, start: Array, limits: Limits) -> tuple[float, float]:
        """Return the first and the last month in which a person's plan may end; an error where there is none."""
        months = np.arange(self.until(limits) + 1.0) if self.on else np.zeros(1)
        then = self.advance(start[None], months)
        open_ = np.flatnonzero(self._keeps(start[None, self.which], then[:, self.which], limits))
        if not len(open_):
            raise InputError(
                "no time is left for any plan: the limits on what goes by itself exclude all; relax one"
            )
        return float(months[open_[0]]), float(months[open_[-1]]) if self.on else np.inf

    def _keeps(self, old: Array, new: Array, limits: Limits) -> Bools:
        fine = np.ones(len(new), dtype=bool)
        for k, i in enumerate(self.which):
            name, value = self.features[i].name, new[:, k]
            with np.errstate(invalid="ignore"):
                if name in limits.fixed:
                    fine &= ~(np.abs(value - old[:, k]) > self._tolerance[k])
                fine &= ~(value < limits.at_least.get(name, -np.inf) - self._tolerance[k])
                fine &= ~(value > limits.at_most.get(name, np.inf) + self._tolerance[k])
        return fine


def whole_months(feature: Feature, gap: float) -> int:
    """Return the whole months that one feature takes to change by so many units or levels; it has a pace.

    Examples
    --------
    >>> whole_months(Feature("debt", range=(0, 9000), pace="200 EUR a month"), 2500)
    13
    """
    levels = float(gap > 0) if feature.kind in ("categorical", "binary") else gap
    return max(math.ceil(levels * months_per_code(feature) - _SLACK), 0)


def months_per_code(feature: Feature) -> float:
    """Return the months that a unit or a level of a feature with a pace takes."""
    pace = float(feature.pace or np.inf)
    return 1.0 / pace if feature.is_number else pace
