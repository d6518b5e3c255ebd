"""How the dialogue sees an engine: only as something that answers for cost matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.plan import Plan
from reap.space import ActionSpace, Limits


class Options(Protocol):
    """Plans with their moves at hand, as ``candidates`` returns them."""

    @property
    def moves(self) -> Array:
        """One-step deviations (N, d)."""

    def __len__(self) -> int: ...
    def __getitem__(self, i: int, /) -> Plan: ...


class Engine(Protocol):
    """Any recourse generator becomes preference-aware by answering these."""

    space: ActionSpace

    def plans(self, x: Any, matrices: Array, limits: Limits | None = None) -> Sequence[Plan]:
        """Return the cheapest plan for each cost matrix (b, d, d)."""

    def robust(
        self,
        x: Any,
        confidence_set: ConfidenceSet,
        objective: Any = "worst-case",
        limits: Limits | None = None,
    ) -> Plan:
        """Return the plan whose worst-case effort is least."""

    def candidates(self, x: Any, limits: Limits | None = None) -> Options:
        """Return accepted legal rows as one-step plans."""
