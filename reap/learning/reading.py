"""What past sessions said, without their people: only what was compared and which was easier.

A session is replayed without an engine, by a belief that takes nothing in, so what was undone or revised counts as it counted
then. Stated difficulties `s` come before what everybody shares (`A = diag(s)^½ RᵀBR diag(s)^½`), so a move of
this person counts as `diag(s)^½ v`, and what is minded beside the changes by the root of the mean of s: a belief scales the whole
matrix to an average of 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeAlias

import numpy as np

from reap._errors import InputError
from reap._formats import read_text
from reap._typing import Array
from reap.belief.learning import Comparison, Past
from reap.elicitation import VERBS, Elicitation, Event, in_force, reading
from reap.elicitation.events import MALFORMED, read
from reap.elicitation.learned import FACTORS
from reap.elicitation.pool import minded
from reap.space import ActionSpace

#: A session: itself, its events, its JSON, or the file of its JSON.
Session: TypeAlias = Elicitation | Sequence[Event] | str | Path


@dataclass(frozen=True, eq=False)
class Sessions:
    """Answers of past sessions with one space.

    Parameters
    ----------
    past : Past
        Of everybody who gave an answer.
    silent : int
        Sessions without an answer.
    elsewhere : int
        Sessions with another action space, which teach nothing about this one.
    """

    past: Past
    silent: int
    elsewhere: int


def read_sessions(sessions: Iterable[Session], space: ActionSpace) -> Sessions:
    """Return what sessions with a space said; the same session twice counts once."""
    columns = space.legal.movable
    if columns is None:
        raise InputError("no plan of this action space changes anything, so there is nothing to learn")
    people: dict[str, list[Comparison]] = {}
    silent = elsewhere = 0
    for session in sessions:
        state = replayed(session, space)
        if state is None:
            elsewhere += 1
            continue
        said = _said(state, np.array(columns))
        if said:
            people.setdefault(_name(state), said)
        else:
            silent += 1
    past = Past.of(list(people.values()), len(columns), minded(space))
    return Sessions(past, silent, elsewhere)


def replayed(session: Session, space: ActionSpace) -> Elicitation | None:
    """Return the state of a session; None where it was held with another space."""
    if isinstance(session, Elicitation):  # its own belief may not have looked at what is beside the changes
        session = session.events
    if isinstance(session, Path):
        session = read_text(session)
    return _state(session, space, trusted=not isinstance(session, str))


def judged(events: Sequence[Event], space: ActionSpace) -> Elicitation | None:
    """Return the state of a session from outside, where it is as a person leaves it, whatever model there was."""
    return _state(events, space, trusted=False)


def _state(session: Sequence[Event] | str, space: ActionSpace, *, trusted: bool) -> Elicitation | None:
    try:
        log = in_force(read(session) if isinstance(session, str) else session)
        if log[0].payload["space"] != space.digest:
            return None
        said = [event for event in log if event.type in VERBS]
        return reading(said, space, Deaf(space.dimension + minded(space)), trusted=trusted)
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"a session is damaged: {type(error).__name__}: {error}") from None


def _said(state: Elicitation, columns: Array) -> list[Comparison]:
    factors = np.ones(state.space.dimension)
    for name, level in state.difficulties.items():
        factors[state.space.slices[name]] = np.sqrt(FACTORS[level])
    size = np.sqrt((factors[columns] ** 2).mean())
    named = [choice for _, choice, _ in state.history if choice == "same" or isinstance(choice, int)]
    return [
        Comparison(
            tuple(np.atleast_2d(moves * factors)[:, columns] for moves in answer.moves),
            answer.same,
            None if answer.beside is None else answer.beside * size,
            place if isinstance(place, int) else None,
        )
        for answer, place in zip(state.answers, named, strict=True)
    ]


def _name(state: Elicitation) -> str:
    """Return what tells one session from another: who stood where, and all they said."""
    return repr([(event.type, event.payload) for event in state.events if event.type not in ("recommended",)])


class Deaf:
    """A belief that takes nothing in: for reading what was answered."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    def update(self, chosen: Array, others: Array | Sequence[Array]) -> None:
        """Take nothing in."""

    def update_same(self, options: Sequence[Array]) -> None:
        """Take nothing in."""

    def estimate(self) -> Array:
        """Return the identity."""
        return np.eye(self.dimension)

    def copy(self) -> Self:
        """Return itself: there is nothing to keep apart."""
        return self


def files(folder: Path) -> Iterator[Path]:
    """Return the files of a folder that may be sessions, in order of their names."""
    found = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".jsonl"))
    if not found:
        raise InputError(f"there is no session in {str(folder)!r}; `reap export -o FILE.jsonl` writes them")
    yield from found
