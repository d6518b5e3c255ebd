"""What every engine answers, and gets for that: a checked subject, a session, a table of recommendations.

An engine answers ``fit``, ``plans``, ``robust`` and ``candidates``. For that it gets ``elicit``, ``recommend``, ``reasons``; and
what sessions, batch and service ask for: ``plan_each``, ``fingerprint``, ``holding``, and the fitted names ``classifier_``
(today's model), ``acceptance_`` (who must accept a plan) and ``typical_`` (the typical accepted person).
"""

from __future__ import annotations

import copy
import hashlib
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from sklearn.base import BaseEstimator

from reap import effort
from reap._clock import deadline
from reap._errors import InputError
from reap._typing import Array, Frame
from reap.belief import Belief, ConfidenceSet
from reap.effort import Efforts
from reap.models import Classifier, wrap
from reap.plan import Plan, Status
from reap.questions import Strategy
from reap.recourse.acceptance import Acceptance, Durability
from reap.recourse.reasons import Reason, reasons
from reap.scores import Output, Scale, Threshold
from reap.space import ActionSpace, Limits
from reap.space.encoding import as_frame, as_given
from reap.space.feature import plain

if TYPE_CHECKING:
    from reap.elicitation import Elicitation
    from reap.elicitation.presets import Preset

#: Every step at its own worst matrix, or one worst matrix for the whole path; of a whole change both are the same.
Objective = Literal["worst-case", "minimax"]
#: Accepted rows kept of the table given to ``fit``.
ROWS = 5_000
#: People whose plans the model judges together.
TOGETHER = 32
#: Settings that change no plan, and those that the hashes of space and model cover; the rows and digits of the model's hash.
_SILENT = ("model", "space", "time_limit")
_PROBES, _DIGITS = 32, 3


@dataclass(frozen=True)
class Subject:
    """One person, checked and scored: the vector, the space within their limits, the model's verdict."""

    z: Array
    space: ActionSpace
    score: float
    scale: Scale
    accepted: bool
    obstacle: str | None

    @property
    def verdict(self) -> Plan | None:
        """The plan of somebody who needs none or can have none; None where an engine has work to do."""
        if self.accepted:
            return self.refused("already_accepted")
        if self.obstacle is not None:
            return self.refused("infeasible", self.obstacle[:1].upper() + self.obstacle[1:] + ".")
        return None

    def efforts(self, people: Efforts, rows: Array) -> Array:
        """Return what going to rows (n, d) asks of each of b people, (b, n)."""
        acts = np.array([feature.is_action for feature in self.space.features])
        done = self.space.legal.done(rows, self.z)
        return people.ask(
            effort.changes(done, self.z),
            self.space.encoding.changed(self.z, done)[:, acts].sum(axis=1),
            np.nan_to_num(self.space.months(self.z, rows)) / self.space.horizon,
        )

    def refused(self, status: Status, note: str = "") -> Plan:
        """Return the plan of somebody who stays where they are, and why."""
        return Plan.none(self.space, self.z, self.score, status, scale=self.scale, note=note)

    def plan_to(self, row: Array, score: float, effort: float, note: str = "") -> Plan:
        """Return the plan that leads to a row (d,) with this score in one step."""
        path, scores = np.stack([self.z, row]), np.array([self.score, score])
        return Plan(self.space, path, scores, effort=float(effort), scale=self.scale, note=note)


