"""De Toni et al., "Personalized algorithmic recourse with preference elicitation" (2022): PEAR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from reap import effort
from reap._errors import unknown
from reap._typing import Array, Frame
from reap.plan import Plan
from reap.recourse import Subject
from reap.research.baselines.baseline import PathBaseline
from reap.research.baselines.pear_cost import Cost
from reap.research.baselines.pear_session import Estimate, Session
from reap.space import Limits

#: The prior: a mixture of Gaussians with identity covariance and means from this cube.
_COMPONENTS, _REACH = 6, 50.0
#: An edge costs at least this.
_LEAST = 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class PEAR(PathBaseline):
    """Recourse with a session of its own: weights of a cost on features are learnt from choices between two rows.

    ``session`` starts one; ``plans`` answers for somebody who was asked nothing, at the prior mean. The graph is that of
    ``GraphRecourse``, weighed with PEAR's cost. Effort matrices do not enter.

    Parameters
    ----------
    model, space, target, threshold, constraints, random_state
        As in ``Baseline``.
    n_neighbors, max_neighbors : int
        As in ``GraphRecourse``.
    dag : mapping, optional
        Which features act on which, parent to children; none by default. ``DAGS`` has the authors' own.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = PEAR(model, space, dag={"income": ["debts"]}).fit(X)
    >>> session = engine.session(pd.Series({"income": 2000, "debts": 2}))
    >>> question = session.ask()
    >>> session.answer(0)
    >>> session.recommend().valid
    True
    """

    dag: Mapping[str, Sequence[str]] | None = None

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row with its nearest ones, and draw the prior's means."""
        self.cost_ = Cost(self.space, self.dag or {})
        rng = np.random.default_rng(self.random_state)
        self.means_ = rng.uniform(-_REACH, _REACH, (_COMPONENTS, self.cost_.size))
        return super().fit(X, y)

    def session(self, x: Any, *, limits: Limits | None = None, estimate: Estimate = "best") -> Session:
        """Start PEAR's own session with one person.

        Parameters
        ----------
        x : Series or one-row DataFrame
        limits : Limits, optional
        estimate : {"best", "mean"}
            The weights to plan with: the mean of the 25 likeliest particles, or of all of them.
        """
        if estimate not in ("best", "mean"):
            raise unknown("estimate", estimate, ("best", "mean"))
        return Session(self, x, limits, estimate)

    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        return self.planned(subject.space.decode(subject.z[None]), self.means_.mean(axis=0), limits)

    def planned(self, x: Any, weights: Array, limits: Limits | None = None) -> Plan:
        """Return the cheapest path under weights (size,); the note says which share of its edges costs nothing."""

        def cost(before: Array, after: Array) -> Array:
            costs = self.cost_.of(self.cost_.terms(before, after), weights[None])[0]
            return np.asarray(np.maximum(costs, _LEAST))

        plan = self.graph_.path(x, cost, limits)
        if plan.status != "ok":
            return plan
        clipped = float((cost(plan.path[:-1], plan.path[1:]) <= _LEAST).mean())
        note = f"{plan.note} {clipped:.0%} of the steps cost nothing.".strip()
        return plan.with_(effort=float(effort.size(plan.moves).sum()), note=note)
