"""Hold a session in a terminal: show, ask, keep the file up to date, until the person is done or stops."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from reap._errors import InputError
from reap.cli._replies import act
from reap.language import N_, _

if TYPE_CHECKING:
    from reap.elicitation import Elicitation, Question
    from reap.research.subjects import Mahalanobis

_HELP = N_(
    "Type a letter for the easiest option; = about the same; n I can do none of them; s skip; u undo; l limit something; "
    "p plan so far; q quit (and resume later)"
)


def hold(session: Elicitation, console: Console, path: Path | None, person: Mahalanobis | None) -> None:
    """Hold a session with whoever is at the terminal, or with a simulated ``person``."""
    while True:
        question = session.ask()
        _save(session, path)
        if question is None:
            if not _end(session, console, asking=person is None):
                return
            continue
        _show(question, session, console)
        reply = _reply(question, console, person)
        try:
            if reply in ("q", None):
                raise EOFError
            plan = act(session, question, reply, console)
        except (EOFError, KeyboardInterrupt):  # also in a menu
            resume = _("Stopped. (With --session FILE it could be resumed.)")
            if path:
                resume = _("Stopped. Resume with --session {path}.").format(path=path)
            console.print(f"{resume}\n\n[bold]{_('The plan so far')}[/]\n{session.recommend()}")
            return
        except InputError as error:
            console.print(f"[yellow]{error}[/]")
            continue
        if plan is not None:
            console.print(f"\n{plan}\n")


def _save(session: Elicitation, path: Path | None) -> None:
    if path is not None:
        part = path.with_name(path.name + ".part")
        part.write_text(session.to_json(), encoding="utf-8")
        part.replace(path)  # a reader sees the old file or the new one, never half of one


def _end(session: Elicitation, console: Console, *, asking: bool) -> bool:
    """Show the plans to choose from; returns whether the person wants none of them, and questions go on."""
    console.print(session.ended)
    if session.prediction is not None and session.prediction.hit is not None:
        console.print(str(session.prediction))
    best, *others = session.plans()
    easier = session.plans(1, today=True)[1:]
    console.print(f"\n[bold]{_('Recommended')}[/]")
    console.print(str(best), markup=False)
    for other in others:
        console.print(f"\n[bold]{_('Another way')}[/]")
        console.print(str(other), markup=False)
    for plan in easier:
        console.print(f"\n[bold]{_('Easier today, but less sure to hold')}[/]")
        console.print(str(plan), markup=False)
    if not asking or best.status != "ok" or not session.answered:
        return False
    try:
        reply = console.input(_("Enter: done; n: none of these: "), markup=False).strip().lower()
    except (EOFError, KeyboardInterrupt):
        return False
    if reply not in ("n", "none"):
        return False
    session.refuse([best, *others, *easier])
    if session.ask() is None:
        console.print(_("There is nothing more to ask; these are the plans that are left."))
    return True


def _show(question: Question, session: Elicitation, console: Console) -> None:
    console.print(f"\n[dim]{session.progress}[/]")
    first, *lines = str(question).split("\n")
    console.print(first, style="bold")
    console.print("\n".join(lines), markup=False)


def _reply(question: Question, console: Console, person: Mahalanobis | None) -> str | None:
    if person is not None:
        choice = person.answer(question)
        reply = "=" if choice == "same" else question.names[int(choice)].lower()
        console.print(f"[green]> {reply}[/]")
        return str(reply)
    console.print(f"[dim]{_(_HELP)}[/]")
    try:
        return console.input("[bold]> [/]").strip().lower()
    except (EOFError, KeyboardInterrupt):
        return None
