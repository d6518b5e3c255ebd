"""What a person can say: each thing is checked and returned as an event, which ``Elicitation.apply`` lets happen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from reap._errors import InputError
from reap._typing import Array
from reap.elicitation.events import Event
from reap.elicitation.learned import check_level
from reap.elicitation.question import Question, read_choice
from reap.plan import Plan
from reap.space import ActionSpace, Limits


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
    """Return the event of an answer to a question."""
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


def replanned(space: ActionSpace, z: Array) -> Event:
    """Return the event of a new situation, a vector (d,)."""
    return Event("replanned", {"z": numbers(z), "subject": space.values(z)})


def numbers(z: Array) -> list[float | None]:
    """Return a vector as JSON numbers, missing values as null."""
    return [None if math.isnan(v) else v for v in z.tolist()]
