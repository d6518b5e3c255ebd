"""Plans that hold, against plans that today's model alone accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reap import effort, words
from reap._typing import Array
from reap.plan import Plan
from reap.space import Limits

if TYPE_CHECKING:
    from reap.recourse.engine import Engine


def priced(engine: Engine, plan: Plan, x: Any, matrix: Array, limits: Limits | None) -> Plan:
    """Return a plan with what holding asks for: see ``Engine.priced``."""
    if plan.status != "ok" or not _must_hold(engine, plan):
        return plan
    easier = engine.edge().plans(x, matrix, limits)[0]
    least, own = easier.effort, effort.of_moves(matrix, plan.moves)
    if easier.status != "ok" or not least > 0:
        return plan
    return plan.with_(price=max(0.0, own / least - 1))


def easier(engine: Engine, plan: Plan, x: Any, matrix: Array, limits: Limits | None) -> Plan | None:
    """Return the plan that today's model alone accepts, where it is worth showing: see ``Engine.easier``."""
    if not _must_hold(engine, plan):
        return None
    if plan.status == "ok" and not (plan.price is not None and plan.price >= words.NOTABLE):
        return None
    if plan.status not in ("ok", "none_found", "infeasible"):
        return None
    found = engine.edge().plans(x, matrix, limits)[0]
    if found.status != "ok":
        return None
    (found,) = engine.acceptance_.told([found])
    return found.with_(note=words.fragile(found))


def _must_hold(engine: Engine, plan: Plan) -> bool:
    """Whether more than today's model must accept a plan; nothing is said of the paper's paths."""
    return not plan.along and hasattr(engine, "acceptance_") and not engine.acceptance_.exact
