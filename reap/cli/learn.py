"""``reap learn``: a prior from past sessions, its report, and whether new sessions still fit it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from reap._errors import InputError
from reap._formats import read_text
from reap.cli import _options, _setup
from reap.cli._options import DecisionOptions
from reap.cli.service import CONFIG, open_store, reached
from reap.language import _, ngettext

if TYPE_CHECKING:
    from reap.elicitation import Event
    from reap.space import ActionSpace


@reached
def learn(
    database: str | None = typer.Option(
        None,
        "--database",
        help="Learn from the sessions of a service: sqlite:///FILE or postgresql+psycopg://…",
    ),
    exports: Path | None = typer.Option(
        None,
        "--exports",
        help="Learn from the files of a folder: what `reap export` and `reap ask --session` wrote.",
    ),
    output: Path | None = typer.Option(None, "--output", "-o", help="Where to write the prior."),
    check: Path | None = typer.Option(
        None, "--check", help="Learn nothing: say whether these sessions still fit this prior."
    ),
    by: str | None = typer.Option(
        None,
        "--by",
        help="With --check: for the groups of this feature, answers needed and excess, with and without.",
    ),
    data: str = _options.DATA,
    label: str | None = _options.LABEL,
    favourable: str = _options.FAVOURABLE,
    space: Path | None = _options.SPACE,
    least: int = typer.Option(30, "--least", help="Refuse to learn from fewer people; 30 or more."),
    config: Path | None = CONFIG,
    seed: int = _options.SEED,
) -> None:
    """Learn from past sessions what people find hard, as a prior for the next ones: `reap serve --prior`.

    The file has no row and no answer of anybody. The same sessions give the same file. People whose sessions were deleted are
    left out the next time.
    """
    if (database is None) == (exports is None):
        raise InputError("give --database or --exports, one of them: where the past sessions are")
    if (output is None) == (check is None):
        raise InputError("give --output FILE to learn a prior, or --check FILE to check one")
    if by is not None and check is None:
        raise InputError(
            "--by goes with --check: groups are compared on sessions that did not teach the prior"
        )
    _writable(output)
    decision = DecisionOptions(label=label, favourable=favourable, space=space)
    rules = _setup.read_table(data, decision).space
    console = Console(highlight=False)
    if database is not None:
        sessions = _readable(list(_stored(database, config)), rules, console)
    else:
        sessions = list(_exported(exports, rules))
    if check is not None:
        _check(check, sessions, rules, by, console)
        return
    assert output is not None
    from reap.learning import describe
    from reap.learning import learn as learnt

    prior = learnt(sessions, rules, least=least, random_state=seed, verbose=True)
    part = output.with_name(output.name + ".part")
    prior.save(part)
    part.replace(output)
    console.print(describe(prior), markup=False, soft_wrap=True)
    said = _("Wrote {output}. Use it with: reap serve --prior {output}").format(output=output)
    console.print(said, markup=False, soft_wrap=True)


def _writable(path: Path | None) -> None:
    """Refuse a file that could not be written in the end, before anything is learnt."""
    if path is not None and not path.parent.is_dir():
        raise InputError(f"there is no folder {str(path.parent)!r} to write {path.name} in; make it first")
    if path is not None and path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; name a file in it")


def _check(
    path: Path, sessions: list[list[Event]], space: ActionSpace, by: str | None, console: Console
) -> None:
    """Print whether sessions fit a prior; exit code 1 where it does harm, for a job that watches."""
    from reap.belief import LearnedPrior
    from reap.learning import check, fairness

    prior = LearnedPrior.load(path)
    drift = check(prior, sessions, space)
    console.print(str(drift), markup=False, soft_wrap=True)
    if by is not None:
        table = fairness(prior, sessions, space, by).to_string(index=False)
        console.print(table, markup=False, soft_wrap=True)
    if drift.harmful:
        raise typer.Exit(1)


def _readable(sessions: list[list[Event]], space: ActionSpace, console: Console) -> list[list[Event]]:
    """Return the sessions that this release can replay; a database may have some of an earlier one."""
    from reap.learning.reading import replayed

    kept = []
    for session in sessions:
        try:
            replayed(session, space)
            kept.append(session)
        except InputError:
            continue
    left = len(sessions) - len(kept)
    if left:
        said = ngettext(
            "Left out: {n} session that this release cannot replay.",
            "Left out: {n} sessions that this release cannot replay.",
            left,
        )
        console.print(said.format(n=left), markup=False, soft_wrap=True)
    return kept


def _stored(database: str, config: Path | None) -> Iterator[list[Event]]:
    """Yield the events in force of every session of a service."""
    from reap.elicitation import VERBS, in_force

    store = open_store(database, config)
    for kept in store.sessions():
        entries = store.events(kept.id)
        if entries:
            try:
                yield [entry.event for entry in in_force(entries) if entry.type in VERBS]
            except (TypeError, ValueError):  # changed by hand: nothing that could be replayed
                yield []


def _exported(folder: Path | None, space: ActionSpace) -> Iterator[list[Event]]:
    """Yield the events of every session in the files of a folder: sessions of the library, and logs of a service."""
    from reap.elicitation.events import read
    from reap.learning.reading import files, judged

    if folder is None or not folder.is_dir():
        raise InputError(f"there is no folder {str(folder)!r}; --exports takes one with exported sessions")
    for path in files(folder):
        for number, line in enumerate(read_text(path).splitlines(), 1):
            if not line.strip():
                continue
            try:
                if '"reap.log"' in line[:200]:
                    from reap.service.exports import events_of

                    events = events_of(line)
                else:
                    events = read(line)
                judged(events, space)
                yield events
            except InputError as error:
                raise InputError(f"{path.name}, line {number}: {error}") from None
