"""What a person wishes for one feature: read from a form or from JSON, and put in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from reap._errors import InputError
from reap.elicitation.learned import WORDS
from reap.language import _, listed, ngettext, quoted
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
    least, most = wish.get("at_least"), wish.get("at_most")
    if about.is_number and least is not None and most is not None and least > most:
        said = _("{label}: the first number, {least}, is above the second, {most}")
        raise InputError(said.format(label=about.label, least=about.show(least), most=about.show(most)))
    if given.get("exclude"):
        wish["exclude"] = [rows.value(about, level) for level in given["exclude"]]
    level = given.get("difficulty")
    if level not in (None, ""):
        wish["difficulty"] = int(level) if str(level).isdecimal() else level
    return wish


def sentences(
    space: ActionSpace, limits: Limits, difficulties: Mapping[str, int], aside: Collection[str] = ()
) -> list[tuple[str, str, bool]]:
    """Return what the person has wished for: (feature, sentence, whether it is a limit that can be lifted).

    ``aside`` are features that are fixed for a reason that is said elsewhere.
    """
    said: list[tuple[str, str, bool]] = []

    def say(name: str, text: str, **values: str) -> None:
        said.append((name, text.format(label=space.feature(name).label, **values), True))

    for name in limits.fixed:
        if name not in aside:
            say(name, _("{label} stays as it is"))
    for name, value in limits.at_least.items():
        say(name, _("{label} is at least {value}"), value=space.feature(name).show(value))
    for name, value in limits.at_most.items():
        say(name, _("{label} is at most {value}"), value=space.feature(name).show(value))
    for name, levels in limits.exclude.items():
        shown = listed([quoted(space.feature(name).show(level)) for level in levels], "or")
        say(name, _("{label} does not become {levels}"), levels=shown)
    if limits.max_changes is not None:
        most = limits.max_changes
        text = ngettext("At most {n} thing changes", "At most {n} things change", most).format(n=most)
        said.append(("max_changes", text, True))
    if limits.within_months is not None:
        months = limits.within_months
        text = ngettext("Done within {n} month", "Done within {n} months", months).format(n=months)
        said.append(("within_months", text, True))
    for name, level in difficulties.items():
        text = _("Changing this is {difficulty} for you: {feature}")
        label = lowered(space.feature(name).label)
        said.append((name, text.format(difficulty=_(WORDS[level]), feature=label), False))
    return said
