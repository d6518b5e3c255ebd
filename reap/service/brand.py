"""The operator's own: a name, a logo, colours that can be read, whom to ask, and where privacy is explained."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from reap._errors import InputError

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
