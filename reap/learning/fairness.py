"""Whom a learnt prior serves: answers needed and excess by group, with the default and with what was learnt.

What is true of a person nobody knows, so what all their answers say in the end stands for it: the mean of both beliefs, default
and learnt, after the last answer, which favours neither. Against it stand the plans each would have recommended earlier, among
the plans that the session knew. The number of changes and waiting count where the prior says how many mind them. A prior that
suits the many may suit a few less: this table shows it before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from reap import effort
from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import LearnedPrior, Posterior
from reap.elicitation import Elicitation
from reap.elicitation.learned import FACTORS
from reap.elicitation.pool import beside
from reap.learning.reading import Session, replayed
from reap.space import ActionSpace

#: A plan within this share of the best counts as found.
NEAR = 0.05
#: Groups of fewer people are put together: their figures would say more about single people than about the prior.
LEAST = 10


def fairness(
    prior: LearnedPrior, sessions: Iterable[Session], space: ActionSpace, by: str, *, least: int = LEAST
) -> Frame:
    """Return answers needed and excess before any answer, for each group of people, with the default and with the prior.

    Parameters
    ----------
    prior : LearnedPrior
    sessions : iterable of sessions
        As for ``learn``; those that taught the prior would flatter it.
    space : ActionSpace
    by : str
        The feature whose values are the groups; a number is cut at its median.
    least : int
        Groups of fewer people are put together as "other".

    Returns
    -------
    DataFrame
        A row a group and one for all: people, then for both priors the mean answers until the plan is within 5 % of the
        best, and the excess of the first plan, as a ratio of sums.
    """
    prior.fits(space.digest)
    names = [feature.name for feature in space.features]
    if by not in names:
        raise unknown("feature", by, names)
    rows = [_row(prior, state, space, by) for state in _answering(sessions, space)]
    if not rows:
        raise InputError("nobody answered a question in these sessions, so there are no groups to compare")
    frame = pd.DataFrame(rows)
    if space.feature(by).is_number:
        middle = frame["group"].median()
        frame["group"] = np.where(frame["group"] <= middle, f"up to {middle:g}", f"above {middle:g}")
    sizes = frame["group"].map(frame["group"].value_counts())
    frame["group"] = frame["group"].astype(str).where(sizes >= least, "other")
    groups = [(name, part) for name, part in frame.groupby("group", sort=True)]
    return pd.DataFrame([_summary(str(name), part) for name, part in [*groups, ("all", frame)]])


def _answering(sessions: Iterable[Session], space: ActionSpace) -> Iterable[Elicitation]:
    """Yield the sessions with an answer and a choice between plans."""
    for session in sessions:
        state = replayed(session, space)
        if state is not None and state.answers and len(state.pool) > 1:
            yield state


def _row(prior: LearnedPrior, state: Elicitation, space: ActionSpace, by: str) -> dict[str, Any]:
    pool = np.array([plan.moves.sum(axis=0) for plan in state.pool])
    if prior.minders:
        assert state.pool.sizes is not None  # set by the first answer
        pool = np.hstack([pool, beside(space, list(state.pool), state.pool.sizes)])
    factors = np.ones(space.dimension)
    for name, level in state.difficulties.items():
        factors[space.slices[name]] = FACTORS[level]
    shown = {
        name: _shown(given, state, space, factors, len(prior.minders))
        for name, given in (("default", "people"), ("learnt", prior))
    }
    true = effort.of_change((shown["default"][-1] + shown["learnt"][-1]) / 2, pool)
    row: dict[str, Any] = {"group": state.events[0].payload["subject"][by], "best": float(true.min())}
    for name, means in shown.items():
        asked = np.array([true[int(np.argmin(effort.of_change(mean, pool)))] for mean in means])
        near = asked <= (1 + NEAR) * true.min() + 1e-12
        row[f"{name}_first"] = float(asked[0])
        row[f"{name}_needed"] = int(near.argmax()) if near.any() else len(near)
    return row


def _shown(
    given: str | LearnedPrior, state: Elicitation, space: ActionSpace, factors: Array, more: int
) -> list[Array]:
    """Return the expected matrices after 0, 1, … answers."""
    belief = Posterior(space.dimension, given, difficulties=factors, columns=space.legal.movable, beside=more)
    means = [belief.mean]
    for answer in state.answers:
        answer.teach(belief)
        means.append(belief.mean)
    return means


def _summary(name: str, part: Frame) -> dict[str, Any]:
    best = float(part["best"].sum())
    row: dict[str, Any] = {"group": name, "people": len(part)}
    for prior in ("default", "learnt"):
        row[f"answers needed, {prior}"] = round(float(part[f"{prior}_needed"].mean()), 2)
        row[f"first excess, {prior}"] = round(float(part[f"{prior}_first"].sum()) / best - 1, 3)
    return row
