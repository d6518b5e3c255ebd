"""Rows in units, scored by the model itself: what promises are judged by."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit

from reap._typing import Array, Bools, Frame
from reap.checks.legality import Row, actions, at, done, missing, needed, rank, same, time_of, violations
from reap.checks.worlds import World
from reap.models import Classifier, wrap
from reap.models.durable import Rule, Spread
from reap.recourse import Engine
from reap.scores import Scale
from reap.space import ActionSpace, Feature, Limits
from reap.space.legal import shown_step

#: Actions of a row beyond which they are left out one by one only, not in every combination.
_MANY = 8


@dataclass(frozen=True)
class Judge:
    """Says of rows in units whether they are legal and accepted.

    Parameters
    ----------
    space : ActionSpace
    score : function from a frame to the scores (n,) of the model
    like : DataFrame whose columns and dtypes rows get
    scale : Scale
        What scores mean, and which are enough.
    others : functions like ``score``
        Of other models that should accept as well: retrainings.
    durability, margin : float
        The share of them that should, and what the model's own score must have beyond the threshold.
    usual : Spread, optional
        How far the others usually differ.
    """

    space: ActionSpace
    score: Callable[[Frame], Array]
    like: Frame
    scale: Scale = field(default_factory=Scale)
    others: Sequence[Callable[[Frame], Array]] = ()
    durability: float = 0.0
    margin: float = 0.0
    usual: Spread | None = None

    @classmethod
    def of_world(cls, world: World) -> Judge:
        """Return the judge of a random world, whose model takes frames."""
        scale = Scale(**{name: value for name, value in world.settings.items() if name != "target"})
        return cls(world.space, world.probability, world.X, scale)

    @classmethod
    def of_engine(cls, engine: Engine, X: Frame) -> Judge:
        """Return the judge for somebody's own engine and rows."""
        space = engine.space
        like = X if isinstance(X, pd.DataFrame) else space.decode(space.encode(X))
        settings, acceptance = engine.get_params(deep=False), engine.acceptance_
        said = {name: settings[name] for name in ("output", "unit") if name in settings}
        made = [
            wrap(model, space, target=engine.target, threshold=engine.threshold, **said)
            for model in (engine.model, *(one.model for one in acceptance.others))
        ]

        def scored(classifier: Classifier) -> Callable[[Frame], Array]:
            return lambda frame: classifier.score(space.encode(frame))

        today, *others = (scored(one) for one in made)
        return cls(
            space,
            today,
            like,
            made[0].scale,
            tuple(others),
            durability=acceptance.durability,
            margin=acceptance.margin,
            usual=acceptance.usual if others else None,
        )

    def rows(self, Z: Array) -> list[Row]:
        """Return vectors (n, d) as rows in units."""
        return [self.space.values(z) for z in Z]

    def row(self, given: Any) -> Row:
        """Return a row of a frame by feature: of a one-hot group the level that has most."""
        return {
            f.name: max(f.levels, key=lambda level, f=f: given[f.columns[f.levels.index(level)]])  # type: ignore[misc]
            if f.columns
            else given[f.name]
            for f in self.space.features
        }

    def doing(self, own: Row, path: Array) -> Array:
        """Return the vectors (n, d) of a path without what features that move bring to others."""
        if not any(f.effect for f in self.space.features):
            return path
        rows = [self.space.encoding.row(done(self.space, own, row)) for row in self.rows(path)]
        return self.space.encode(pd.DataFrame(rows))

    def frame(self, rows: Sequence[Row]) -> Frame:
        """Return rows in units as a frame with the dtypes the model is used to."""
        data: dict[str, list[Any]] = {}
        for f in self.space.features:
            if f.columns:  # one-hot already
                for level, column in zip(f.levels, f.columns, strict=True):
                    data[column] = [float(row[f.name] == level) for row in rows]
            else:
                # a row taken from a frame with nullable columns has NA for what is missing in any column
                data[f.name] = [np.nan if row[f.name] is pd.NA else row[f.name] for row in rows]
        columns = [c for c in self.like.columns if c in data]
        return pd.DataFrame(data)[columns].astype(self.like.dtypes[columns].to_dict())

    def scores(self, rows: Sequence[Row]) -> Array:
        """Return the model's scores (n,) of rows in units."""
        return np.asarray(self.score(self.frame(rows)), dtype=float) if rows else np.empty(0)

    def accepts(self, rows: Sequence[Row]) -> Bools:
        """Return which rows are accepted, (n,); by enough of the others too."""
        if not rows:
            return np.zeros(0, dtype=bool)
        frame = self.frame(rows)
        each = [self._above(np.asarray(score(frame), dtype=float)) for score in (self.score, *self.others)]
        low = self._above(np.array([self.scale.ends[0] + self.margin]))[0] if self.margin else 0.0
        if self.scale.output == "score":
            low = self.margin / self.scale.spread
        rule = Rule.of(self.durability, len(self.others), low, 0.0, self.usual)
        return np.asarray(rule.least(np.stack(each)) > 0)

    def _above(self, scores: Array) -> Array:
        """Return how far scores (n,) are above what is needed, in log-odds."""
        if self.scale.output == "score":
            return self.scale.logit(scores)
        return np.asarray(logit(np.clip(scores, 1e-15, 1 - 1e-15)) - logit(self.scale.ends[0]))

    def holding(self, rows: Sequence[Row]) -> Array:
        """Return the share (n,) of the others that accept rows in units; NaN where there are none."""
        if not rows or not self.others:
            return np.full(len(rows), np.nan)
        frame = self.frame(rows)
        return np.asarray(np.mean([self.scale.enough(other(frame)) for other in self.others], axis=0))

    def legal(self, before: Row, after: Row, limits: Limits | None = None) -> bool:
        """Return whether a change is legal."""
        return not violations(self.space, before, after, limits)

    def less(self, own: Row, row: Row) -> Iterator[tuple[str, Row]]:
        """Yield every way to ask for less, with its name: some actions left out, one number or level a step back.

        Time is what the actions take. A row that waits longer may also wait less; its actions are judged by the same day.
        No action may be a pretext for waiting: without it, on the same day, the row must not be enough, nor may mere waiting be
        enough by then.
        """
        names, months = actions(self.space, own, row), time_of(self.space, own, row)
        row = done(self.space, own, row)
        least = needed(self.space, own, row)
        waits = months is not None and months > least

        def then(less: Row) -> Row:
            day = months if waits and months is not None else needed(self.space, own, less)
            return at(self.space, own, less, day)

        for fewer in range(least, months or 0):
            yield f"after {fewer} months instead of {months}", at(self.space, own, row, fewer)
        for day in range(1, (months or 0) + 1) if names else []:
            yield f"by whoever does nothing for {day} months", at(self.space, own, own, day)
        for name in names if months else []:
            yield (
                f"without {name}, but on the same day",
                at(self.space, own, {**row, name: own[name]}, months or 0),
            )
        for count in range(1, len(names) if len(names) <= _MANY else 2):
            for dropped in itertools.combinations(names, count):
                back = {**row, **{name: own[name] for name in dropped}}
                yield f"without {' and '.join(dropped)}", then(back)
        for name in names:
            feature = self.space.feature(name)
            nearer = _nearer(feature, own[name], row[name])
            if nearer is not None and not same(feature, nearer, own[name]):
                yield f"with {name} at {nearer} instead of {row[name]}", then({**row, name: nearer})


