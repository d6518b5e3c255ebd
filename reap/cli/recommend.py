"""``reap recommend``, ``reap reasons``, ``reap demo``: a plan without questions, why the model refuses, the main job shown."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import typer
from rich.console import Console

from reap.cli import _options, _setup
from reap.cli._options import DECISION, DecisionOptions, deciding
from reap.language import _

#: What is hard for the simulated person, and how it is said.
_HARD, _WHY = "duration", "they have planned the loan to the month, so another term is very hard"


@deciding()
def recommend(
    data: str = _options.DATA,
    row: int | None = _options.ROW,
    decision: DecisionOptions = DECISION,
    fixed: list[str] = typer.Option([], "--fixed", help="A feature this person cannot change; repeatable."),
    within_months: int | None = _options.WITHIN,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    plot: Path | None = typer.Option(None, "--plot", help="Draw the plan to this file (PNG, SVG, PDF)."),
    seed: int = _options.SEED,
) -> None:
    """Print the plan of least effort for one person, as for everybody alike: no questions are asked."""
    from reap.effort import identity
    from reap.recourse import advice

    setup = _setup.prepare(data, decision, seed)
    subject = _setup.pick(setup, row)
    made = setup.engine
    for doubt in made.space.doubts(subject):
        typer.echo(doubt, err=True)
    limits = made.space.limits(fixed=fixed, within_months=within_months)
    alike = identity(made.space.dimension)
    plan = advice.priced(made, made.plans(subject, alike[None], limits)[0], subject, alike, limits)
    print(plan.to_json() if json else plan)
    if not json:
        safer = advice.safer(made, plan, subject, alike, limits, lambda one: one.effort)
        easier = advice.easier(made, plan, subject, alike, limits)
        for title, other in ((_("A safer plan"), safer), (_("Easier today, but less sure to hold"), easier)):
            if other is not None:
                print(f"\n{title}\n{other}")
    if plot is not None:
        plan.plot().savefig(plot, dpi=150)


@deciding("durability", "margin", "refits", "engine")
def reasons(
    data: str = _options.DATA,
    row: int | None = _options.ROW,
    most: int = typer.Option(4, "--most", "-n", help="Reasons at most."),
    decision: DecisionOptions = DECISION,
    json: bool = typer.Option(False, "--json", help="Print JSON instead of words."),
    seed: int = _options.SEED,
) -> None:
    """Print the principal reasons of a refusal, most important first: the factors that the model really scored."""
    import json as format
    from dataclasses import asdict

    setup = _setup.prepare(data, decision, seed)
    found = setup.engine.reasons(_setup.pick(setup, row), most)
    if json:
        print(format.dumps([asdict(reason) for reason in found], ensure_ascii=False))
        return
    if not found:
        print("The model accepts this person; there is nothing to explain.")
    for number, reason in enumerate(found, 1):
        print(f"{number}. {reason}")


def demo(
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    seed: int = _options.SEED,
) -> None:
    """Train a model on German credit data, take a rejected applicant, ask a simulated person, print the plan."""
    import reap
    from reap.effort import identity

    begin = time.perf_counter()
    say = partial(Console(highlight=False).print, soft_wrap=True)
    likely = DecisionOptions(durability=_options.CHANCE, margin=None)
    setup = _setup.prepare("german", likely, seed)
    engine, space = setup.engine, setup.engine.space
    say(
        f"Trained a network on German credit data, without sex, marital status and age: accuracy {setup.accuracy:.2f} on people "
        "it has not seen. Trained it again 20 times, to see which plans would outlive an update."
    )
    subject = _setup.pick(setup, None)
    z0 = space.vector(subject)
    score, scale = float(engine.classifier_.score(z0[None])[0]), engine.classifier_.scale
    say(f"\n[bold]A rejected applicant[/] (score {scale.say(score)}, needed: {scale.needed})")
    for feature, value in zip(space.features, space.values(z0).values(), strict=True):
        say(f"  {feature.label:<28} {feature.show(value)}")

    same_for_all = engine.plans(subject, identity(space.dimension))[0]
    say("\n[bold]Advice without a question[/]: the plan for somebody to whom all changes are equally hard")
    say(str(same_for_all))

    matrix = identity(space.dimension) / 10
    columns = space.slices[_HARD]
    matrix[columns, columns] *= 10
    person = reap.subjects.Mahalanobis(matrix)
    session = engine.elicit(subject, questions=questions)
    say(
        f"\n[bold]The questions[/]\nThe person who answers is simulated: {_WHY}, ten times as hard as anything else. "
        "The program does not know this. It has to find out.\n"
    )
    while question := session.ask():
        choice = person.answer(question)
        say(str(question))
        said = "about the same" if choice == "same" else f"{question.names[int(choice)]} is easier"
        say(f"[bold green]> {said}[/]\n")
        session.answer(choice)
    plan, *others = session.plans(2)
    say("[bold]The plan for this person[/]")
    say(str(plan))
    for other in others:
        say(f"\n[bold]Another one[/]\n{other}")
    mine, alike = person.effort(plan.moves), person.effort(same_for_all.moves)
    if mine < 0.99 * alike:
        say(f"\nTo this person it takes {mine / alike:.0%} of the effort of the advice without a question.")
    else:
        say("\nFor this person the advice without a question was as good.")
    say(f"[dim]{session.answered} answers, {time.perf_counter() - begin:.1f} s. Try it yourself: reap ask[/]")
