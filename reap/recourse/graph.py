"""Plans as paths through rows of other people, projected on what the subject can become."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, Self

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.plan import Plan, Status
from reap.recourse._graph_neat import Neat
from reap.recourse._graph_tidy import Price, quadratic
from reap.recourse.engine import Candidates, Engine, Objective, Subject
from reap.recourse.robust.minimax import minimax
from reap.recourse.robust.path_worst_case import moves_of, worst_case
from reap.recourse.routes.path.edges import Region
from reap.recourse.routes.path.nodes import View
from reap.recourse.routes.path.rows import Rows
from reap.recourse.routes.path.search import Found, Weigh, efforts, shortest
from reap.recourse.targets.prototypes import prototypes
from reap.space import ActionSpace, Limits

#: Bytes for the views of the graph that are kept, and how many there are at least and at most: a dialogue asks for
#: plans of the same person again and again, and a service holds hundreds of dialogues at a time.
_MEMORY, _FEWEST, _MOST = 2**27, 8, 512


class GraphRecourse(Engine):
    """Sequential plans along a graph of rows: every stage is near to what somebody already is.

    ``fit`` links each row with its K nearest, once. For a subject each row becomes what *this person* would become
    (what cannot change takes the person's own value), is scored again, and the cheapest legal path to an accepted
    row is the plan; an edge costs ``(x_i − x_j)ᵀA(x_i − x_j)``. Where no accepted row is linked, K doubles, and the
    plan says so.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float
        Rows with a probability above it are accepted.
    n_neighbors : int
        Neighbours of each row, K.
    max_neighbors : int
        K doubles up to this where nothing accepted is in reach.
    tidy : bool
        Plans a person would draw up: only changes that the decision needs, only as far as it needs them, in a few even
        steps. False: the raw path along rows, as in the paper.
    max_steps : int, optional
        Steps of a tidied plan at most, where legal steps allow it (the exact "minimax" keeps its own). Effort is the
        square of a step, so where rows lie close together the cheapest path creeps in dozens of tiny ones; None allows it.
    candidate_rows : int
        Accepted rows nearest to the subject whose changes, as far as the decision needs them, are the targets of tidied
        plans. More find cheaper plans and take longer.
    anonymity : int, optional
        Stages of a plan come close to other people's records. Give k where the people who see plans must not learn
        anything about a single one (personal data shown outside the organisation): rows are then replaced by averages
        of at least k of them, scored again by the model. Plans get a little dearer. This hides records, it does not
        protect against somebody who asks for plans many times.
    approximate : bool
        Find neighbours through a clustering; for hundreds of thousands of rows.
    random_state : int
    time_limit : float, optional
        Seconds a call may take; then the best plan so far is given, with a note.
    verbose : bool

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(10, 60, 80) * 100, "debts": rng.integers(0, 6, 80)})
    >>> space = reap.ActionSpace.from_frame(X, units={"income": "EUR"})
    >>> model = lambda rows: 1 / (1 + np.exp(4 - rows["income"] / 1000 + rows["debts"]))
    >>> engine = reap.GraphRecourse(model, space).fit(X)
    >>> plan = engine.plans(pd.Series({"income": 2000, "debts": 2}), np.eye(2)[None])[0]
    >>> plan.status, plan.valid
    ('ok', True)
    """

    def __init__(
        self,
        model: Any,
        space: ActionSpace,
        *,
        target: Any = 1,
        threshold: float = 0.5,
        n_neighbors: int = 10,
        max_neighbors: int = 160,
        tidy: bool = True,
        max_steps: int | None = 4,
        candidate_rows: int = 128,
        anonymity: int | None = None,
        approximate: bool = False,
        random_state: int = 0,
        time_limit: float | None = None,
        verbose: bool = False,
    ) -> None:
        self.model = model
        self.space = space
        self.target = target
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.max_neighbors = max_neighbors
        self.tidy = tidy
        self.max_steps = max_steps
        self.candidate_rows = candidate_rows
        self.anonymity = anonymity
        self.approximate = approximate
        self.random_state = random_state
        self.time_limit = time_limit
        self.verbose = verbose

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row with its nearest ones.

        Parameters
        ----------
        X : DataFrame
            Rows of other people, usually those the model was trained on.
        y : ignored
        """
        self._check()
        self.classifier_ = self._wrap()
        Z = self.space.encode(X)
        if self.anonymity is not None:
            Z = prototypes(self.space, Z, self.anonymity)
        most = max(self.n_neighbors, self.max_neighbors)
        self.rows_ = Rows(self.space, Z, most, self.approximate, self.random_state)
        self._views: OrderedDict[Any, View] = OrderedDict()
        if self.verbose:
            print(
                f"{len(self.rows_):,} distinct rows of {len(X):,}, {self.rows_.lists.shape[1]} neighbours each"
            )
        return self

    def _check(self) -> None:
        for name in ("n_neighbors", "max_neighbors", "candidate_rows", "anonymity"):
            value = getattr(self, name)
            if name == "anonymity" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise InputError(f"{name} is {value!r}; give a whole number of at least 1")
        if self.max_steps is not None and self.max_steps < 1:
            raise InputError(f"max_steps is {self.max_steps!r}; give a whole number of at least 1, or None")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit is {self.time_limit!r}; give seconds above 0, or None")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_views" in state:
            state["_views"] = OrderedDict()
        return state

    # answers -----------------------------------------------------------------------------------------

    def plans(self, x: Any, matrices: Array, limits: Limits | None = None) -> list[Plan]:
        """Return the cheapest plan for each cost matrix.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        matrices : (b, d, d) or (d, d)
        limits : Limits, optional
            What this person cannot or will not do.

        Returns
        -------
        list of Plan, b of them
        """
        deadline = self._deadline()
        subject = self._subject(x, limits)
        matrices = self._matrices(matrices)
        if subject.verdict is not None:
            return [subject.verdict] * len(matrices)
        if len(matrices) == 0:
            return []
        view = self._view(subject, limits)
        with view.lock:
            return (self._neat_plans if self.tidy else self._raw_plans)(view, matrices, deadline)

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows the subject could become, as one-step plans, nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates(subject, np.empty((0, self.space.dimension)), np.empty(0))
        view = self._view(subject, limits)
        with view.lock:
            nodes = view.nearest(len(view))
            scores = view.score(nodes)
            fine = view.accepts(scores)
            nodes, scores = nodes[fine], scores[fine]
            return Candidates(subject, view.vectors(nodes), scores)

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort over a confidence set is least.

        Parameters
        ----------
        x, limits : as in ``plans``
        confidence_set : ConfidenceSet
            The matrices that fit the answers.
        objective : {"worst-case", "minimax"}
            "worst-case": every step at its own worst matrix, the paper's relaxation; the cost is ``Σ w̄``. "minimax":
            one matrix for the whole path, exact; ``bound`` proves it.

        Returns
        -------
        Plan
            ``bound`` is a lower bound of what any path in the graph costs at worst.
        """
        if objective not in ("worst-case", "minimax"):
            raise unknown("objective", objective, ("worst-case", "minimax"))
        if confidence_set.dimension != self.space.dimension:
            raise InputError(
                f"the confidence set has dimension {confidence_set.dimension}; the space has {self.space.dimension} "
                "encoded columns"
            )
        deadline = self._deadline()
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return subject.verdict
        view = self._view(subject, limits)
        with view.lock:
            start = efforts(np.eye(len(view.movable))[None])
            region, first = self._search(view, start, 1, deadline)
            if first.edges[0] is None:
                return self._nothing(view, first.timed_out)

            def search(weigh: Weigh, width: int) -> Found:
                return self._legal_search(region, weigh, width, deadline)

            def tidied(path: Array, price: Price) -> Array:
                return self._neat(view).robust(path, price, confidence_set.center().matrix)

            neat = tidied if self.tidy else None
            if objective == "minimax":
                found = minimax(region, confidence_set, search, neat, deadline)
            else:
                found = worst_case(region, confidence_set, search, neat)
            late = time.monotonic() > deadline
            if found is None:
                return self._nothing(view, timed_out=True)
            return self._plan(region, found.path, found.cost, bound=found.bound, timed_out=late)

    # how ---------------------------------------------------------------------------------------------

    def _deadline(self) -> float:
        return np.inf if self.time_limit is None else time.monotonic() + self.time_limit

    def _view(self, subject: Subject, limits: Limits | None) -> View:
        key = subject.z.tobytes(), repr(limits or None)
        view = self._views.pop(key, None)
        if view is None:
            counts = (self.space.max_changes, limits.max_changes if limits else None)
            counted = any(count is not None for count in counts)
            view = View(subject, self.rows_, self.classifier_, counted)
        self._views[key] = view
        size = len(self.rows_) * (16 * self.space.dimension + 64)
        while len(self._views) > max(_FEWEST, min(_MOST, _MEMORY // size)):
            self._views.popitem(last=False)
        return view

    def _search(self, view: View, weigh: Weigh, width: int, deadline: float) -> tuple[Region, Found]:
        """Search with K neighbours, and twice as many while nothing accepted is in reach; every step is checked."""
        neighbors = self.n_neighbors
        while True:
            region = view.region(neighbors)
            found = self._legal_search(region, weigh, width, deadline)
            wider = max(neighbors, min(2 * neighbors, self.max_neighbors))
            reached = any(edges is not None for edges in found.edges)
            if reached or found.timed_out or wider == neighbors or neighbors >= len(self.rows_):
                return region, found
            neighbors = wider

    @staticmethod
    def _legal_search(
        region: Region, weigh: Weigh, width: int, deadline: float, most: Array | None = None
    ) -> Found:
        while True:
            found = shortest(region, weigh, width, deadline, most)
            used = np.unique(np.concatenate([e for e in found.edges if e is not None] or [np.arange(0)]))
            before, after = region.vectors[region.source[used]], region.vectors[region.target[used]]
            legal = region.view.steps_legal(before, after)
            if legal.all():
                region.paths.update(tuple(edges.tolist()) for edges in found.edges if edges is not None)
                return found
            region.ban(used[~legal])

    def _raw_plans(self, view: View, matrices: Array, deadline: float) -> list[Plan]:
        """Return the cheapest paths as they are."""
        small = matrices[:, view.movable[:, None], view.movable]
        if len(small) > 1:  # a first path bounds the search of all others
            self._search(view, efforts(small.mean(axis=0, keepdims=True)), 1, deadline)
        region, found = self._search(view, efforts(small), len(matrices), deadline)
        paths = [None if edges is None else region.path(edges) for edges in found.edges]
        return self._finish(region, paths, matrices, found.timed_out)

    def _neat_plans(self, view: View, matrices: Array, deadline: float) -> list[Plan]:
        """Return the cheapest of direct ways and, where steps are not limited, tidied paths."""
        region = self._linked(view, deadline)
        if region is None:
            return [self._nothing(view, time.monotonic() > deadline)] * len(matrices)
        neat = self._neat(view)
        costs = neat.costs(matrices)
        chosen = neat.choose([None] * len(matrices), matrices, costs)
        timed_out = False
        if self.max_steps is None or any(path is None for path in chosen):
            # a path of many small steps may be cheaper still; one that is dearer than a way already is not looked for
            weigh = efforts(matrices[:, view.movable[:, None], view.movable])
            none = np.array([path is None for path in chosen])
            most = np.where(none, np.inf, costs.min(axis=1, initial=np.inf))
            found = self._legal_search(region, weigh, len(matrices), deadline, most)
            paths = [None if edges is None else region.path(edges) for edges in found.edges]
            chosen, timed_out = neat.choose(paths, matrices, costs), found.timed_out
        return self._finish(region, chosen, matrices, timed_out)

    def _linked(self, view: View, deadline: float) -> Region | None:
        """Return the graph with K neighbours, or twice as many while nothing accepted is linked to the subject."""
        neighbors = self.n_neighbors
        while not (region := view.region(neighbors)).reaches(deadline):
            wider = max(neighbors, min(2 * neighbors, self.max_neighbors))
            if wider == neighbors or neighbors >= len(self.rows_) or time.monotonic() > deadline:
                return None
            neighbors = wider
        return region

    def _neat(self, view: View) -> Neat:
        if view.neat is None:
            view.neat = Neat(view, self.candidate_rows, self.max_steps, self.random_state)
        return view.neat

    def _finish(
        self, region: Region, paths: list[Array | None], matrices: Array, timed_out: bool
    ) -> list[Plan]:
        """Return paths as plans: scored, priced."""
        view = region.view
        found = [path for path in paths if path is not None]
        if found:
            view.score_rows(np.concatenate(found))  # all at once; each plan then looks its own scores up
        return [
            self._nothing(view, timed_out)
            if path is None
            else self._plan(region, path, float(quadratic(A)(moves_of(path)).sum()), timed_out=timed_out)
            for path, A in zip(paths, matrices, strict=True)
        ]

    def _plan(
        self, region: Region, path: Array, cost: float, *, bound: float | None = None, timed_out: bool = False
    ) -> Plan:
        view = region.view
        return Plan(
            view.space,
            path,
            view.score_rows(path),
            effort=cost,
            threshold=self.threshold,
            note=self._note(region.neighbors, timed_out),
            bound=bound,
            neighbors=region.neighbors,
            along=True,
        )

    def _note(self, neighbors: int, timed_out: bool) -> str:
        said = []
        if neighbors > self.n_neighbors:
            said.append(
                f"Nothing accepted was within reach of {self.n_neighbors} neighbours a step; this plan needed {neighbors}."
            )
        if timed_out:
            said.append("The search was stopped at its time limit; an easier plan may exist.")
        return " ".join(said)

    def _nothing(self, view: View, timed_out: bool) -> Plan:
        status: Status = "time_limit" if timed_out else "unreachable"
        note = (
            ""
            if timed_out
            else f"No accepted row is linked to yours, even with {self.max_neighbors} neighbours a step."
        )
        subject = view.subject
        return Plan.none(
            view.space, view.z0, subject.probability, status, threshold=self.threshold, note=note
        )
