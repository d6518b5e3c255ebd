"""Sessions with simulated people: the product's own, and the paper's loop on rows alone."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np

from reap._typing import Array
from reap.belief import ConfidenceSet, solve_centers
from reap.elicitation import Elicitation, Question
from reap.plan import Plan
from reap.questions import SimilarCost
from reap.recourse import Engine
from reap.research.experiments.bench import Bench
from reap.research.experiments.people import person
from reap.research.subjects import Person

Center = Literal["published", "chebyshev", "analytic"]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Outcome:
    """What is recommended after some answers, the CPU seconds of the session so far, and the rows that were read."""

    answers: int
    plan: Plan
    seconds: float
    rows: int = 0


def hold(
    engine: Engine, x: Any, someone: Person, *, at: Iterable[int], seed: int, **settings: Any
) -> list[Outcome]:
    """Return what a session recommends after each number of answers in ``at``; ``settings`` are those of ``Elicitation``.

    Where the session has nothing left to ask, what it recommends stays.
    """
    wanted = sorted(at)
    begin, judging, read = time.process_time(), 0.0, 0
    session = Elicitation(engine, x, questions=wanted[-1], random_state=seed, **settings)
    outcomes: list[Outcome] = []
    for count in range(wanted[-1] + 1):
        if count in wanted:
            outcomes.append(Outcome(count, session.recommend(), time.process_time() - begin - judging, read))
        question = session.ask() if count < wanted[-1] else None
        if question is None:
            break
        pause = time.process_time()
        choice, read = someone.answer(question), read + rows_of(question)
        judging += time.process_time() - pause
        session.answer(choice)
    late = wanted[len(outcomes) :]  # it had nothing left to ask
    if late:
        plan = session.recommend()
        outcomes += [Outcome(t, plan, time.process_time() - begin - judging, read) for t in late]
    return outcomes


def our_plans(made: Bench, i: int, matrices: int, questions: int) -> list[Plan]:
    """Return what our session recommends to each of the Gaussian people in the place of a subject."""
    return [
        hold(
            made.engine("recourse"),
            made.x(i),
            person("gaussian", made.dimension, k, made.seed, subject=i),
            at=[questions],
            seed=made.seed,
        )[-1].plan
        for k in range(matrices)
    ]


def rows_of(question: Question) -> int:
    """Return in how many features the options of a question differ; the time it takes is not one."""
    return sum(difference.now != "" for difference in question.differences)


@dataclass(frozen=True, eq=False)
class RowSession:
    """A session about rows: the options (N, d) as changes, who answers, how questions are chosen, and ε."""

    moves: Array
    person: Person
    strategy: Any = field(default_factory=SimilarCost)
    epsilon: float = 0.01


def row_sessions(
    made: Bench, subjects: Iterable[int], matrices: int, *, kind: str = "gaussian", **settings: Any
) -> dict[tuple[int, int], RowSession]:
    """Return the sessions with every k-th person of a kind in the place of every subject i, by (i, k)."""
    moves = {i: made.moves(i) for i in subjects}
    return {
        (i, k): RowSession(moves[i], person(kind, made.dimension, k, made.seed, subject=i), **settings)
        for i in moves
        for k in range(matrices)
    }


def hold_together(
    sessions: Mapping[Key, RowSession], questions: int, *, center: Center = "published", seed: int = 0
) -> dict[Key, list[ConfidenceSet]]:
    """Return, for each session, the paper's confidence set after 0 … ``questions`` answers; all their centres are known.

    Every question is chosen at the set's centre. The sessions know nothing of each other; they go on in step only so that
    the centres of a round are solved in one batch. Questions are those of ``Elicitation(preset="reap")``.
    """
    sets = {key: [ConfidenceSet(one.moves.shape[1], epsilon=one.epsilon)] for key, one in sessions.items()}
    asked: dict[Key, list[tuple[int, ...]]] = {key: [] for key in sessions}
    for t in range(questions):
        solve_centers([each[-1] for each in sets.values()], center)
        for key, session in sessions.items():
            rng = np.random.default_rng([seed, t, 1])
            sets[key].append(_next(session, sets[key][-1], asked[key], center, rng))
    solve_centers([each[-1] for each in sets.values()], center)
    return sets


def _next(
    session: RowSession,
    belief: ConfidenceSet,
    asked: list[tuple[int, ...]],
    center: Center,
    rng: np.random.Generator,
) -> ConfidenceSet:
    """Ask one more question; return the set after the answer, the same one where nothing is left to ask."""
    if len(session.moves) < 2:
        return belief
    choice = session.strategy.choose(session.moves, belief.center(center).matrix, asked, random_state=rng)
    if choice is None:
        return belief
    asked.append(choice.options)
    # as in a session: which stands first says nothing
    options = [session.moves[choice.options[k]] for k in rng.permutation(len(choice.options))]
    learnt, answer = belief.copy(), session.person.answer(options)
    if answer == "same":
        learnt.update_same(options)
    else:
        learnt.update(options[answer], [option for i, option in enumerate(options) if i != answer])
    return learnt
