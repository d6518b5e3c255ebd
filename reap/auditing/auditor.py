"""One call from the result of a batch to the figures an auditor asks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Array, Frame, Series
from reap.auditing import figures
from reap.auditing.population import RejectedPeople, population
from reap.auditing.result import Audit, Grouping, ModelCliff
from reap.language import _
from reap.space import ActionSpace


def audit(
    frame: Frame | str | Path,
    by: Sequence[str],
    *,
    space: ActionSpace | None = None,
    accepted: Frame | None = None,
    matrices: int = 200,
    resamples: int = 1000,
    confidence: float = 0.95,
    least: int = 30,
    random_state: int = 0,
) -> Audit:
    """Return what recourse asks of people, and of whom.

    Effort is ``ΔᵀAΔ / ⟨A, S⟩`` of a plan's whole change Δ. A is the matrix that the batch assumed. S is the mean of
    ``(a − r)(a − r)ᵀ`` over accepted people a and rejected people r, on what people can act on. So 1 is the mean effort
    of becoming an accepted person drawn at random.

    Parameters
    ----------
    frame : DataFrame or path
        What ``reap.batch.run`` returned or wrote.
    by : sequence of str
        Columns to group by; with several, each alone and all together. A number with many values is cut in four.
    space : ActionSpace, optional
        Where the table does not say it.
    accepted : DataFrame, optional
        Rows of accepted people; by default those the batch knew (``reference=``), else those in the table.
    matrices : int
        Effort matrices, drawn from the prior "people", under which differences between groups are measured again.
    resamples : int
        Of the bootstrap.
    confidence : float
        Of every interval: Wilson's for shares, bootstrap for medians.
    least : int
        Of smaller groups only the number of people is told: figures of a few would be about those few.
    random_state : int

    Examples
    --------
    >>> import reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> engine = reap.Recourse(model, data.space).fit(data.X)
    >>> plans = reap.batch.run(engine, data.X.iloc[:60], n_jobs=1)
    >>> found = reap.audit(plans, by=[data.X.columns[-1]], matrices=20, resamples=100)
    >>> found.people + int((plans["recourse_status"] == "already_accepted").sum()) == len(plans)
    True
    """
    by = [by] if isinstance(by, str) else list(by)
    if not by:
        raise InputError("name at least one column to group by, for example by=['sex']")
    people = population(frame, space, accepted)
    if len(people) == 0:
        raise InputError("nobody in the table was rejected, so there is nothing to audit")
    rng = np.random.default_rng(random_state)
    effort, way, shares = (
        measure(people, people.matrix) for measure in (figures.efforts, figures.ways, figures.contributions)
    )
    divided = {name: people.group([name]) for name in by}
    if len(by) > 1:
        divided[" · ".join(by)] = people.group(by)

    def summary(groups: Series) -> Frame:
        return figures.summary(people, groups, effort, way, resamples, confidence, rng)

    everybody = summary(pd.Series(["everybody"] * len(people))).iloc[0]
    told = ("share", "share_low", "share_high", "median", "median_low", "median_high", "p90", "way")
    relative: dict[str, Frame] = {}
    if people.planned.any():
        drawn = figures.people_matrices(people.space.dimension, matrices, random_state)
        relative = figures.relative_medians(people, divided, drawn, rng)
    groupings, without = [], pd.Series(~people.planned)
    for name, groups in divided.items():
        own = groups[people.planned].reset_index(drop=True)
        table = summary(groups)
        compared = [str(g) for g in table.index[table["people"] >= least]]
        measured = [g for g in compared if table.loc[g, "people"] - table.loc[g, "without_plan"] >= least]
        table = table.astype({"without_plan": float})
        table.loc[~table.index.isin(compared), table.columns.drop("people")] = np.nan
        inside, mine = groups.isin(compared), own.isin(compared).to_numpy()
        grouping = Grouping(
            name=name,
            table=table,
            compared=compared,
            share_comparison=figures.compare_shares(without[inside], groups[inside], rng),
            effort_comparison=figures.compare_efforts(effort[mine], own[mine], rng),
            features=pd.DataFrame({g: _shares(people, shares[(own == g).to_numpy()]) for g in compared}).T,
            relative=relative[name].reindex(columns=measured) if relative else pd.DataFrame(columns=[]),
            efforts={g: effort[(own == g).to_numpy()] for g in measured},
            whole=float(np.median(effort)) if len(effort) else np.nan,
        )
        groupings.append(grouping)
    return Audit(
        people=len(people),
        without_plan=int(everybody["without_plan"]),
        **{name: float(everybody[name]) for name in told},
        statuses={str(k): int(v) for k, v in people.frame["recourse_status"].value_counts().items()},
        unread=people.unread,
        features=_shares(people, shares),
        changed=_changed(people),
        groupings=groupings,
        confidence=confidence,
        manifest=people.manifest,
        cliffs=_model_cliffs(people.frame),
    )


def _shares(people: RejectedPeople, contributions: Array) -> Series:
    """Return the share of the effort that each feature carries, (f,)."""
    parts, total = contributions.sum(axis=0), contributions.sum()
    return pd.Series(parts / total if total else np.zeros(len(parts)), index=people.space.names)


def _changed(people: RejectedPeople) -> Series:
    """Return the share of plans that change each feature from start to target, (f,)."""
    V = people.V if len(people.V) else np.zeros((1, people.space.dimension))
    return pd.Series(
        people.space.encoding.changed(np.zeros_like(V), V).mean(axis=0), index=people.space.names
    )


def _model_cliffs(frame: Frame) -> list[ModelCliff]:
    """Return the cliffs of a batch's plans, most frequent first; none where the table does not say."""
    if "recourse_cliffs" not in frame.columns:
        return []
    planned = frame[frame["recourse_status"] == "ok"]
    found: dict[str, list[dict[str, Any]]] = {}
    for text in planned["recourse_cliffs"]:
        for cliff in json.loads(text) if isinstance(text, str) and text else []:
            found.setdefault(cliff["feature"], []).append(cliff)
    made = []
    for feature, cliffs in found.items():
        worst = max(cliffs, key=lambda cliff: abs(cliff["score_above"] - cliff["score_below"]))
        example = _("from {below} to {above} a score goes from {low} to {high}").format(
            below=worst["below"],
            above=worst["above"],
            low=f"{worst['score_below']:.4g}",
            high=f"{worst['score_above']:.4g}",
        )
        made.append(ModelCliff(feature, worst["label"], len(cliffs), len(cliffs) / len(planned), example))
    return sorted(made, key=lambda cliff: -cliff.plans)
