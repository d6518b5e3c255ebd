"""How plans and estimates are judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import bootstrap, wilcoxon

from reap import effort
from reap._typing import Array, Bools, Frame
from reap.plan import Plan

#: Bootstrap draws of the intervals.
_DRAWS = 2000


def excess(runs: Frame) -> dict[str, float]:
    """Return the excess over the oracle: ``Σ effort / Σ oracle − 1``, its 95 % interval, median and 90th percentile.

    The runs have the columns subject, effort and oracle; the interval is a bootstrap over subjects, each with all their runs.

    Examples
    --------
    >>> runs = pd.DataFrame({"subject": [0, 0, 1], "effort": [1.0, 2.0, 4.0], "oracle": [1.0, 1.0, 4.0]})
    >>> round(excess(runs)["excess"], 3)
    0.167
    """
    runs = runs[np.isfinite(runs["effort"]) & np.isfinite(runs["oracle"])]
    if len(runs) == 0:
        return dict.fromkeys(("excess", "low", "high", "median", "p90"), np.nan) | {"runs": 0, "subjects": 0}
    sums = tuple(runs.groupby("subject")[["effort", "oracle"]].sum().to_numpy().T)
    low = high = float(_ratio(*sums))
    if len(sums[0]) > 1:
        drawn = bootstrap(sums, _ratio, paired=True, n_resamples=_DRAWS, method="percentile", rng=0)
        low, high = map(float, drawn.confidence_interval)
    each = runs["effort"].to_numpy() / np.maximum(runs["oracle"].to_numpy(), 1e-12) - 1
    return {
        "excess": float(_ratio(*sums)),
        "low": low,
        "high": high,
        "median": float(np.median(each)),
        "p90": float(np.quantile(each, 0.9)),
        "runs": len(runs),
        "subjects": len(sums[0]),
    }


def _ratio(effort: Array, oracle: Array, axis: int = -1) -> Array:
    return np.asarray(effort.sum(axis=axis) / np.maximum(oracle.sum(axis=axis), 1e-300) - 1)


def crossed(votes: Bools) -> tuple[float, float]:
    """Return the 95 % interval of the share of yes in votes (n, m) of m models on n people: both are drawn again.

    Models that all people share make the share less sure than n·m votes would.

    Examples
    --------
    >>> crossed(np.array([[True, True, False, True], [True, True, False, True]]))
    (0.25, 1.0)
    """
    rng, (n, m) = np.random.default_rng(0), votes.shape
    people, models = (rng.multinomial(k, np.full(k, 1 / k), _DRAWS) for k in (n, m))
    drawn = ((people @ votes) * models).sum(axis=1) / (n * m)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def drawn_means(values: pd.Series, groups: pd.Series) -> tuple[float, float]:
    """Return the 95 % interval of a mean: a bootstrap over groups, such as subjects, each with all their values.

    Examples
    --------
    >>> drawn_means(pd.Series([1.0, 1.0, 1.0]), pd.Series(["a", "a", "b"]))
    (1.0, 1.0)
    """
    each = values.groupby(groups)
    sums, counts = each.sum().to_numpy(), each.size().to_numpy()
    drawn = np.random.default_rng(0).integers(len(sums), size=(_DRAWS, len(sums)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def whole(plan: Plan) -> Array:
    """Return the whole change (d,) of a plan, of a path too: zeros where there is none."""
    return effort.changes(plan.path[-1], plan.path[0])


def same_oracle(runs: Frame) -> Frame:
    """Return the runs with one oracle a person: the cheapest plan that any cell found for them."""
    person = [runs[name] for name in ("dataset", "who", "subject", "person")]
    best = np.fmin(runs["effort"], runs["oracle"]).groupby(person).transform("min")
    return runs.assign(oracle=best)


def mean_rank(moves: Array, truth: Array, estimate: Array, top: int = 5) -> float:
    """Return the paper's mean rank: how good, by the true effort, are the rows that look best.

    Ranks 1 … N by true effort; the K rows of least estimated effort; ``(Σ ranks − K(K+1)/2) / ((2N−K+1)K/2)``, for the
    changes (N, d) of candidates and two matrices (d, d).

    Examples
    --------
    >>> moves = np.diag([1.0, 2.0, 3.0, 4.0])
    >>> far = np.diag([4.0, 1.0, 0.4, 0.1])  # to whom the last looks easiest
    >>> mean_rank(moves, np.eye(4), np.eye(4), top=2), mean_rank(moves, np.eye(4), far, top=2)
    (0.0, 0.5714285714285714)
    """
    n, k = len(moves), min(top, len(moves))
    ranks = np.empty(n)
    ranks[np.argsort(effort.of_change(truth, moves), kind="stable")] = np.arange(1, n + 1)
    chosen = np.argsort(effort.of_change(estimate, moves), kind="stable")[:k]
    return float((ranks[chosen].sum() - k * (k + 1) / 2) / ((2 * n - k + 1) * k / 2))


def jaccard(one: Plan, two: Plan) -> float:
    """Return the Jaccard distance of two paths as sets of edges: 0 for the same path, 1 where no step is shared."""
    a, b = (
        {(p.tobytes(), q.tobytes()) for p, q in zip(plan.path, plan.path[1:], strict=False)}
        for plan in (one, two)
    )
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def below(runs: Frame, other: str) -> Callable[[Frame], str]:
    """Return a column of a table: the p-value that a method asks for less than another, paired by subject."""
    efforts = runs.pivot_table("effort", ["dataset", "subject"], "method", dropna=False)

    def p(part: Frame) -> str:
        mine = efforts.loc[part["dataset"].iloc[0]]
        return (
            f"{smaller(mine[part['method'].iloc[0]], mine[other]):.2g}"
            if part["effort"].notna().any()
            else "–"
        )

    return p


def smaller(ours: Any, theirs: Any) -> float:
    """Return the p-value of the one-sided paired Wilcoxon test that ``ours`` is smaller; 1 where they are equal."""
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    both = np.isfinite(ours) & np.isfinite(theirs)
    if both.sum() < 2 or np.allclose(ours[both], theirs[both], rtol=1e-12, atol=0):
        return 1.0
    return float(wilcoxon(ours[both], theirs[both], alternative="less").pvalue)
