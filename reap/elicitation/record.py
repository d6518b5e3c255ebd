"""Sessions as JSON. What was shown is stored, so a replay needs no engine call and is exact."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from reap import __version__
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation.question import Question
from reap.plan import Plan
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.elicitation.session import Elicitation
    from reap.recourse import Engine

FORMAT, VERSION = "reap.session", 1
_SETTINGS = ("questions", "options", "preset", "samples", "center", "tolerance", "objective")


def write(session: Elicitation) -> str:
    """Return a session as JSON text."""
    story, plans = session.story, Plans()
    data = {
        "format": FORMAT,
        "version": VERSION,
        "reap": __version__,
        "space": session.space.digest,
        "settings": {name: getattr(session, name) for name in _SETTINGS} | {"random_state": session.seed},
        "own_belief": "belief" in session.replaced,
        "own_strategy": "strategy" in session.replaced,
        "z": numbers(story.start),
        "subject": session.space.values(story.start),
        "limits": story.limits.to_dict(),
        "events": [{**event, "pending": plans.question(event["pending"])} for event in story.events],
        "grown": {str(k): [plans.add(plan) for plan in added] for k, added in story.grown.items()},
        "pending": plans.question(story.pending),
        "nothing_left": story.nothing_left,
    }
    data["plans"] = plans.listed
    return json.dumps(data, ensure_ascii=False)


def read(text: str, engine: Engine) -> dict[str, Any]:
    """Return the data of a session, or say why the text is refused."""
    try:
        data: dict[str, Any] = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the session is not valid JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("this is not a session; expected what Elicitation.to_json wrote")
    if data.get("version") != VERSION:
        raise InputError(
            f"the session has version {data.get('version')!r}; this release reads version {VERSION}"
        )
    wanted = {"space", "settings", "z", "limits", "events", "grown", "pending", "plans", "nothing_left"}
    if missing := sorted(wanted - set(data)):
        raise InputError(f"the session is damaged: {missing[0]!r} is missing")
    if data["space"] != engine.space.digest:
        raise InputError(
            "the session was made with another action space; load it with the space it was made with"
        )
    return data


def restore(session: Elicitation, data: dict[str, Any]) -> None:
    """Replay the stored events on a fresh session."""
    for part in ("belief", "strategy"):
        if data.get(f"own_{part}") and part not in session.replaced:
            raise InputError(f"the session was made with a {part} of its own; pass it to from_json({part}=…)")
    plans = read_plans(data["plans"], session.space)
    story = replace(
        session.story,
        events=tuple(
            {**event, "pending": read_question(event["pending"], plans)} for event in data["events"]
        ),
        grown={int(k): [plans[i] for i in added] for k, added in data["grown"].items()},
        pending=read_question(data["pending"], plans),
        nothing_left=bool(data["nothing_left"]),
    )
    session.replay(story)


class Plans:
    """Plans written once and named by position, since questions and pools share them."""

    def __init__(self) -> None:
        self.listed: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}
        self._kept: list[Plan] = []

    def add(self, plan: Plan) -> int:
        """Return the position of a plan, written down if it is new."""
        if id(plan) not in self._known:
            self._known[id(plan)] = len(self.listed)
            self._kept.append(plan)
            self.listed.append(
                {
                    "path": [numbers(row) for row in plan.path],
                    "probabilities": plan.probabilities.tolist(),
                    "effort": plan.effort,
                    "threshold": plan.threshold,
                    "note": plan.note,
                    "neighbors": plan.neighbors,
                    "along": plan.along,
                }
            )
        return self._known[id(plan)]

    def question(self, question: Question | None) -> dict[str, Any] | None:
        """Return a question with its options by position."""
        if question is None:
            return None
        return {
            "id": question.id,
            "number": question.number,
            "options": [self.add(option) for option in question.options],
            "why": question.why,
            "gain": None if math.isnan(question.gain) else question.gain,
        }


def read_plans(items: list[dict[str, Any]], space: ActionSpace) -> list[Plan]:
    """Return the plans that ``Plans`` listed."""
    return [_plan(item, space) for item in items]


def _plan(item: dict[str, Any], space: ActionSpace) -> Plan:
    path = np.array([vector(row) for row in item["path"]])
    if path.ndim != 2 or path.shape[1] != space.dimension:
        raise InputError(f"a plan has shape {path.shape}, the space {space.dimension} columns")
    return Plan(
        space,
        path,
        np.array(item["probabilities"], dtype=float),
        effort=float(item["effort"]),
        threshold=float(item["threshold"]),
        note=item["note"],
        neighbors=item["neighbors"],
        along=item["along"],
    )


def read_question(item: dict[str, Any] | None, plans: list[Plan]) -> Question | None:
    """Undo ``Plans.question``."""
    if item is None:
        return None
    gain = float("nan") if item["gain"] is None else float(item["gain"])
    return Question(
        item["id"], int(item["number"]), tuple(plans[i] for i in item["options"]), item["why"], gain
    )


def numbers(z: Array) -> list[float | None]:
    """Return a vector as JSON numbers, missing values as null."""
    return [None if math.isnan(v) else v for v in z.tolist()]


def vector(items: list[float | None]) -> Array:
    """Undo ``numbers``."""
    return np.array([np.nan if v is None else v for v in items], dtype=float)
