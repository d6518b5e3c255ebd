"""What happened in a dialogue: the events, and what the engine added after each.

An event is a plain dict with a "type" (answer, constrain, release, replan), what was said, and under "pending" the
question that was on the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from reap._errors import InputError
from reap._typing import Array
from reap.elicitation.answers import read_choice
from reap.elicitation.presets import DIFFICULTY
from reap.elicitation.question import Question
from reap.plan import Plan
from reap.space import ActionSpace, Limits

Event: TypeAlias = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Story:
    """All that the state of a dialogue follows from, besides its settings; ``Elicitation.replay`` brings it back.

    Parameters
    ----------
    start : (d,)
        Where the person stood at first.
    limits : Limits
        What they could not or would not do from the start.
    events : tuple of Event
    grown : mapping of int to list of Plan
        The plans that joined the pool, by the number of events before; a revision that is missing was not asked for.
    pending : Question, optional
        The question on the table.
    nothing_left : bool
        Whether there was nothing to ask.
    """

    start: Array
    limits: Limits
    events: tuple[Event, ...] = ()
    grown: Mapping[int, list[Plan]] = field(default_factory=dict)
    pending: Question | None = None
    nothing_left: bool = False

    @property
    def answers(self) -> list[Event]:
        """The events that answered a question."""
        return [event for event in self.events if _answers(event)]

    def undone(self) -> Story:
        """Return the story without its last event, with the question that was on the table before it."""
        if not self.events:
            raise InputError("there is nothing to undo")
        return self._until(len(self.events) - 1, self.events[:-1], self.events[-1]["pending"])

    def revised(self, position: int, choice: int | str, impossible: Sequence[str]) -> Story:
        """Return the story in which one answer was another; later events stay.

        Plans found after the old answer may break what the new one forbids: they are left out, and the engine is
        asked again.
        """
        places = [i for i, event in enumerate(self.events) if _answers(event)]
        if not 0 <= position < len(places):
            raise InputError(f"there is no answer {position + 1}; {len(places)} were given")
        place = places[position]
        old = self.events[place]
        given = read_choice(choice, len(old["pending"].options))
        new = {**old, "choice": given, "impossible": list(impossible)}
        return self._until(place, (*self.events[:place], new, *self.events[place + 1 :]), None)

    def _until(self, last: int, events: tuple[Event, ...], pending: Question | None) -> Story:
        """Return a story with other events, in which the engine was asked up to a revision."""
        grown = {revision: plans for revision, plans in self.grown.items() if revision <= last}
        return replace(self, events=events, grown=grown, pending=pending, nothing_left=False)


def _answers(event: Event) -> bool:
    return event["type"] == "answer" and event["pending"] is not None


def answered(
    space: ActionSpace, question: Question, choice: int | str, impossible: str | Sequence[str]
) -> Event:
    """Return the event of an answer, checked."""
    given = read_choice(choice, len(question.options))
    if isinstance(impossible, str):
        impossible = [impossible]
    for name in impossible:
        space.feature(name)
    if impossible and given != "neither":
        raise InputError('impossible changes are named with the answer "neither"')
    return {"type": "answer", "choice": given, "impossible": list(impossible)}


def constrained(
    space: ActionSpace,
    feature: str,
    *,
    fixed: bool,
    at_least: Any,
    at_most: Any,
    exclude: Sequence[Any],
    difficulty: int | None,
) -> Event:
    """Return the event of a wish about one feature, checked."""
    wish = space.limits(
        fixed=[feature] if fixed else [],
        at_least={} if at_least is None else {feature: at_least},
        at_most={} if at_most is None else {feature: at_most},
        exclude={feature: list(exclude)} if exclude else {},
    )
    space.feature(feature)
    if difficulty is not None and difficulty not in DIFFICULTY:
        raise InputError(f"difficulty is {difficulty!r}; give a level from 1 (very easy) to 5 (very hard)")
    if not wish and difficulty is None:
        raise InputError(
            f"say what you wish for {feature!r}: fixed, at_least, at_most, exclude or difficulty"
        )
    return {"type": "constrain", "feature": feature, "limits": wish.to_dict(), "difficulty": difficulty}
