"""What a person wishes for one feature, said before or between questions: checked, and put in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reap._errors import InputError
from reap.elicitation.session import DIFFICULTY
from reap.service import rows
from reap.space import ActionSpace, Limits
from reap.space.words import lowered

#: What each level of difficulty is called.
LEVELS = {1: "very easy", 2: "easy", 3: "neither easy nor hard", 4: "hard", 5: "very hard"}


def read(space: ActionSpace, feature: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a wish in the feature's own values, without what was left empty."""
    about = space.feature(feature)
    wish: dict[str, Any] = {}
    if given.get("fixed"):
        wish["fixed"] = True
    for name in ("at_least", "at_most"):
        if given.get(name) not in (None, ""):
            wish[name] = rows.bound(about, given[name])
    if given.get("exclude"):
        wish["exclude"] = [rows.value(about, level) for level in given["exclude"]]
    if given.get("difficulty") not in (None, ""):
        wish["difficulty"] = int(given["difficulty"])
    return wish


def check(space: ActionSpace, feature: str, wish: Mapping[str, Any]) -> None:
    """Say what is wrong with a wish before it is stored."""
    about = space.feature(feature)
    if not wish:
        raise InputError(
            f"say what you wish for {feature!r}: fixed, at_least, at_most, exclude or difficulty"
        )
    if not about.actionable or about.derived is not None:
        raise InputError(f"{feature!r} never changes by itself, so there is nothing to wish for")
    low, high = wish.get("at_least"), wish.get("at_most")
    if low is not None and high is not None and about.is_number and low > high:
        raise InputError(f"the least, {about.show(low)}, is above the most, {about.show(high)}")
    if about.levels and len(set(wish.get("exclude", ()))) == len(about.levels):
        raise InputError(f"every level of {feature!r} is excluded; leave at least one")
    if wish.get("difficulty", 3) not in DIFFICULTY:
        raise InputError(
            f"difficulty is {wish['difficulty']!r}; give a level from 1 (very easy) to 5 (very hard)"
        )


def sentences(
    space: ActionSpace, limits: Limits, difficulties: Mapping[str, int]
) -> list[tuple[str, str, bool]]:
    """Return what the person has wished for: (feature, sentence, whether it is a limit that can be lifted)."""
    said: list[tuple[str, str, bool]] = []

    def say(name: str, text: str) -> None:
        said.append((name, f"{space.feature(name).label} {text}", True))

    for name in limits.fixed:
        say(name, "stays as it is")
    for name, value in limits.at_least.items():
        say(name, f"is at least {space.feature(name).show(value)}")
    for name, value in limits.at_most.items():
        say(name, f"is at most {space.feature(name).show(value)}")
    for name, levels in limits.exclude.items():
        listed = " or ".join(f"“{space.feature(name).show(level)}”" for level in levels)
        say(name, f"does not become {listed}")
    if limits.max_changes is not None:
        said.append(("max_changes", f"At most {limits.max_changes} things change", True))
    for name, level in difficulties.items():
        text = f"Changing {lowered(space.feature(name).label)} is {LEVELS[level]} for you"
        said.append((name, text, False))
    return said
