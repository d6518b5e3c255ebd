"""What an operator can set: by environment variable, by file, by option, the last one named winning over the first."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from reap._errors import InputError, unknown

_PREFIX = "REAP_"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True)
class Settings:
    """How a service runs.

    Parameters
    ----------
    database_url : str
        SQLAlchemy address; SQLite in one file by default, ``postgresql+psycopg://…`` for PostgreSQL.
    admin_key : str
        Opens the operator's page and routes; empty closes them.
    secret : str
        Signs forms. Empty: one is drawn once and kept in the database.
    questions : int
        Answers asked for at most; a person may stop earlier.
    options : int
        Plans in a question, 2 to 4.
    expire_days : float
        How long a link works.
    rate : float
        Requests a second that one client may make in the long run; 0 sets no limit.
    burst : int
        Requests that one client may make at once.
    body_limit : int
        Largest request body in bytes.
    live_sessions : int
        Dialogues kept in memory by each worker; others are replayed from the log.
    solvers : int
        Requests that may compute at the same time in each worker; more only helps where the model runs elsewhere.
    secure_cookies : bool
        Send cookies over HTTPS only; turn it on behind a TLS proxy.
    public_url : str
        Where people reach the service, for links in API answers; by default the address of the request.
    open_start : bool
        Whether anybody may start a session; off: starting one needs the admin key.

    Examples
    --------
    >>> Settings.read({"REAP_QUESTIONS": "6"}).questions
    6
    """

    database_url: str = "sqlite:///reap.db"
    admin_key: str = ""
    secret: str = ""
    questions: int = 8
    options: int = 2
    expire_days: float = 30.0
    rate: float = 20.0
    burst: int = 120
    body_limit: int = 64_000
    live_sessions: int = 256
    solvers: int = 1
    secure_cookies: bool = False
    public_url: str = ""
    open_start: bool = True

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if not value >= least:
                raise InputError(f"{name} is {value!r}; give {least} or more")
        if self.options > 4:
            raise InputError(f"options is {self.options}; more than 4 plans do not fit on a page")

    @property
    def in_memory(self) -> bool:
        """Whether the database lives in the memory of one process."""
        return self.database_url in ("sqlite://", "sqlite:///:memory:")

    @classmethod
    def read(cls, environment: Mapping[str, str] | None = None, file: Path | None = None) -> Self:
        """Return the settings of a TOML file, over those of environment variables ``REAP_<NAME>``."""
        environment = os.environ if environment is None else environment
        made = cls()
        types = {field.name: type(getattr(made, field.name)) for field in fields(cls)}
        given: dict[str, Any] = {
            name: environment[_PREFIX + name.upper()]
            for name in types
            if environment.get(_PREFIX + name.upper())
        }
        if file is not None:
            try:
                given |= tomllib.loads(file.read_text(encoding="utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise InputError(f"{file} is not a TOML file: {error}") from None
        for name in given:
            if name not in types:
                raise unknown("setting", name, types)
        return replace(made, **{name: _typed(name, value, types[name]) for name, value in given.items()})


_LEAST = {
    "questions": 1,
    "options": 2,
    "expire_days": 0,
    "rate": 0,
    "burst": 1,
    "body_limit": 1000,
    "live_sessions": 1,
    "solvers": 1,
}


def _typed(name: str, value: Any, kind: type) -> Any:
    if kind is bool:
        text = str(value).lower()
        if text not in (*_TRUE, *_FALSE):
            raise InputError(f"{name} is {value!r}; give yes or no")
        return text in _TRUE
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} is {value!r}; it must be of type {kind.__name__}") from None
