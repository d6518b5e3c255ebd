"""The screening in a terminal: what could change at all, then how hard the ticked ones are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from reap.elicitation.difficulty import FACTORS, WORDS
from reap.language import _, ngettext

if TYPE_CHECKING:
    from reap.elicitation import Elicitation


def screen(session: Elicitation, console: Console) -> None:
    """Hold the screening; it can be skipped, and what cannot be read is asked for again."""
    names = session.changeable
    if not names:
        return
    space, months = session.space, session.space.tighten(session.limits).horizon
    now = space.values(session.here)
    first = _("First: which of these could you realistically change?")
    if space.timed and months:
        first = ngettext(
            "First: which of these could you realistically change within {n} month?",
            "First: which of these could you realistically change within {n} months?",
            months,
        ).format(n=months)
    console.print(f"\n[bold]{first}[/] " + _("Whatever you leave out stays as it is."))
    for i, name in enumerate(names, 1):
        feature = space.feature(name)
        console.print(f"  {i}  {feature.label} ({feature.show(now[name])})", markup=False)
    picked = _ask(console, _("Numbers, separated by commas (Enter: skip this): "), names)
    if picked is None:
        session.screen(None)
        return
    levels = {}
    if picked:
        scale = ", ".join(f"{level} {_(word)}" for level, word in WORDS.items())
        console.print(_("How hard would each be for you? {scale}. Enter: no idea.").format(scale=scale))
    for name in picked:
        level = _level(console, f"  {space.feature(name).label}: ")
        if level is not None:
            levels[name] = level
    session.screen(picked, difficulty=levels)


def _ask(console: Console, text: str, names: list[str]) -> list[str] | None:
    """Return the names that were picked by number; None where the person skipped."""
    while True:
        given = _line(console, text)
        if not given:
            return None
        items = given.replace(",", " ").split()
        wrong = [item for item in items if not (item.isdigit() and 1 <= int(item) <= len(names))]
        if not wrong:
            return [names[i] for i in sorted({int(item) - 1 for item in items})]
        said = _("“{item}” is not a number from 1 to {n}.").format(item=wrong[0], n=len(names))
        console.print(f"[yellow]{said}[/]")


def _level(console: Console, text: str) -> int | None:
    while True:
        given = _line(console, text)
        if not given:
            return None
        if given.isdigit() and int(given) in FACTORS:
            return int(given)
        said = _("“{item}” is not a number from 1 to {n}.").format(item=given, n=len(FACTORS))
        console.print(f"[yellow]{said}[/]")


def _line(console: Console, text: str) -> str:
    """Return a line that was typed; nothing at the end of the input."""
    try:
        return console.input(text, markup=False).strip()
    except EOFError:
        return ""
