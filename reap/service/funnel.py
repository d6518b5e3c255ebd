"""What an operator wants to know, counted from the log: no names, no values of persons."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from statistics import median

import numpy as np
import sqlalchemy as sa
from pydantic import BaseModel

from reap import __version__
from reap.elicitation import in_force
from reap.language import N_
from reap.service.desk import Desk
from reap.service.log import Entry
from reap.service.store import Store
from reap.service.tables import EVENTS, SESSIONS
from reap.space.table import doubtful

#: Days of which the sessions are counted one by one.
_DAYS = 30
#: The stages in order; each counts the sessions that got at least so far.
STAGES = ("opened", "screened", "answered", "planned", "chosen", "printed", "came back", "reported")
#: Their names, and why there is no plan, for people.
WORDS = {
    "opened": N_("opened"),
    "screened": N_("said what could change"),
    "answered": N_("answered a question"),
    "planned": N_("saw a plan"),
    "chosen": N_("chose a plan"),
    "printed": N_("printed or saved it"),
    "came back": N_("came back"),
    "reported": N_("reported that it is done"),
}
STATUSES = {
    "none_found": N_("none was found"),
    "unreachable": N_("out of reach"),
    "infeasible": N_("ruled out by wishes"),
    "time_limit": N_("not found in time"),
}
_EVENTS = {
    "started": "opened",
    "screened": "screened",
    "answered": "answered",
    "recommended": "planned",
    "chosen": "chosen",
    "printed": "printed",
    "returned": "came back",
    "reported": "reported",
}


class Day(BaseModel):
    """One day's sessions, by the day on which they began."""

    day: str
    counts: dict[str, int]
    without: int
    median_ms: float | None
    p95_ms: float | None


class Funnel(BaseModel):
    """How far people came in a number of days.

    ``stopped`` counts, by the number of answers given, the sessions that were left with a question open. ``without`` counts those
    whose last plan was none, by its status.
    """

    sessions: int
    counts: dict[str, int]
    stopped: dict[int, int]
    reached: dict[int, int]
    without: dict[str, int]
    by_day: list[Day]


def read(store: Store, days: int) -> Funnel:
    """Return the funnel of the sessions that began in the last days."""
    since = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="microseconds")
    logs = _logs(store, since)
    counts, stopped, reached, without = Counter[str](), Counter[int](), Counter[int](), Counter[str]()
    by_day: dict[str, list[list[Entry]]] = defaultdict(list)
    for log in logs:
        by_day[log[0].created[:10]].append(log)
        counts.update({_EVENTS[kind] for kind in {entry.type for entry in log} if kind in _EVENTS})
        line = in_force(log)
        given = sum(entry.type == "answered" for entry in line)
        reached.update(range(given + 1))
        shown = [entry for entry in line if entry.type in ("asked", "recommended", "chosen")]
        if shown and shown[-1].type == "asked" and shown[-1].payload.get("question") is not None:
            stopped[given] += 1
        if status := _without(line):
            without[status] += 1
    return Funnel(
        sessions=len(logs),
        counts={stage: counts[stage] for stage in STAGES},
        stopped=dict(sorted(stopped.items())),
        reached=dict(sorted(reached.items())),
        without=dict(without),
        by_day=[_day(day, of_day) for day, of_day in sorted(by_day.items())],
    )


def _logs(store: Store, since: str) -> list[list[Entry]]:
    """Return the logs of the sessions that began since a time."""
    begun = sa.select(EVENTS.c.session).where(EVENTS.c.type == "started", EVENTS.c.created >= since)
    chosen = EVENTS.select().where(EVENTS.c.session.in_(begun)).order_by(EVENTS.c.session, EVENTS.c.revision)
    logs: dict[str, list[Entry]] = {}
    with store.reading() as connection:
        for row in connection.execute(chosen):
            logs.setdefault(row.session, []).append(Entry(**row._mapping))
    return sorted(logs.values(), key=lambda log: log[0].created)


def _without(line: list[Entry]) -> str | None:
    """Return why a session's last plan is none; None where there is a plan, or nobody looked."""
    last = next((entry for entry in reversed(line) if entry.type == "recommended"), None)
    status = None if last is None else str(last.payload["plan"]["status"])
    return None if status in (None, "ok", "already_accepted") else status


def _day(day: str, logs: list[list[Entry]]) -> Day:
    counts = Counter[str]()
    times = []
    for log in logs:
        counts.update({_EVENTS[kind] for kind in {entry.type for entry in log} if kind in _EVENTS})
        times += [e.milliseconds for e in log if e.type == "asked" and e.milliseconds is not None]
    return Day(
        day=day,
        counts={stage: counts[stage] for stage in STAGES},
        without=sum(_without(in_force(log)) is not None for log in logs),
        median_ms=round(median(times), 1) if times else None,
        p95_ms=round(float(np.percentile(times, 95)), 1) if times else None,
    )


class Summary(BaseModel):
    """What an operator sees; ``doubtful``: columns that are scored though the law may protect them."""

    sessions: int
    finished: int
    days: list[tuple[str, int]]
    questions_to_finish: float | None
    latency_ms: dict[str, float]
    model: str
    data: str
    version: str
    title: str
    doubtful: list[str]


def summary(desk: Desk) -> Summary:
    """Return sessions a day, questions to finish and latency."""
    store = desk.store
    with store.reading() as connection:
        total = connection.execute(sa.select(sa.func.count()).select_from(SESSIONS)).scalar_one()
        started = connection.execute(
            sa.select(sa.func.substr(SESSIONS.c.created, 1, 10), sa.func.count())
            .group_by(sa.func.substr(SESSIONS.c.created, 1, 10))
            .order_by(sa.func.substr(SESSIONS.c.created, 1, 10).desc())
            .limit(_DAYS)
        ).all()
        finished = sa.select(EVENTS.c.session).where(EVENTS.c.type == "recommended").distinct()
        answered = connection.execute(
            sa.select(EVENTS.c.session, sa.func.count())
            .where(EVENTS.c.type == "answered", EVENTS.c.session.in_(finished))
            .group_by(EVENTS.c.session)
        ).all()
        done = connection.execute(sa.select(sa.func.count()).select_from(finished.subquery())).scalar_one()
        recent = connection.execute(
            sa.select(EVENTS.c.milliseconds)
            .where(EVENTS.c.type == "asked", EVENTS.c.milliseconds.is_not(None))
            .order_by(EVENTS.c.created.desc())
            .limit(1000)
        ).scalars()
        times = np.array(list(recent), dtype=float)
    counts = Counter({str(day): int(n) for day, n in started})
    return Summary(
        sessions=total,
        finished=done,
        days=sorted(counts.items()),
        questions_to_finish=float(np.mean([n for _, n in answered])) if answered else None,
        latency_ms={f"p{q}": round(float(np.percentile(times, q)), 1) for q in (50, 95, 99) if len(times)},
        model=desk.case.model,
        data=desk.case.data,
        version=__version__,
        title=desk.case.heading,
        doubtful=[feature.label for feature in doubtful(desk.space.features)],
    )


def anonymity(desk: Desk) -> int | None:
    """Return among how many people each recommended row must lie, where the engine is asked for that; None where it is not."""
    k = getattr(desk.case.engine, "anonymity", None)
    return int(k) if k else None
