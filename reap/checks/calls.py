"""One call of an engine, with what it takes to judge it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reap._typing import Array, Frame
from reap.checks.judge import Judge
from reap.checks.values import Row
from reap.checks.worlds import World
from reap.plan import Plan
from reap.recourse import Engine
from reap.space import Limits

#: From a model and a space to an engine that is not fitted yet; and a single check of such engines.
Make = Callable[[Any, Any], Engine]
Case = Callable[[Make], None]


@dataclass(frozen=True)
class Call:
    """One call of an engine: who asked, under which matrices and limits, and the plans that came back.

    Parameters
    ----------
    judge : Judge
    x : one-row DataFrame
    matrices : (b, d, d)
    plans : list of Plan, b of them
    limits : Limits, optional
    max_changes : int, optional
        The number of actions that the engine promises not to exceed without saying so.
    """

    judge: Judge
    x: Frame
    matrices: Array
    plans: Sequence[Plan]
    limits: Limits | None = None
    max_changes: int | None = None

    @cached_property
    def own(self) -> Row:
        """The subject, in units."""
        return self.judge.space.values(self.judge.space.vector(self.x))

    @cached_property
    def stages(self) -> list[list[Row]]:
        """The rows of each plan's path, in units."""
        return [self.judge.rows(plan.path) for plan in self.plans]

    @property
    def made(self) -> list[tuple[Plan, list[Row]]]:
        """The plans that lead somewhere, with their stages."""
        return [(p, rows) for p, rows in zip(self.plans, self.stages, strict=True) if p.status == "ok"]

    def of(self, plan: Plan) -> str:
        """Return a plan as it is named in a sentence."""
        said = "; ".join(str(change) for change in plan.changes) or plan.status
        return f"the plan of {self.x.index[0]} ({said})"


def asked(engine: Engine, world: World, x: Any, matrices: Array, limits: Limits | None = None) -> Call:
    """Return one call of an engine."""
    most = engine.get_params(deep=False).get("max_changes")
    return Call(Judge.of_world(world), x, matrices, engine.plans(x, matrices, limits), limits, most)
