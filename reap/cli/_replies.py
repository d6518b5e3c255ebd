"""What a person types at a question, carried out: an answer, an undo, a limit, a look at the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from reap import language
from reap._errors import InputError
from reap.language import _

if TYPE_CHECKING:
    from reap.elicitation import Elicitation, Question
    from reap.plan import Plan


def act(session: Elicitation, question: Question, reply: str, console: Console) -> Plan | None:
    """Carry out one reply; returns the plan where it was asked for."""
    if reply in ("=", "same"):
        session.answer("same")
    elif reply in ("s", "skip"):
        session.answer("skip")
    elif reply in ("u", "undo"):
        session.undo()
    elif reply in ("p", "plan"):
        return session.recommend()
    elif reply in ("n", "neither", "none"):
        session.answer("neither", impossible=_impossible(session, question, console))
    elif reply in ("l", "limit"):
        _limit(session, console)
    elif len(reply) == 1 and reply.upper() in question.names:
        session.answer(reply)
    else:
        console.print("[yellow]" + _("“{reply}” is not an answer.").format(reply=reply) + "[/]")
    return None


def _impossible(session: Elicitation, question: Question, console: Console) -> list[str]:
    changes = {c.feature: c.label for option in question.options for c in option.changes}
    names = list(changes)
    console.print(_("Which change is impossible for you? It will not be proposed again."))
    for i, name in enumerate(names, 1):
        console.print(f"  {i}  {changes[name]}")
    asked = _("Numbers, separated by commas (empty: none in particular): ")
    given = console.input(asked).replace(",", " ").split()
    for item in given:
        if not (item.isdigit() and 1 <= int(item) <= len(names)):
            raise _unread(item, len(names))
    return [names[int(item) - 1] for item in given]


def _limit(session: Elicitation, console: Console) -> None:
    features = [f for f in session.space.features if f.is_action]
    if session.space.timed:
        console.print("  0  " + _("The time until the plan is done"))
    for i, feature in enumerate(features, 1):
        console.print(f"  {i}  {feature.label}")
    pick = console.input(_("Number of what you want to limit: ")).strip()
    if pick == "0" and session.space.timed:
        months = console.input(_("Done within how many months? ")).strip()
        if not months.isdigit():
            said = _("“{typed}” is not a whole number of months; nothing was changed")
            raise InputError(said.format(typed=months))
        session.constrain(within_months=int(months))
        return
    if not (pick.isdigit() and 1 <= int(pick) <= len(features)):
        raise _unread(pick, len(features))
    feature = features[int(pick) - 1]
    if not feature.is_number:
        session.constrain(feature.name, fixed=True)
        console.print(_("{label} will stay as it is.").format(label=feature.label))
        return
    least, most = _("at least"), _("at most")
    asked = _("keep it as it is (k), or “{least} 5”, “{most} 20”: ").format(least=least, most=most)
    text = console.input(asked).strip().lower()
    if text in ("k", "keep"):
        session.constrain(feature.name, fixed=True)
        return
    said, _space, given = text.rpartition(" ")
    try:
        value = language.read_number(given)
        lower = {least: True, most: False, "at least": True, "at most": False}[said]
    except (InputError, KeyError):
        wrong = _("“{typed}” cannot be read; nothing was changed")
        raise InputError(wrong.format(typed=text)) from None
    if lower:
        session.constrain(feature.name, at_least=value)
    else:
        session.constrain(feature.name, at_most=value)


def _unread(typed: str, most: int) -> InputError:
    said = _("“{typed}” is not a number from 1 to {most}; nothing was changed")
    return InputError(said.format(typed=typed, most=most))
