"""What an operator can set: by environment variable, by file, by option, the last one named winning over the first."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, SettingsConfigDict

from reap._errors import InputError, unknown
from reap._formats import read_text

#: The least contrast of text on its ground (WCAG 2.2 AA).
READABLE = 4.5
_LIGHT, _DARK = "#ffffff", "#1a2221"
_LOGOS = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}


class Brand(BaseModel):
    """How the pages look and speak for the operator.

    Parameters
    ----------
    name : str
        Stands at the top of every page and in its title; by default what is decided.
    logo : str
        A file: SVG, PNG, JPEG or WebP, at most 200 kB.
    colour, colour_dark : str
        Of buttons and marks, as ``#0b5c66``, on light and on dark pages; each must be readable there.
    support : str
        Whom to ask: an address of mail, a telephone number, or a link.
    privacy : str
        A link to the privacy notice.
    creditor : str
        Name and address as they must stand in a notice of adverse action.
    regulator : str
        The authority that oversees the operator, for the same notice.

    Examples
    --------
    >>> Brand(name="Example Bank", colour="#004488").name
    'Example Bank'
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("", max_length=60)
    logo: str = ""
    colour: str = ""
    colour_dark: str = ""
    support: str = Field("", max_length=200)
    privacy: str = Field("", max_length=500)
    creditor: str = Field("", max_length=500)
    regulator: str = Field("", max_length=500)

    @field_validator("colour", "colour_dark")
    @classmethod
    def _colour(cls, given: str) -> str:
        if given and re.fullmatch(r"#[0-9a-fA-F]{6}", given) is None:
            raise ValueError(f"{given!r} is no colour; write it as #0b5c66")
        return given

    @field_validator("privacy")
    @classmethod
    def _link(cls, given: str) -> str:
        if given and not given.startswith(("https://", "http://", "/")):
            raise ValueError(f"{given!r} is no link; give an address that begins with https://")
        return given

    @model_validator(mode="after")
    def _check(self) -> Brand:
        for colour, ground, where in ((self.colour, _LIGHT, "white"), (self.colour_dark, _DARK, "dark")):
            if colour and contrast(colour, ground) < READABLE:
                raise ValueError(
                    f"{colour} on {where} pages has a contrast of {contrast(colour, ground):.1f}; people need {READABLE}"
                )
        if self.logo:
            file = Path(self.logo)
            if file.suffix.lower() not in _LOGOS or not file.is_file() or file.stat().st_size > 200_000:
                raise ValueError(
                    f"the logo {self.logo!r} cannot be used; give a file of at most 200 kB that ends in {', '.join(_LOGOS)}"
                )
        return self

    @property
    def styles(self) -> str:
        """The style sheet of the colours; empty where ours are kept."""
        light, dark = self.colour, self.colour_dark
        rules = []
        if light:
            rules.append(f":root {{ --brand: {light}; --link: {light}; --a: {light}; }}")
        if light and not dark:  # ours stay where the pages are dark: a colour for white is not readable there
            rules = [f"@media (prefers-color-scheme: light) {{ {rules[0]} }}"]
        if dark:
            rules.append(
                f"@media (prefers-color-scheme: dark) {{ :root {{ --brand: {dark}; --link: {dark}; --a: {dark}; }} }}"
            )
        return "\n".join(rules)

    def read_logo(self) -> tuple[bytes, str]:
        """Return the logo's bytes and type."""
        if not self.logo:
            raise InputError("there is no logo; name a file under [brand] in the settings")
        file = Path(self.logo)
        return file.read_bytes(), _LOGOS[file.suffix.lower()]

    @property
    def support_link(self) -> str:
        """The contact as the target of a link: mail, telephone or page; empty where it is none of them."""
        given = self.support.strip()
        if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", given):
            return f"mailto:{given}"
        if re.fullmatch(r"\+?[0-9 ()/-]{5,}", given):
            return "tel:" + re.sub(r"[^0-9+]", "", given)
        return given if given.startswith(("https://", "http://", "/")) else ""


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, 1 (the same) to 21 (black on white), as WCAG defines it.

    Examples
    --------
    >>> round(contrast("#000000", "#ffffff"), 1), contrast("#123456", "#123456")
    (21.0, 1.0)
    """

    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


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
    expire_days : float, optional
        How long a link works; by default as long as the longest plan, and 90 days more.
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
    honour_months : int
        How long the rules of the day on which somebody starts count for their plan, whatever model decides by then; 0: no promise
        is made. Plans are then simply the easiest.
    promises_folder : str
        Where the model of each day is kept for that; all hosts of a service share it.
    hold_days : int
        How long a session is kept against deletion by the person, where the law demands it; 0: they delete it at any time.
    allow_traits : list of str
        Features that look protected, such as age, and may count in the decision on purpose. ``reap serve`` stops where the model
        uses any other; which of them count is said when it starts, and on the operator's page.
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
    expire_days: float | None = Field(None, ge=0, le=36_500, allow_inf_nan=False)
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
    honour_months: int = Field(0, ge=0, le=120)
    promises_folder: str = "reap-promises"
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

    @model_validator(mode="after")
    def _check(self) -> Settings:
        """Refuse a promise that outlives what it is written down in."""
        days = 31 * self.honour_months
        if self.expire_days is not None and self.expire_days < days:
            raise ValueError(
                f"expire_days is {self.expire_days:g}, but the promise lasts {self.honour_months} months; give {days} or more"
            )
        if days and self.in_memory:
            raise ValueError(
                "honour_months: a database in memory forgets what was promised; name a file or PostgreSQL"
            )
        return self

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
    name, given, about = ".".join(map(str, wrong["loc"][:1])), wrong["input"], wrong.get("ctx", {})
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
            return InputError(": ".join(filter(None, (name, str(about["error"])))))
        case _:
            allowed = wrong["msg"][:1].lower() + wrong["msg"][1:]
    return InputError(f"{name} is {given!r}; {allowed}")
