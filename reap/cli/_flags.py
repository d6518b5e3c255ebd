"""Commands as we want them: flags in the help without a type, and a command line that cannot be read is one sentence.

``--json`` takes no value, so ``<bool>`` beside it would send people looking for one.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from reap._errors import InputError

#: What typer raises for a command line it cannot read; the class has no public name of its own.
_UNREADABLE: Any = typer.BadParameter.__base__


def _quiet(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


def _sentence(error: Any, ctx: Any) -> InputError:
    """Return what is wrong with a command line, what a missing option is for, and where the others are listed."""
    missing = getattr(error, "param", None) if not getattr(error, "message", "") else None
    if missing is not None:
        said = f"option {max(missing.opts, key=len)} is missing: {(missing.help or '').rstrip('.')}"
    else:
        said = error.format_message().rstrip(".")
    return InputError(
        f"{said}{'' if said.endswith('?') else '.'} `{ctx.command_path} --help` lists what there is."
    )


class _Plain:
    """What commands and their group have in common."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _quiet(super().get_params(ctx))  # type: ignore[misc]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, or say in a sentence why not; a group without any word shows its help."""
        nothing = not args  # reading takes the words away
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc,no-any-return]
        except _UNREADABLE as error:
            if nothing and isinstance(self, Group):
                raise
            raise _sentence(error, ctx) from None


class Command(_Plain, TyperCommand):
    """A command whose flags show no type."""


class Group(_Plain, TyperGroup):
    """The group of all commands; its own flags show no type either."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is named."""
        try:
            return super().resolve_command(ctx, args)
        except _UNREADABLE as error:
            raise _sentence(error, ctx) from None
