"""``reap demo``: the main job on the embedded data, start to end."""

from __future__ import annotations

import time
from functools import partial

import typer
from rich.console import Console

from reap.cli import _setup

#: What is hard for the simulated person.
_HARD = "employment"


def demo(
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    seed: int = _setup.SEED,
) -> None:
    """Train a model on German credit data, take a rejected applicant, hold the dialogue with a simulated person."""
    import numpy as np

    import reap

    begin = time.perf_counter()
    say = partial(Console(highlight=False).print, soft_wrap=True)
    setup = _setup.prepare("german", None, None, None, "graph", seed)
    engine, space = setup.engine, setup.engine.space
    say(f"Trained a network on German credit data: accuracy {setup.accuracy:.2f} on people it has not seen.")
    subject = _setup.pick(setup, None)
    z0 = space.vector(subject)
    score = float(engine.classifier_.probability(z0[None])[0])
    say(f"\n[bold]A rejected applicant[/] (score {score:.2f}, needed: more than {engine.threshold:.2f})")
    for feature, value in zip(space.features, space.values(z0).values(), strict=True):
        say(f"  {feature.label:<28} {feature.show(value)}")

    # somebody whose job will end soon: to stay in it would be hard
    matrix = np.eye(space.dimension) / 10
    columns = space.slices[_HARD]
    matrix[columns, columns] = np.eye(columns.stop - columns.start)
    person = reap.subjects.Mahalanobis(matrix)
    session = engine.elicit(subject, questions=questions)
    say(
        f"\n[bold]The dialogue[/] (the person is simulated: to them, changing “{space.feature(_HARD).label}” is ten times as "
        "hard as anything else; nobody has told us)\n"
    )
    while question := session.ask():
        choice = person.answer(question)
        say(str(question))
        said = "about the same" if choice == "same" else f"{question.names[int(choice)]} is easier"
        say(f"[bold green]> {said}[/]\n")
        session.answer(choice)
    plan = session.recommend()
    say("[bold]The plan[/]")
    say(str(plan))
    same_for_all = engine.plans(subject, np.eye(space.dimension)[None])[0]
    mine, theirs = person.effort(plan.moves), person.effort(same_for_all.moves)
    if theirs > 0:
        say(
            f"\nTo this person it costs {mine / theirs:.0%} of the effort of the plan that treats everybody alike "
            f"({mine:.3f} against {theirs:.3f})."
        )
    say(f"[dim]{session.answered} answers, {time.perf_counter() - begin:.1f} s. Try it yourself: reap ask[/]")
