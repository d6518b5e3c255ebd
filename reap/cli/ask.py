"""``reap ask``: a session in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from reap import language, numerals
from reap._errors import InputError
from reap._typing import Frame
from reap.cli import _acceptance, _setup
from reap.cli._screening import screen
from reap.language import N_, _
from reap.space.doubts import doubt

if TYPE_CHECKING:
    from reap.elicitation import Elicitation, Question
    from reap.plan import Plan
    from reap.research.subjects import Mahalanobis
    from reap.space import Feature

_HELP = N_(
    "Type a letter for the easiest option; = about the same; n I can do none of them; s skip; u undo; l limit something; "
    "p plan so far; q quit (and resume later)"
)


def ask(
    context: typer.Context,
    data: str = _setup.DATA,
    row: int | None = typer.Option(
        None, "--row", "-r", help="Row number in the table, from 0; by default the first rejected."
    ),
    typed: bool = typer.Option(False, "--type", "-t", help="Type in your own situation."),
    label: str | None = _setup.LABEL,
    favourable: str = _setup.FAVOURABLE,
    model: Path | None = _setup.MODEL,
    target: str = _setup.TARGET,
    threshold: str = _acceptance.THRESHOLD,
    output: str = _acceptance.OUTPUT,
    unit: str = _acceptance.UNIT,
    durability: float | None = _acceptance.DURABILITY,
    margin: float | None = _acceptance.MARGIN,
    refits: int | None = _acceptance.REFITS,
    trust: list[str] = _setup.TRUST,
    space: Path | None = _setup.SPACE,
    engine: str = _setup.ENGINE,
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    options: int = typer.Option(2, "--options", help="Plans shown in a question (2 to 4 read well)."),
    preset: str = typer.Option(
        "bayes", "--preset", help="bayes: forgives errors (default); reap: the paper's method."
    ),
    within_months: int | None = _setup.WITHIN,
    file: Path | None = typer.Option(
        None, "--session", help="Keep the session in this file; it resumes where it stopped."
    ),
    prior: Path | None = _setup.PRIOR,
    simulate: bool = typer.Option(False, "--simulate", help="Let a simulated person answer."),
    spoken: str = typer.Option("en", "--language", help="The language of the session: en, de or es."),
    seed: int = _setup.SEED,
) -> None:
    """Ask a person which plans are easier for them, and recommend the one that suits them best."""
    context.with_resource(language.speaking(spoken))
    if options > 26:
        raise InputError(f"--options is {options}; more than 26 cannot be named")
    console = Console(highlight=False)
    with console.status(_("Preparing the model")):
        setup = _setup.prepare(
            data,
            label,
            model,
            space,
            engine,
            seed,
            favourable=favourable,
            target=target,
            accepted=_acceptance.Accepted(threshold, output, unit, durability, margin, refits),
            trusted=trust,
            one=True,
            row=row,
        )
    session = _resume(setup, file, row, typed, prior, console) if file is not None and file.exists() else None
    if session is None:
        subject = _type_in(setup, console) if typed else _setup.pick(setup, row)
        limits = setup.engine.space.limits(within_months=within_months)
        if not typed:  # what is typed is asked back at once
            for question in setup.engine.space.doubts(subject):
                console.print(f"[yellow]{question}[/]")
        session = setup.engine.elicit(
            subject,
            questions=questions,
            options=options,
            preset=preset,
            limits=limits,
            prior=prior,
            warm_up=not simulate,
            held_out=not simulate,
        )
    if preset != "reap" and questions and not simulate and not _begun(session):
        screen(session, console)
    _hold(session, console, file, _simulated(session, seed) if simulate else None)


def _begun(session: Elicitation) -> bool:
    """Whether the screening would come too late, or for somebody who needs no plan."""
    accepted = session.engine.classifier_.accepts(session.here[None])[0]
    return bool(session.revision or accepted)


def _simulated(session: Elicitation, seed: int) -> Mahalanobis:
    import numpy as np

    from reap.research.subjects import Mahalanobis

    return Mahalanobis.random(session.space.dimension, np.random.default_rng(seed + 1))


def _resume(
    setup: _setup.Setup, path: Path, row: int | None, typed: bool, prior: Path | None, console: Console
) -> Elicitation:
    """Return the session in a file; an error where it is another person's or another model's."""
    from reap.elicitation import Elicitation

    session = Elicitation.from_json(path.read_text(encoding="utf-8"), setup.engine, prior=prior)
    if typed:
        raise InputError(
            f"{path} holds a session already; leave out --type to go on with it, or name another file"
        )
    if row is not None:
        space, started = session.space, session.events[0].payload["subject"]
        asked = space.values(space.vector(_setup.pick(setup, row)))
        for feature in space.features:
            if asked[feature.name] != started[feature.name]:
                raise InputError(
                    f"{path} holds the session of another person: {feature.label} is {feature.show(started[feature.name])} "
                    f"there and {feature.show(asked[feature.name])} in row {row}; leave out --row, or name another file"
                )
    console.print(_("Resumed from {path}: {progress}.").format(path=path, progress=session.progress))
    return session


def _save(session: Elicitation, path: Path | None) -> None:
    if path is not None:
        part = path.with_name(path.name + ".part")
        part.write_text(session.to_json(), encoding="utf-8")
        part.replace(path)  # a reader sees the old file or the new one, never half of one


def _hold(session: Elicitation, console: Console, path: Path | None, person: Mahalanobis | None) -> None:
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
            plan = _act(session, question, reply, console)
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


def _end(session: Elicitation, console: Console, *, asking: bool) -> bool:
    """Show the plans to choose from; returns whether the person wants none of them, and questions go on."""
    console.print(_("Nothing is left to decide.") if session.answered else _("There is nothing to ask."))
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
        value = numerals.read(given)
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


def _type_in(setup: _setup.Setup, console: Console) -> Frame:
    """Ask for one value a feature; a wrong one is asked for again, nothing is lost."""
    import pandas as pd

    space = setup.engine.space
    default = space.values(space.vector(_setup.pick(setup, None)))
    row: dict[str, Any] = {}
    console.print(_("Your situation (Enter takes the example's value):"))
    for feature in space.features:
        while True:
            hint = f" [dim]({', '.join(map(str, feature.levels))})[/]" if feature.levels else ""
            text = _typed(
                console, f"  {feature.label}{hint} [dim]\\[{feature.show(default[feature.name])}][/]: "
            )
            try:
                row[feature.name] = _parse(text, feature, default[feature.name])
                space.vector({**default, **row})
                if not text or _meant(feature, row[feature.name], console):
                    break
            except InputError as error:
                console.print(f"  [yellow]{error}[/]")
    return pd.DataFrame([row], dtype=object).infer_objects()


def _meant(feature: Feature, value: Any, console: Console) -> bool:
    """Return whether a person meant a value: asked back only where nobody in the table has such a one."""
    question = doubt(feature, value)
    if question is None:
        return True
    return _typed(console, _("  {question} (y/n): ").format(question=question)).lower() in ("y", "yes")


def _typed(console: Console, prompt: str) -> str:
    try:
        return console.input(prompt).strip()
    except EOFError:
        raise InputError(
            _("the input ended before your situation was complete; nothing was started")
        ) from None


def _parse(text: str, feature: Feature, default: Any) -> Any:
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
