"""Random small spaces, and what is legal in them, by enumeration.

``random_space(rng)`` gives a space and a frame of rows in it; every space is small enough to list all its rows.
What is legal says the judge of ``reap.checks``: written from the documentation, it shares no code with the space.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from reap.checks.legality import then, violations
from reap.space import ActionSpace, Feature, Limits

LEVELS = ("a", "b", "c", "d")


def seeds() -> st.SearchStrategy[np.random.Generator]:
    """Return a strategy of generators, each shown by its seed."""
    return st.integers(0, 2**31 - 1).map(Seeded)


class Seeded(np.random.Generator):
    """A generator that prints its seed where a test fails."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.seed = seed

    def __repr__(self) -> str:
        return f"Seeded({self.seed})"


def random_space(
    rng: np.random.Generator, *, rules: bool = True, rows: int = 12, timed: bool = False
) -> tuple[ActionSpace, Any]:
    """Return a space of two to five features of any kind, and a frame of rows in it; ``timed`` adds paces and clocks."""
    features = [_feature(rng, f"f{i}") for i in range(rng.integers(2, 4 if timed else 6))]
    spoken: list[str] = []
    if rules:
        spoken = [rule for rule in (_linear(rng, features), _implication(rng, features)) if rule]
    count = int(rng.integers(1, 4)) if rules and rng.random() < 0.4 else None
    if timed:
        features = [_paced(rng, f) if rng.random() < 0.7 else f for f in features]
        features += [_clock(rng, f"c{i}") for i in range(rng.integers(1, 3))]
    space = ActionSpace(features, rules=spoken, max_changes=count, horizon=int(rng.integers(2, 15)))
    return space, random_rows(rng, space, rows)


def _paced(rng: np.random.Generator, feature: Feature) -> Feature:
    if feature.is_number:
        return replace(feature, pace=float(rng.choice([0.5, 1, 3])) * (feature.step or 1) / 3)
    return replace(feature, pace=float(rng.choice([1, 2.5, 6])))


def _clock(rng: np.random.Generator, name: str) -> Feature:
    unit = str(rng.choice(["months", "years"]))
    kind, step = ("integer", None) if rng.random() < 0.6 else ("numeric", float(rng.choice([0.5, 1.0])))
    bounds = (0, int(rng.integers(6, 12))) if rng.random() < 0.3 else None
    return Feature(
        name, kind, range=(0, 6), step=step, clock=unit, bounds=bounds, missing=bool(rng.random() < 0.2)
    )


def random_rows(rng: np.random.Generator, space: ActionSpace, rows: int) -> Any:
    """Return rows of a space, within its bounds, in plain dtypes; numbers may lie off their grid."""
    data = {}
    for feature in space.features:
        if feature.is_number:
            low, high = feature.bounds or feature.range
            values = grid(feature) if rng.random() < 0.7 else np.round(rng.uniform(low, high, 5), 2)
            picked = rng.choice(values, rows)
            data[feature.name] = picked.astype(int) if feature.kind == "integer" else picked.astype(float)
        else:
            data[feature.name] = np.array(feature.levels, dtype=object)[
                rng.integers(0, len(feature.levels), rows)
            ]
        if feature.missing:
            data[feature.name] = np.where(rng.random(rows) < 0.3, None, data[feature.name])
    return pd.DataFrame(data)


def random_limits(rng: np.random.Generator, space: ActionSpace) -> Limits:
    """Return a person's limits, one to three of them, legal or not for any given person."""
    limits: dict[str, Any] = {"fixed": [], "at_least": {}, "at_most": {}, "exclude": {}}
    for feature in rng.permutation(np.array(space.features, dtype=object))[: rng.integers(1, 4)]:
        choices = grid(feature).tolist() if feature.is_number else list(feature.levels)
        kind = rng.choice(["fixed", "at_least", "at_most", "exclude"])
        value = choices[rng.integers(len(choices))]
        if kind == "fixed":
            limits["fixed"].append(feature.name)
        elif kind != "exclude" and feature.kind != "categorical":
            limits[kind][feature.name] = value
        elif not feature.is_number:
            limits["exclude"][feature.name] = [value]
    return space.limits(**limits, max_changes=int(rng.integers(1, 4)) if rng.random() < 0.3 else None)


def grid(feature: Feature) -> np.ndarray:
    """Return the multiples of a number's step within its bounds or range."""
    low, high = feature.bounds or feature.range
    values = np.arange(-100, 101) * feature.step
    return np.round(values[(values >= low - 1e-9) & (values <= high + 1e-9)], 6)


