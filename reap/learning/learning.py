"""From sessions to a prior: read, learn on halves, judge on the other halves, learn from all, write what the gate lets through.

Everything random has a fixed seed, people have an order of their own, linear algebra runs in one thread: the same sessions give
the same file, to the byte. After every learning what it found is kept beside the file, under the fingerprint of the sessions,
so an interrupted run goes on where it stopped; one person more or less is another run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reap import __version__
from reap._errors import InputError
from reap.belief import LearnedPrior
from reap.belief.learned_prior import Learnt
from reap.belief.learning import Fit, Held, Past, Verdict, fit, held_out, judge
from reap.belief.learning.fitting import MATRICES, STEPS
from reap.belief.learning.marginal import folds
from reap.belief.learning.shares import FAMILIES
from reap.learning.reading import Session, Sessions, read_sessions
from reap.space import ActionSpace

#: From fewer people nothing is learnt.
PEOPLE = 30
#: What is tried, the simpler first.
_TRIED: tuple[Learnt, ...] = ("scales", "directions")


def learn(
    sessions: Iterable[Session],
    space: ActionSpace,
    *,
    least: int = PEOPLE,
    random_state: int = 0,
    matrices: int = MATRICES,
    keep: str | Path | None = None,
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
    matrices : int
        On how many fixed matrices the marginal likelihood is taken.
    keep : path, optional
        Where an interrupted learning is kept, to go on from there; removed at the end. No answer of anybody is in it.
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
    return learn_past(
        found.past, space, random_state=random_state, matrices=matrices, keep=keep, verbose=verbose
    )


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
    past: Past,
    space: ActionSpace,
    *,
    random_state: int = 0,
    matrices: int = MATRICES,
    keep: str | Path | None = None,
    verbose: bool = False,
) -> LearnedPrior:
    """Learn from answers that were read already; see ``learn``."""
    with threadpool_limits(1):
        return _learnt(past, space, random_state, matrices, keep, verbose)


def _learnt(
    past: Past, space: ActionSpace, seed: int, matrices: int, keep: str | Path | None, verbose: bool
) -> LearnedPrior:
    columns = tuple(space.legal.movable or ())
    names = tuple(space.columns[i] for i in columns)
    about: dict[str, Any] = {"people": len(past), "answers": past.answers, "fingerprint": past.fingerprint}
    kept = _Kept(keep, f"{__version__} {past.fingerprint} {seed} {matrices}")
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        disable=not verbose,
    )
    with bar:
        task = bar.add_task("Learning", total=len(_TRIED) * (2 * STEPS + 2) + STEPS)

        def advance() -> None:
            bar.advance(task)

        judged = {tried: _judged(past, tried, seed, matrices, kept, advance) for tried in _TRIED}
        taken = _best(judged)
        if taken == "nothing" and past.extra:
            # No structure of the changes themselves: people may still mind how many there are, or waiting.
            bar.update(task, total=(bar.tasks[0].total or 0) + 2 * STEPS + 2)
            judged[taken] = _judged(past, taken, seed, matrices, kept, advance)
        minds = taken in judged and judged[taken].minds
        if taken != "nothing" or minds:
            whole = kept.fit(
                f"all-{taken}",
                lambda: fit(past, taken, matrices=matrices, seed=seed, tick=advance),
            )
            if minds:
                about |= _minds(whole)
        bar.update(task, completed=bar.tasks[0].total)
    kept.remove()
    if taken == "nothing":
        best = max(_TRIED, key=lambda tried: judged[tried].t)
        figures = judged["nothing" if minds else best].figures
        return LearnedPrior.default(space.digest, space.dimension, columns, names, figures=figures, **about)
    return LearnedPrior(
        space.digest,
        space.dimension,
        columns,
        names,
        taken,
        whole.scales,
        whole.scales_sd,
        whole.directions,
        whole.directions_sd,
        dict(zip(FAMILIES, whole.shares.families.tolist(), strict=True)),
        tuple(whole.shares.kinds.tolist()),
        kinds_sd=tuple(whole.shares_sd.kinds.tolist()),
        guessing=whole.shares.guessing,
        guessing_sd=whole.shares_sd.guessing,
        figures=judged[taken].figures,
        **about,
    )


def _minds(found: Fit) -> dict[str, tuple[float, ...]]:
    """Return what was learnt of the columns beside the changes, as a prior has it."""
    arrays = {
        "minders": found.shares.minders,
        "minders_sd": found.shares_sd.minders,
        "weights": found.weights,
        "weights_sd": found.weights_sd,
    }
    return {name: tuple(array.tolist()) for name, array in arrays.items()}


def _judged(
    past: Past, tried: Learnt, seed: int, matrices: int, kept: _Kept, tick: Callable[[], None]
) -> Verdict:
    """Let each half be predicted by what the other taught."""
    halves, parts = folds(past), []
    for i, (teaching, asked) in enumerate((halves, halves[::-1])):
        taught = past.take(teaching)
        found = kept.fit(
            f"{tried}-{i}",
            lambda taught=taught: fit(  # type: ignore[misc]
                taught, tried, matrices=matrices, seed=seed, tick=tick
            ),
        )
        parts.append(held_out(past.take(asked), found))
        tick()
    return judge(Held.together(parts))


def _best(judged: dict[Learnt, Verdict]) -> Learnt:
    """Return what predicted best of what the gate lets through; "nothing" where it lets nothing through."""
    open_ = [tried for tried, verdict in judged.items() if verdict.taken]
    return max(open_, key=lambda tried: judged[tried].figures["gain"], default="nothing")


class _Kept:
    """What an interrupted run has found so far, in a file that only a run on the same sessions reads."""

    def __init__(self, path: str | Path | None, run: str) -> None:
        self._path, self._run = None if path is None else Path(path), run
        self._fits: dict[str, Any] = {}
        if self._path is not None and self._path.exists():
            try:
                data = json.loads(self._path.read_text(encoding="utf-8"))
                self._fits = data["fits"] if data["run"] == run else {}
            except (ValueError, KeyError, TypeError):
                self._fits = {}  # half a file: learn again

    def fit(self, name: str, make: Callable[[], Fit]) -> Fit:
        """Return a learning that was done before, or do it and keep it."""
        if name in self._fits:
            return Fit.from_dict(self._fits[name])
        self._fits[name] = make().to_dict()
        if self._path is not None:
            part = self._path.with_name(self._path.name + ".part")
            part.write_text(json.dumps({"run": self._run, "fits": self._fits}), encoding="utf-8")
            part.replace(self._path)
        return Fit.from_dict(self._fits[name])

    def remove(self) -> None:
        """Forget it: the run is over."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
