"""One round of a dialogue as plain values: what the engine added and what was asked.

A log that keeps each round beside the answers can bring a session back event by event, without an engine call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import record
from reap.elicitation.answers import read_choice
from reap.elicitation.question import Question
from reap.elicitation.session import Elicitation
from reap.plan import Plan


def write(session: Elicitation) -> dict[str, Any]:
    """Return the round a session is in: the plans that joined its pool, and the question asked of the person."""
    plans = record._Plans()
    return {
        "at": session.revision,
        "grown": [plans.add(plan) for plan in session._grown[session.revision]]
        if session.revision in session._grown
        else None,
        "question": record._question(session._question, plans),
        "nothing_left": session._nothing_left,
        "plans": plans.listed,
    }


def restore(session: Elicitation, data: dict[str, Any]) -> None:
    """Put a session that has replayed the same events into a stored round."""
    if data["at"] != session.revision:
        raise InputError(f"the round belongs to revision {data['at']}; the session is at {session.revision}")
    plans = [record._plan(item, session) for item in data["plans"]]
    if data["grown"] is not None and session.revision not in session._grown:
        added = [plans[i] for i in data["grown"]]
        session._grown[session.revision] = added
        session._pool = session._pool + added
    session._question = record._ask(data["question"], plans) or session._question
    session._nothing_left = bool(data["nothing_left"])


def settle(session: Elicitation, plan: Plan) -> None:
    """Let ``recommend`` return a plan that was shown at this revision, so that nobody is shown two."""
    session._plan = plan


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
    events = list(session._events)
    places = [i for i, e in enumerate(events) if e["type"] == "answer" and e["pending"] is not None]
    if not 0 <= position < len(places):
        raise InputError(f"there is no answer {position + 1}; {len(places)} were given")
    place = places[position]
    events[place] = {
        **events[place],
        "choice": reading(events[place]["pending"], choice),
        "impossible": list(impossible),
    }
    # Plans found after the old answer may break what the new one forbids: the engine is asked again.
    grown = {k: plans for k, plans in session._grown.items() if k <= place}
    session._replay(events, grown, None)


def matrix(session: Elicitation) -> Array:
    """Return the cost matrix (d, d) that the session's plan is the cheapest for."""
    return np.asarray(session.belief.estimate([plan.moves for plan in session._pool]))


def effort(session: Elicitation, plan: Plan) -> float:
    """Return what a plan costs the person, as far as is known: ``⟨A, VᵀV⟩``."""
    moves = plan.moves
    return float(np.einsum("si,ij,sj->", moves, matrix(session), moves))


def here(session: Elicitation) -> Array:
    """Return where the person stands now, as a vector (d,)."""
    return session._z.copy()


def impossible(session: Elicitation) -> list[list[str]]:
    """Return, for each answer of ``session.history``, the features it named as impossible to change."""
    return [e["impossible"] for e in session._events if e["type"] == "answer" and e["pending"] is not None]


def stuck(session: Elicitation) -> bool:
    """Return whether the engine was asked and found no plan at all."""
    return session._grown.get(session.revision) == [] and not session._pool
