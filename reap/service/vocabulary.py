"""Every type of entry that a log may hold. A new type of the service's own is one line in ``NOTES``.

The events of a session (``reap.elicitation.VERBS``) happen to the session in memory. The service's own entries, *notes*, are only
kept: no engine hears of them, undo leaves them, and they do not make a page that somebody has open stale.
"""

from __future__ import annotations

from reap._errors import unknown
from reap.elicitation import VERBS

#: The service's own entries, each with what it says. At most 32 characters a name.
NOTES = {
    "chosen": "the plan that the person chose",
    "reported": "what the person has done of it",
    "printed": "the person took the plan with them, on paper or as a file",
    "returned": "the person came back after a while",
    "review asked": "the person wants somebody to look at the decision",
    "review answered": "what somebody at the operator's decided",
}
#: What a session shows; it has happened to the session in memory when it is stored.
SHOWN = ("asked", "recommended")
TYPES = (*VERBS, *NOTES)


def check(kind: str) -> str:
    """Return a type of entry, or refuse one that no release knows.

    Examples
    --------
    >>> check("review asked")
    'review asked'
    """
    if kind not in TYPES:
        raise unknown("type of entry", kind, TYPES)
    return kind


def quiet(kind: str) -> bool:
    """Whether an entry changes nothing that the person sees, so that the revision stays."""
    return kind == "recommended" or kind in NOTES
