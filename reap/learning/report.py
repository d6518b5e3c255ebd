"""What was learnt, for people who decide whether to use it: words, and whom it serves.

Whom it serves is a table of groups (``fairness``): answers needed and excess, with the default and with what was learnt. What is
true of a person nobody knows, so what all their answers say in the end stands for it: the efforts that both beliefs, default and
learnt, expect after the last answer, which favours neither. Against it stand the plans each would have recommended
earlier, among the plans that the session knew, the number of changes and waiting included. A prior that suits the many may suit
a few less: this table shows it before it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import LearnedPrior, Posterior
from reap.belief.prior import LAPSES
from reap.elicitation import Elicitation
from reap.elicitation.learned import FACTORS
from reap.elicitation.pool import beside
from reap.language import N_, _, ngettext
from reap.learning.reading import Session, replayed
from reap.space import ActionSpace

#: A plan within this share of the best counts as found.
NEAR = 0.05
#: Groups of fewer people are put together: their figures would say more about single people than about the prior.
LEAST = 10
#: Pairs of columns that are listed, the strongest first, and how strongly they must go together.
_PAIRS, _STRONG = 8, 0.3
#: What people mind beside the changes themselves: as the columns of ``reap.elicitation.pool.beside``.
_BESIDE = (N_("the number of changes"), N_("waiting"))


def gain(prior: LearnedPrior) -> str:
    """Return what a prior gains on people who were held out, in a sentence: for an operator."""
    who = ngettext("{n} person", "{n} people", prior.people).format(n=prior.people)
    figures = prior.figures
    if prior.learnt == "nothing":
        return _(
            "Nothing was learnt from {who}: people who were held out were not predicted better than by the default."
        ).format(who=who)
    if not figures:
        return _("Learnt from {who}.").format(who=who)
    return _(
        "Learnt from {who}: {learnt} of held-out answers predicted, {default} by the default; "
        "log-likelihood a person {gain} [{low}, {high}]."
    ).format(
        who=who,
        learnt=_percent(figures["learnt_predicted"]),
        default=_percent(figures["default_predicted"]),
        gain=f"{figures['gain']:+.2f}",
        low=f"{figures['gain_low']:+.2f}",
        high=f"{figures['gain_high']:+.2f}",
    )


def describe(prior: LearnedPrior) -> str:
    """Return the report of a prior as text: what was learnt, how much people differ in it, and what it is worth."""
    lines = [gain(prior), ""]
    if prior.learnt != "nothing":
        lines.append(_("How hard each column is to change, times the average (from … to: 95 % of people):"))
        width = max(map(len, prior.names))
        k = len(prior.names)
        scales, spread = prior.mean[:k] - prior.mean[:k].mean(), np.sqrt(np.diag(prior.covariance)[:k])
        for i in np.argsort(-scales, kind="stable"):
            low, middle, high = np.exp(scales[i] + 1.96 * spread[i] * np.array([-1, 0, 1]))
            lines.append(f"  {prior.names[i]:<{width}}  {middle:6.2f}  [{low:.2f}, {high:.2f}]")
        pairs = _pairs(prior)
        if pairs:
            lines += ["", _("Columns that the same people find hard (+), or different people (−):")]
            lines += [f"  {one} · {two}  {value:+.2f}" for one, two, value in pairs]
        if prior.minded.size:
            lines += ["", _("What people mind beside the changes themselves:")]
            lines += [_minded(prior, j) for j in range(len(prior.minded))]
        careful = 100 * (prior.lapses @ LAPSES)
        lines += ["", _("Answers given at random: {share} %.").format(share=f"{careful:.0f}")]
        lines.append(
            _("Named an option without looking: {share} of people.").format(share=_percent(prior.guessing))
        )
    lines.append(_("Hash {hash}.").format(hash=prior.hash))
    return "\n".join(lines)


def _minded(prior: LearnedPrior, j: int) -> str:
    """Return how many people mind one of the columns beside, and how much those do."""
    return "  " + _("{what}: {share} of people, for whom it counts {weight} times a typical change").format(
        what=_(_BESIDE[j]), share=_percent(prior.minded[j]), weight=f"{np.exp(prior.heavy[j]):.2f}"
    )


def _pairs(prior: LearnedPrior) -> list[tuple[str, str, float]]:
    """Return the pairs of columns that go together most, strongest first."""
    (rows, columns), k = np.triu_indices(len(prior.names), 1), len(prior.names)
    spread = np.sqrt(np.diag(prior.covariance)[:k])
    values = (prior.covariance[:k, :k] / (spread[:, None] * spread))[rows, columns]
    strong = np.flatnonzero(np.abs(values) > _STRONG)
    order = strong[np.argsort(-np.abs(values[strong]), kind="stable")][:_PAIRS]
    return [(prior.names[rows[i]], prior.names[columns[i]], float(values[i])) for i in order]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


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
    assert state.pool.sizes is not None  # set by the first answer
    pool = np.hstack([pool, beside(space, list(state.pool), state.pool.sizes)])
    factors = np.ones(space.dimension)
    for name, level in state.difficulties.items():
        factors[space.slices[name]] = FACTORS[level]
    shown = {
        name: _shown(given, state, space, factors, pool)
        for name, given in (("default", "people"), ("learnt", prior))
    }
    true = (shown["default"][-1] + shown["learnt"][-1]) / 2
    row: dict[str, Any] = {"group": state.events[0].payload["subject"][by], "best": float(true.min())}
    for name, each in shown.items():
        asked = np.array([true[int(np.argmin(expected))] for expected in each])
        near = asked <= (1 + NEAR) * true.min() + 1e-12
        row[f"{name}_first"] = float(asked[0])
        row[f"{name}_needed"] = int(near.argmax()) if near.any() else len(near)
    return row


def _shown(
    given: str | LearnedPrior, state: Elicitation, space: ActionSpace, factors: Array, pool: Array
) -> list[Array]:
    """Return the expected efforts of the plans after 0, 1, … answers."""
    more = pool.shape[1] - space.dimension
    belief = Posterior(space.dimension, given, difficulties=factors, columns=space.legal.movable, beside=more)
    found = [belief.expected(pool)]
    for answer in state.answers:
        answer.teach(belief)
        found.append(belief.expected(pool))
    return found


def _summary(name: str, part: Frame) -> dict[str, Any]:
    best = float(part["best"].sum())
    row: dict[str, Any] = {"group": name, "people": len(part)}
    for prior in ("default", "learnt"):
        row[f"answers needed, {prior}"] = round(float(part[f"{prior}_needed"].mean()), 2)
        row[f"first excess, {prior}"] = round(float(part[f"{prior}_first"].sum()) / best - 1, 3)
    return row
