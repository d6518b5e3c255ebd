"""A plan as plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from reap import words
from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array
from reap.plan_parts import Cliff, Confidence
from reap.scores import Scale
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.plan import Plan

FORMAT = Format("plan", "reap.plan", 1, "what Plan.to_json wrote")


def bare(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values, without what follows from them: words, rows in units, whether it is valid."""
    return {
        "path": [[None if np.isnan(v) else v for v in row] for row in plan.path.tolist()],
        "scores": plan.scores.tolist(),
        "effort": None if np.isnan(plan.effort) else float(plan.effort),
        "scale": plan.scale.to_dict(),
        "note": plan.note,
        "neighbors": plan.neighbors,
        "along": plan.along,
        "durability": plan.durability,
        "refits": plan.refits,
        "price": plan.price,
        "cliffs": [asdict(cliff) for cliff in plan.cliffs],
    }


def read_bare(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what ``bare`` wrote as arguments of ``Plan``; whether it is sound is not looked at here."""
    return {
        "path": _numbers([[np.nan if v is None else v for v in row] for row in data["path"]]),
        "scores": _numbers(data["scores"] if "scores" in data else data["probabilities"]),
        "effort": float(_numbers(np.nan if data["effort"] is None else data["effort"])),
        "scale": _scale(data),
        "cliffs": tuple(Cliff(**cliff) for cliff in data.get("cliffs", ())),
        "along": data.get("along", False),
        **{name: data.get(name) for name in ("note", "neighbors", "durability", "refits", "price")},
    }


def _numbers(values: Any) -> Array:
    """Return numbers of a file as an array; words that look like numbers, such as "NaN", are none."""
    made = np.array(values)
    if made.dtype.kind not in "fiu" and made.size:
        raise InputError("a value of a row or a score is no number")
    return made.astype(float)


def to_dict(plan: Plan, standalone: bool) -> dict[str, Any]:
    """Return a plan as plain values, with its words; ``standalone`` adds the space, so that they come back without it."""
    data: dict[str, Any] = {
        **FORMAT.head,
        "status": plan.status,
        "valid": plan.valid,
        "months": plan.months,
        "changes": [str(change) for change in plan.changes],
        "threshold": plan.scale.to_dict()["threshold"],
        "rows": [plan.space.values(z) for z in plan.path],
        "steps": [
            {"changes": [str(c) for c in s.changes], "month": s.month, "score": s.score} for s in plan.steps
        ],
        "confidence": None if plan.confidence is None else vars(plan.confidence),
        "bound": plan.bound,
        **bare(plan),
    }
    if standalone:
        data["said"] = [plan.scale.say(score) for score in plan.scores]
        data["remarks"] = words.remarks(plan)
        data["space"] = plan.space.to_toml()
    return data


def read(kind: type[Plan], data: Any, space: ActionSpace | None) -> Plan:
    """Return the plan that ``to_dict`` wrote; whether it is sound is not looked at here."""
    FORMAT.check(data)
    try:
        said = read_bare(data)
        space = space or ActionSpace.from_toml(data["space"])
        return kind(
            space=space.at_values(said["path"][0], data["rows"][0]) if data.get("rows") else space,
            status=data["status"],
            confidence=Confidence(**data["confidence"]) if data.get("confidence") else None,
            bound=data.get("bound"),
            **said,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"the plan is damaged: {error}") from None


def _scale(data: Mapping[str, Any]) -> Scale:
    """Return the scale of a plan as a file has it; older ones have a threshold of probabilities only."""
    return Scale.from_dict(data["scale"]) if data.get("scale") else Scale(float(data["threshold"]))
