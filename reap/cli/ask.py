"""``reap ask``: a session in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from reap import language
from reap._errors import InputError
from reap._formats import read_text
from reap.cli import _options, _setup
from reap.cli._options import DECISION, DecisionOptions, deciding
from reap.cli._terminal import hold, screen, typed_in
from reap.language import _

if TYPE_CHECKING:
    from reap.elicitation import Bayes, Elicitation
    from reap.research.subjects import Mahalanobis


@deciding()
def ask(
    context: typer.Context,
    data: str = _options.DATA,
    row: int | None = _options.ROW,
    typed: bool = typer.Option(False, "--type", "-t", help="Type in your own situation."),
    decision: DecisionOptions = DECISION,
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    options: int = typer.Option(2, "--options", help="Plans shown in a question (2 to 4 read well)."),
    preset: str = typer.Option(
        "bayes", "--preset", help="bayes: forgives errors (default); reap: the paper's method."
    ),
    within_months: int | None = _options.WITHIN,
    file: Path | None = typer.Option(
        None, "--session", help="Keep the session in this file; it resumes where it stopped."
    ),
    prior: Path | None = _options.PRIOR,
    simulate: bool = typer.Option(False, "--simulate", help="Let a simulated person answer."),
    spoken: str = typer.Option("en", "--language", help="The language of the session: en, de or es."),
    seed: int = _options.SEED,
) -> None:
    """Ask a person which plans are easier for them, and recommend the one that suits them best."""
    context.with_resource(language.speaking(spoken))
    if options > 26:
        raise InputError(f"--options is {options}; more than 26 cannot be named")
    console = Console(highlight=False)
    with console.status(_("Preparing the model")):
        setup = _setup.prepare(data, decision, seed)
    session = _resume(setup, file, row, typed, prior, console) if file is not None and file.exists() else None
    if session is None:
        if setup.engine.space.meaning.said("about"):
            console.print(setup.engine.space.meaning.said("about"))
        subject = typed_in(setup, console) if typed else _setup.pick(setup, row)
        limits = setup.engine.space.limits(within_months=within_months)
        if not typed:  # what is typed is asked back at once
            for question in setup.engine.space.doubts(subject):
                console.print(f"[yellow]{question}[/]")
        session = setup.engine.elicit(
            subject,
            questions=questions,
            options=options,
            preset=_preset(preset, prior),
            limits=limits,
        )
    if preset != "reap" and questions and not simulate and not _begun(session):
        screen(session, console)
    hold(session, console, file, _simulated(session, seed) if simulate else None)


def _preset(name: str, prior: Path | None) -> str | Bayes:
    """Return the preset of a name, with a learnt prior where there is one."""
    from reap.elicitation import Bayes

    if prior is None:
        return name
    if name != Bayes.name:
        raise InputError(
            "a learnt prior is for the posterior of preset bayes; leave out --prior, or --preset"
        )
    return Bayes(prior=prior)


def _begun(session: Elicitation) -> bool:
    """Whether the screening would come too late, or for somebody who needs no plan."""
    accepted = session.engine.classifier_.accepts(session.here[None])[0]
    return bool(session.revision or accepted)


def _simulated(session: Elicitation, seed: int) -> Mahalanobis:
    import numpy as np

    from reap.research.subjects import Mahalanobis

    return Mahalanobis.random(session.space.dimension, np.random.default_rng(seed + 1))


def _same_prior(path: Path, text: str, prior: Path | None) -> None:
    """Refuse another learnt prior than the session began with, in the words of this command."""
    from reap.belief import LearnedPrior
    from reap.elicitation.events import read

    try:
        began = read(text)[0].payload.get("prior")
    except (LookupError, TypeError, AttributeError):
        return  # a damaged session: reading it says so
    given = None if prior is None else LearnedPrior.load(prior).hash
    if began == given:
        return
    if began is None:
        raise InputError(f"{path} holds a session that began without a learnt prior; leave out --prior")
    said = "none was given" if given is None else f"{prior} is {given[:12]}"
    raise InputError(
        f"{path} holds a session that began with the learnt prior {began[:12]}, {said}; "
        "name its file with --prior, or name another session"
    )


def _resume(
    setup: _setup.Setup, path: Path, row: int | None, typed: bool, prior: Path | None, console: Console
) -> Elicitation:
    """Return the session in a file; an error where it is another person's or another model's."""
    from reap.elicitation import Elicitation

    text = read_text(path)
    _same_prior(path, text, prior)
    session = Elicitation.from_json(text, setup.engine, prior=prior)
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
