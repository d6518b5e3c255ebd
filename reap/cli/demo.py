"""``reap demo``: the main job on the embedded data, start to end."""

from __future__ import annotations

import time
from functools import partial

import typer
from rich.console import Console

from reap.cli import _setup
from reap.cli._options import SEED, Decision

#: What is hard for the simulated person, and how it is said.
_HARD, _WHY = "duration", "they have no money left at the end of the month, so to repay sooner is very hard"


def demo(
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    seed: int = SEED,
) -> None:
    """Train a model on German credit data, take a rejected applicant, ask a simulated person, print the plan."""
    import reap
    from reap.effort import identity

    begin = time.perf_counter()
    say = partial(Console(highlight=False).print, soft_wrap=True)
    setup = _setup.prepare("german", Decision(), seed)
    engine, space = setup.engine, setup.engine.space
    say(f"Trained a network on German credit data: accuracy {setup.accuracy:.2f} on people it has not seen.")
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
    plan = session.recommend()
    say("[bold]The plan for this person[/]")
    say(str(plan))
    mine, alike = person.effort(plan.moves), person.effort(same_for_all.moves)
    if mine < 0.99 * alike:
        say(f"\nTo this person it takes {mine / alike:.0%} of the effort of the advice without a question.")
    else:
        say("\nFor this person the advice without a question was as good.")
    say(f"[dim]{session.answered} answers, {time.perf_counter() - begin:.1f} s. Try it yourself: reap ask[/]")
