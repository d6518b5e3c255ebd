"""What the subject receives: what to change, in which steps, and the truth about it; as a file, and back.

The effort of a plan is that of its *whole change* (``reap.effort``), whatever its steps. Only that of the paper's graph
paths, marked by ``along``, is the sum over their moves.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from reap import words
from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array, Frame, Series
from reap.effort import moves
from reap.language import _
from reap.scores import Scale, Threshold
from reap.space import ActionSpace, Change
from reap.space.encoding import UNCHANGED

Status = Literal["ok", "already_accepted", "none_found", "unreachable", "infeasible", "time_limit"]
STATUSES: tuple[str, ...] = get_args(Status)
FORMAT = Format("plan", "reap.plan", 1, "what Plan.to_json wrote")
#: Encoded values beyond this are nobody's, and their products overflow.
LARGEST = 1e100
#: What is written of a plan as it is.
_PLAIN = ("note", "neighbors", "along", "durability", "refits", "chance", "price")
#: What a plan may say beside its rows: the least and the most of each number, where there is one.
_NUMBERS = {
    "bound": (0.0, math.inf),
    "neighbors": (1, math.inf),
    "durability": (0.0, 1.0),
    "refits": (0, math.inf),
    "chance": (0.0, 1.0),
    "price": (-1.0, math.inf),
}


@dataclass(frozen=True)
class Confidence:
    """How sure we are that no other plan suits the person better, by the belief that chose the plan.

    Parameters
    ----------
    within : float
        Probability that the plan is within 5 % of the person's best.
    excess : float
        Expected extra effort, relative to the person's best.
    answers : int
        The answers that it rests on; without any, nothing was learnt about the person.
    """

    within: float
    excess: float
    answers: int = 1

    def __str__(self) -> str:
        return self.words()

    def words(self, asking: bool = True) -> str:
        """Return it in words, without a figure: people read "82 %" as the odds of a yes.

        Where nothing more is asked (``asking``), nobody is told that more answers would help.
        """
        if not self.answers:
            return _("nothing was learnt about you yet")
        if self.within >= 0.5:
            return _("this fits you well") if self.within >= 0.8 else _("this fits you fairly well")
        return _("we are still guessing; more answers would help") if asking else _("we are still guessing")


@dataclass(frozen=True)
class Step:
    """One step of a plan: what the person changes in it, what follows from that, and the model's score once it is done.

    ``month`` is when it is done, from now; a step without changes is waiting. ``on_the_day`` is what the application asks for.
    """

    number: int
    changes: tuple[Change, ...]
    score: float
    follows: tuple[Change, ...] = ()
    month: int = 0
    on_the_day: bool = False

    def __str__(self) -> str:
        return f"{self.number}. {words.step(self)}"


@dataclass(frozen=True)
class Cliff:
    """A change too small to notice on which a decision hangs: a flaw of the model.

    Parameters
    ----------
    feature, label : str
    below, above : str
        The two values, in words, the accepted one last.
    score_below, score_above : float
        The model's scores at them.
    """

    feature: str
    label: str
    below: str
    above: str
    score_below: float
    score_above: float


@dataclass(frozen=True, eq=False)
class Plan:
    """What a person could change so that the model accepts them, or the reason why there is no such plan.

    Parameters
    ----------
    space : ActionSpace
    path : (s + 1, d)
        The start, then the vector after each step; one row alone where there is no plan.
    scores : (s + 1,)
        The model's scores along the path: probabilities of the favourable class, or what else the scale says.
    effort : float
        ``ΔᵀAΔ`` of the whole change, for the matrix the plan was made for.
    status : str
        "ok", "already_accepted", "none_found", "unreachable", "infeasible" or "time_limit".
    threshold : float, or (low, high)
        The score the model asks for.
    note : str
        A sentence on what could be relaxed, or on how the plan was found.
    confidence : Confidence, optional
    bound : float, optional
        A proven lower bound of the robust effort, where the engine has one.
    neighbors : int, optional
        The neighbourhood size a graph path needed.
    along : bool
        Whether effort counts along the path, ``Σ vᵀAv`` over its moves, as the paper's graph paths do.
    durability : float, optional
        The share of retrainings of the model that accept the target row; None where they were not asked.
    refits : int, optional
        How many were asked.
    chance : float, optional
        How likely one more update of the model accepts the target row, judged by those at hand; what an engine with
        ``durability="chance"`` weighs effort against, None elsewhere.
    price : float, optional
        How much more effort the plan asks than one that today's model alone accepts: 0.12 for 12 % more. None where that was
        not looked at.
    cliffs : tuple of Cliff
        Where a change too small to notice decides.
    scale : Scale, optional
        What scores mean, and which are enough; by default probabilities above the threshold.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [900, 2000, 3000], "debts": [3, 1, 0]})
    >>> space = reap.ActionSpace.from_frame(X, features={"income": {"unit": "EUR"}})
    >>> plan = Plan(space, space.encode(X.iloc[:2]), np.array([0.2, 0.8]), effort=0.5)
    >>> print(plan)
    Your plan: 2 changes, and the score rises from 20 to 80 out of 100 (needed: more than 50).
    1. Increase income from 900 to 2,000 EUR; reduce debts from 3 to 1
    >>> plan.valid, int(plan.target["income"])
    (True, 2000)
    """

    space: ActionSpace = field(repr=False)
    path: Array = field(repr=False)
    scores: Array = field(repr=False)
    effort: float = 0.0
    status: Status = "ok"
    threshold: Threshold = 0.5
    note: str = ""
    confidence: Confidence | None = None
    bound: float | None = None
    neighbors: int | None = None
    along: bool = False
    durability: float | None = None
    refits: int | None = None
    chance: float | None = None
    price: float | None = None
    cliffs: tuple[Cliff, ...] = ()
    scale: Scale = field(default=None, repr=False)  # type: ignore[assignment]  # __post_init__ puts one there

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(f"the status {self.status!r} is not one of {', '.join(STATUSES)}")
        scale = self.scale or Scale(self.threshold)
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "threshold", scale.threshold)
        path, scores = (np.asarray(getattr(self, name), dtype=float) for name in ("path", "scores"))
        if (
            len(path) > 1 and path.ndim == 2
        ):  # what no step changes stays to the bit, whatever rounding did on the way
            path = np.where(np.abs(path - path[:1]) <= UNCHANGED, path[:1], path)
        for name, value in (("path", path), ("scores", scores)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def none(
        cls,
        space: ActionSpace,
        z0: Array,
        score: float,
        status: Status,
        *,
        scale: Scale | None = None,
        note: str = "",
    ) -> Plan:
        """Return the plan of somebody who stays where they are: accepted already, or nothing found."""
        effort = 0.0 if status == "already_accepted" else np.nan
        return cls(space, z0[None], np.array([score]), effort, status, note=note, scale=scale or Scale())

    def with_(
        self,
        *,
        confidence: Confidence | None = None,
        note: str | None = None,
        effort: float | None = None,
        price: float | None = None,
    ) -> Plan:
        """Return the same plan with another confidence, note, effort or price."""
        said: dict[str, Any] = {"confidence": confidence, "note": note, "effort": effort, "price": price}
        return replace(self, **{name: value for name, value in said.items() if value is not None})

    # what it is --------------------------------------------------------------------------------------

    @property
    def moves(self) -> Array:
        """What effort is counted of: the whole change (1, d); of a path its moves (s, d). Without a plan, nothing, (0, d)."""
        return moves(self.done if self.along or len(self.path) < 2 else self.done[[0, -1]])

    @cached_property
    def done(self) -> Array:
        """The path (s + 1, d) of what the person does: without what effects of features on each other bring."""
        if not len(self.space.legal.derived.moved):
            return self.path
        done = self.space.legal.done(self.path, self.path[0])
        return np.where(np.abs(done - done[:1]) <= UNCHANGED, done[:1], done)

    @property
    def score(self) -> float:
        """The model's score of the target row."""
        return float(self.scores[-1])

    @property
    def valid(self) -> bool:
        """Whether the model accepts the target row."""
        return self.status in ("ok", "already_accepted") and bool(self.scale.enough(self.score))

    @cached_property
    def _rows(self) -> Frame:
        return self.space.decode(self.path)

    @property
    def start(self) -> Series:
        """The subject's row, in units."""
        return self._rows.iloc[0].rename("now")

    @property
    def target(self) -> Series:
        """The row the plan leads to, in units; the subject's own where there is no plan."""
        return self._rows.iloc[-1].rename("target")

    @cached_property
    def months(self) -> int:
        """The months until the plan is done: those of its slowest action, or longer where it waits; 0 where nothing is timed."""
        return self._month(-1)

    def _month(self, stage: int) -> int:
        return int(np.nan_to_num(self.space.months(self.path[0], self.path[stage])[0]))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What changes at each step, in words and units, with the month it is done in and the score then."""
        space, path, made = self.space, self.path, []
        took = space.time.actions(path[0], self.done[-1]) if space.timed else {}
        for i in range(len(path) - 1):
            changes, follows = self._changes_between(i, i + 1) if len(path) > 2 else self._whole
            features = [space.feature(change.feature) for change in changes]
            last = bool(features) and all(feature.when == "application" for feature in features)
            month = self._month(i + 1)
            # Actions begin together, each has its own end; a plan of one step is done when all of it is, waiting included.
            if changes and not last and not self.along and len(path) > 2:
                month = max(took.get(feature.name, 0) for feature in features)
            made.append(Step(i + 1, changes, float(self.scores[i + 1]), follows, month, last))
        return tuple(made)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The actions: what the person changes from the start to the target, each feature once, in the order of the steps."""
        changes = self._whole[0]
        if len(self.path) <= 2:  # one step has one order
            return changes
        first = {c.feature: step.number for step in reversed(self.steps) for c in step.changes}
        return tuple(sorted(changes, key=lambda change: first.get(change.feature, 0)))

    @property
    def follows(self) -> tuple[Change, ...]:
        """What changes by itself as a result: derived features, what others move along, and clocks with time."""
        return self._whole[1]

    @cached_property
    def _whole(self) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """What a person does from the start to the target, and what follows from it."""
        return self._changes_between(0, -1)

    def _changes_between(self, i: int, j: int) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """What a person does between two stages, and what follows from it."""
        space, done, path = self.space, self.done, self.path
        acts = {f.name for f in space.features if f.is_set}
        every = space.changes(path[i], path[j])
        own = every if done is path else space.changes(done[i], done[j])
        lag = space.encoding.changed(path[i] - done[i], path[j] - done[j])[
            0
        ]  # what effects have brought meanwhile
        brought = {
            f.name for f, more in zip(space.features, lag, strict=True) if more and f.effect is not None
        }
        return (
            tuple(change for change in own if change.feature in acts),
            tuple(
                Change.of(space.feature(one.feature), one.before, one.after, brought=True)
                if one.feature in brought
                else one
                for one in every
                if one.feature not in acts or one.feature in brought
            ),
        )

    @property
    def setback(self) -> Step | None:
        """The first step after which the score is lower than before it; None where every step raises it."""
        lower = np.flatnonzero(np.diff(self.rising) < -1e-9)
        return self.steps[lower[0]] if len(lower) else None

    @property
    def rising(self) -> Array:
        """The scores such that more is better, (s + 1,): of a range, how far within it."""
        return self.scores if self.scale.output == "probability" else self.scale.logit(self.scores)

    # views -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        return self.describe()

    def describe(self, start: Any = None) -> str:
        """Return the plan in words; with the day it begins, such as "2026-10-16", dates are months of the calendar."""
        return words.plan(self, start)

    def _repr_html_(self) -> str:
        from reap._views import plan_html

        return plan_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the changed features by step, and the score along them. Needs the extra ``plots``."""
        from reap._views import plan_figure

        return plan_figure(self, axes)

    def to_frame(self) -> Frame:
        """Return one row a stage ("now", "step 1", …), in units, with the score."""
        frame = self._rows.copy()
        frame[self.scale.output] = self.scores
        frame.index = ["now", *(f"step {i}" for i in range(1, len(self.path)))]
        return frame

    # to and from files -------------------------------------------------------------------------------

    def bare(self) -> dict[str, Any]:
        """Return plain values without what follows from them: words, rows in units, whether it is valid."""
        return {
            "path": [[None if np.isnan(v) else v for v in row] for row in self.path.tolist()],
            "scores": self.scores.tolist(),
            "effort": None if np.isnan(self.effort) else float(self.effort),
            "scale": self.scale.to_dict(),
            **{name: getattr(self, name) for name in _PLAIN},
            "cliffs": [asdict(cliff) for cliff in self.cliffs],
        }

    def to_dict(self, standalone: bool = True) -> dict[str, Any]:
        """Return plain values, with the words; ``standalone`` adds the space, so that the words come back without it."""
        data: dict[str, Any] = {
            **FORMAT.head,
            "status": self.status,
            "valid": self.valid,
            "months": self.months,
            "changes": [str(change) for change in self.changes],
            "threshold": self.scale.to_dict()["threshold"],
            "rows": [self.space.values(z) for z in self.path],
            "steps": [
                {"changes": [str(c) for c in s.changes], "month": s.month, "score": s.score}
                for s in self.steps
            ],
            "confidence": None if self.confidence is None else vars(self.confidence),
            "bound": self.bound,
            **self.bare(),
        }
        if standalone:
            data["said"] = [self.scale.say(score) for score in self.scores]
            data["remarks"] = words.remarks(self)
            data["space"] = self.space.to_toml()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], space: ActionSpace | None = None) -> Plan:
        """Undo ``to_dict``; a plan that no engine could have made is refused."""
        FORMAT.check(data)
        try:
            made = cls.from_bare(data, space or ActionSpace.from_toml(data["space"]))
            sure = data["confidence"] and Confidence(**data["confidence"])
            here = made.space.at_values(made.path[0], data["rows"][0])
            made = replace(
                made, space=here, status=data["status"], bound=data["bound"], confidence=sure or None
            )
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            raise InputError(f"the plan is damaged: {error}") from None
        if (wrong := unreadable(made) or _contradiction(made)) is not None:
            raise InputError(f"the plan is damaged: {wrong}")
        return made

    @classmethod
    def from_bare(cls, data: Mapping[str, Any], space: ActionSpace) -> Plan:
        """Undo ``bare``; whether the plan is sound is not looked at here, see ``unreadable``."""
        return cls(
            space,
            numbers(data["path"]),
            numbers(data["scores"]),
            float(numbers(data["effort"])),
            scale=Scale.from_dict(data["scale"]),
            cliffs=tuple(Cliff(**cliff) for cliff in data["cliffs"]),
            **{name: data[name] for name in _PLAIN},
        )

    def to_json(self) -> str:
        """Return the plan as JSON; ``from_json`` brings it back."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str, space: ActionSpace | None = None) -> Plan:
        """Read a plan that ``to_json`` wrote."""
        return cls.from_dict(FORMAT.load(text), space)


