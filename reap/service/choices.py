"""The plan that a person chooses, what they have done of it, and what the operator promises for it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from reap import language
from reap._errors import InputError
from reap._typing import Array
from reap.elicitation import Event
from reap.language import _
from reap.plan import Plan
from reap.service import acts, offers, plan_views, rows
from reap.service.desk import Desk
from reap.service.live import Live
from reap.service.log import Entry, Sent
from reap.service.plan_schemas import Chosen
from reap.service.refusals import StaleError
from reap.space import Change


def choose(desk: Desk, live: Live, name: str, key: str | None = None) -> Entry:
    """Store which of the plans on offer the person chose; the same request again returns the stored entry."""
    sent = Sent.of(key, "chosen", name)
    if (done := desk.repeated(live, sent)) is not None:
        return done
    offered = {offers.name_of(made): made for made in offers.offered(desk, live)}
    if name not in offered:
        raise StaleError
    days = desk.settings.commitment_days
    payload = {
        "plan": offered[name].to_dict(standalone=False),
        "place": list(offered).index(name),
        "answered": live.session.answered,
        "honoured_until": (datetime.now(UTC).date() + timedelta(days=days)).isoformat() if days else None,
        "model": desk.case.model,
    }
    return desk.append(live, Event("chosen", payload), sent)


def last(live: Live) -> Entry | None:
    """Return the entry of the plan chosen last; None where none was."""
    return next((entry for entry in reversed(live.entries) if entry.type == "chosen"), None)


def plan_of(desk: Desk, entry: Entry) -> Plan:
    """Return the plan that was chosen."""
    return Plan.from_dict(entry.payload["plan"], desk.space)


def asked(made: Plan) -> list[Change]:
    """Return what a plan asks for: its actions, then the time that must have passed."""
    clocks = [c for c in made.follows if made.space.feature(c.feature).clock is not None]
    return [*made.changes, *clocks]


def chosen(desk: Desk, live: Live) -> Chosen | None:
    """Return the plan chosen last, in words; None where none was."""
    entry = last(live)
    if entry is None:
        return None
    made, until = plan_of(desk, entry), entry.payload["honoured_until"]
    return Chosen(
        id=offers.name_of(made),
        at=language.day(entry.time.date()),
        headline=plan_views.headline(made),
        changes=[str(change) for change in made.changes],
        honoured_until=None if until is None else language.day(date.fromisoformat(until)),
        model=entry.payload["model"],
    )


def report(desk: Desk, live: Live, done: list[str], key: str | None = None) -> Entry:
    """Store what the person has done of the chosen plan, and go on from there: the row is scored again."""
    sent = Sent.of(key, "reported", *done)
    if (before := desk.repeated(live, sent)) is not None:
        return before
    entry = last(live)
    if entry is None:
        raise InputError(_("choose a plan first; then say what of it you have done"))
    made = plan_of(desk, entry)
    known = [change.feature for change in asked(made)]
    for name in done:
        if name not in known:
            raise InputError(_("the plan you chose does not ask to change “{feature}”").format(feature=name))
    if not done:
        raise InputError(_("tick at least one thing that you have done"))
    z = _moved(desk, live, made, done)
    reported = {
        "of": entry.revision,
        "done": list(done),
        "subject": desk.space.values(z),
        "accepted": desk.case.accepts(z),
    }
    return desk.act(live, lambda: acts.moved(desk, live, z), None, sent, first=Event("reported", reported))


def _moved(desk: Desk, live: Live, made: Plan, done: list[str]) -> Array:
    """Return where the person stands (d,) once these features have the values of the plan; what follows is worked out anew."""
    values, target = desk.space.values(live.session.here), desk.space.values(made.path[-1])
    own = [feature.name for feature in desk.space.features if feature.derived is None]
    return rows.read(desk.space, {name: (target if name in done else values)[name] for name in own})
