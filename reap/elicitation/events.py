"""The events of a session: one vocabulary, one undo, one JSON form, for the library and for the service.

A session is the list of its events. ``started`` says who the person is and what was set. ``asked`` and ``recommended`` say
what was shown. The *acts* say what the person did: ``screened``, ``answered``, ``revised``, ``constrained``, ``released``,
``refused``, ``replanned``.
``undone`` takes the last act back. What was shown is in the log, so the same events lead to the same state, to the byte,
and no engine is asked again.

The functions here check what a person says and return it as an event. Nothing has happened then; ``State.apply`` lets it happen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from reap import __version__
from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array
from reap.elicitation.answers import read_choice
from reap.elicitation.difficulty import check_level
from reap.elicitation.question import Question
from reap.elicitation.rounds import numbers, write_plans
from reap.plan import Plan
from reap.recourse.fingerprint import differences
from reap.space import ActionSpace, Limits

_FORMAT = Format("session", "reap.session", 1, "what Elicitation.to_json wrote")
#: What the person said or did; ``undone`` takes the last of them back.
ACTS = ("screened", "answered", "revised", "constrained", "released", "refused", "replanned")
#: Every type of event of a session; a program may put events of its own between them.
VERBS = ("started", "asked", "recommended", *ACTS, "undone")


@dataclass(frozen=True)
class Event:
    """Something that happened: its type, one of ``VERBS``, and what was said or shown, as plain JSON values."""

    type: str
    payload: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the payload with the type first."""
        return {"type": self.type, **self.payload}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Undo ``to_dict``."""
        return cls(data["type"], {name: value for name, value in data.items() if name != "type"})


class Typed(Protocol):
    """Anything that has the type of an event."""

    @property
    def type(self) -> str:
        """One of ``VERBS``, or a type of the program's own."""


E = TypeVar("E", bound=Typed)


def in_force(events: Iterable[E]) -> list[E]:
    """Return the events that count: ``undone`` takes the last act, and all that was shown after it, away.

    So the state after an undo is the state before the act, with the question that was on the table. Events of a program's
    own, such as a plan that was kept, stay.

    Examples
    --------
    >>> log = [Event(type, {}) for type in ("started", "asked", "answered", "asked", "undone", "constrained")]
    >>> [event.type for event in in_force(log)]
    ['started', 'asked', 'constrained']
    """
    kept: list[E] = []
    for event in events:
        if event.type != "undone":
            kept.append(event)
            continue
        last = max((i for i, e in enumerate(kept) if e.type in ACTS), default=len(kept))
        kept[last:] = [e for e in kept[last:] if e.type not in VERBS]
    return kept


def write(events: Iterable[Event]) -> str:
    """Return the events of a session as JSON."""
    data = {**_FORMAT.head, "events": [event.to_dict() for event in events]}
    return json.dumps(data, ensure_ascii=False)


def read(text: str) -> list[Event]:
    """Return the events that ``write`` wrote, or say why the text is refused."""
    data = _FORMAT.load(text)
    _FORMAT.check(data)
    return [Event.from_dict(item) for item in data["events"]]


def started(
    space: ActionSpace,
    z: Array,
    limits: Limits,
    settings: Mapping[str, Any],
    own: Sequence[str],
    engine: Mapping[str, Any],
    prior: str | None = None,
) -> Event:
    """Return the first event of a session.

    Parameters
    ----------
    z : (d,)
        Where the person stands.
    settings : mapping
        Those of ``Elicitation``.
    own : sequence of str
        What the session needs besides them to come back: "belief", "strategy".
    engine : mapping
        The fingerprint of the engine: see ``reap.recourse.fingerprint``.
    prior : str, optional
        The hash of the learnt prior it begins with.
    """
    said = {
        "space": space.digest,
        "z": numbers(z),
        "subject": space.values(z),
        "limits": limits.to_dict(),
        "settings": dict(settings),
        "own": list(own),
        "engine": dict(engine),
        "reap": __version__,
        **({} if prior is None else {"prior": prior}),
    }
    return Event("started", said)


def check_engine(started: Mapping[str, Any], space: ActionSpace, engine: Mapping[str, Any]) -> None:
    """Refuse to go on with a session, by the payload of its first event, under another space or engine; say what differs."""
    if started["space"] != space.digest:
        raise InputError(
            "the session was made with another action space; load it with the space it was made with"
        )
    differ = (
        differences(started["engine"], engine) if "engine" in started else []
    )  # sessions of before say nothing
    if differ:
        raise InputError(
            f"the session was made with another engine: {', '.join(differ)}; load it with the engine it was made with"
        )


# what a person can say ---------------------------------------------------------------------------------


