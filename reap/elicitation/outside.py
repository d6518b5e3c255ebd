"""Sessions from outside: a file is replayed, then everything in it is judged as if nobody knew who wrote it.

Every place where somebody stands must be a row; every stored plan must start there, be legal within the limits that the person
had set by then, and score what the model scores; every answer must be one that its question allows. A session in the service's
own database is replayed without this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np

from reap._errors import InputError
from reap._soundness import number, unreadable
from reap._typing import Array
from reap.elicitation.answers import read_choice
from reap.elicitation.difficulty import check_level
from reap.elicitation.events import Event
from reap.elicitation.question import Kind, Question
from reap.elicitation.rounds import read_asked, read_plans, vector
from reap.elicitation.state import State
from reap.plan import Plan
from reap.recourse import Engine
from reap.space import ActionSpace, Limits

#: What reading a file that nobody wrote can end in.
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError, RecursionError)
#: How far a stored score may be from the model's: another machine sums in another order.
_SCORE = 1e-6
#: The least and the most of a session's whole settings.
_SETTINGS = {
    "questions": (0, 1000),
    "options": (2, 26),
    "samples": (1, 10_000),
    "random_state": (0, 2**63),
}
#: What a session may have of its own.
_OWN = ("belief", "strategy")
#: The highest number of a question: each answer may be followed by two that tell nothing.
_MOST = 10_000
#: Those that are on or off.
_SWITCHES = ("warm_up", "held_out", "minds")


def unjudged() -> np.errstate:
    """Return a context in which a file is replayed that nobody has looked at: its numbers may overflow, and are refused after."""
    return np.errstate(all="ignore")


def judge(session: State, engine: Engine | None) -> None:
    """Refuse a session that was replayed from a file and in which something is not as an engine and a person leave it.

    Without an engine nobody goes on with the session, and no model is at hand: how it was held, and what the file says of
    scores, is taken as it is.
    """
    space, here = session.space, np.empty(0)
    limits, allowed, asked = Limits(), session.space, None
    for event, then in zip(session.events, session.limited, strict=True):
        said = event.payload
        if then != limits:
            limits, allowed = then, space.tighten(then)
        if event.type in ("started", "replanned"):
            here = _stands(said, space)
        if event.type == "started":
            if engine is not None:
                _check_held(said)
        elif event.type == "answered":
            if said["question"] != asked:
                raise _damaged(f"it answers the question {said['question']!r}, which is not the one asked")
        elif event.type in ("asked", "recommended"):
            if event.type == "asked":
                asked = None if said["question"] is None else said["question"]["id"]
            whole, parts = _plans(event, space)
            _check_plans(whole, parts, here, engine)
            _check_limits([*whole, *parts], here, allowed)
        elif event.type == "constrained":
            _check_wish(said, space)
        elif event.type == "screened":
            _check_screening(said, space)
        elif event.type == "refused":
            if not (turned_down := read_plans(said["plans"], space)):
                raise _damaged("it refuses plans, and names none")
            _check_plans(turned_down, [], here, engine)
            _check_limits(turned_down, here, allowed)
            _check_names(said["impossible"], space)
    for question, choice in session.history:
        if isinstance(choice, bool) or choice != read_choice(choice, len(question.options)):
            raise _damaged(f"{choice!r} is not an answer to question {question.number}")
        str(question)
    for names in session.impossible:
        _check_names(names, space)
    _check_limits(session.pool.plans, here, space.tighten(session.limits))


def _damaged(what: str) -> InputError:
    return InputError(f"the session is damaged: {what}")


def _stands(said: Mapping[str, Any], space: ActionSpace) -> Array:
    """Return where the person stands: a vector that is one of a row, and the row that the file says."""
    z = vector(said["z"])
    if z.shape != (space.dimension,) or np.isinf(z).any():
        raise _damaged(f"the person stands at {len(z)} numbers; the space has {space.dimension} columns")
    row = space.encode(space.decode(z[None]))[0]
    if not np.allclose(row, z, rtol=0, atol=1e-9, equal_nan=True):
        raise _damaged("where the person stands is not a row of the table")
    if dict(said["subject"]) != space.at_values(z, said["subject"]).values(z):
        raise _damaged("the person's values and their vector disagree")
    return z


def _check_held(said: Mapping[str, Any]) -> None:
    """Refuse a beginning that does not say how the session is held."""
    if not isinstance(said["own"], list) or not set(said["own"]) <= set(_OWN):
        raise _damaged(f"it was made with {said['own']!r} of its own; expected some of {', '.join(_OWN)}")
    if not isinstance(said.get("reap", ""), str):
        raise _damaged("it does not say what it was made with")
    settings = said["settings"]
    for name, (least, most) in _SETTINGS.items():
        value = settings[name]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise _damaged(f"its setting {name} is {value!r}; expected {least} to {most}")
    for name in _SWITCHES:
        if not isinstance(settings.get(name, False), bool):
            raise _damaged(f"its setting {name} is {settings[name]!r}; expected true or false")


def _check_wish(said: Mapping[str, Any], space: ActionSpace) -> None:
    if said["feature"] is not None:
        _check_names([said["feature"]], space)
    space.tighten(Limits.from_dict(said["limits"]))
    if said["difficulty"] is not None:
        check_level(said["difficulty"])


def _check_screening(said: Mapping[str, Any], space: ActionSpace) -> None:
    """Refuse a screening that names what is not there, or whose limits do not follow from what it names."""
    named, limits = said["changeable"], Limits.from_dict(said["limits"])
    space.tighten(limits)
    if limits != Limits(fixed=limits.fixed):
        raise _damaged("its screening limits more than what stays as it is")
    if named is None:
        if limits.fixed or said["difficulty"]:
            raise _damaged("its screening was skipped, and yet says something")
        return
    _check_names(named, space)
    if set(named) & set(limits.fixed):
        raise _damaged("its screening keeps what the person could change")
    for name, level in dict(said["difficulty"]).items():
        if name not in named:
            raise _damaged(
                f"its screening has a difficulty for {name!r}, which is not among what is changeable"
            )
        check_level(level)


def _check_names(names: Sequence[str], space: ActionSpace) -> None:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise _damaged(f"{names!r} is no list of names")
    for name in names:
        space.feature(name)


def _plans(event: Event, space: ActionSpace) -> tuple[list[Plan], list[Plan]]:
    """Return the plans that an event shows or lets join the pool, and the parts of plans that it shows."""
    said = event.payload
    plans = read_plans(said["plans"], space)
    if event.type == "recommended":
        shown = Plan.from_dict(said["plan"], space)
        return ([*plans, shown] if shown.status == "ok" else plans), []
    found, question = read_asked(said, space)
    if question is not None:
        if not _is_question(question):
            raise _damaged(f"its question {question.number!r} is not one")
        str(question)
        if not question.whole:
            return list(found or ()), list(question.options)
    return plans, []


def _is_question(question: Question) -> bool:
    """Return whether everything that a question says is of its kind, and in range."""
    # a release had questions with the number 0
    good = type(question.number) is int and 0 <= question.number <= _MOST
    good = good and isinstance(question.id, str) and isinstance(question.why, str)
    good = good and len({id(option) for option in question.options}) > 1
    good = good and (question.gain != question.gain or number(question.gain))
    good = good and question.kind in get_args(Kind) and isinstance(question.whole, bool)
    if question.kind == "second look":
        good = good and _names_option(question.earlier, question)
    else:
        good = good and question.earlier is None
    likely: Any = question.probability
    if question.predicted is None and likely is None:
        return good
    return good and _names_option(question.predicted, question) and number(likely) and 0 <= likely <= 1


def _names_option(place: Any, question: Question) -> bool:
    return type(place) is int and 0 <= place < len(question.options)


def _check_plans(whole: Sequence[Plan], parts: Sequence[Plan], here: Array, engine: Engine | None) -> None:
    """Judge plans by the space and by the model: where each begins, whether it is legal, and every score."""
    plans = [*whole, *parts]
    for plan in plans:
        if (wrong := unreadable(plan)) is not None:
            raise _damaged(f"a plan cannot be read: {wrong}")
        if len(plan.path) < 2:
            raise _damaged("a plan has no step")
        if not np.allclose(plan.path[0], here, rtol=0, atol=1e-9, equal_nan=True):
            raise _damaged("a plan begins where the person does not stand")
        if engine is not None and plan.scale != engine.classifier_.scale:
            raise _damaged("a plan's scores are of another kind than the model's")
        if not (math.isfinite(plan.effort) and plan.effort >= 0):
            raise _damaged(f"a plan's effort is {plan.effort!r}")
    if not plans or engine is None:
        return
    ends = np.array([plan.path[-1] for plan in plans])
    if not engine.space.allows(here[None], ends).all():
        raise _damaged("the action space does not allow what a plan advises")
    model = engine.classifier_
    scores = np.asarray(model.score(np.concatenate([plan.path for plan in plans])))
    stored = np.concatenate([plan.scores for plan in plans])
    if not np.allclose(scores, stored, rtol=_SCORE, atol=_SCORE):
        raise _damaged("a plan's scores are not the model's")
    if whole and not model.accepts(ends[: len(whole)]).all():
        raise _damaged("the model rejects where a plan ends")


def _check_limits(plans: Sequence[Plan], here: Array, allowed: ActionSpace) -> None:
    """Refuse plans that the space, with the person's limits, does not allow: where they lead, for a path every stage."""
    rows = [plan.path[1:] if plan.along else plan.path[-1:] for plan in plans]
    if rows and not allowed.allows(here[None], np.concatenate(rows)).all():
        raise _damaged("a plan breaks the person's limits")
