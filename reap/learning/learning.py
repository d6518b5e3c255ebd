"""From sessions to a prior: read, learn on halves, judge on the other halves, learn from all, write what the gate lets through.

Everything random has a fixed seed, people have an order of their own, linear algebra runs in one thread: the same sessions give
the same file, to the byte. Later, new sessions say whether their people still fit it (``check``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reap._errors import InputError
from reap.belief import LearnedPrior
from reap.belief.learning import ROUNDS, Past, T, fit, folds, held_out, judged, standard_error
from reap.language import _, ngettext
from reap.learning.reading import Session, Sessions, read_sessions
from reap.space import ActionSpace

#: From fewer people nothing is learnt.
PEOPLE = 30


def learn(
    sessions: Iterable[Session],
    space: ActionSpace,
    *,
    least: int = PEOPLE,
    random_state: int = 0,
    verbose: bool = False,
) -> LearnedPrior:
    """Learn from past sessions what people find hard, as a prior for the next ones.

    Parameters
    ----------
    sessions : iterable of sessions
        Elicitations, their JSON, files of their JSON, or their events.
    space : ActionSpace
        The one they were held with; sessions with another are left out.
    least : int
        From fewer people nothing is learnt; at least 30.
    random_state : int
    verbose : bool
        Show a progress bar.

    Returns
    -------
    LearnedPrior
        ``learnt`` is "nothing" where people who were held out were not predicted better than by the default.

    Examples
    --------
    >>> import reap
    >>> learn([], reap.datasets.load("german").space)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    reap._errors.InputError: 0 people answered a question in these sessions; a prior is learnt from at least 30...
    """
    if least < PEOPLE:
        raise InputError(
            f"least is {least}; give {PEOPLE} or more, so that a prior says nothing about any one person"
        )
    found = read_sessions(sessions, space)
    if len(found.past) < least:
        raise InputError(_too_few(found, least))
    return learn_past(found.past, space, random_state=random_state, verbose=verbose)


def _too_few(found: Sessions, least: int) -> str:
    who = "1 person" if len(found.past) == 1 else f"{len(found.past)} people"
    said = (
        f"{who} answered a question in these sessions; a prior is learnt from at least {least}, "
        "so that it says nothing about any one of them"
    )
    if found.elsewhere:
        which = "1 session was" if found.elsewhere == 1 else f"{found.elsewhere} sessions were"
        said += f" ({which} held with another action space)"
    return said


def learn_past(
    past: Past, space: ActionSpace, *, random_state: int = 0, verbose: bool = False
) -> LearnedPrior:
    """Learn from answers that were read already; see ``learn``."""
    columns = tuple(space.legal.movable or ())
    about: dict[str, Any] = {
        "space": space.digest,
        "dimension": space.dimension,
        "columns": columns,
        "names": tuple(space.columns[i] for i in columns),
        "people": len(past),
        "answers": past.answers,
        "fingerprint": past.fingerprint,
    }
    shown = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with threadpool_limits(1), Progress(*shown, disable=not verbose) as bar:
        task = bar.add_task("Learning", total=3 * ROUNDS)

        def tick() -> None:
            bar.advance(task)

        parts = [
            held_out(asked, fit(taught, seed=random_state, tick=tick).population)
            for taught, asked in folds(past)
        ]
        taken, about["figures"] = judged(parts)
        if not taken:
            bar.update(task, completed=3 * ROUNDS)
            return LearnedPrior.default(**about)
        found = fit(past, seed=random_state, tick=tick)
    return LearnedPrior.of(found.population, "weights", guessing=found.guessing, **about)


@dataclass(frozen=True)
class Drift:
    """What new sessions say about a learnt prior.

    The gain of a person is the log-likelihood of their answers under the learnt prior minus that under the default. Where its
    mean is below zero by more than chance (two standard errors), the prior does harm and is to be learnt again or left out.

    Parameters
    ----------
    people : int
    gain : float
        Mean gain of a person in log-likelihood over the default; negative: the default fits better.
    error : float
        Its standard error.
    """

    people: int
    gain: float
    error: float

    @property
    def harmful(self) -> bool:
        """Whether new people fit the prior worse than the default, by more than chance."""
        return self.gain < -T * self.error

    @property
    def helpful(self) -> bool:
        """Whether they fit it better, by more than chance."""
        return self.gain > T * self.error

    def __str__(self) -> str:
        who = ngettext("{n} new person", "{n} new people", self.people).format(n=self.people)
        figures = _("{who}: gain of {gain} ± {error} in log-likelihood a person over the default.").format(
            who=who, gain=f"{self.gain:+.2f}", error=f"{T * self.error:.2f}"
        )
        if self.harmful:
            return f"{figures} " + _(
                "Warning: they fit the learnt prior worse than the default. "
                "Learn it again from recent sessions, or serve without it."
            )
        if self.helpful:
            return f"{figures} " + _("The learnt prior still helps.")
        return f"{figures} " + _("That is too little to tell from chance: no sign of harm.")


def check(prior: LearnedPrior, sessions: Iterable[Session], space: ActionSpace) -> Drift:
    """Return how well the people of new sessions fit a learnt prior, against the default.

    Parameters
    ----------
    prior : LearnedPrior
    sessions : iterable of sessions
        As for ``learn``; those that taught the prior would flatter it.
    space : ActionSpace
    """
    prior.fits(space.digest)
    past = read_sessions(sessions, space).past
    if len(past) < 2:
        who = "1 person" if len(past) == 1 else f"{len(past)} people"
        raise InputError(f"{who} answered a question in these sessions; a check needs 2 or more")
    if prior.learnt == "nothing":
        return Drift(len(past), 0.0, 0.0)
    with threadpool_limits(1):
        held = held_out(past, prior.population.minding(past.extra))
    gain = held.learnt - held.default
    return Drift(len(past), float(gain.mean()), standard_error(gain))
