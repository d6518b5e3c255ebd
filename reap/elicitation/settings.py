"""How a session is held: what can be set, checked once, and written into its first event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from reap._errors import InputError, unknown
from reap.elicitation.advice import Center
from reap.elicitation.presets import PRESETS, Preset

Objective = Literal["worst-case", "minimax", "expected"]


@dataclass(frozen=True)
class Settings:
    """What ``Elicitation`` explains, without the parts that are objects of their own."""

    questions: int
    options: int
    preset: Preset
    random_state: int
    samples: int
    center: Center
    tolerance: float
    objective: Objective
    warm_up: bool
    held_out: bool
    minds: bool
    scales: Sequence[float] | None
    rows: int | None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise unknown("preset", self.preset, PRESETS)
        if self.center not in get_args(Center):
            raise unknown("centre", self.center, get_args(Center))
        if self.objective not in get_args(Objective):
            raise unknown("objective", self.objective, get_args(Objective))
        if not isinstance(self.questions, int | np.integer) or self.questions < 0:
            raise InputError(f"questions is {self.questions!r}; give a whole number, 0 or more")
        if not isinstance(self.options, int | np.integer) or self.options < 2:
            raise InputError(f"options is {self.options!r}; a question needs at least 2")
        if self.rows is not None and not (isinstance(self.rows, int | np.integer) and self.rows >= 1):
            raise InputError(
                f"rows is {self.rows!r}; a question shows at least 1 difference, None any number"
            )
        if self.scales is not None and not all(0 <= size < np.inf for size in self.scales):
            raise InputError(f"scales is {list(self.scales)}; give finite numbers of at least 0")
        if not 0 <= self.tolerance < 1:
            raise InputError(
                f"tolerance is {self.tolerance}; give the share of answers to leave aside, 0 to below 1"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"scales": None if self.scales is None else list(self.scales)}
