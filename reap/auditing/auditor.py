"""One call from the result of a batch to the figures an auditor asks for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from reap._errors import InputError
from reap._typing import Array, Frame, Series
from reap.auditing import figures
from reap.auditing.cliffs import model_cliffs
from reap.auditing.grouping import Grouping
from reap.auditing.population import Population, population
from reap.auditing.result import Audit
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
    effort = figures.efforts(people, people.matrix)
    way = figures.ways(people, people.matrix)
    shares = figures.contributions(people, people.matrix)
    groupings = {name: people.group([name]) for name in by}
    if len(by) > 1:
        groupings[" · ".join(by)] = people.group(by)
    drawn = figures.people_matrices(people.space.dimension, matrices, random_state)
    whole = pd.Series(["everybody"] * len(people))
    total = figures.summary(people, whole, effort, way, resamples, confidence, rng).iloc[0]
    return Audit(
        people=len(people),
        without_plan=int(total["without_plan"]),
        share=float(total["share"]),
        share_low=float(total["share_low"]),
        share_high=float(total["share_high"]),
        statuses={str(k): int(v) for k, v in people.frame["recourse_status"].value_counts().items()},
        unread=people.unread,
        median=float(total["median"]),
        median_low=float(total["median_low"]),
        median_high=float(total["median_high"]),
        p90=float(total["p90"]),
        way=float(total["way"]),
        features=_shares(people, shares),
        changed=_changed(people),
        groupings=_groupings(
            people, groupings, (effort, way), shares, drawn, (resamples, confidence, least), rng
        ),
        confidence=confidence,
        manifest=people.manifest,
        cliffs=model_cliffs(people.frame),
    )


def _shares(people: Population, contributions: Array) -> Series:
    """Return the share of the effort that each feature carries, (f,)."""
    total = contributions.sum()
    return pd.Series(
        contributions.sum(axis=0) / total if total else np.zeros(contributions.shape[1]),
        index=people.space.names,
    )


def _changed(people: Population) -> Series:
    """Return the share of plans that change each feature from start to target, (f,)."""
    V = people.V
    moved = people.space.changed(np.zeros_like(V), V) if len(V) else np.zeros((1, len(people.space.names)))
    return pd.Series(np.asarray(moved).mean(axis=0), index=people.space.names)


def _groupings(
    people: Population,
    groupings: dict[str, Series],
    measures: tuple[Array, Array],
    shares: Array,
    drawn: Array,
    settings: tuple[int, float, int],
    rng: np.random.Generator,
) -> list[Grouping]:
    (effort, way), (resamples, confidence, least) = measures, settings
    relative = figures.relative_medians(people, groupings, drawn, rng) if people.planned.any() else {}
    made = []
    for name, groups in groupings.items():
        own = groups[people.planned].reset_index(drop=True)
        table = figures.summary(people, groups, effort, way, resamples, confidence, rng)
        compared = [str(g) for g in table.index[table["people"] >= least]]
        inside, mine = groups.isin(compared), own.isin(compared).to_numpy()
        without = pd.Series(~people.planned)
        measured = [g for g in compared if table.loc[g, "people"] - table.loc[g, "without_plan"] >= least]
        features = {g: _shares(people, shares[(own == g).to_numpy()]) for g in compared}
        withheld = ~table.index.isin(compared)
        table = table.astype({"without_plan": float})
        table.loc[withheld, table.columns.drop("people")] = np.nan
        made.append(
            Grouping(
                name=name,
                table=table,
                compared=compared,
                share_comparison=figures.compare_shares(without[inside], groups[inside], rng),
                effort_comparison=figures.compare_efforts(effort[mine], own[mine], rng),
                features=pd.DataFrame(features).T,
                relative=relative[name].reindex(columns=measured) if relative else pd.DataFrame(columns=[]),
                efforts={g: effort[(own == g).to_numpy()] for g in measured},
                whole=float(np.median(effort)) if len(effort) else np.nan,
            )
        )
    return made
