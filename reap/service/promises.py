"""A lender that keeps its word: a plan is given with a day until which the rules of today count, whatever model decides by then.

Where ``honour_months`` is set, the log of a session begins with that day (``honoured_until``), and the case of each day, model
and people, is kept as a file by the model's fingerprint. A session whose model was replaced goes on with the kept one until its
day is over: its plans, its scores, and "I have done this". A kept case is a pickle: it is signed, and read by that only.
"""

from __future__ import annotations

import calendar
import hashlib
import pickle
from collections import defaultdict
from datetime import UTC, date, datetime
from pathlib import Path

from cachetools import LRUCache
from itsdangerous import BadSignature, Signer
from pydantic import BaseModel

from reap._errors import InputError
from reap.service.case import Case
from reap.service.log import Entry
from reap.service.settings import Settings
from reap.service.store import Store
from reap.words import counted

#: Replaced cases in the memory of a worker.
_KEPT = 4


class Promise(BaseModel):
    """What is promised by one model: to how many people, until when at the latest, and whether it decides today."""

    model: str
    people: int
    until: str
    in_use: bool


def until(entry: Entry) -> date | None:
    """Return the day of a session's first entry until which its model counts; None where nothing was promised."""
    said = entry.payload.get("honoured_until")
    return None if said is None else date.fromisoformat(said)


def running(entry: Entry) -> bool:
    """Return whether a session's promise still runs; its last day counts."""
    day = until(entry)
    return day is not None and datetime.now(UTC).date() <= day


def months_on(day: date, months: int) -> date:
    """Return the same day some months later, or the last of a month that is shorter.

    Examples
    --------
    >>> months_on(date(2026, 11, 18), 6).isoformat(), months_on(date(2026, 8, 31), 6).isoformat()
    ('2027-05-18', '2027-02-28')
    """
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


class Promises:
    """The cases by which people are promised to be judged.

    Parameters
    ----------
    case : Case
        The one that decides today.
    store : Store, prepared
    settings : Settings
    """

    def __init__(self, case: Case, store: Store, settings: Settings) -> None:
        self.case, self.store, self.settings = case, store, settings
        self._read: LRUCache[str, Case] = LRUCache(_KEPT)

    @property
    def day(self) -> str | None:
        """The day until which today's rules count for who starts now; None where nothing is promised."""
        months = self.settings.honour_months
        return months_on(datetime.now(UTC).date(), months).isoformat() if months else None

    def all(self) -> list[Promise]:
        """Return what is promised, the model of today first."""
        days = defaultdict[str, list[date]](list)
        for entry in self.store.entries("started"):
            if (day := until(entry)) is not None and running(entry):
                days[entry.payload["model"]].append(day)
        made = [
            Promise(
                model=model, people=len(each), until=max(each).isoformat(), in_use=model == self.case.model
            )
            for model, each in days.items()
        ]
        return sorted(made, key=lambda one: (not one.in_use, one.until))

    def keep(self) -> None:
        """Keep the case of today where something is promised by it, and refuse to start where a kept one is missing."""
        if self.settings.honour_months:
            file = self._file(self.case.model)
            file.parent.mkdir(parents=True, exist_ok=True)
            signed = self._signer.sign(pickle.dumps(self.case))
            part = file.with_suffix(f".{id(self)}")
            part.write_bytes(signed)
            part.replace(file)
        for promise in self.all():
            if not promise.in_use:
                self.of(promise.model)

    def of(self, model: str) -> Case:
        """Return the case that is kept of a model."""
        if model not in self._read:
            self._read[model] = self._load(model)
        return self._read[model]

    def _load(self, model: str) -> Case:
        file = self._file(model)
        told = next(promise for promise in self.all() if promise.model == model)
        wrong = f"the model {model[:12]} is promised to {counted(told.people, 'person')} until {told.until}, but its file {file}"
        if not file.is_file():
            raise InputError(f"{wrong} is missing; put it back, or name its folder: promises_folder")
        try:
            case = pickle.loads(self._signer.unsign(file.read_bytes()))
        except BadSignature:
            raise InputError(
                f"{wrong} was changed, or signed with another key; put it back, or the secret of that day"
            ) from None
        except Exception as error:
            raise InputError(
                f"{wrong} cannot be read by this release ({error}); go on with the release that wrote it"
            ) from error
        assert isinstance(case, Case)
        return case

    @property
    def _signer(self) -> Signer:
        return Signer(self.store.key, salt="promise", digest_method=hashlib.sha256)

    def _file(self, model: str) -> Path:
        return Path(self.settings.promises_folder) / f"{model}.case"
