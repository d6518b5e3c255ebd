"""Past sessions in the real format, made without an engine: five comparisons each, answered by a population's people."""

from __future__ import annotations

import numpy as np
import pandas as pd

import reap
from reap.elicitation import Event, Question, reading
from reap.elicitation.events import Shown, standing
from reap.learning.reading import Deaf
from reap.plan import Plan

COLUMNS = ["hours", "savings", "courses", "debts"]
#: The mean square of a change of one feature.
TYPICAL = float(np.mean((np.arange(2, 13) / 20) ** 2))


def table(n=300):
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.integers(0, 21, (n, len(COLUMNS))), columns=COLUMNS)


def space(**options):
    return reap.ActionSpace.from_frame(table(), increasing=COLUMNS, **options)


def session(rules, draw, seed, *, answers=5, slip=0.05, guess=None, counting=0.0):
    """Return a session with one person; ``guess(rng)`` answers without looking.

    ``counting``: the share of people who mind every action as much as four typical ones.
    """
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 8, len(COLUMNS)) / 20
    settings = {"questions": answers, "options": 2, "random_state": 0, "preset": {"name": "bayes"}}
    said = {"space": rules.digest, **standing(rules, z), "settings": settings}
    started = Event("started", said | {"limits": reap.Limits().to_dict(), "own": [], "engine": {}})
    state = reading([started], rules, Deaf(rules.dimension))
    A = draw(rng)
    each = 4 * TYPICAL * np.trace(A) / len(A) if rng.random() < counting else 0.0
    for i in range(answers):
        ends = [z + _change(rng, z) for _ in range(2)]
        plans = [Plan(rules, np.stack([z, end]), np.array([0.2, 0.8])) for end in ends]
        question = Question(f"{i}-{i + 1}", i + 1, tuple(plans))
        state.apply(Shown(plans, question).event())
        moves = [plan.moves[0] for plan in plans]
        efforts = [float(move @ A @ move) + each * np.count_nonzero(move) for move in moves]
        easier = int(np.argmin(efforts))
        state.answer(guess(rng) if guess else 1 - easier if rng.random() < slip else easier)
    return state


def _change(rng, z):
    """One or two features, some steps up."""
    moved = np.zeros(len(z))
    for j in rng.choice(len(z), size=int(rng.integers(1, 3)), replace=False):
        moved[j] = rng.integers(2, 13) / 20
    return moved


def scaled(scales):
    """Return how people are drawn who share the scales of their columns."""
    root = np.sqrt(np.exp(np.asarray(scales, dtype=float)))

    def draw(rng):
        G = rng.standard_normal((8, 4))
        return (G.T @ G) * root[:, None] * root

    return draw


HARD = scaled([2.0, -2.0, 1.0, -1.0])
NOTHING = scaled([0.0, 0.0, 0.0, 0.0])
