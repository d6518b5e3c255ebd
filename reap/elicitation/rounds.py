"""One round of a dialogue as plain values: what the engine added and what was asked.

A log that keeps each round beside the answers can bring a session back event by event, without an engine call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.effort import of_moves
from reap.elicitation import record
from reap.elicitation.answers import read_choice
from reap.elicitation.question import Question
from reap.elicitation.session import Elicitation
from reap.plan import Plan


def write(session: Elicitation) -> dict[str, Any]:
    """Return the round a session is in: the plans that joined its pool, and the question asked of the person."""
    story, plans = session.story, record.Plans()
    added = story.grown.get(session.revision)
    return {
        "at": session.revision,
        "grown": None if added is None else [plans.add(plan) for plan in added],
        "question": plans.question(story.pending),
        "nothing_left": story.nothing_left,
        "plans": plans.listed,
    }


def restore(session: Elicitation, data: dict[str, Any]) -> None:
    """Put a session that has replayed the same events into a stored round."""
    if data["at"] != session.revision:
        raise InputError(f"the round belongs to revision {data['at']}; the session is at {session.revision}")
    plans = record.read_plans(data["plans"], session.space)
    added = None if data["grown"] is None else [plans[i] for i in data["grown"]]
    session.resume(added, record.read_question(data["question"], plans), bool(data["nothing_left"]))


def settle(session: Elicitation, plan: Plan) -> None:
    """Let ``recommend`` return a plan that was shown at this revision, so that nobody is shown two."""
    session.settle(plan)


def reading(question: Question, choice: int | str) -> int | str:
    """Return an answer to a question as it is stored, an index or a word, or say what is allowed."""
    return read_choice(choice, len(question.options))


def revise(session: Elicitation, position: int, choice: int | str, impossible: list[str]) -> None:
    """Change one answer of the past; later answers stay, and the next question is chosen anew.

    Parameters
    ----------
    position : int
        Position in ``session.history``, 0 for the first.
    choice, impossible
        As in ``Elicitation.answer``.
    """
    session.replay(session.story.revised(position, choice, impossible))


def matrix(session: Elicitation) -> Array:
    """Return the cost matrix (d, d) that the session's plan is the cheapest for."""
    return np.asarray(session.belief.estimate())


def effort(session: Elicitation, plan: Plan) -> float:
    """Return what a plan asks of the person, as far as is known."""
    return of_moves(matrix(session), plan.moves)


def here(session: Elicitation) -> Array:
    """Return where the person stands now, as a vector (d,)."""
    return session.here


def impossible(session: Elicitation) -> list[list[str]]:
    """Return, for each answer of ``session.history``, the features it named as impossible to change."""
    return [event["impossible"] for event in session.story.answers]


def stuck(session: Elicitation) -> bool:
    """Return whether the engine was asked and found no plan at all."""
    return session.stuck
