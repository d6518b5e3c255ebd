"""The arithmetic of an audit: efforts, groups, intervals, tests, and how much the assumed matrix matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from reap._typing import Array, Frame, Series
from reap.auditing.population import RejectedPeople
from reap.belief import Posterior
from reap.effort import of_change

#: People whose plans are measured again under other matrices; more would not change a percentile.
_MEASURED = 20_000
_PERMUTATIONS = 2_000
#: Numbers held at once while resampling.
_BLOCK = 4_000_000


def efforts(people: RejectedPeople, A: Array) -> Array:
    """Return the effort ``ΔᵀAΔ / ⟨A, S⟩`` of everybody with a plan, (p,), in the unit of the audit."""
    return of_change(A, people.V) / people.unit(A)


def ways(people: RejectedPeople, A: Array) -> Array:
    """Return how far everybody's plan goes, (p,), as a share of the typical span: ``√(ΔᵀAΔ / (tr A / d))``.

    A number is encoded by its typical span, so with equal weights one number moved by all of it is 1. Another level of a
    category moves two columns: √2.
    """
    return np.asarray(np.sqrt(of_change(A, people.V) / (np.trace(A) / len(A))))


def contributions(people: RejectedPeople, A: Array) -> Array:
    """Return what each feature adds to each plan's effort, (p, f): ``Σ_{i ∈ f} Δ_i (AΔ)_i``, which sums to the effort."""
    parts = people.V * (people.V @ A)  # effort column by column, which reap.effort does not give
    first = [people.space.slices[name].start for name in people.space.names]
    return np.asarray(np.add.reduceat(parts, first, axis=1)) / people.unit(A)


def interval(
    values: Array, resamples: int, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the percentile bootstrap interval of the median."""
    if len(values) < 2:
        return np.nan, np.nan
    found = stats.bootstrap(
        (values,),
        np.median,
        n_resamples=resamples,
        batch=max(1, _BLOCK // len(values)),
        confidence_level=confidence,
        method="percentile",
        random_state=rng,
    ).confidence_interval
    return float(found.low), float(found.high)


def summary(
    people: RejectedPeople,
    groups: Series,
    effort: Array,
    way: Array,
    resamples: int,
    confidence: float,
    rng: np.random.Generator,
) -> Frame:
    """Return one line a group: who has no plan, and the effort of the plans of those who have one."""
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
                "way": float(np.median(way[own == name])) if len(values) else np.nan,
                "median_low": low,
                "median_high": high,
                "mean": float(values.mean()) if len(values) else np.nan,
                "p90": float(np.quantile(values, 0.9)) if len(values) else np.nan,
                "changes": float(people.changes[inside & people.planned].mean()) if len(values) else np.nan,
            }
        )
    return pd.DataFrame(lines).set_index("group")


@dataclass(frozen=True)
class GroupComparison:
    """How it was tested whether groups differ by more than chance, and what came out: NaN where there is nothing to compare."""

    name: str
    statistic: float
    p: float

    def __str__(self) -> str:
        if np.isnan(self.p):
            return self.name
        return f"{self.name}: {'p < 0.001' if self.p < 0.001 else f'p = {self.p:.3f}'}"


def compare_shares(without: Series, groups: Series, rng: np.random.Generator) -> GroupComparison:
    """Return Pearson's χ² of "no plan" against group; by permutation where an expected count is below 5."""
    table = pd.crosstab(groups, without)
    if min(table.shape) < 2:
        return GroupComparison("nothing to compare", np.nan, np.nan)
    found = stats.chi2_contingency(table, correction=False)
    if found.expected_freq.min() >= 5:
        return GroupComparison("χ² test", float(found.statistic), float(found.pvalue))
    # Of n_k people m_k have no plan, a share r of all: χ² = (Σ m_k²/n_k − n r²) / (r(1 − r)) grows with Σ m_k²/n_k.
    p = _permuted(pd.factorize(groups)[0], without.to_numpy(dtype=float), rng)
    return GroupComparison("χ², permutation test", float(found.statistic), p)


def compare_efforts(effort: Array, groups: Series, rng: np.random.Generator) -> GroupComparison:
    """Return the Kruskal–Wallis test of effort against group; by permutation where a group has fewer than 5 plans."""
    codes, names = pd.factorize(groups)
    effort = np.round(effort, 12)  # the same effort by two sums is a tie, not a rank
    if len(names) < 2 or np.ptp(effort) == 0:
        return GroupComparison("nothing to compare", np.nan, np.nan)
    found = stats.kruskal(*(effort[codes == k] for k in range(len(names))))
    if np.bincount(codes).min() >= 5:
        return GroupComparison("Kruskal–Wallis test", float(found.statistic), float(found.pvalue))
    # Kruskal and Wallis's H grows with Σ R_k² / n_k, R_k being the sum of ranks in group k
    p = _permuted(codes, stats.rankdata(effort), rng)
    return GroupComparison("Kruskal–Wallis, permutation test", float(found.statistic), p)


def _permuted(codes: Any, values: Array, rng: np.random.Generator) -> float:
    """Return how often values (n,) dealt out anew give groups that differ as much: ``Σ_k (sum in k)² / n_k``."""
    people = np.bincount(codes)

    def statistic(dealt: Array) -> float:
        return float(np.sum(np.bincount(codes, weights=dealt) ** 2 / people))

    found = stats.permutation_test(
        (values,),
        statistic,
        permutation_type="pairings",
        vectorized=False,
        n_resamples=_PERMUTATIONS,
        alternative="greater",
        random_state=rng,
    )
    return float(found.pvalue)


def relative_medians(
    people: RejectedPeople, groupings: dict[str, Series], matrices: Array, rng: np.random.Generator
) -> dict[str, Frame]:
    """Return, for each grouping, each group's median effort over everybody's, (matrices, groups).

    The plans stay; the effort they are measured with changes. At most 20,000 people, drawn at random. A matrix under which half
    of the plans ask nothing, because their changes are welcome, is no measure and is left out.
    """
    kept = np.sort(rng.permutation(len(people.V))[:_MEASURED])
    V = people.V[kept]
    codes = {
        name: pd.factorize(g[people.planned].to_numpy()[kept], sort=True) for name, g in groupings.items()
    }
    lines: dict[str, list[Array]] = {name: [] for name in groupings}
    for A in matrices:
        effort = of_change(A, V)
        whole = float(np.median(effort))
        if not whole > 0:
            continue
        for name, (code, names) in codes.items():
            lines[name].append(np.array([np.median(effort[code == k]) for k in range(len(names))]) / whole)
    return {name: pd.DataFrame(lines[name], columns=list(names)) for name, (_, names) in codes.items()}


def people_matrices(dimension: int, count: int, seed: int) -> Array:
    """Return effort matrices of people nobody has asked, (count, d, d): draws of the prior "people"."""
    return Posterior(dimension, random_state=seed).sample(count).matrices


def shown(effort: float) -> str:
    """Return an effort as a percentage of its unit, to three digits."""
    return "–" if np.isnan(effort) else f"{100 * effort:#.3g}".rstrip(".") + "\N{NO-BREAK SPACE}%"
