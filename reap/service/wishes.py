"""What a person wishes for one feature: read from a form or from JSON, and put in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reap.elicitation.difficulty import WORDS
from reap.service import rows
from reap.space import ActionSpace, Limits
from reap.space.words import lowered


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
    level = given.get("difficulty")
    if level not in (None, ""):
        wish["difficulty"] = int(level) if str(level).isdecimal() else level
    return wish


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
        text = f"Changing {lowered(space.feature(name).label)} is {WORDS[level]} for you"
        said.append((name, text, False))
    return said