def date(plans: Sequence[Plan]) -> None:
    """Work out the months of plans that start at one place, of all that do not know theirs at once."""
    new = [plan for plan in plans if "months" not in vars(plan)]
    if len(new) > 1:
        ends = np.stack([plan.path[-1] for plan in new])
        months = np.nan_to_num(new[0].space.months(new[0].path[0], ends))
        for plan, n in zip(new, months.tolist(), strict=True):
            vars(plan)["months"] = int(n)


# whether a plan from a file could have been made by an engine -----------------------------------------


def numbers(values: Any) -> Array:
    """Return numbers of a file as an array, null for what is missing; words, and what is too large to reckon with, are none."""

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(each) for each in value]
        return np.nan if value is None else value

    made = np.array(filled(values))
    if made.dtype.kind not in "fiu" and made.size:
        raise InputError("a value of a row or a score is no number")
    made = made.astype(float)
    if (np.abs(made) > LARGEST).any():
        raise InputError("a value of a row or a score is infinite, or too large to reckon with")
    return made


def _contradiction(plan: Plan) -> str | None:
    """Return what of a plan contradicts the rest, in half a sentence: illegal rows, or "ok" and not accepted; else None."""
    if plan.status == "ok" and not plan.valid:
        return "it says that it is accepted, and its score says otherwise"
    if not plan.space.allows(plan.path[:1], plan.path[-1:]).all():
        return "the action space does not allow what it advises"
    return None