def _nearer(feature: Feature, own: Any, value: Any) -> Any:
    """Return the value one step nearer to one's own; None where that is one's own, or there is no order."""
    if feature.kind in ("categorical", "binary"):
        return None
    way = np.sign(rank(feature, own) - rank(feature, value))
    if not feature.is_number:
        return feature.levels[int(rank(feature, value) + way)]
    unit = feature.step or shown_step(feature)
    if abs(own - value) <= unit * (1 + 1e-6):
        return None
    near = round(value / unit + way) * unit
    return round(near) if feature.kind == "integer" else round(near, 12)


def dominates(space: ActionSpace, own: Row, less: Row, more: Row) -> bool:
    """Return whether one row asks for nothing but what another asks for, and for less of it.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> space = reap.ActionSpace.from_frame(pd.DataFrame({"income": [10, 50], "debts": [0, 5]}))
    >>> own, one, both = {"income": 20, "debts": 3}, {"income": 20, "debts": 1}, {"income": 30, "debts": 1}
    >>> dominates(space, own, one, both), dominates(space, own, both, one)
    (True, False)
    """
    names = actions(space, own, less)
    months = [time_of(space, own, row) or 0 for row in (less, more)]
    less, more = (done(space, own, row) for row in (less, more))
    return (
        less != more
        and any(f.is_set and not same(f, less[f.name], more[f.name]) for f in space.features)
        and all(_within(space.feature(name), own[name], less[name], more[name]) for name in names)
        and months[0] <= months[1]
    )


def _within(feature: Feature, own: Any, less: Any, more: Any) -> bool:
    """Return whether a value lies between one's own and another, or is that other."""
    if same(feature, less, more):
        return True
    if feature.kind == "categorical" or missing(own) or missing(more):
        return False
    first, middle, last = (rank(feature, value) for value in (own, less, more))
    return first <= middle <= last or last <= middle <= first