class Candidates(Sequence[Plan]):
    """Accepted legal rows as one-step plans, made when looked at.

    Parameters
    ----------
    subject : Subject
    targets : (N, d) vectors of the rows
    scores : (N,) the model's scores of them
    """

    def __init__(self, subject: Subject, targets: Array, scores: Array) -> None:
        self.subject, self.targets, self.scores = subject, targets, scores

    @classmethod
    def none(cls, subject: Subject) -> Candidates:
        """Return the candidates of somebody who has none, or needs none."""
        return cls(subject, np.empty((0, len(subject.z))), np.empty(0))

    @classmethod
    def nearest_first(cls, subject: Subject, rows: Array, classifier: Classifier) -> Candidates:
        """Return rows (N, d), scored by a model, as candidates in the order of their effort at the identity."""
        order = np.argsort(effort.size(subject.space.legal.moves(rows, subject.z)), kind="stable")
        return cls(subject, rows[order], classifier.score(rows[order]) if len(rows) else np.empty(0))

    @property
    def moves(self) -> Array:
        """The whole changes (N, d) that the person makes."""
        return self.subject.space.legal.moves(self.targets, self.subject.z)

    def __len__(self) -> int:
        return len(self.targets)

    @overload
    def __getitem__(self, i: int) -> Plan: ...
    @overload
    def __getitem__(self, i: slice) -> list[Plan]: ...
    def __getitem__(self, i: int | slice) -> Plan | list[Plan]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        change = self.subject.space.legal.moves(self.targets[i], self.subject.z)[0]
        return self.subject.plan_to(self.targets[i], float(self.scores[i]), float(effort.size(change)))

    def __iter__(self) -> Iterator[Plan]:
        return (self[i] for i in range(len(self)))


