"""One doing, said once: whoever pays on time for a year makes up for late payments of every kind.

Features with the same ``deed`` have phrases that say first what is done, then in brackets what that brings: "Pay all bills on
time for 12 months (to make up for …)". Side by side they are one sentence, with the longest time and everything it brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile

from reap.language import listed
from reap.space.words import Change


def sentences(changes: Iterable[Change], deed: Callable[[str], str]) -> list[str]:
    """Return changes as sentences without full stops, one for all that have the same deed.

    Parameters
    ----------
    changes : iterable of Change
    deed : callable
        What one does about a feature, by its name; empty for what stands alone.

    Examples
    --------
    >>> from reap.space import Feature
    >>> phrase = {"down": "Pay on time for {months:month|months} (to make up for {by:delay|delays})"}
    >>> late = Feature("late", "integer", range=(0, 9), pace="1 every 12 months", deed="pay", phrases=phrase)
    >>> sentences([Change.of(late, 2, 1), Change.of(late, 3, 1)], lambda name: "pay")
    ['Pay on time for 24 months (to make up for 1 delay and 2 delays)']
    """
    return [together(doing) for doing in doings(changes, deed)]


def doings(changes: Iterable[Change], deed: Callable[[str], str]) -> list[list[Change]]:
    """Return what a person does: changes, those that have the same deed together."""
    done: dict[str, list[Change]] = {}
    for change in changes:
        done.setdefault(deed(change.feature) or f"\0{change.feature}", []).append(change)
    return list(done.values())


def together(changes: list[Change]) -> str:
    """Return one doing as a sentence without a full stop."""
    parts = [str(change).removesuffix(")").partition(" (") for change in changes]
    longest = max(range(len(changes)), key=lambda i: changes[i].months)
    brought = [brings for _, _, brings in parts if brings]
    return (
        f"{parts[longest][0]} ({_at_once(brought)})"
        if brought and len(changes) > 1
        else str(changes[longest])
    )


def _at_once(brought: list[str]) -> str:
    """Return what is brought about, the words with which all begin said once, but for numbers: these are not the same ones."""
    words = [brings.split(" ") for brings in brought]
    alike = takewhile(
        lambda each: len(set(each)) == 1 and not any(map(str.isdigit, each[0])), zip(*words, strict=False)
    )
    same = min(len(list(alike)), min(map(len, words)) - 1)
    return listed([brought[0], *(" ".join(each[same:]) for each in words[1:])])
