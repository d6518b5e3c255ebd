"""Files as a stranger, a full disk or a bad editor leaves them: one place of a good file changed, from a seed."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

#: Values that a place of a file may suddenly have.
STRANGE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 10**30, -(10**12), 0.5, 1.5, -0.25, 1e308, 1e-320, float("nan"), float("inf"),
    "", "x", "no", "1", "\0", "é\u202e", "left", "age", [], {}, [[]], [None], [1, 2], {"a": 1}, ["a", "b"], [[1.0], [2.0]],
    10**400, "NaN", "-inf", "\ud800", "\x1b[31m", -0.0, json.loads("[" * 300 + "]" * 300),
]  # fmt: skip


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(path for name, part in items for path in paths(part, (*here, name)))]


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for name in path:
        value = value[name]
    return value


def changed(data: Any, rng: random.Random) -> Any:
    """The data with one or two places changed: replaced, removed, repeated, swapped, nudged, or taken from elsewhere."""
    made = json.loads(json.dumps(data))
    for _ in range(1 + (rng.random() < 0.2)):
        places = [path for path in paths(made) if path]
        if not places:
            return made
        # Deep lists of numbers have most places: look at every depth alike.
        depth = rng.choice(sorted({len(path) for path in places}))
        *way, last = rng.choice([path for path in places if len(path) == depth])
        spot = at(made, tuple(way))
        old = spot[last]
        match rng.randrange(7):
            case 0:
                del spot[last]
            case 1 if isinstance(spot, list):
                spot.insert(rng.randrange(len(spot) + 1), old)
            case 2 if isinstance(spot, list):
                rng.shuffle(spot)
            case 3 if isinstance(old, int | float) and not isinstance(old, bool):
                spot[last] = rng.choice(
                    [old + 1, old - 1, old * 2, -old, old * (1 + 1e-3), old / 7, str(old)]
                )
            case 4 if isinstance(old, str) and old:
                i = rng.randrange(len(old))
                spot[last] = old[:i] + rng.choice(["", "x", "0", "{", "\n", old]) + old[i + 1 :]
            case 5:
                spot[last] = json.loads(json.dumps(at(made, rng.choice(places))))
            case _:
                spot[last] = copy.deepcopy(
                    rng.choice(STRANGE)
                )  # a second change must not reach into the list
    return made


def garbled(text: str, rng: random.Random) -> str:
    """The text cut, with a line lost, repeated or swapped, or a few characters changed."""
    lines = text.splitlines(keepends=True)
    match rng.randrange(6):
        case 0:
            return text[: rng.randrange(len(text))]
        case 1:
            del lines[rng.randrange(len(lines))]
            return "".join(lines)
        case 2:
            lines.insert(rng.randrange(len(lines)), rng.choice(lines))
            return "".join(lines)
        case 3:
            rng.shuffle(lines)
            return "".join(lines)
        case _:
            made = list(text)
            for _ in range(rng.choice([1, 1, 2, 8])):
                made[rng.randrange(len(made))] = rng.choice([*"0179.-+eE\"'[]{},:=# \n\0aZé", ""])
            return "".join(made)


def as_toml(data: dict[str, Any]) -> str:
    """A space's data as TOML, whatever its values are."""
    lines = []
    for section, content in data.items():
        if isinstance(content, dict) and section != "features":
            lines += [f"[{json.dumps(section)}]", *_pairs(content)]
        elif isinstance(content, dict):
            for name, facts in content.items():
                if isinstance(facts, dict):
                    lines += [f"[features.{json.dumps(name)}]", *_pairs(facts)]
                else:
                    lines += ["[features]", *_pairs({name: facts})]
        else:
            lines = [*_pairs({section: content}), *lines]
    return "\n".join(lines) + "\n"


def _pairs(content: dict[str, Any]) -> list[str]:
    return [f"{json.dumps(name)} = {_value(value)}" for name, value in content.items() if value is not None]


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case list():
            return "[" + ", ".join(_value(item) for item in value if item is not None) + "]"
        case dict():
            return "{ " + ", ".join(_pairs(value)) + " }"
    return json.dumps(value)
