"""What the subject receives: where to go, by which steps, and the truth about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from reap._arrays import zero_missing
from reap._errors import InputError
from reap._typing import Array, Frame, Series
from reap.space import ActionSpace, Change

Status = Literal["ok", "already_accepted", "none_found", "unreachable", "infeasible", "time_limit"]
STATUSES: tuple[str, ...] = get_args(Status)
_FORMAT = "reap.plan"
_HEADLINE = {
    "already_accepted": "Nothing needs to change: the model accepts you as you are.",
    "none_found": "No plan was found.",
    "unreachable": "No accepted position can be reached from where you are.",
    "infeasible": "No plan is possible within the limits.",
    "time_limit": "No plan was found in the time allowed.",
}


@dataclass(frozen=True)
class Confidence:
    """How sure we are that no other plan suits the person better.

    Parameters
    ----------
    within : float
        Probability that the plan is within 5 % of the person's best.
    excess : float
        Expected extra effort, relative to the person's best.
    """

    within: float
    excess: float

    def __str__(self) -> str:
        return f"in {self.within:.0%} of the preferences that fit your answers no other plan is noticeably easier"


@dataclass(frozen=True)
class Step:
    """One step of a plan: what changes, and the model's score after it."""

    number: int
    changes: tuple[Change, ...]
    probability: float

    def __str__(self) -> str:
        return f"{self.number}. " + "; ".join(
            str(c) if i == 0 else _small(str(c)) for i, c in enumerate(self.changes)
        )


