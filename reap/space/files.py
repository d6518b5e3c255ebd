"""Spaces as TOML, so that a lender can keep one under version control and discuss it line by line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reap._errors import InputError, unknown
from reap.language import LANGUAGES, speaking
from reap.space.feature import SETTINGS, Feature
from reap.space.words import WORDS, Meaning

if TYPE_CHECKING:
    from reap.space.space import ActionSpace

_SPACE = ("title", "rules", "max_changes", "horizon", "encoded")
_HEADER = """\
# What may change, and how. Review every feature; the lines that start with # say what to think about.
#   actionable = false      the person's own value stays (sex, race, country of birth)
#   direction  = "up"       may only rise (education); "down": may only fall; "both": either way makes sense
#   bounds     = [0, 60]    limits of what may be recommended; without them plans stay within the range
#   max_change = 5          how far it may move from where the person stands (levels, for an ordinal feature)
#   step       = 100        numbers are recommended in multiples of it
#   notice     = 500        the smallest difference worth a question
#   pace       = "200 EUR a month", "6 months a level"   how fast it moves; without any pace nothing is dated
#   clock      = "years"    goes by itself, with all other clocks, and is never advice (age); or "months"
#   when       = "application"   chosen on the day, takes no time (the amount asked for)
#   range      = …          what was seen
#   span       = …          the scale of effort: leave it as it is once people have answered questions
#   derived    = "a / b"    follows from others;  missing = true: may be empty;  forbidden = [["own", "rent"]]
#   effect     = "0.2 * income"   moves along by 0.2 of what income moves; "only 0.2 * income": nobody does anything about it
#   includes   = [["500 or more", "100 or more"]]   levels of a category of which the first asks for all of the second and more
#   phrases    = { up = "Repay over {after:month|months}", more = "longer loan" }   advice, and names in questions, in your words
# Words in other languages: [features.NAME.de] with label, unit ("Monat|Monate"), levels (in the same order), phrases.
# Under [space] go what a yes means (yes = "the bank’s computer would say yes today"), to whom it is said (about = "You asked …"),
# what one does when all is done (ready = "Ask the bank again {time}"), the horizon (months within which a plan must be done)
# and rules across features:
#   rules = ["existing + 2 * new <= 5", "if job becomes self-employed then savings is at least 5000"]
"""


def read(text: str, source: str) -> dict[str, Any]:
    """Return the arguments of ``ActionSpace`` from TOML text."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source} is not valid TOML: {error}") from None
    for section in data:
        if section not in ("space", "features"):
            raise unknown(f"section in {source}", section, ("space", "features"))
    general = data.get("space", {})
    if not isinstance(general, dict) or not isinstance(data.get("features", {}), dict):
        raise InputError(f"{source} must have the sections [space] and [features.NAME]")
    translations = {key: said for key, said in general.items() if key in LANGUAGES}
    words = {key: said for key, said in general.items() if key in WORDS}
    general = {key: said for key, said in general.items() if key not in translations and key not in words}
    for key in general:
        if key not in _SPACE:
            raise unknown(f"setting in [space] of {source}", key, (*_SPACE, *WORDS))
    if not data.get("features"):
        raise InputError(f"{source} declares no features; add a section such as [features.age]")
    return {
        "features": [_feature(name, facts, source) for name, facts in data["features"].items()],
        **general,
        "meaning": Meaning(**words, translations=translations),
    }


def _feature(name: str, facts: Any, source: str) -> Feature:
    if not isinstance(facts, dict):
        raise InputError(f"[features.{name}] of {source} must be a section, not {facts!r}")
    facts = dict(facts)
    spoken = {
        language: facts.pop(language) for language in LANGUAGES if isinstance(facts.get(language), dict)
    }
    if spoken:
        facts["translations"] = spoken
    for key in facts:
        if key not in SETTINGS:
            raise unknown(f"setting in [features.{name}] of {source}", key, SETTINGS)
    return Feature(name=name, **facts)


def write(
    space: ActionSpace,
    comments: bool,
    checks: Mapping[str, Sequence[str]] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> str:
    """Return a space as TOML; with ``comments``, as a draft to review, with what was guessed and left out."""
    with speaking("en"):  # a file holds its own words, whoever writes it
        return _written(space, comments, checks or {}, left_out or {})


def _written(
    space: ActionSpace, comments: bool, checks: Mapping[str, Sequence[str]], left_out: Mapping[str, str]
) -> str:
    lines = [_HEADER] if comments else []
    lines += [_comment(f"left out: {name}: {why}") for name, why in left_out.items()]
    lines.append("[space]")
    if space.title:
        lines.append(f"title = {_toml(space.title)}")
    lines += [f"{word} = {_toml(said)}" for word in WORDS if (said := getattr(space.meaning, word))]
    if space.rules:
        lines.append("rules = [\n" + "".join(f"  {_toml(rule)},\n" for rule in space.rules) + "]")
    if space.max_changes is not None:
        lines.append(f"max_changes = {space.max_changes}")
    if space.horizon != 24 or (comments and space.timed):
        lines.append(f"horizon = {space.horizon}")
    if space.encoded:
        lines.append("encoded = true")
    for language, words in space.meaning.translations.items():
        lines += ["", f"[space.{language}]", *(f"{word} = {_toml(said)}" for word, said in words.items())]
    for feature in space.features:
        said = [feature.describe()] if comments else []
        said += [f"check: {guess}" for guess in checks.get(feature.name, ())]
        lines += ["", *section(feature.name, _facts(feature, comments), said)]
        for language, words in feature.translations.items():
            lines += ["", f"[features.{_key(feature.name)}.{language}]"]
            lines += [f"{word} = {_toml(said)}" for word, said in words.items() if said]
    return "\n".join(lines) + "\n"


def section(name: str, facts: Iterable[tuple[str, Any]], said: Iterable[str] = ()) -> list[str]:
    """Return the lines of a file on one feature: its head, what is to be thought about, and its settings."""
    settings = [f"{key} = {_toml(value)}" for key, value in facts]
    return [f"[features.{_key(name)}]", *map(_comment, said), *settings]


def _comment(text: str) -> str:
    return "# " + "".join(c if c.isprintable() else " " for c in text)


def _facts(feature: Feature, comments: bool) -> list[tuple[str, Any]]:
    shown = {"kind", "actionable", "label"} if comments else {"kind"}
    plain: dict[str, Any] = {
        "label": feature.name,
        "phrases": {},
        "step": 1 if feature.kind == "integer" else None,
    }
    facts = []
    for key in SETTINGS:
        value = getattr(feature, key)
        usual = value == plain.get(key, Feature.__dataclass_fields__[key].default)
        clock = key == "actionable" and feature.clock is not None  # a clock says so itself
        if clock or key == "translations" or (usual and (key not in shown or key == "step")):
            continue
        if key == "pace":
            value = feature.pace_text
        if key in ("range", "span", "bounds"):
            value = [int(v) if float(v).is_integer() and abs(v) < 1e15 else v for v in value]
        facts.append((key, value))
    return facts


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else json.dumps(name, ensure_ascii=False)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case float():
            return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
        case tuple() | list():
            return "[" + ", ".join(_level(v) for v in value) + "]"
        case dict():
            return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return str(value)


def _level(value: Any) -> str:
    # Levels keep their type: 1.0 stays a float, or a table of floats would no longer match.
    return repr(value) if isinstance(value, float) else _toml(value)
