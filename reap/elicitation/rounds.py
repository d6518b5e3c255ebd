"""A round of a session: what the engine found, what was asked, what was recommended; and its JSON form.

Plans that were found or asked about are listed once and named by position. A plan that was recommended is written with its words,
since that is what the person saw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reap import _plan_files
from reap._errors import InputError
from reap._soundness import LARGEST
from reap._typing import Array
from reap.elicitation.question import Question
from reap.plan import Plan
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.elicitation.events import Event


@dataclass(eq=False)
class Round:
    """What happened between two acts of the person, and the act that ended it.

    Parameters
    ----------
    found : sequence of Plan, optional
        The plans that joined the pool; None where the engine was not asked.
    saved : float
        The share of the expected effort that they save (``pool.saved``).
    question : Question, optional
        The question on the table.
    over : bool
        Whether there is nothing left to ask.
    plan : Plan, optional
        The plan recommended.
    act : Event, optional
        None while the round goes on.
    """

    found: Sequence[Plan] | None = None
    saved: float = 1.0
    question: Question | None = None
    over: bool = False
    plan: Plan | None = None
    act: Event | None = None


def write_asked(found: Sequence[Plan] | None, question: Question | None) -> dict[str, Any]:
    """Return the payload of ``asked``: the plans that joined the pool for it, and the question; None: nothing is left to ask."""
    table = _Table()
    return {
        "found": table.add_all(found),
        "question": None if question is None else _write_question(question, table),
        "plans": table.written,
    }


def read_asked(payload: Mapping[str, Any], space: ActionSpace) -> tuple[list[Plan] | None, Question | None]:
    """Undo ``write_asked``."""
    plans = read_plans(payload["plans"], space)
    asked = payload["question"]
    return _named(payload["found"], plans), None if asked is None else _read_question(asked, plans)


def write_recommended(found: Sequence[Plan] | None, plan: Plan) -> dict[str, Any]:
    """Return the payload of ``recommended``: the plan as it was shown, and the plans that joined the pool for it."""
    table = _Table()
    return {
        "plan": plan.to_dict(standalone=False),
        "found": table.add_all(found),
        "plans": table.written,
    }


def read_recommended(payload: Mapping[str, Any], space: ActionSpace) -> tuple[list[Plan] | None, Plan]:
    """Undo ``write_recommended``."""
    plans = read_plans(payload["plans"], space)
    return _named(payload["found"], plans), Plan.from_dict(payload["plan"], space)


class _Table:
    """Plans written once each."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []
        self._plans: list[Plan] = []

    def add(self, plan: Plan) -> int:
        """Return the position of a plan, written down if it is new."""
        place = next((i for i, known in enumerate(self._plans) if known is plan), len(self._plans))
        if place == len(self._plans):
            self._plans.append(plan)
            self.written.append(_plan_files.bare(plan))
        return place

    def add_all(self, plans: Sequence[Plan] | None) -> list[int] | None:
        """Return the positions of plans."""
        return None if plans is None else [self.add(plan) for plan in plans]


def _named(places: Sequence[int] | None, plans: Sequence[Plan]) -> list[Plan] | None:
    return None if places is None else [_at(i, plans) for i in places]


def _at(place: Any, plans: Sequence[Plan]) -> Plan:
    if type(place) is not int or not 0 <= place < len(plans):
        raise InputError(f"the session is damaged: there is no plan {place!r}")
    return plans[place]


def write_plans(plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """Return plans as plain values, without their words."""
    return [_plan_files.bare(plan) for plan in plans]


def read_plans(items: Sequence[Mapping[str, Any]], space: ActionSpace) -> list[Plan]:
    """Undo ``write_plans``; of another space, or with rows that are nobody's: refused."""
    plans = [Plan(space, **_plan_files.read_bare(item)) for item in items]
    for plan in plans:
        if plan.path.ndim != 2 or plan.path.shape[1] != space.dimension:
            raise InputError(f"a plan has shape {plan.path.shape}, the space {space.dimension} columns")
        _check_size(plan.path)
    return plans


def _write_question(question: Question, table: _Table) -> dict[str, Any]:
    return {
        "id": question.id,
        "number": question.number,
        "options": table.add_all(question.options),
        "why": question.why,
        "gain": None if math.isnan(question.gain) else question.gain,
        "kind": question.kind,
        "predicted": question.predicted,
        "probability": question.probability,
        "whole": question.whole,
        "earlier": question.earlier,
    }


def _read_question(item: Mapping[str, Any], plans: Sequence[Plan]) -> Question:
    gain = math.nan if item["gain"] is None else item["gain"]
    options = tuple(_at(i, plans) for i in item["options"])
    return Question(
        item["id"],
        item["number"],
        options,
        item["why"],
        gain,
        item["kind"],
        item["predicted"],
        item["probability"],
        item.get("whole", True),
        item.get("earlier"),
    )


def numbers(z: Array) -> list[float | None]:
    """Return a vector as JSON numbers, missing values as null."""
    return [None if math.isnan(v) else v for v in z.tolist()]


def vector(items: Sequence[float | None]) -> Array:
    """Undo ``numbers``; what is too large to reckon with is refused."""
    made = np.array([np.nan if v is None else v for v in items])
    if made.dtype.kind not in "fiu" and made.size:  # words that look like numbers, such as "NaN", are none
        raise InputError("the session is damaged: a value of a row is no number")
    made = made.astype(float)
    _check_size(made)
    return made


def _check_size(z: Array) -> None:
    if (np.abs(z) > LARGEST).any():
        raise InputError("the session is damaged: a value of a row is infinite, or too large to reckon with")
