"""The paper's graph generator: plans as paths through rows of other people, projected on what the subject can become."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from cachetools import LRUCache

from reap import effort
from reap._errors import InputError, whole
from reap._typing import Array, Frame, Ints
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.language import _
from reap.plan import Plan, Status
from reap.recourse.engine import Candidates, Engine, Objective, Subject, check_robust
from reap.recourse.fitting import prototypes, typical
from reap.recourse.paper.minimax import minimax, worst_case
from reap.recourse.paper.paths import (
    EdgeEfforts,
    OtherRows,
    Positions,
    ShortestPaths,
    StepEffort,
    Subgraph,
    shortest,
)
from reap.space import Limits

#: Bytes for what is kept of subjects, and how many of them at least and at most: a session asks for plans of the same
#: person again and again, and a service holds hundreds of sessions at a time.
_MEMORY, _FEWEST, _MOST = 2**27, 8, 512


@dataclass(eq=False, repr=False)
class GraphRecourse(Engine):
    """Paths along a graph of rows, as in the paper: every stage is near to what somebody already is.

    ``fit`` links each row with its K nearest, once. For a subject each row becomes what *this person* would become
    (what cannot change takes the person's own value) and is scored again. The plan is the legal path of least effort
    to an accepted row. A step from ``x_i`` to ``x_j`` asks ``(x_j − x_i)ᵀA(x_j − x_i)``, and a path the sum of its
    steps. Many small steps therefore ask less than one large one: never compare this effort with that of another engine.
    Where no accepted row is linked, K doubles, and the plan says so. For people use ``reap.Recourse``.

    Parameters
    ----------
    model, space, target, threshold, output, unit, durability, margin, random_state, time_limit
        As of every ``Engine``.
    n_neighbors : int
        Neighbours of each row, K.
    max_neighbors : int
        K doubles up to this where nothing accepted is in reach.
    anonymity : int, optional
        Stages of a plan come close to other people's records. Give k where the people who see plans must not learn
        anything about a single one (personal data shown outside the organisation): rows are then replaced by averages
        of at least k of them, scored again by the model. Plans then ask a little more. This hides records, it does not
        protect against somebody who asks for plans many times.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X, features={"income": {"unit": "EUR"}})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = reap.GraphRecourse(model, space).fit(X)
    >>> plan = engine.plans(pd.Series({"income": 2000, "debts": 2}), np.eye(2)[None])[0]
    >>> plan.status, plan.valid
    ('ok', True)
    """

    _: KW_ONLY
    n_neighbors: int = 10
    max_neighbors: int = 160
    anonymity: int | None = None

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row of other people, usually those the model was trained on, with its nearest ones.

        The labels y are needed where ``durability`` is asked for without ``models``.
        """
        self._check()
        self._accept(X, y)
        Z = self.space.encode(X)
        if self.anonymity is not None:
            Z = prototypes(self.space, Z, self.anonymity)
        self.typical_ = typical(self.classifier_, Z[self.classifier_.accepts(Z)])
        most = max(self.n_neighbors, self.max_neighbors)
        self.rows_ = OtherRows(self.space, Z, most)
        self._forget()
        return self

    def _check(self) -> None:
        for name in ("n_neighbors", "max_neighbors", "anonymity"):
            if whole(name, getattr(self, name)) is None and name != "anonymity":
                raise InputError(f"{name} is None; give a whole number of at least 1")
        self._deadline()

    def _forget(self) -> None:
        size = len(self.rows_) * (16 * self.space.dimension + 64)  # bytes, about, of one subject
        self._kept: LRUCache[Any, Paths] = LRUCache(max(_FEWEST, min(_MOST, _MEMORY // size)))
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in super().__getstate__().items() if k not in ("_kept", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "rows_"):
            self._forget()

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the path of least effort for each matrix (b, d, d) or (d, d), or for each of some efforts.

        Of efforts that are curved each step counts by its own ``φ_p``, as for p = 1 by its own square. What a change or waiting
        asks beside its size is no part of the paper's paths, and left out.
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        people = self._efforts(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(people)
        if len(people) == 0:
            return []
        with self._paths(subject, limits) as paths:
            found = paths.least(
                lambda graph: graph.efforts(people),
                lambda k, rows: people[k : k + 1].ask(effort.moves(rows)),
                len(people),
                deadline,
            )
            return self.acceptance_.told(found)

    def path(self, x: Any, effort_of: StepEffort, limits: Limits | None = None) -> Plan:
        """Return the path of least effort where steps are measured by a function, none of them negative.

        ``effort_of`` takes the starts (n, d) and the ends (n, d) of steps and returns their efforts (n,).

        Examples
        --------
        >>> import numpy as np, pandas as pd, reap
        >>> X = pd.DataFrame({"a": [0.0, 0.4, 0.8, 1.0], "b": [0.0, 0.2, 0.1, 1.0]})
        >>> model = lambda rows: (rows["a"] > 0.7) * 0.9
        >>> engine = reap.GraphRecourse(model, reap.ActionSpace.from_frame(X), n_neighbors=1).fit(X)
        >>> plan = engine.path(X.iloc[0], lambda before, after: np.abs(after - before).sum(axis=1))
        >>> round(plan.effort, 6)
        1.1
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return subject.verdict
        with self._paths(subject, limits) as paths:
            found = paths.least(
                lambda graph: graph.efforts_by(effort_of),
                lambda k, rows: effort_of(rows[:-1], rows[1:]),
                1,
                deadline,
            )
            return self.acceptance_.told(found)[0]

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the path whose worst-case effort over a confidence set is least.

        "worst-case" takes every step at its own worst matrix, the paper's relaxation: the effort is ``Σ w̄``. "minimax"
        takes one matrix for the whole path and is exact. The plan's ``bound`` is what any path asks at worst, at least.
        """
        check_robust(confidence_set, objective, self.space.dimension)
        deadline = self._deadline()
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return subject.verdict
        with self._paths(subject, limits) as paths:
            return self.acceptance_.told([paths.robust(confidence_set, objective, deadline)])[0]

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows the subject could become, as one-step plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates.none(subject)
        with self._paths(subject, limits) as paths:
            return paths.candidates()

    @contextmanager
    def _paths(self, subject: Subject, limits: Limits | None) -> Iterator[Paths]:
        """Yield the subject's paths, made on first use, kept for the next question, and asked by one thread at a time."""
        key = subject.z.tobytes(), repr(limits or None)
        with self._lock:
            paths = self._kept.get(key)
            if paths is None:
                positions = Positions(subject, self.rows_, self.acceptance_)
                paths = self._kept[key] = Paths(positions, self.n_neighbors, self.max_neighbors)
        with paths.lock:
            yield paths


class Paths:
    """What one subject is asked along the graph; hold ``lock`` while asking.

    Parameters
    ----------
    positions : Positions
    neighbors : int
        Neighbours of each row, K.
    max_neighbors : int
        K doubles up to this where nothing accepted is in reach.
    """

    def __init__(self, positions: Positions, neighbors: int, max_neighbors: int) -> None:
        self.positions, self.neighbors, self.max_neighbors = positions, neighbors, max_neighbors
        self.lock = threading.RLock()
        self._subgraphs: dict[int, Subgraph] = {}

    def least(
        self,
        efforts_in: Callable[[Subgraph], EdgeEfforts],
        of_steps: Callable[[int, Array], Array],
        width: int,
        deadline: float,
    ) -> list[Plan]:
        """Return the path of least effort for each of some people; ``of_steps`` gives the efforts of the steps between rows."""
        graph, found = self._search(efforts_in, width, deadline)
        return [
            self._nothing(found.timed_out)
            if edges is None
            else self._plan(graph, edges, float(of_steps(k, graph.done(edges)).sum()), found.timed_out)
            for k, edges in enumerate(found.edges)
        ]

    def robust(self, beliefs: ConfidenceSet, objective: Objective, deadline: float) -> Plan:
        """Return the path whose worst-case effort over a confidence set is least."""
        identity = effort.identity(beliefs.dimension)[None]
        graph, first = self._search(lambda graph: graph.efforts(identity), 1, deadline)
        if first.edges[0] is None:
            return self._nothing(first.timed_out)

        def search(efforts: EdgeEfforts) -> ShortestPaths:
            return shortest(graph, efforts, 1, deadline)

        if objective == "minimax":
            found = minimax(graph, beliefs, search, deadline)
        else:
            found = worst_case(graph, beliefs, search)
        if found is None:
            return self._nothing(timed_out=True)
        return self._plan(graph, found.edges, found.effort, time.monotonic() > deadline, found.bound)

    def candidates(self) -> Candidates:
        """Return the accepted positions, nearest first."""
        nearest = self.positions.nearest
        fine = nearest[self.positions.accepted(nearest)]
        return Candidates(self.positions.subject, self.positions.vectors(fine), self.positions.scores[fine])

    def _search(
        self, efforts_in: Callable[[Subgraph], EdgeEfforts], width: int, deadline: float
    ) -> tuple[Subgraph, ShortestPaths]:
        """Search with K neighbours, and twice as many while nothing accepted is in reach."""
        neighbors = self.neighbors
        while True:
            if neighbors not in self._subgraphs:
                self._subgraphs[neighbors] = Subgraph(self.positions, neighbors)
            graph = self._subgraphs[neighbors]
            found = shortest(graph, efforts_in(graph), width, deadline)
            wider = max(neighbors, min(2 * neighbors, self.max_neighbors))
            reached = any(edges is not None for edges in found.edges)
            everybody = neighbors >= len(self.positions.rows)
            if reached or found.timed_out or wider == neighbors or everybody:
                return graph, found
            neighbors = wider

    def _plan(
        self, graph: Subgraph, edges: Ints, total: float, timed_out: bool, bound: float | None = None
    ) -> Plan:
        said = []
        if graph.neighbors > self.neighbors:
            wider = _(
                "Nothing accepted was within reach of {few} neighbours a step; this plan needed {many}."
            )
            said.append(wider.format(few=self.neighbors, many=graph.neighbors))
        if timed_out:
            said.append(_("The search was stopped at its time limit; an easier plan may exist."))
        return Plan(
            self.positions.space,
            graph.path(edges),
            graph.scores(edges),
            effort=total,
            scale=self.positions.subject.scale,
            note=" ".join(said),
            bound=bound,
            neighbors=graph.neighbors,
            along=True,
        )

    def _nothing(self, timed_out: bool) -> Plan:
        status: Status = "time_limit" if timed_out else "unreachable"
        said = _("No accepted row is linked to yours, even with {count} neighbours a step.")
        note = said.format(count=self.max_neighbors)
        return self.positions.subject.refused(status, "" if timed_out else note)
