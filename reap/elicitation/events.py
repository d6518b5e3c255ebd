"""The events of a session: one vocabulary, one undo, one JSON form, and one reader that checks, for the library and the service.

A session is the list of its events. ``started`` says who the person is and what was set. ``asked`` and ``recommended`` say
what was shown. The *acts* say what the person did: ``screened``, ``answered``, ``revised``, ``constrained``, ``released``,
``refused``, ``replanned``. ``undone`` takes the last act back. What was shown is in the log, so the same events lead to the
same state, to the byte, and no engine is asked again.

Plans that were found or asked about are listed once in an event and named by position. A plan that was recommended is written
with its words, since that is what the person saw.

A file from outside is replayed, and every event in it is checked before it happens, as if nobody knew who wrote it (`LogReader`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from reap._errors import InputError
from reap._formats import Format
from reap._typing import Array
from reap.elicitation.learned import check_level
from reap.elicitation.question import Question, read_choice
from reap.plan import Plan, number, numbers, unreadable
from reap.recourse import Engine
from reap.recourse.engine import differences
from reap.space import ActionSpace, Limits

_FORMAT = Format("session", "reap.session", 2, "what Elicitation.to_json wrote", "start a new session")
#: What the person said or did; ``undone`` takes the last of them back.
ACTS = ("screened", "answered", "revised", "constrained", "released", "refused", "replanned")
#: Every type of event of a session; a program may put events of its own between them.
VERBS = ("started", "asked", "recommended", *ACTS, "undone")
#: What reading a file that nobody wrote can end in.
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)
#: How far a stored score may be from the model's: another machine sums in another order.
_SCORE = 1e-6
#: The least and the most of a session's whole numbers.
_WHOLE = {"questions": (0, 1000), "options": (2, 26), "random_state": (0, 2**63)}
#: What a session may have of its own.
_OWN = ("belief", "strategy")
#: The highest number of a question: each answer may be followed by two that tell nothing.
_MOST = 10_000


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
    try:
        return [Event.from_dict(item) for item in data["events"]]
    except (LookupError, TypeError, AttributeError) as error:
        raise InputError(f"the session is damaged: {error}") from None


# what was shown ----------------------------------------------------------------------------------------


class Shown(NamedTuple):
    """What the engine found and the person was shown.

    Parameters
    ----------
    found : list of Plan, optional
        The plans that joined the pool; None where the engine was not asked.
    question : Question, optional
        Of ``asked``; None: nothing is left to ask.
    plan : Plan, optional
        Of ``recommended``: the plan as it was shown.
    """

    found: list[Plan] | None = None
    question: Question | None = None
    plan: Plan | None = None

    def event(self) -> Event:
        """Return the event that says so."""
        written: list[dict[str, Any]] = []
        known: dict[int, int] = {}

        def places(plans: Sequence[Plan]) -> list[int]:
            for plan in plans:
                if id(plan) not in known:
                    known[id(plan)] = len(written)
                    written.append(plan.bare())
            return [known[id(plan)] for plan in plans]

        said: dict[str, Any] = {"found": None if self.found is None else places(self.found)}
        if self.plan is not None:
            said["plan"] = self.plan.to_dict(standalone=False)
            return Event("recommended", {**said, "plans": written})
        asked = self.question
        said["question"] = asked and {
            "id": asked.id,
            "number": asked.number,
            "options": places(asked.options),
            "gain": None if math.isnan(asked.gain) else asked.gain,
            "whole": asked.whole,
        }
        return Event("asked", {**said, "plans": written})

    @classmethod
    def of(cls, event: Event, space: ActionSpace) -> Shown:
        """Undo ``event``."""
        said, plans = event.payload, read_plans(event.payload["plans"], space)
        found = None if said["found"] is None else [_place(i, plans) for i in said["found"]]
        if event.type == "recommended":
            return cls(found, plan=Plan.from_dict(said["plan"], space))
        asked = said["question"]
        if asked is None:
            return cls(found)
        options = tuple(_place(i, plans) for i in asked["options"])
        gain = math.nan if asked["gain"] is None else asked["gain"]
        question = Question(asked["id"], asked["number"], options, gain, asked["whole"])
        return cls(found, question)


def _place(place: Any, plans: Sequence[Plan]) -> Plan:
    if type(place) is not int or not 0 <= place < len(plans):
        raise damaged(f"there is no plan {place!r}")
    return plans[place]


def read_plans(items: Sequence[Mapping[str, Any]], space: ActionSpace) -> list[Plan]:
    """Return plans that were written without their words."""
    return [Plan.from_bare(item, space) for item in items]


def damaged(what: str) -> InputError:
    """Return the error of a session that is not as an engine and a person leave it."""
    return InputError(f"the session is damaged: {what}")


# what a person says: each thing is checked and becomes an event, be it said now or read in a file -----------


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
        if not offered:
            raise InputError(f"{name!r} cannot change: within the limits nothing can; relax one first")
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
    """Return the event of an answer to a question: an option, "same", "skip", or "neither" with what is ``impossible``."""
    return Event("answered", {"question": question.id, **_said(space, question, choice, impossible)})


def revised(
    space: ActionSpace,
    answers: Sequence[Question],
    position: int,
    choice: int | str,
    impossible: str | Sequence[str] = (),
) -> Event:
    """Return the event of another answer to an earlier question, by its position among the answers, from 0."""
    if not 0 <= position < len(answers):
        raise InputError(f"there is no answer {position + 1}; {len(answers)} were given")
    return Event("revised", {"position": position, **_said(space, answers[position], choice, impossible)})


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
    return Event(
        "refused",
        {"plans": [plan.bare() for plan in plans], "impossible": _named(space, impossible)},
    )


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


def standing(space: ActionSpace, z: Array) -> dict[str, Any]:
    """Return where a person stands, a vector (d,), as plain values: missing ones are null."""
    return {"z": [None if math.isnan(v) else v for v in z.tolist()], "subject": space.values(z)}


def replanned(space: ActionSpace, z: Array) -> Event:
    """Return the event of a new situation, a vector (d,)."""
    return Event("replanned", standing(space, z))


# a log from outside ------------------------------------------------------------------------------------


def check_engine(started: Mapping[str, Any], space: ActionSpace, engine: Mapping[str, Any]) -> None:
    """Refuse to go on with a session, by the payload of its first event, under another space or engine; say what differs."""
    if started["space"] != space.digest:
        raise InputError(
            "the session was made with another action space; load it with the space it was made with"
        )
    if differ := differences(started["engine"], engine):
        raise InputError(
            f"the session was made with another engine: {', '.join(differ)}; load it with the engine it was made with"
        )


class LogReader:
    """Checks events of a log that nobody has looked at, each before it happens to a session.

    Every place where somebody stands must be a row; every stored plan must start there, be legal within the limits that the
    person has set by then, and score what the model scores; every answer must be one that its question allows. A session in the
    service's own database is replayed without this.

    Parameters
    ----------
    engine : Engine, optional
        Without one nobody goes on with the session, and no model is at hand: how it was held, and what the file says of
        scores, is taken as it is.
    """

    def __init__(self, engine: Engine | None) -> None:
        self.engine = engine

    def started(self, event: Event, space: ActionSpace) -> None:
        """Check the first event of a log, before anything is made of it."""
        said = event.payload
        self._stands(said, space)
        if self.engine is None:
            return
        if not isinstance(said["own"], list) or not set(said["own"]) <= set(_OWN):
            raise damaged(f"it was made with {said['own']!r} of its own; expected some of {', '.join(_OWN)}")
        if not isinstance(said["reap"], str):
            raise damaged("it does not say what it was made with")
        for name, (least, most) in _WHOLE.items():
            value = said["settings"][name]
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise damaged(f"its setting {name} is {value!r}; expected {least} to {most}")

    def check(
        self,
        event: Event,
        space: ActionSpace,
        limits: Limits,
        here: Array,
        question: Question | None,
        history: Sequence[Question],
    ) -> None:
        """Check what happens next to somebody who stands ``here`` (d,), by the question on the table and those answered.

        What a person said must be what they could have said: the same words make the same event.
        """
        said, allowed, known = event.payload, space.tighten(limits), None
        match event.type:
            case "asked" | "recommended":
                self._shown(Shown.of(event, space), here, allowed)
            case "answered":
                if question is None:
                    raise damaged("there is no question to answer")
                known = answered(space, question, said["choice"], said["impossible"])
            case "revised":
                known = revised(space, history, said["position"], said["choice"], said["impossible"])
            case "refused":
                plans = read_plans(said["plans"], space)
                self._plans(plans, True, here, allowed)
                known = refused(space, plans, said["impossible"])
            case "constrained":
                name, wish = said["feature"], Limits.from_dict(said["limits"])
                known = constrained(
                    space,
                    name,
                    fixed=name in wish.fixed,
                    at_least=wish.at_least.get(name),
                    at_most=wish.at_most.get(name),
                    exclude=wish.exclude.get(name, ()),
                    difficulty=said["difficulty"],
                    within_months=wish.within_months,
                )
                space.tighten(wish)
            case "screened":
                rest, named = Limits.from_dict(said["limits"]).fixed, said["changeable"]
                known = screened(space, [*(named or ()), *rest], named, said["difficulty"])
            case "released":
                known = released(limits, said["feature"])
            case "replanned":
                self._stands(said, space)
        if known is not None and any(said[name] != value for name, value in known.payload.items()):
            raise damaged(f"nobody can have {event.type} what it says")

    def _shown(self, shown: Shown, here: Array, allowed: ActionSpace) -> None:
        plans, question = list(shown.found or ()), shown.question
        if shown.plan is not None and shown.plan.status == "ok":
            plans.append(shown.plan)
        if question is not None:
            good = type(question.number) is int and 0 <= question.number <= _MOST
            good = good and isinstance(question.id, str)
            good = good and len({id(option) for option in question.options}) > 1
            good = good and (question.gain != question.gain or number(question.gain))
            if not (good and isinstance(question.whole, bool)):
                raise damaged(f"its question {question.number!r} is not one")
            if question.whole:
                plans += question.options
            else:
                self._plans(question.options, False, here, allowed)
        self._plans(plans, True, here, allowed)
        str(question)

    def _stands(self, said: Mapping[str, Any], space: ActionSpace) -> None:
        """Refuse a place where nobody stands: no vector of a row, or not the row that the file says."""
        z = numbers(said["z"])
        if z.shape != (space.dimension,):
            raise damaged(f"the person stands at {len(z)} numbers; the space has {space.dimension} columns")
        row = space.encode(space.decode(z[None]))[0]
        if not np.allclose(row, z, rtol=0, atol=1e-9, equal_nan=True):
            raise damaged("where the person stands is not a row of the table")
        if dict(said["subject"]) != space.at_values(z, said["subject"]).values(z):
            raise damaged("the person's values and their vector disagree")

    def _plans(self, plans: Sequence[Plan], whole: bool, here: Array, allowed: ActionSpace) -> None:
        """Judge plans by space and model: where each begins, whether it is legal, every score; whole ones end in a yes."""
        for plan in plans:
            if (wrong := unreadable(plan)) is not None:
                raise damaged(f"a plan cannot be read: {wrong}")
            if not np.allclose(plan.path[0], here, rtol=0, atol=1e-9, equal_nan=True):
                raise damaged("a plan begins where the person does not stand")
            if self.engine is not None and plan.scale != self.engine.classifier_.scale:
                raise damaged("a plan's scores are of another kind than the model's")
        if not plans:
            return
        if self.engine is not None:
            ends, model = np.array([plan.path[-1] for plan in plans]), self.engine.classifier_
            if not self.engine.space.allows(here[None], ends).all():
                raise damaged("the action space does not allow what a plan advises")
            scores = np.asarray(model.score(np.concatenate([plan.path for plan in plans])))
            if not np.allclose(
                scores, np.concatenate([plan.scores for plan in plans]), rtol=_SCORE, atol=_SCORE
            ):
                raise damaged("a plan's scores are not the model's")
            if whole and not model.accepts(ends).all():
                raise damaged("the model rejects where a plan ends")
        rows = np.concatenate([plan.path[1:] if plan.along else plan.path[-1:] for plan in plans])
        if not allowed.allows(here[None], rows).all():
            raise damaged("a plan breaks the person's limits")