def unreadable(plan: Any) -> str | None:
    """Return which part of a plan is not what it should be by itself: a shape, a number, a word; None where all are."""
    path, scores, scale = plan.path, plan.scores, plan.scale
    shaped = path.ndim == 2 and scores.ndim == 1 and len(path) > 0
    if not shaped or path.shape != (len(scores), plan.space.dimension):
        return f"its path has shape {path.shape}, its scores {scores.shape}"
    if (plan.status == "ok") != (len(path) > 1):
        return f"its status is {plan.status!r}, and it has {len(path) - 1} steps"
    if plan.status == "ok" and not plan.effort >= 0:
        return f"its effort is {plan.effort!r}"
    if not np.isfinite(scores).all() or not (0 < scale.spread < math.inf):
        return "a score, or the unit of scores, is not a finite number"
    if not (all(map(math.isfinite, scale.extent)) and scale.extent[0] < scale.extent[1]):
        return f"its scores are said to run from {scale.extent[0]} to {scale.extent[1]}"
    if scale.output == "probability" and ((scores < 0) | (scores > 1)).any():
        return "a probability is outside 0 to 1"
    for name, (least, most) in _NUMBERS.items():
        value = getattr(plan, name)
        if value is not None and (not number(value) or not least <= value <= most):
            return f"its {name} is {value!r}"
    if not isinstance(plan.note, str) or not isinstance(plan.along, bool):
        return "its note is no text, or 'along' is neither true nor false"
    if plan.confidence is not None and not all(
        v is None or number(v) for v in vars(plan.confidence).values()
    ):
        return "its confidence is no number"
    for cliff in plan.cliffs:
        if not (number(cliff.score_below) and number(cliff.score_above)):
            return "a score at a cliff is no number"
        if not all(isinstance(said, str) for said in (cliff.feature, cliff.label, cliff.below, cliff.above)):
            return "a cliff is not said in words"
    return None


def number(value: Any) -> bool:
    """Whether a value of a file is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max  # of a whole number of 400 digits isfinite is an OverflowError
