"""What an operator wants to know, counted from the log: no names, no values of persons."""

from __future__ import annotations

from collections import Counter

import numpy as np
import sqlalchemy as sa
from pydantic import BaseModel

from reap import __version__
from reap.service.desk import Desk
from reap.service.tables import EVENTS, SESSIONS

_DAYS = 30


class Summary(BaseModel):
    """What an operator sees."""

    sessions: int
    finished: int
    days: list[tuple[str, int]]
    questions_to_finish: float | None
    latency_ms: dict[str, float]
    model: str
    data: str
    version: str
    title: str


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
    )
