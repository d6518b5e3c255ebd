"""A second look: an answer that we did not expect may be a slip, so the person may be asked once more before it decides.

A plan that lost a comparison is not recommended while its winner can be. That is a promise to the person, and it makes one slip
dear: the plan that suits them best may be gone for good. So the two may be compared once more, where we still doubt the answer
and no other question is worth more. The person is told that they have seen them, and what they chose; the later answer counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reap.elicitation.options import key
from reap.elicitation.pool import Pool
from reap.elicitation.prediction import Predicting
from reap.elicitation.question import Question

#: An answer is doubted where the person would give it again with less than this chance, by all that they have said.
DOUBT = 0.9


def doubted(
    given: Sequence[tuple[Question, Mapping[str, Any]]], belief: Predicting, pool: Pool
) -> dict[frozenset[bytes], bytes]:
    """Return the two plans of every comparison that may be looked at once more, by their keys, with the one that was chosen.

    Parameters
    ----------
    given : sequence of (Question, answer)
        Every answer in its order, as the payload of ``answered``.
    belief : Predicting
        What the answers have taught, the doubted one among them.
    pool : Pool
        The plans that could be recommended.
    """
    chosen: dict[frozenset[bytes], bytes] = {}
    twice: set[frozenset[bytes]] = set()
    for question, said in given:
        choice = said["choice"]
        if question.kind == "warm-up" or not question.whole or not isinstance(choice, int):
            continue
        names = [key(option) for option in question.options]
        pairs = [frozenset((names[choice], name)) for i, name in enumerate(names) if i != choice]
        twice.update(pair for pair in pairs if question.kind == "second look" or pair in chosen)
        chosen.update(dict.fromkeys(pairs, names[choice]))
    found = {}
    for pair, winner in chosen.items():
        places = [pool.place(winner), *(pool.place(name) for name in pair if name != winner)]
        if pair in twice or None in places:
            continue
        likely = belief.choice_probabilities([pool.moves[i] for i in places if i is not None])
        if likely[0] < DOUBT:
            found[pair] = winner
    return found


def taken_back(told: Sequence[tuple[Question, int | str]]) -> set[int]:
    """Return the positions of answers that the person did not repeat when they looked a second time.

    Parameters
    ----------
    told : sequence of (Question, choice)
        Every answer that told something, in its order.
    """
    gone: set[int] = set()
    for now, (question, choice) in enumerate(told):
        if question.kind != "second look" or choice == question.earlier:
            continue
        pair = {key(option) for option in question.options}
        gone |= {i for i in range(now) if told[i][0].whole and pair <= {key(o) for o in told[i][0].options}}
    return gone
