"""One person in front of an engine: checked and scored, with the plans that could be made of accepted rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from reap import effort
from reap._typing import Array
from reap.effort import Efforts
from reap.plan import Plan, Status
from reap.scores import Scale
from reap.space import ActionSpace


@dataclass(frozen=True)
class Subject:
    """One person, checked and scored: the vector, the space within their limits, the model's verdict."""

    z: Array
    space: ActionSpace
    score: float
    scale: Scale
    accepted: bool
    obstacle: str | None

    @property
    def verdict(self) -> Plan | None:
        """The plan of somebody who needs none or can have none; None where an engine has work to do."""
        if self.accepted:
            return self.refused("already_accepted")
        if self.obstacle is not None:
            return self.refused("infeasible", self.obstacle[:1].upper() + self.obstacle[1:] + ".")
        return None

    def efforts(self, people: Efforts, rows: Array) -> Array:
        """Return what going to rows (n, d) asks of each of b people, (b, n)."""
        acts = np.array([feature.is_action for feature in self.space.features])
        return people.ask(
            effort.changes(rows, self.z),
            self.space.changed(self.z, rows)[:, acts].sum(axis=1),
            np.nan_to_num(self.space.months(self.z, rows)) / self.space.horizon,
        )

    def refused(self, status: Status, note: str = "") -> Plan:
        """Return the plan of somebody who stays where they are, and why."""
        return Plan.none(self.space, self.z, self.score, status, scale=self.scale, note=note)

    def plan_to(self, row: Array, score: float, effort: float, note: str = "") -> Plan:
        """Return the plan that leads to a row (d,) with this score in one step."""
        return Plan(
            self.space,
            np.stack([self.z, row]),
            np.array([self.score, score]),
            effort=float(effort),
            scale=self.scale,
            note=note,
        )


class Candidates(Sequence[Plan]):
    """Accepted legal rows as one-step plans, made when looked at.

    Parameters
    ----------
    subject : Subject
    targets : (N, d) vectors of the rows
    scores : (N,) the model's scores of them
    """

    def __init__(self, subject: Subject, targets: Array, scores: Array) -> None:
        self.subject, self.targets, self.scores = subject, targets, scores

    @classmethod
    def none(cls, subject: Subject) -> Candidates:
        """Return the candidates of somebody who has none, or needs none."""
        return cls(subject, np.empty((0, len(subject.z))), np.empty(0))

    @classmethod
    def nearest_first(cls, subject: Subject, rows: Array, scores: Array) -> Candidates:
        """Return rows (N, d) with scores (N,) as candidates, in the order of their effort at the identity."""
        order = np.argsort(effort.size(effort.changes(rows, subject.z)), kind="stable")
        return cls(subject, rows[order], scores[order])

    @property
    def moves(self) -> Array:
        """The whole changes (N, d)."""
        return effort.changes(self.targets, self.subject.z)

    def __len__(self) -> int:
        return len(self.targets)

    @overload
    def __getitem__(self, i: int) -> Plan: ...
    @overload
    def __getitem__(self, i: slice) -> list[Plan]: ...
    def __getitem__(self, i: int | slice) -> Plan | list[Plan]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        change = effort.changes(self.targets[i], self.subject.z)
        return self.subject.plan_to(self.targets[i], float(self.scores[i]), float(effort.size(change)))

    def __iter__(self) -> Iterator[Plan]:
        return (self[i] for i in range(len(self)))
