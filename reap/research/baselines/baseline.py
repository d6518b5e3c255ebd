"""What the baselines share: they do not listen to the person, so one plan answers for every matrix."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np

from reap import effort
from reap._arrays import unique_rows
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import ConfidenceSet
from reap.effort import Efforts
from reap.plan import Plan
from reap.recourse import Candidates, Durability, Engine, GraphRecourse, Subject
from reap.recourse.engine import Objective, check_robust
from reap.space import ActionSpace, Feature, Limits

#: What a feature is and how it is spoken of. Whatever else a feature can carry restricts it.
DESCRIPTION = (
    "name",
    "kind",
    "range",
    "span",
    "levels",
    "label",
    "unit",
    "notice",
    "deed",
    "includes",
    "missing",
    "phrases",
    "translations",
    "columns",
    "dtype",
)


def free(space: ActionSpace) -> ActionSpace:
    """Return the space with the same vectors in which anything may become anything: the paper's setting.

    Examples
    --------
    >>> space = ActionSpace([Feature("age", "integer", range=(18, 80), direction="up", max_change=5)])
    >>> bool(free(space).allows(space.vector({"age": 40}), space.vector({"age": 30}))[0])
    True
    """
    features = []
    for feature in space.features:
        kept = {name: getattr(feature, name) for name in DESCRIPTION}
        kept["phrases"] = _timeless(feature.phrases)
        kept["translations"] = {
            language: {word: _timeless(said) if word == "phrases" else said for word, said in words.items()}
            for language, words in feature.translations.items()
        }
        if feature.kind == "integer":
            kept["kind"] = "numeric"  # whole numbers are a step of 1
        features.append(Feature(**kept))
    return ActionSpace(features, title=space.title, encoded=space.encoded)


def _timeless(phrases: Mapping[str, Any]) -> dict[str, Any]:
    """Return phrases without those that mention how long a change takes: here nothing takes any time."""
    return {
        key: phrase
        for key, phrase in phrases.items()
        if not isinstance(phrase, str) or "{months" not in phrase
    }


@dataclass(eq=False, repr=False)
class Baseline(Engine):
    """A generator that gives one plan a subject; subclasses answer ``_plan`` and, in ``fit``, set ``classifier_``.

    Baselines are dataclasses: what they share is said once, and ``__init__`` still names every parameter.

    Parameters
    ----------
    model, space, target, threshold, output, unit, durability, margin, random_state
        As of every ``reap.recourse.Engine``. By default today's model alone decides, as the papers have it.
    constraints : bool
        False: the paper's setting. Anything may become anything, nothing is rounded.
    """

    _: KW_ONLY
    constraints: bool = True
    time_limit: float | None = field(default=None, init=False)  # the published methods have none

    @abstractmethod
    def _plan(self, subject: Subject, limits: Limits | None) -> Plan:
        """Return the plan of somebody whom the model rejects."""

    def _subject(self, x: Any, limits: Limits | None = None) -> Subject:
        subject = super()._subject(x, limits)
        if self.constraints or subject.accepted:
            return subject
        space = free(self.space).tighten(limits)
        return replace(subject, space=space, obstacle=space.legal.obstacle(subject.z))

    def _found(self, subject: Subject, limits: Limits | None) -> Plan:
        """Return what is known of the subject already, or the plan with what the model's updates say of it."""
        plan = subject.verdict or self._plan(subject, limits)
        return plan if plan.status != "ok" else self.acceptance_.told([plan])[0]

    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the subject's plan once for each matrix (b, d, d) or (d, d), at its effort under it."""
        subject, people = self._subject(x, limits), self._efforts(matrices)
        plan = self._found(subject, limits)
        if plan.status != "ok":
            return [plan] * len(people)
        efforts = people.ask(np.atleast_2d(plan.moves)).sum(axis=1)
        return [plan.with_(effort=float(asked)) for asked in efforts]

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the subject's plan at its worst-case effort; the confidence set does not change it."""
        subject = self._subject(x, limits)
        check_robust(confidence_set, objective, self.space.dimension)
        plan = self._found(subject, limits)
        if plan.status != "ok":
            return plan
        return plan.with_(effort=confidence_set.worst_case_plan(plan.moves).cost)


@dataclass(eq=False, repr=False, kw_only=True)
class PathBaseline(Baseline):
    """A baseline on the graph of ``GraphRecourse``, with its own idea of what an edge costs.

    Parameters
    ----------
    n_neighbors, max_neighbors : int
        Neighbours of each row, K, and up to how many K doubles where nothing accepted is in reach.
    """

    n_neighbors: int = 10
    max_neighbors: int = 160

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Link every row with its nearest ones."""
        self._accept(X, y)
        self.graph_ = GraphRecourse(
            self.model,
            self.space if self.constraints else free(self.space),
            target=self.target,
            threshold=self.threshold,
            output=self.output,
            unit=self.unit,
            durability=Durability(
                self.acceptance_.durability, models=[one.model for one in self.acceptance_.others] or None
            ),
            margin=self.margin,
            n_neighbors=self.n_neighbors,
            max_neighbors=self.max_neighbors,
            random_state=self.random_state,
        ).fit(X)
        return self

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted rows the subject could become, as one-step plans, nearest first."""
        return self.graph_.candidates(x, limits)


@dataclass(eq=False, repr=False, kw_only=True)
class RowBaseline(Baseline):
    """A baseline that looks for a row; it keeps the accepted rows of other people as candidates."""

    def fit(self, X: Frame, y: Any = None) -> Self:
        """Wrap the model and keep the rows of other people."""
        careful = self._accept(X, y).classifier
        self.rows_ = np.unique(self.space.encode(X), axis=0)
        self.accepted_ = careful.accepts(self.rows_)
        return self

    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return what the subject would become as each accepted row, where that is accepted: nearest first."""
        subject = self._subject(x, limits)
        if subject.verdict is not None or not self.accepted_.any():
            return Candidates.none(subject)
        rows = np.unique(self._legal(self.rows_[self.accepted_], subject), axis=0)
        rows = rows[subject.space.allows(subject.z, rows)]
        rows = rows[self.acceptance_.classifier.accepts(rows)] if len(rows) else rows
        return Candidates.nearest_first(subject, rows, self.classifier_)

    def _legal(self, rows: Array, subject: Subject) -> Array:
        """Return the nearest legal rows; in the paper's setting any point of the unit box is one."""
        return subject.space.project(rows, subject.z) if self.constraints else np.clip(rows, 0.0, 1.0)

    def _first(self, rows: Array, subject: Subject) -> Plan | None:
        """Return the plan to the first of rows (n, d) that, made legal, the model accepts; None where none is."""
        rows = self._legal(rows, subject)
        rows = rows[unique_rows(rows)]
        scores, good = self.classifier_.score(rows), self.acceptance_.classifier.accepts(rows)
        if self.constraints:
            good &= subject.space.allows(subject.z, rows)
        if not good.any():
            return None
        i = int(np.argmax(good))
        return subject.plan_to(
            rows[i], float(scores[i]), float(effort.size(effort.changes(rows[i], subject.z)))
        )


def above(name: str, value: float, least: float, strict: bool = False) -> None:
    """Refuse a parameter that is too small, in one sentence."""
    if not (value > least if strict else value >= least):
        raise InputError(
            f"{name} is {value!r}; give a number {'above' if strict else 'of at least'} {least:g}"
        )
