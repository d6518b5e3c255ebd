"""What the subject receives: what to change, in which steps, and the truth about it.

The effort of a plan is that of its *whole change* (``reap.effort``), whatever its steps. Only that of the paper's graph
paths, marked by ``along``, is the sum over their moves.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from reap import _plan_files, _soundness, words
from reap._errors import InputError
from reap._typing import Array, Frame, Series
from reap.effort import moves
from reap.plan_parts import Cliff, Confidence, Step, between, month_of, steps_of
from reap.scores import Scale, Threshold
from reap.space import ActionSpace, Change
from reap.space.encoding import UNCHANGED

Status = Literal["ok", "already_accepted", "none_found", "unreachable", "infeasible", "time_limit"]
STATUSES: tuple[str, ...] = get_args(Status)
__all__ = ["STATUSES", "Cliff", "Confidence", "Plan", "Status", "Step"]


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
    >>> space = reap.ActionSpace.from_frame(X, units={"income": "EUR"})
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
        return moves(self.path if self.along or len(self.path) < 2 else self.path[[0, -1]])

    @property
    def score(self) -> float:
        """The model's score of the target row."""
        return float(self.scores[-1])

    @property
    def probability(self) -> float:
        """The score, by its name for models that give probabilities."""
        return self.score

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
        return month_of(self, -1)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """What changes at each step, in words and units, with the month it is done in and the score then."""
        return steps_of(self)

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
        """What changes by itself as a result: derived features, and clocks with time."""
        return self._whole[1]

    @cached_property
    def _whole(self) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
        """What a person does from the start to the target, and what follows from it."""
        return between(self, 0, -1)

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

    def to_dict(self, standalone: bool = True) -> dict[str, Any]:
        """Return plain values; ``standalone`` adds the space, so that the words come back without it."""
        return _plan_files.to_dict(self, standalone)

    def to_json(self) -> str:
        """Return the plan as JSON; ``from_json`` brings it back."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], space: ActionSpace | None = None) -> Plan:
        """Undo ``to_dict``."""
        return _soundness.checked(_plan_files.read(cls, data, space))

    @classmethod
    def from_json(cls, text: str, space: ActionSpace | None = None) -> Plan:
        """Read a plan that ``to_json`` wrote."""
        return cls.from_dict(_plan_files.FORMAT.load(text), space)
