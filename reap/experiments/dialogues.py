"""Dialogues with simulated people: with the product's own session, and the paper's loop on rows alone."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.elicitation import Elicitation
from reap.plan import Plan
from reap.questions import SimilarCost
from reap.subjects import Subject

Center = Literal["published", "chebyshev", "analytic"]


@dataclass(frozen=True)
class Heard:
    """What is recommended after some answers, and the CPU seconds of the dialogue so far."""

    answers: int
    plan: Plan
    seconds: float


def hold(
    engine: Any, x: Any, person: Subject, *, at: Iterable[int], seed: int, **settings: Any
) -> list[Heard]:
    """Return what a session recommends after each number of answers in ``at``.

    Where the session has nothing left to ask, what it recommends stays. Settings are those of ``Elicitation``.
    """
    wanted = sorted(at)
    begin, judging = time.process_time(), 0.0
    session = Elicitation(engine, x, questions=wanted[-1], random_state=seed, **settings)
    heard: list[Heard] = []
    for count in range(wanted[-1] + 1):
        if count in wanted:
            heard.append(Heard(count, session.recommend(), time.process_time() - begin - judging))
        question = session.ask() if count < wanted[-1] else None
        if question is None:
            break
        pause = time.process_time()
        choice = person.answer(question)
        judging += time.process_time() - pause
        session.answer(choice)
    late = wanted[len(heard) :]  # it had nothing left to ask
    if late:
        plan = session.recommend()
        heard += [Heard(t, plan, time.process_time() - begin - judging) for t in late]
    return heard


def hold_on_rows(
    moves: Array,
    person: Subject,
    questions: int,
    *,
    strategy: Any = None,
    center: Center = "published",
    epsilon: float = 0.01,
    seed: int = 0,
) -> list[ConfidenceSet]:
    """Return the paper's confidence set after 0 … ``questions`` answers about rows (N, d), as deviations.

    Each question is chosen at the set's centre: by similar cost, or another strategy.
    """
    strategy = strategy or SimilarCost()
    belief = ConfidenceSet(moves.shape[1], epsilon=epsilon)
    sets = [belief]
    asked: list[tuple[int, ...]] = []
    for t in range(questions):
        choice = strategy.choose(
            moves, belief.center(center).matrix, asked, random_state=np.random.default_rng([seed, t])
        )
        if choice is None:
            sets += [belief] * (questions - t)
            break
        asked.append(choice.options)
        belief = belief.copy()
        _learn(belief, [moves[i] for i in choice.options], person)
        sets.append(belief)
    return sets


def _learn(belief: ConfidenceSet, options: list[Array], person: Subject) -> None:
    answer = person.answer(options)
    if answer == "same":
        belief.update_same(options)
    else:
        belief.update(options[answer], [option for i, option in enumerate(options) if i != answer])
