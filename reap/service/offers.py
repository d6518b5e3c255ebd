"""Which plans a person may choose from, and how each is told from the others."""

from __future__ import annotations

import hashlib

from reap import effort, language
from reap.elicitation.events import read_plans
from reap.plan import Plan
from reap.service.desk import Desk
from reap.service.live import Live

#: Plans to choose from: the best, and two clearly different ones; beside them one that is easier and may not hold.
CHOICES = 3


def name_of(made: Plan) -> str:
    """Return what a plan is called in a form: it depends on where the plan leads, so that no stale form chooses another."""
    return hashlib.sha256(made.path[[0, -1]].round(9).tobytes()).hexdigest()[:16]


def offered(desk: Desk, live: Live) -> list[Plan]:
    """Return the plans to choose from: the one recommended, clearly different ones, and last an easier one that may not hold.

    Where no plan holds, that last one is all there is.
    """
    best = desk.plan(live)
    if best.status == "already_accepted":
        return []
    stored = next(entry.revision for entry in reversed(live.line) if entry.type == "recommended")
    spoken = stored, language.current()
    if live.offers is None or live.offers[0] != spoken:
        names, plans = {name_of(best)}, [best] if best.status == "ok" else []
        for other in live.session.plans(CHOICES, today=True):
            if name_of(other) not in names and other.valid and not turned_down(desk, live, other):
                names.add(name_of(other))
                plans.append(other)
        live.offers = spoken, plans
    return live.offers[1]


def turned_down(desk: Desk, live: Live, made: Plan) -> bool:
    """Return whether the person has said that a plan is not for them; such a plan is back only where no other is left."""
    said = [entry.payload["plans"] for entry in live.line if entry.type == "refused"]
    return name_of(made) in {name_of(plan) for plans in said for plan in read_plans(plans, desk.space)}


def may_not_hold(desk: Desk, made: Plan) -> bool:
    """Return whether a plan ends where today's model says yes, and those that should agree do not."""
    judge = getattr(desk.case.engine, "acceptance_", None)
    if judge is None or judge.exact or made.status != "ok":
        return False
    return not bool(judge.classifier.accepts(made.path[-1:])[0])


def everybody(desk: Desk, live: Live) -> Plan:
    """Return the plan for somebody to whom every change is equally hard: one size for all."""
    here = desk.space.decode(live.session.here[None])
    alike = effort.identity(desk.space.dimension)[None]
    return desk.case.engine.plans(here, alike, live.session.limits)[0]
