"""Names that moved; this module goes once nobody imports it."""

from typing import Any

from reap.plan import Plan
from reap.plan import read_bare as read_bare


def bare(plan: Plan) -> dict[str, Any]:
    """Return what ``Plan.bare`` does."""
    return plan.bare()