@dataclass(frozen=True, eq=False)
class Plan:
    """A way from where the subject stands to a row the model accepts, or the reason why there is none.

    Parameters
    ----------
    space : ActionSpace
    path : (s + 1, d)
        The start, then the vector after each step; one row alone where there is no plan.
    probabilities : (s + 1,)
        The model's score of the favourable class along the path.
    cost : float
        Effort ``Σ vᵀAv`` over the steps, for the cost matrix the plan was made for.
    status : str
        "ok", "already_accepted", "none_found", "unreachable", "infeasible" or "time_limit".
    threshold : float
        The score the model asks for.
    note : str
        A sentence on what could be relaxed, or on how the plan was found.
    confidence : Confidence, optional
    bound : float, optional
        A proven lower bound of the robust cost, where the engine has one.
    neighbors : int, optional
        The neighbourhood size a graph plan needed.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [900, 2000, 3000], "debts": [3, 1, 0]})
    >>> space = reap.ActionSpace.from_frame(X, units={"income": "EUR"})
    >>> plan = Plan(space, space.encode(X.iloc[:2]), np.array([0.2, 0.8]), cost=0.5)
    >>> print(plan)
    Your plan: 1 step, and the score rises from 0.20 to 0.80 (needed: more than 0.50).
    1. Increase income from 900 to 2,000 EUR; reduce debts from 3 to 1
    >>> plan.valid, int(plan.target["income"])
    (True, 2000)
    """

    space: ActionSpace = field(repr=False)
    path: Array = field(repr=False)
    probabilities: Array = field(repr=False)
    cost: float = 0.0
    status: Status = "ok"
    threshold: float = 0.5
    note: str = ""
    confidence: Confidence | None = None
    bound: float | None = None
    neighbors: int | None = None

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise InputError(f"the status {self.status!r} is not one of {', '.join(STATUSES)}")
        for name in ("path", "probabilities"):
            value = np.asarray(getattr(self, name), dtype=float)
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @classmethod
    def none(
        cls,
        space: ActionSpace,
        z0: Array,
        probability: float,
        status: Status,
        *,
        threshold: float = 0.5,
        note: str = "",
    ) -> Plan:
        """Return the plan of somebody who stays where they are: accepted already, or nothing found."""
        cost = 0.0 if status == "already_accepted" else np.nan
        return cls(space, z0[None], np.array([probability]), cost, status, threshold, note)

    def with_(
        self, *, confidence: Confidence | None = None, note: str | None = None, cost: float | None = None
    ) -> Plan:
        """Return the same plan with another confidence, note or cost."""
        return replace(
            self,
            confidence=confidence if confidence is not None else self.confidence,
            note=self.note if note is None else note,
            cost=self.cost if cost is None else cost,
        )

    # what it is --------------------------------------------------------------------------------------

    @property
    def moves(self) -> Array:
        """The steps as vectors (s, d); a plan's effort is ``⟨A, VᵀV⟩``."""
        return zero_missing(np.diff(self.path, axis=0))

    @property
    def probability(self) -> float:
        """The model's score of the target row."""
        return float(self.probabilities[-1])

    def shown(self, probability: float) -> str:
        """Return a score with two decimals, or as many as tell it from the threshold."""
        texts = [f"{probability:.{digits}f}" for digits in (2, 3, 4)]
        return next((text for text in texts if float(text) != round(self.threshold, 2)), texts[-1])

    @property
    def valid(self) -> bool:
        """Whether the model accepts the target row."""
        return self.status in ("ok", "already_accepted") and self.probability > self.threshold

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
    def steps(self) -> tuple[Step, ...]:
        """What changes at each step, in words and units, with the score after it."""
        return tuple(
            Step(
                i + 1,
                tuple(self.space.changes(self.path[i], self.path[i + 1])),
                float(self.probabilities[i + 1]),
            )
            for i in range(len(self.path) - 1)
        )

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What changes from the start to the target, whatever the steps."""
        return tuple(self.space.changes(self.path[0], self.path[-1]))

    # views -------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        if self.status != "ok":
            return " ".join(filter(None, (_HEADLINE[self.status], self.note)))
        count = len(self.steps)
        lines = [
            f"Your plan: {count} step{'s' if count != 1 else ''}, and the score rises from "
            f"{self.shown(self.probabilities[0])} to {self.shown(self.probability)} (needed: more than {self.threshold:.2f})."
        ]
        for step in self.steps:
            after = f"  (score {self.shown(step.probability)})" if count > 1 else ""
            lines.append(f"{step}{after}")
        if self.confidence is not None:
            lines.append(f"How sure: {self.confidence}.")
        if self.note:
            lines.append(self.note)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from reap._views import plan_html

        return plan_html(self)

    def plot(self, axes: Any = None) -> Any:
        """Draw the way: changed features by step, and the score along it. Needs the extra ``plots``."""
        from reap._views import plan_figure

        return plan_figure(self, axes)

    def to_frame(self) -> Frame:
        """Return one row a stage ("now", "step 1", …), in units, with the score."""
        frame = self._rows.copy()
        frame["probability"] = self.probabilities
        frame.index = ["now", *(f"step {i}" for i in range(1, len(self.path)))]
        return frame

    # to and from files -------------------------------------------------------------------------------

    def to_dict(self, standalone: bool = True) -> dict[str, Any]:
        """Return plain values; ``standalone`` adds the space, so that the words come back without it."""
        data: dict[str, Any] = {
            "format": _FORMAT,
            "version": 1,
            "status": self.status,
            "valid": self.valid,
            "cost": None if np.isnan(self.cost) else float(self.cost),
            "threshold": self.threshold,
            "probabilities": self.probabilities.tolist(),
            "path": [[None if np.isnan(v) else v for v in row] for row in self.path.tolist()],
            "rows": [self.space.values(z) for z in self.path],
            "steps": [
                {"changes": [str(c) for c in s.changes], "probability": s.probability} for s in self.steps
            ],
            "note": self.note,
            "confidence": None if self.confidence is None else vars(self.confidence),
            "bound": self.bound,
            "neighbors": self.neighbors,
        }
        if standalone:
            data["space"] = self.space.to_toml()
        return data

    def to_json(self) -> str:
        """Return the plan as JSON; ``from_json`` brings it back."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], space: ActionSpace | None = None) -> Plan:
        """Undo ``to_dict``."""
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
            raise InputError("this is not a plan; expected what Plan.to_json wrote")
        if data.get("version") != 1:
            raise InputError(f"the plan has version {data.get('version')!r}; this release reads version 1")
        try:
            made = cls(
                space=space or ActionSpace.from_toml(data["space"]),
                path=np.array(
                    [[np.nan if v is None else v for v in row] for row in data["path"]], dtype=float
                ),
                probabilities=np.array(data["probabilities"], dtype=float),
                cost=np.nan if data["cost"] is None else float(data["cost"]),
                status=data["status"],
                threshold=float(data["threshold"]),
                note=str(data["note"]),
                confidence=Confidence(**data["confidence"]) if data.get("confidence") else None,
                bound=data.get("bound"),
                neighbors=data.get("neighbors"),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"the plan is damaged: {error}") from None
        if made.path.ndim != 2 or made.path.shape != (len(made.probabilities), made.space.dimension):
            raise InputError(f"the plan is damaged: its path has shape {made.path.shape}")
        return made

    @classmethod
    def from_json(cls, text: str, space: ActionSpace | None = None) -> Plan:
        """Read a plan that ``to_json`` wrote."""
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"the plan is not valid JSON: {error}") from None
        return cls.from_dict(data, space)


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]