def _feature(rng: np.random.Generator, name: str) -> Feature:
    kind = str(rng.choice(["numeric", "integer", "ordinal", "categorical", "binary"]))
    facts: dict[str, Any] = {"actionable": bool(rng.random() < 0.85), "missing": bool(rng.random() < 0.1)}
    if kind != "categorical":
        facts["direction"] = str(rng.choice(["any", "up", "down"], p=[0.6, 0.2, 0.2]))
        if kind != "binary" and rng.random() < 0.25:
            facts["max_change"] = float(rng.integers(1, 3))
    if kind in ("numeric", "integer"):
        step = float(rng.choice([1, 2] if kind == "integer" else [0.1, 0.25, 0.5, 1.0]))
        low, high = rng.integers(-3, 3), rng.integers(1, 6)
        facts |= {"range": tuple(np.round([low * step, (low + high) * step], 6)), "step": step}
        if rng.random() < 0.4:
            wider = np.array([low - rng.integers(0, 2), low + high + rng.integers(0, 2)])
            facts["bounds"] = tuple(np.round(wider * step, 6))
    else:
        facts["levels"] = LEVELS[: 2 if kind == "binary" else rng.integers(2, 5)]
        if rng.random() < 0.3:
            pair = rng.choice(len(facts["levels"]), 2, replace=False)
            facts["forbidden"] = [tuple(facts["levels"][k] for k in pair)]
    return Feature(name, kind, **facts)


def _linear(rng: np.random.Generator, features: list[Feature]) -> str | None:
    able = [f for f in features if f.is_number or f.kind == "binary"]
    if len(able) < 2 or rng.random() < 0.4:
        return None
    chosen = rng.permutation(np.array(able, dtype=object))[:3]
    weights = rng.choice([-2, -1, 1, 2, 0.5], len(chosen))
    centre = sum(w * (np.mean(f.range) if f.is_number else 0.5) for w, f in zip(weights, chosen, strict=True))
    terms = " + ".join(f"{w:g} * {f.name}" for w, f in zip(weights, chosen, strict=True))
    return f"{terms} {rng.choice(['<=', '>='])} {np.round(centre + rng.normal(), 1):g}"


def _implication(rng: np.random.Generator, features: list[Feature]) -> str | None:
    if rng.random() < 0.4:
        return None
    when, then = (features[k] for k in rng.choice(len(features), 2, replace=False))
    return f"if {_condition(rng, when)} then {_condition(rng, then)}"


def _condition(rng: np.random.Generator, feature: Feature) -> str:
    verbs = ["changes", "stays", "is", "is not", "becomes"]
    if feature.kind != "categorical":
        verbs += ["increases", "decreases", "increases by", "is at least", "is at most"]
    verb = rng.choice(verbs)
    value = rng.choice(grid(feature)) if feature.is_number else rng.choice(feature.levels)
    if verb == "increases by":
        return f"{feature.name} increases by at least {2 * (feature.step or 1):g}"
    if verb in ("changes", "stays", "increases", "decreases"):
        return f"{feature.name} {verb}"
    return f"{feature.name} {verb} {value if isinstance(value, str) else format(value, 'g')}"


# every row, and which are legal ------------------------------------------------------------------------------


def all_rows(space: ActionSpace, start: dict[str, Any]) -> Any:
    """Return every row whose features are on their grids or as they are now, as a frame."""
    columns = []
    for feature in space.features:
        now = start[feature.name]
        if now is None:
            columns.append([None])
        elif feature.clock is not None:
            ends = [then(feature, now, t) for t in range(space.horizon + 2)]
            columns.append(list(dict.fromkeys([now, *ends, now - 1 if now >= 1 else now + 0.25])))
            if feature.kind == "integer":
                columns[-1] = [v for v in columns[-1] if float(v).is_integer()]
        elif feature.is_number:
            low, high = feature.bounds or (min(feature.range[0], now), max(feature.range[1], now))
            steps = np.round(np.arange(-100, 101) * feature.step, 6)
            values = steps[(steps >= low - 1e-9) & (steps <= high + 1e-9)].tolist()
            columns.append([now] + [v for v in values if abs(v - now) > 1e-9])
        else:
            columns.append(list(feature.levels))
    return pd.DataFrame(list(itertools.product(*columns)), columns=list(space.names), dtype=object)


def legal(space: ActionSpace, limits: Limits | None, start: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether one row may follow from a start, by the judge of ``reap.checks``, which shares no code with the space."""
    return not violations(space, start, row, limits)


def world(rng: np.random.Generator, limited: bool, timed: bool = False) -> tuple[Any, ...]:
    """Return a space within limits, a person's vector, every row of the space encoded, and which of them are legal."""
    space, X = random_space(rng, timed=timed)
    limits = random_limits(rng, space) if limited else Limits()
    if limited and timed and space.timed and rng.random() < 0.5:
        limits = limits.merge(Limits(within_months=int(rng.integers(0, 9))))
    z0 = space.encode(X.iloc[[0]])[0]
    start = space.values(z0)
    rows = all_rows(space, start)
    fine = np.array([legal(space, limits, start, row) for row in rows.to_dict("records")])
    return space.tighten(limits), z0, space.encode(rows), fine
