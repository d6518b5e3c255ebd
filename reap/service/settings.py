"""What an operator can set: by environment variable, by file, by option, the last one named winning over the first."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, field_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from reap._errors import InputError, unknown
from reap._formats import read_text
from reap.service.brand import Brand


class Settings(BaseSettings):
    """How a service runs.

    Parameters
    ----------
    database_url : str
        SQLAlchemy address; SQLite in one file by default, ``postgresql+psycopg://…`` for PostgreSQL.
    admin_key : str
        Opens the operator's page and routes, at least 12 characters; empty closes them.
    secret : str
        Signs forms. Empty: one is drawn once and kept in the database.
    questions : int
        Answers asked for at most, beside one to warm up and one that we predict; a person may stop earlier.
    options : int
        Plans in a question, 2 to 4; more do not fit on a page.
    minds : bool
        Whether sessions also learn how much the person minds the number of changes, and waiting.
    expire_days : float
        How long a link works.
    rate : float
        Requests a second that one client may make in the long run; 0 sets no limit.
    burst : int
        Requests that one client may make at once.
    starts : int
        Sessions that one client may start in an hour; 0 sets no limit. The admin key has none.
    trials : int
        Rows of a "what if" that one session may score; 0 closes it. Each trial tells something about the model.
    situations : int
        How often one session may say that the person's situation has changed; each new one is scored, too.
    body_limit : int
        Largest request body in bytes.
    live_sessions : int
        Sessions kept in memory by each worker; others are replayed from the log.
    solvers : int
        Requests that may compute at the same time in each worker; more only helps where the model runs elsewhere.
    time_limit : float
        Seconds that a request may compute; what takes longer is given up with a sentence.
    secure_cookies : bool
        Send cookies over HTTPS only; turn it on behind a TLS proxy.
    public_url : str
        Where people reach the service, for links in API answers; by default the address of the request.
    open_start : bool
        Whether anybody may start a session; off: starting one needs the admin key.
    brand : Brand
        The operator's own name, logo, colours and contacts.
    frame_ancestors : list of str
        Sites that may show the pages in a frame, such as ``https://www.bank.example``; none by default.
    commitment_days : int
        How long a chosen plan is honoured for the model in use; 0: no promise is made.
    hold_days : int
        How long a session is kept against deletion by the person, where the law demands it; 0: they delete it at any time.
    allow_traits : list of str
        Features that look protected, such as age, and may count in the decision on purpose; any other is no reason to read.
    no_trace : bool
        Pages say at the start that nothing is stored with the bank and no credit file is touched. Only where that is true.
    anonymity : int
        Plans begin at averages of at least so many people, fitted when ``reap serve`` starts; 0: at rows as they are.
    prior : str
        File of the prior that new sessions begin with, as ``reap learn`` wrote it; empty: the default.

    Examples
    --------
    >>> Settings(questions=6).questions
    6
    """

    model_config = SettingsConfigDict(env_prefix="REAP_", env_ignore_empty=True, extra="forbid", frozen=True)

    database_url: str = "sqlite:///reap.db"
    admin_key: Annotated[str, Field(pattern=r"^(.{12,})?$")] = ""
    secret: str = ""
    questions: int = Field(5, ge=1)
    options: int = Field(2, ge=2, le=4)
    minds: bool = True
    expire_days: float = Field(30.0, ge=0, le=36_500, allow_inf_nan=False)
    rate: float = Field(20.0, ge=0, allow_inf_nan=False)
    burst: int = Field(120, ge=1)
    starts: int = Field(60, ge=0)
    trials: int = Field(100, ge=0)
    situations: int = Field(10, ge=0)
    body_limit: int = Field(64_000, ge=1000)
    live_sessions: int = Field(256, ge=1)
    solvers: int = Field(1, ge=1)
    time_limit: float = Field(30.0, ge=0.1, le=86_400, allow_inf_nan=False)
    secure_cookies: bool = False
    public_url: str = ""
    open_start: bool = True
    prior: str = ""
    brand: Brand = Field(default_factory=lambda: Brand.model_validate({}))
    frame_ancestors: list[str] = []
    commitment_days: int = Field(0, ge=0, le=3650)
    hold_days: int = Field(0, ge=0, le=36_500)
    allow_traits: list[str] = []
    no_trace: bool = False
    anonymity: int = Field(0, ge=0, le=10**6)

    @field_validator("frame_ancestors")
    @classmethod
    def _sites(cls, given: list[str]) -> list[str]:
        """Refuse what would let anybody in, or break the header that it goes into."""
        for site in given:
            if re.fullmatch(r"https?://[A-Za-z0-9*.-]+(:[0-9]+)?", site) is None:
                raise ValueError(f"{site!r} is no site; give addresses such as https://www.bank.example")
        return given

    def cookie(self, name: str, value: str, days: int) -> str:
        """Return a cookie that scripts cannot read, for this site alone or for a frame on the operator's own.

        Browsers send a cookie to a frame of another site only over TLS, and most only where it is kept apart for that site.

        Examples
        --------
        >>> Settings().cookie("a", "b", 1)
        'a=b; Path=/; Max-Age=86400; HttpOnly; SameSite=lax'
        >>> Settings(secure_cookies=True, frame_ancestors=["https://bank.example"]).cookie("a", "b", 1)
        'a=b; Path=/; Max-Age=86400; HttpOnly; SameSite=none; Secure; Partitioned'
        """
        made = f"{name}={value}; Path=/; Max-Age={86400 * days}; HttpOnly"
        if not self.secure_cookies:
            return f"{made}; SameSite=lax"
        framed = "none; Secure; Partitioned" if self.frame_ancestors else "lax; Secure"
        return f"{made}; SameSite={framed}"

    @property
    def in_memory(self) -> bool:
        """Whether the database lives in the memory of one process."""
        return self.database_url in ("sqlite://", "sqlite:///:memory:")

    @classmethod
    def read(cls, file: Path | None = None) -> Self:
        """Return the settings of a TOML file, over those of environment variables ``REAP_<NAME>``."""
        try:
            given = {} if file is None else tomllib.loads(read_text(file))
            return cls(**given)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{file} is not a TOML file: {error}") from None
        except ValidationError as error:
            raise _sentence(error.errors()[0]) from None


def _sentence(wrong: ErrorDetails) -> InputError:
    """Return what is wrong with a setting, as one sentence."""
    name, given, about = str(wrong["loc"][0]), wrong["input"], wrong.get("ctx", {})
    match wrong["type"]:
        case "extra_forbidden":
            return unknown("setting", name, Settings.model_fields)
        case "greater_than_equal":
            allowed = f"give {about['ge']} or more"
        case "less_than_equal":
            allowed = f"give {about['le']} or less"
        case "string_pattern_mismatch":
            return InputError(f"{name} has {len(str(given))} characters; give at least 12, hard to guess")
        case "bool_parsing":
            allowed = "give yes or no"
        case "value_error":
            return InputError(f"{name}: {about['error']}")
        case _:
            allowed = wrong["msg"][:1].lower() + wrong["msg"][1:]
    return InputError(f"{name} is {given!r}; {allowed}")