def screened(
    space: ActionSpace,
    offered: Sequence[str],
    changeable: Sequence[str] | None,
    difficulty: Mapping[str, int] | None = None,
) -> Event:
    """Return the event of the screening: which of the ``offered`` actions the person could change, and how hard that is.

    Actions that are not named stay as they are. ``changeable`` None: the screening was skipped, which says nothing.
    """
    levels = dict(difficulty or {})
    if changeable is None:
        if levels:
            raise InputError("a skipped screening says nothing of difficulties; name what is changeable too")
        return Event("screened", {"changeable": None, "difficulty": {}, "limits": Limits().to_dict()})
    if isinstance(changeable, str):
        raise InputError(f"changeable is {changeable!r}; give a list of names, or None to skip")
    named = list(dict.fromkeys(changeable))
    for name in (*named, *levels):
        space.feature(name)
        if name not in offered:
            raise InputError(f"{name!r} is not for this person to change; offered are: {', '.join(offered)}")
    for name, level in levels.items():
        if name not in named:
            raise InputError(f"a difficulty is given for {name!r}, which is not among what is changeable")
        check_level(level)
    rest = Limits(fixed=tuple(name for name in offered if name not in named))
    return Event("screened", {"changeable": named, "difficulty": levels, "limits": rest.to_dict()})


def answered(
    space: ActionSpace, question: Question, choice: int | str, impossible: str | Sequence[str] = ()
) -> Event:
    """Return the event of an answer to a question."""
    return Event("answered", {"question": question.id, **_said(space, question, choice, impossible)})


def revised(
    space: ActionSpace,
    answers: Sequence[tuple[Question, int | str]],
    position: int,
    choice: int | str,
    impossible: str | Sequence[str] = (),
) -> Event:
    """Return the event of another answer to an earlier question, by its position among the answers, from 0."""
    if not 0 <= position < len(answers):
        raise InputError(f"there is no answer {position + 1}; {len(answers)} were given")
    return Event("revised", {"position": position, **_said(space, answers[position][0], choice, impossible)})


def _said(
    space: ActionSpace, question: Question, choice: int | str, impossible: str | Sequence[str]
) -> dict[str, Any]:
    given = read_choice(choice, len(question.options))
    names = _named(space, impossible)
    if names and given != "neither":
        raise InputError('impossible changes are named with the answer "neither"')
    return {"choice": given, "impossible": names}


def _named(space: ActionSpace, impossible: str | Sequence[str]) -> list[str]:
    names = [impossible] if isinstance(impossible, str) else list(dict.fromkeys(impossible))
    for name in names:
        space.feature(name)
    return names


def refused(space: ActionSpace, plans: Sequence[Plan], impossible: str | Sequence[str] = ()) -> Event:
    """Return the event of "none of these", said to plans to choose from."""
    if not plans or any(plan.status != "ok" for plan in plans):
        raise InputError("there is no plan to refuse; call plans() first")
    return Event("refused", {"plans": write_plans(plans), "impossible": _named(space, impossible)})


def constrained(
    space: ActionSpace,
    feature: str | None = None,
    *,
    fixed: bool = False,
    at_least: Any = None,
    at_most: Any = None,
    exclude: Sequence[Any] = (),
    difficulty: int | None = None,
    within_months: int | None = None,
) -> Event:
    """Return the event of a wish about one feature: keep it, bound it, exclude levels, say how hard it is (1 to 5).

    ``within_months``, with or without a feature: when the plan must be done.
    """
    in_time = space.limits(within_months=within_months)
    if feature is None:
        if not in_time or fixed or exclude or not (at_least is at_most is difficulty is None):
            raise InputError("name the feature that you have a wish for, or give within_months alone")
        return Event("constrained", {"feature": None, "limits": in_time.to_dict(), "difficulty": None})
    about = space.feature(feature)
    wish = space.limits(
        fixed=[feature] if fixed else [],
        at_least={} if at_least is None else {feature: at_least},
        at_most={} if at_most is None else {feature: at_most},
        exclude={feature: list(exclude)} if exclude else {},
    )
    wish = wish.merge(in_time)
    if not wish and difficulty is None:
        raise InputError(
            f"say what you wish for {feature!r}: fixed, at_least, at_most, exclude, difficulty or within_months"
        )
    if not about.is_action:
        raise InputError(f"no plan advises to change {feature!r}, so there is nothing to wish for")
    if at_least is not None and at_most is not None and about.is_number and at_least > at_most:
        raise InputError(f"the least, {about.show(at_least)}, is above the most, {about.show(at_most)}")
    if about.levels and len(set(exclude)) == len(about.levels):
        raise InputError(f"every level of {feature!r} is excluded; leave at least one")
    if difficulty is not None:
        check_level(difficulty)
    return Event("constrained", {"feature": feature, "limits": wish.to_dict(), "difficulty": difficulty})


def released(limits: Limits, feature: str) -> Event:
    """Return the event of taking back every limit on one feature, or on the whole plan ("max_changes", "within_months")."""
    if feature not in limits.names:
        raise InputError(
            f"there is no limit on {feature!r}; limited are: {', '.join(limits.names) or 'nothing'}"
        )
    return Event("released", {"feature": feature})


def replanned(space: ActionSpace, z: Array) -> Event:
    """Return the event of a new situation, a vector (d,)."""
    return Event("replanned", {"z": numbers(z), "subject": space.values(z)})
