"""A session in a terminal: the person's situation, the screening, the questions, and what is typed at them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from reap import language
from reap._errors import InputError
from reap._typing import Frame
from reap.cli import _setup
from reap.elicitation.learned import FACTORS, WORDS
from reap.language import N_, _, ngettext
from reap.space.words import doubt

if TYPE_CHECKING:
    from reap.elicitation import Elicitation, Question
    from reap.plan import Plan
    from reap.research.subjects import Mahalanobis
    from reap.space import Feature

_HELP = N_(
    "Type a letter for the easiest option; = about the same; n I can do none of them; s skip; u undo; l limit something; "
    "p plan so far; q quit (and resume later)"
)


def _warn(console: Console, said: object) -> None:
    console.print(f"[yellow]{said}[/]")


def _places(typed: str, count: int) -> list[int]:
    """Return the places, from 0, that were typed as numbers from 1, with commas or spaces between them."""
    items = typed.replace(",", " ").split()
    for item in items:
        if not (item.isdigit() and 1 <= int(item) <= count):
            raise InputError(_("“{item}” is not a number from 1 to {n}.").format(item=item, n=count))
    return [int(item) - 1 for item in items]


# the situation ---------------------------------------------------------------------------------------


def typed_in(setup: _setup.Setup, console: Console) -> Frame:
    """Ask for one value a feature; a wrong one is asked for again, nothing is lost."""
    import pandas as pd

    space = setup.engine.space
    default = space.values(space.vector(_setup.pick(setup, None)))
    row: dict[str, Any] = {}
    console.print(_("Your situation (Enter takes the example's value):"))
    for feature in space.features:
        hint = f" [dim]({', '.join(map(str, feature.levels))})[/]" if feature.levels else ""
        prompt = f"  {feature.label}{hint} [dim]\\[{feature.show(default[feature.name])}][/]: "
        while True:
            text = _typed(console, prompt)
            try:
                row[feature.name] = _value(text, feature, default[feature.name])
                space.vector({**default, **row})
            except InputError as error:
                console.print(f"  [yellow]{error}[/]")
                continue
            question = (
                doubt(feature, row[feature.name]) if text else None
            )  # where nobody in the table has such a one
            if question is None or _typed(
                console, _("  {question} (y/n): ").format(question=question)
            ).lower() in ("y", "yes"):
                break
    return pd.DataFrame([row], dtype=object).infer_objects()


def _typed(console: Console, prompt: str) -> str:
    try:
        return console.input(prompt).strip()
    except EOFError:
        raise InputError(
            _("the input ended before your situation was complete; nothing was started")
        ) from None


def _value(text: str, feature: Feature, default: Any) -> Any:
    if not text:
        return default
    if feature.is_number:
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            raise InputError(f"“{text}” is not a number") from None
        return int(value) if value.is_integer() and feature.kind == "integer" else value
    for level in feature.levels:
        if str(level).lower() == text.lower():
            return level
    raise InputError(f"“{text}” is not one of {', '.join(map(str, feature.levels))}")


# the screening ---------------------------------------------------------------------------------------


def screen(session: Elicitation, console: Console) -> None:
    """Hold the screening: what could change at all, then how hard the ticked ones are; it can be skipped."""
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
    places = _numbers(console, _("Numbers, separated by commas (Enter: skip this): "), len(names))
    if not places:
        session.screen(None)
        return
    scale = ", ".join(f"{level} {_(word)}" for level, word in WORDS.items())
    console.print(_("How hard would each be for you? {scale}. Enter: no idea.").format(scale=scale))
    picked, levels = [names[i] for i in sorted(set(places))], {}
    for name in picked:
        level = _numbers(console, f"  {space.feature(name).label}: ", len(FACTORS))
        if level:
            levels[name] = level[0] + 1
    session.screen(picked, difficulty=levels)


def _numbers(console: Console, prompt: str, count: int) -> list[int]:
    """Return places that were typed; what cannot be read is asked for again, and nothing or the end of input is none."""
    while True:
        try:
            return _places(console.input(prompt, markup=False).strip(), count)
        except EOFError:
            return []
        except InputError as error:
            _warn(console, error)


# the questions ---------------------------------------------------------------------------------------


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
        try:
            plan = _act(session, question, _reply(question, console, person), console)
        except (EOFError, KeyboardInterrupt):  # also in a menu
            resume = _("Stopped. (With --session FILE it could be resumed.)")
            if path:
                resume = _("Stopped. Resume with --session {path}.").format(path=path)
            console.print(f"{resume}\n\n[bold]{_('The plan so far')}[/]\n{session.recommend()}")
            return
        except InputError as error:
            _warn(console, error)
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
    best, *others = session.plans()
    easier = session.plans(1, today=True)[1:]
    shown = [(_("Recommended"), best), *((_("Another way"), other) for other in others)]
    for title, plan in [*shown, *((_("Easier today, but less sure to hold"), plan) for plan in easier)]:
        console.print(f"\n[bold]{title}[/]")
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


def _reply(question: Question, console: Console, person: Mahalanobis | None) -> str:
    """Return what was typed; whoever quits ends the input."""
    if person is not None:
        choice = person.answer(question)
        reply = "=" if choice == "same" else question.names[int(choice)].lower()
        console.print(f"[green]> {reply}[/]")
        return reply
    console.print(f"[dim]{_(_HELP)}[/]")
    reply = console.input("[bold]> [/]").strip().lower()
    if reply == "q":
        raise EOFError
    return reply


def _act(session: Elicitation, question: Question, reply: str, console: Console) -> Plan | None:
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
        session.answer("neither", impossible=_impossible(question, console))
        console.print(session.history[-1].dropped, markup=False)
    elif reply in ("l", "limit"):
        _limit(session, console)
    elif len(reply) == 1 and reply.upper() in question.names:
        session.answer(reply)
    else:
        _warn(console, _("“{reply}” is not an answer.").format(reply=reply))
    return None


def _impossible(question: Question, console: Console) -> list[str]:
    changes = {c.feature: c.label for option in question.options for c in option.changes}
    console.print(_("Which change is impossible for you? It will not be proposed again."))
    for i, label in enumerate(changes.values(), 1):
        console.print(f"  {i}  {label}")
    typed = console.input(_("Numbers, separated by commas (empty: none in particular): "))
    return [list(changes)[i] for i in _places(typed, len(changes))]


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
    feature = features[_places(pick or "0", len(features))[0]]
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
    session.constrain(feature.name, at_least=value if lower else None, at_most=None if lower else value)