@dataclass(eq=False, repr=False)
class Engine(BaseEstimator, ABC):  # type: ignore[misc]
    """A recourse generator that can be asked for plans under many matrices.

    Every engine has these settings. One with an ``__init__`` of its own sets those that it takes there, and nothing else.

    Parameters
    ----------
    model : fitted classifier, Pipeline, function or torch model
        See ``reap.models.wrap``.
    space : ActionSpace
    target : hashable
        Label of the favourable class.
    threshold : float, or (low, high)
        Rows with a score above it are accepted; a range, for ``output="score"``, is to be reached, ends included.
    output : {"probability", "score"}
        What the model returns: "score" for points, margins, a regression; ``threshold=620, output="score"``.
    unit : str
        The word behind such a score: "points".
    durability : float, "chance", or Durability
        The share of retrainings of the model that should accept a plan as well: 0.95. By default 0: today's model alone
        decides, and a plan at its very edge may be refused after the next retraining. What is asked here is asked of
        every plan: nothing can be left out of it, and nobody gets one that today's model alone would accept. ``fit(X, y)`` makes
        the retrainings; ``reap.Durability(0.95, refits=40)`` says how, or gives other models. "chance": no share is demanded; a
        plan is the easiest chance of a yes (``reap.recourse.chance``), and without labels the easiest with a margin. What people
        meet (``reap serve``, ``ask``, ``recommend``) does that.
    margin : float
        What a score must have beyond the threshold, in its own unit, where a model cannot be retrained and there are no
        others: 0.03 of a probability, 5 points.
    random_state : int
    time_limit : float, optional
        Seconds a call may take; then the best plan so far is given, with a note.

    Attributes
    ----------
    classifier_ : Classifier
        Today's model, behind one interface; an engine is fitted once it has it.
    acceptance_ : Acceptance
        Who must accept a plan; both are set by ``_accept``.
    typical_ : (d,), or None
        The typical accepted person, kept by ``fit``; None where there is nobody.
    """

    model: Any
    space: ActionSpace
    _: KW_ONLY
    target: Any = 1
    threshold: Threshold = 0.5
    output: Output = "probability"
    unit: str = ""
    durability: float | Literal["chance"] | Durability = 0.0
    margin: float = 0.0
    random_state: int = 0
    time_limit: float | None = None
    classifier_: Classifier = field(init=False)
    acceptance_: Acceptance = field(init=False)
    typical_: Array | None = field(init=False)

    @abstractmethod
    def fit(self, X: Frame, y: Any = None) -> Self:
        """Learn from rows of other people; returns self."""

    @abstractmethod
    def plans(self, x: Any, matrices: Array | Efforts, limits: Limits | None = None) -> list[Plan]:
        """Return the plan of least effort for each matrix (b, d, d), or for each of some efforts."""

    @abstractmethod
    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Objective = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort over a confidence set is least."""

    @abstractmethod
    def candidates(self, x: Any, limits: Limits | None = None) -> Candidates:
        """Return the accepted legal rows as one-step plans."""

    # what follows from these ---------------------------------------------------------------------------

    def elicit(
        self,
        x: Any,
        *,
        questions: int = 5,
        options: int = 2,
        preset: str | Preset = "bayes",
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        limits: Limits | None = None,
        random_state: int | None = None,
    ) -> Elicitation:
        """Start a session with one person; see ``reap.Elicitation`` for what can be set.

        Begin with ``session.screen(…)``: what the person could change at all (``session.changeable``) and how hard it is.
        """
        # the one import against the order of layers, named in pyproject.toml
        from reap.elicitation import Elicitation

        return Elicitation(
            self,
            x,
            questions=questions,
            options=options,
            preset=preset,
            belief=belief,
            strategy=strategy,
            limits=limits,
            random_state=self.random_state if random_state is None else random_state,
        )

    def reasons(self, x: Any, n: int = 4) -> list[Reason]:
        """Return the principal reasons of a refusal, most important first: the factors that the model really scored.

        A reason is a factor in which the person differs from the typical accepted person, ordered by how much the score
        gains where it alone is typical; see ``reap.recourse.reasons``. Also what nobody can change is a reason.

        Parameters
        ----------
        x : Series, one-row DataFrame, or (d,) array for an encoded space
        n : int
            Reasons at most.

        Returns
        -------
        list of Reason
            Empty where the person is accepted.
        """
        self._check_fitted()
        return reasons(self.classifier_, self.space.vector(x), self.typical_, n)

    def recommend(
        self,
        X: Frame,
        *,
        matrix: Array | Efforts | None = None,
        limits: Limits | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Frame:
        """Return a plan for every row, without questions: one frame, same index and dtypes.

        Parameters
        ----------
        X : DataFrame
            Of pandas, polars or pyarrow; the result is of the same library.
        matrix : (d, d), or Efforts of one person, optional
            The effort assumed for everybody; the identity by default.
        n_jobs : int, optional
            Processes, as in joblib.
        verbose : bool
            Show a progress bar.

        Returns
        -------
        DataFrame
            The target's columns, then ``recourse_valid, recourse_effort, recourse_status, recourse_changes,
            recourse_months``. A row without a plan repeats the subject's own values.
        """
        self._check_fitted()
        given, X = X, as_frame(X)
        if not isinstance(X, pd.DataFrame) or len(X) == 0:
            raise InputError("give the subjects as a DataFrame with at least one row")
        A = self._efforts(effort.identity(self.space.dimension) if matrix is None else matrix)[:1]
        self.space.encode(X)  # bad rows are refused before any work is done
        parts = [X.iloc[i : i + TOGETHER] for i in range(0, len(X), TOGETHER)]
        if n_jobs in (None, 1):
            listed = track(parts, "Looking for plans") if verbose else parts
            found = [self.plan_each(part, A, limits) for part in listed]
        else:
            found = Parallel(n_jobs=n_jobs, verbose=10 if verbose else 0)(
                delayed(self.plan_each)(part, A, limits) for part in parts
            )
        plans = list[Plan]()
        for one in itertools.chain.from_iterable(found):
            if isinstance(one, Exception):
                raise one
            plans.append(one)
        return as_given(table(self.space, X, plans), given)

    def plan_each(self, X: Frame, A: Array | Efforts, limits: Limits | None = None) -> list[Plan | Exception]:
        """Return the plan of everybody in a frame for the effort of one person, or the error that it ended in."""
        self._check_fitted()
        found, A = list[Plan | Exception](), self._efforts(A)
        for i in range(len(X)):
            try:
                found.append(self.plans(X.iloc[[i]], A, limits)[0])
            except Exception as error:  # somebody else's plan does not depend on it
                found.append(error)
        return found

    def holding(self, share: float) -> Self:
        """Return the same fitted engine for which this share of the model's possible updates must accept a plan, too.

        For 0 today's model alone decides: such plans ask for least, and may not hold.
        """
        held: dict[float, Self] = self.__dict__.setdefault("_held", {})
        if share not in held:
            made = held[share] = copy.copy(self)
            made.acceptance_ = self.acceptance_.holding(share)
            made._forget()
        return held[share]

    def fingerprint(self) -> dict[str, Any]:
        """Return what tells this fitted engine from another, as plain JSON values: kind, settings, a hash of the model's scores.

        A saved session keeps it, so that another engine does not go on with it; ``differences`` says in words how two differ. The
        hash is of scores rounded to thousandths, at 32 rows drawn from the space alone: rounding forgives the last digits of
        another machine, and a retrained model differs at some of the rows. The scores themselves would give the model away.

        Examples
        --------
        >>> import pandas as pd, reap
        >>> X = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]})
        >>> def score(rows):
        ...     return rows["income"] / 50
        >>> engine = reap.Recourse(score, reap.ActionSpace.from_frame(X), max_changes=2).fit(X)
        >>> known = engine.fingerprint()
        >>> known["kind"], known["settings"]["max_changes"], len(known["model"])
        ('Recourse', 2, 64)
        >>> differences(known, reap.Recourse(score, engine.space).fit(X).fingerprint())
        ['max_changes was 2 and is 3']
        """
        self._check_fitted()
        made = self.__dict__.get("_fingerprint")
        if made is None or made[0] is not self.classifier_:  # fitted again since
            made = self._fingerprint = (self.classifier_, self._identified())
        return dict(made[1])

    def _identified(self) -> dict[str, Any]:
        settings = dict[str, Any]()
        for name, given in sorted(self.get_params(deep=False).items()):
            said = given.settings if isinstance(given, Durability) else {name: given}
            for key, value in said.items():
                if key not in _SILENT:
                    value = plain(value)
                    known = isinstance(value, str | int | float | None)
                    settings[key] = value if known else type(value).__name__
        rounded = np.round(self.classifier_.probability(_probes(self.space)), _DIGITS) + 0.0  # no minus zero
        digest = hashlib.sha256(repr(rounded.tolist()).encode()).hexdigest()
        return {"kind": type(self).__name__, "settings": settings, "model": digest}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_held"}

    # for subclasses ------------------------------------------------------------------------------------

    def _accept(self, X: Frame | None = None, y: Any = None) -> Acceptance:
        """Learn who must accept a plan, from the engine's settings; call it first in ``fit``."""
        if not isinstance(self.space, ActionSpace):
            raise InputError(
                f"space must be an ActionSpace, not {type(self.space).__name__}; ActionSpace.from_frame(X) makes one"
            )
        self.typical_ = None
        self.__dict__["_held"] = {}
        self.classifier_ = wrap(
            self.model,
            self.space,
            target=self.target,
            threshold=self.threshold,
            output=self.output,
            unit=self.unit,
        )
        self.feature_names_in_ = np.array([feature.name for feature in self.space.features], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        self.acceptance_ = Acceptance.learnt(
            self.classifier_,
            X,
            y,
            Durability.of(self.durability),
            margin=self.margin,
            random_state=self.random_state,
        )
        return self.acceptance_

    def _forget(self) -> None:
        """Forget what is known of subjects; engines that keep something override this."""

    def _check_fitted(self) -> None:
        if "classifier_" not in self.__dict__:
            raise InputError(
                f"this {type(self).__name__} is not fitted; call fit(X) with rows of other people first"
            )
        self.classifier_.check_same_model()

    def _subject(self, x: Any, limits: Limits | None = None) -> Subject:
        """Return the subject checked, scored, and the space within their limits; the engine must be fitted."""
        self._check_fitted()
        z, codes = self.space.read(x)
        return self._scored(z[None], limits, codes[None])[0]

    def _scored(self, Z: Array, limits: Limits | None, codes: Array | None = None) -> list[Subject]:
        """Return the subjects of vectors (n, d), scored together; codes (n, f) hold their own numbers to the bit."""
        space, scores, scale = self._advisable(limits), self._scores(Z), self.classifier_.scale
        return [
            Subject(
                z,
                space if codes is None else space.at(z, codes[i]),
                float(score),
                scale,
                bool(yes),
                None if yes else space.legal.obstacle(z),
            )
            for i, (z, score, yes) in enumerate(zip(Z, scores, scale.enough(scores), strict=True))
        ]

    def _advisable(self, limits: Limits | None) -> ActionSpace:
        """Return the space within somebody's limits; what is nobody's advice stays, unless they name it."""
        if not self.acceptance_.for_people:
            return self.space.tighten(limits)
        given = limits or Limits()
        never = [f.name for f in self.space.features if f.is_action and f.advice == "never"]
        return self.space.tighten(given.merge(Limits(fixed=tuple(n for n in never if n not in given.names))))

    def _scores(self, Z: Array) -> Array:
        """Return what the model returns of vectors (n, d), (n,)."""
        return self.classifier_.score(Z)

    def _deadline(self) -> float:
        """Return the time of ``time.monotonic`` at which a call that begins now has to end; refuse a wrong limit."""
        return deadline(self.time_limit)

    def _efforts(self, given: Array | Efforts) -> Efforts:
        """Return efforts, or matrices (b, d, d) or (d, d), as efforts: checked, symmetric."""
        return Efforts.checked(given, self.space.dimension)

    # scikit-learn's manners ----------------------------------------------------------------------------

    def __sklearn_clone__(self) -> Self:
        # The model is fitted already and stays; scikit-learn would otherwise clone it unfitted.
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        # A frame with the space's columns: texts, levels, empty cells.
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags


def check_robust(confidence_set: ConfidenceSet, objective: Objective, dimension: int) -> None:
    """Say in a sentence what is wrong with the input of ``robust``."""
    if objective not in ("worst-case", "minimax"):
        raise InputError(f"the objective is {objective!r}; give 'worst-case' or 'minimax'")
    if not isinstance(confidence_set, ConfidenceSet):
        raise InputError(
            f"a robust plan needs a ConfidenceSet, not {type(confidence_set).__name__}; for a posterior use plans() "
            "with its estimate"
        )
    if confidence_set.dimension != dimension:
        raise InputError(
            f"the confidence set has dimension {confidence_set.dimension}; the space has {dimension} encoded columns"
        )


def table(space: ActionSpace, X: Frame, plans: Sequence[Plan]) -> Frame:
    """Return the targets of plans and what is to be known of them, with the index and dtypes of ``X``."""
    start, end = (np.stack([plan.path[k] for plan in plans]) for k in (0, -1))
    frame = space.decode(end, like=X, index=X.index)[space.encoding.table]
    for feature, moved in zip(space.features, space.encoding.changed(start, end).T, strict=True):
        if not feature.columns:  # what stays is the person's own, to the bit
            frame[feature.name] = frame[feature.name].where(moved, X[feature.name])
    acts = [f.is_set for f in space.features]
    frame["recourse_valid"] = [plan.valid for plan in plans]
    frame["recourse_effort"] = [plan.effort for plan in plans]
    frame["recourse_status"] = [plan.status for plan in plans]
    frame["recourse_changes"] = space.encoding.changed(start, space.legal.done(end, start))[:, acts].sum(
        axis=1
    )
    frame["recourse_months"] = np.nan_to_num(space.months(start, end)).astype(int)
    return frame


def _probes(space: ActionSpace) -> Array:
    """Return rows (32, d) that depend on the space alone: numbers within their span, every level as likely as another."""
    rng = np.random.default_rng(0)
    Z = rng.random((_PROBES, space.dimension))
    for feature in space.features:
        columns = space.slices[feature.name]
        if feature.kind == "categorical":
            Z[:, columns] = np.eye(len(feature.levels))[rng.integers(len(feature.levels), size=_PROBES)]
        elif feature.levels:
            most = len(feature.levels) - 1
            Z[:, columns.start] = rng.integers(most + 1, size=_PROBES) / max(most, 1)
    return space.encoding.snap(Z)


def differences(known: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return in words how two fingerprints differ; empty where they do not."""
    if known["kind"] != here["kind"]:
        return [f"the engine was {known['kind']} and is {here['kind']}"]
    then, now = known["settings"], here["settings"]
    said = [
        f"{name} was {then.get(name)!r} and is {now.get(name)!r}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]
    if known["model"] != here["model"]:
        said.append("the model gives other scores")
    return said
