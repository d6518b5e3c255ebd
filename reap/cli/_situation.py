"""Type in one's own situation, feature by feature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console

from reap._errors import InputError
from reap._typing import Frame
from reap.cli import _setup
from reap.language import _
from reap.space.words import doubt

if TYPE_CHECKING:
    from reap.space import Feature


def typed_in(setup: _setup.Setup, console: Console) -> Frame:
    """Ask for one value a feature; a wrong one is asked for again, nothing is lost."""
    import pandas as pd

    space = setup.engine.space
    default = space.values(space.vector(_setup.pick(setup, None)))
    row: dict[str, Any] = {}
    console.print(_("Your situation (Enter takes the example's value):"))
    for feature in space.features:
        while True:
            hint = f" [dim]({', '.join(map(str, feature.levels))})[/]" if feature.levels else ""
            text = _typed(
                console, f"  {feature.label}{hint} [dim]\\[{feature.show(default[feature.name])}][/]: "
            )
            try:
                row[feature.name] = _parse(text, feature, default[feature.name])
                space.vector({**default, **row})
                if not text or _meant(feature, row[feature.name], console):
                    break
            except InputError as error:
                console.print(f"  [yellow]{error}[/]")
    return pd.DataFrame([row], dtype=object).infer_objects()


def _meant(feature: Feature, value: Any, console: Console) -> bool:
    """Return whether a person meant a value: asked back only where nobody in the table has such a one."""
    question = doubt(feature, value)
    if question is None:
        return True
    return _typed(console, _("  {question} (y/n): ").format(question=question)).lower() in ("y", "yes")


def _typed(console: Console, prompt: str) -> str:
    try:
        return console.input(prompt).strip()
    except EOFError:
        raise InputError(
            _("the input ended before your situation was complete; nothing was started")
        ) from None


def _parse(text: str, feature: Feature, default: Any) -> Any:
    if not text:
        return default
    if feature.is_number:
        try:
            value = float(text.replace(",", ""))
        except ValueError:
            raise InputError(f"“{text}” is not a number") from None
        return int(value) if value.is_integer() and feature.kind == "integer" else value
    for level in feature.levels:
        if str(level).lower() == text.lower():
            return level
    raise InputError(f"“{text}” is not one of {', '.join(map(str, feature.levels))}")
