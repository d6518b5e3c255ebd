"""The arithmetic of an audit: efforts, groups, intervals, tests, and how much the assumed cost matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from reap._typing import Array, Frame, Ints, Series
from reap.auditing.population import Population
from reap.belief import Posterior

#: People whose plans are weighed again under other cost matrices; more would not change a percentile.
_WEIGHED = 20_000
_PERMUTATIONS = 2_000
#: Numbers held at once while resampling.
_BLOCK = 4_000_000


def efforts(people: Population, A: Array) -> Array:
    """Return the effort ``Σ vᵀAv / ⟨A, S⟩`` of everybody with a plan, (p,), in the unit of the audit."""
    return _per_plan(people, np.einsum("mi,ij,mj->m", people.V, A, people.V)[:, None])[:, 0] / people.unit(A)


def contributions(people: Population, A: Array) -> Array:
    """Return what each feature adds to each plan's effort, (p, f): ``Σ_{i ∈ f} v_i (Av)_i``, which sums to the effort."""
    parts = people.V * (people.V @ A)
    first = [people.space.slices[name].start for name in people.space.names]
    return _per_plan(people, np.add.reduceat(parts, first, axis=1)) / people.unit(A)


def net(people: Population) -> Array:
    """Return how far each plan leads in all, (p, d)."""
    return _per_plan(people, people.V)


def _per_plan(people: Population, values: Array) -> Array:
    """Sum values of steps (m, k) over the steps of each plan, (p, k)."""
    if len(values) == 0:
        return np.empty((0, values.shape[1]))
    return np.asarray(np.add.reduceat(values, _starts(people.steps[people.planned]), axis=0))


def _starts(steps: Ints) -> Ints:
    """Return where each plan's steps begin, (p,), among all steps one after the other."""
    return np.asarray(np.cumsum(steps) - steps)


def interval(
    values: Array, resamples: int, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the median."""
    if len(values) < 2:
        return np.nan, np.nan
    rows = max(1, _BLOCK // len(values))
    medians = [
        np.median(values[rng.integers(len(values), size=(min(rows, resamples - done), len(values)))], axis=1)
        for done in range(0, resamples, rows)
    ]
    low, high = np.quantile(np.concatenate(medians), [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def summary(
    people: Population,
    groups: Series,
    effort: Array,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Frame:
    """Return one line a group: who has no plan, and what a plan costs those who have one."""
    lines = []
    own = groups[people.planned].to_numpy()
    for name in sorted(groups.unique()):
        inside = (groups == name).to_numpy()
        count, none = int(inside.sum()), int((inside & ~people.planned).sum())
        share = stats.binomtest(none, count).proportion_ci(confidence, "wilson")
        values = effort[own == name]
        low, high = interval(values, resamples, confidence, rng)
        lines.append(
            {
                "group": name,
                "people": count,
                "without_plan": none,
                "share": none / count,
                "share_low": share.low,
                "share_high": share.high,
                "median": float(np.median(values)) if len(values) else np.nan,
                "median_low": low,
                "median_high": high,
                "mean": float(values.mean()) if len(values) else np.nan,
                "p90": float(np.quantile(values, 0.9)) if len(values) else np.nan,
                "steps": float(people.steps[inside & people.planned].mean()) if len(values) else np.nan,
            }
        )
    return pd.DataFrame(lines).set_index("group")


@dataclass(frozen=True)
class Comparison:
    """Whether groups differ by more than chance would make them.

    Parameters
    ----------
    name : how it was tested
    statistic, p : float; NaN where there is nothing to compare
    """

    name: str
    statistic: float
    p: float


def compare_shares(without: Series, groups: Series, rng: np.random.Generator) -> Comparison:
    """Return Pearson's χ² of "no plan" against group; by permutation where an expected count is below 5."""
    table = pd.crosstab(groups, without)
    if min(table.shape) < 2:
        return Comparison("nothing to compare", np.nan, np.nan)
    found = stats.chi2_contingency(table, correction=False)
    if found.expected_freq.min() >= 5:
        return Comparison("χ² test", float(found.statistic), float(found.pvalue))
    codes, missing = pd.factorize(groups)[0], without.to_numpy(dtype=float)
    people, rate = np.bincount(codes), missing.mean()

    def statistic(order: Ints) -> float:
        gaps = np.bincount(codes, weights=missing[order]) - rate * people
        return float(np.sum(gaps**2 / (people * rate * (1 - rate))))

    return Comparison("χ², permutation test", float(found.statistic), _permuted(statistic, len(codes), rng))


def compare_efforts(effort: Array, groups: Series, rng: np.random.Generator) -> Comparison:
    """Return the Kruskal–Wallis test of effort against group; by permutation where a group has fewer than 5 plans."""
    codes, names = pd.factorize(groups)
    effort = np.round(effort, 12)  # the same effort by two sums is a tie, not a rank
    if len(names) < 2 or np.ptp(effort) == 0:
        return Comparison("nothing to compare", np.nan, np.nan)
    found = stats.kruskal(*(effort[codes == k] for k in range(len(names))))
    if np.bincount(codes).min() >= 5:
        return Comparison("Kruskal–Wallis test", float(found.statistic), float(found.pvalue))
    ranks, people = stats.rankdata(effort), np.bincount(codes)

    def statistic(order: Ints) -> float:
        return float(np.sum(np.bincount(codes, weights=ranks[order]) ** 2 / people))

    return Comparison(
        "Kruskal–Wallis, permutation test", float(found.statistic), _permuted(statistic, len(codes), rng)
    )


def _permuted(statistic: Callable[[Ints], float], count: int, rng: np.random.Generator) -> float:
    least = statistic(np.arange(count)) * (1 - 1e-12)
    above = sum(statistic(rng.permutation(count)) >= least for _ in range(_PERMUTATIONS))
    return (1 + above) / (1 + _PERMUTATIONS)


def relative_medians(
    people: Population, groupings: dict[str, Series], matrices: Array, rng: np.random.Generator
) -> dict[str, Frame]:
    """Return, for each grouping, each group's median effort over everybody's, (matrices, groups).

    The plans stay; the effort they are measured with changes. At most 20,000 people, drawn at random.
    """
    count = int(people.planned.sum())
    kept = np.sort(rng.permutation(count)[:_WEIGHED])
    owner = np.repeat(np.arange(count), people.steps[people.planned])
    V = people.V[np.isin(owner, kept)]
    starts = _starts(people.steps[people.planned][kept])
    codes = {
        name: pd.factorize(g[people.planned].to_numpy()[kept], sort=True) for name, g in groupings.items()
    }
    lines: dict[str, list[Array]] = {name: [] for name in groupings}
    for A in matrices:
        effort = np.add.reduceat(np.einsum("mi,ij,mj->m", V, A, V), starts)
        whole = max(float(np.median(effort)), np.finfo(float).tiny)
        for name, (code, names) in codes.items():
            lines[name].append(np.array([np.median(effort[code == k]) for k in range(len(names))]) / whole)
    return {name: pd.DataFrame(lines[name], columns=list(names)) for name, (_, names) in codes.items()}


def people_matrices(dimension: int, count: int, seed: int) -> Array:
    """Return cost matrices of people nobody has asked, (count, d, d): draws of the prior "people"."""
    return Posterior(dimension, particles=max(count, 2), random_state=seed).sample(count)
