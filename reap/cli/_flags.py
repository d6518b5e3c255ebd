"""Flags in the help without a type: ``--json`` takes no value, so ``<bool>`` beside it would send people looking for one."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _quiet(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


class Command(TyperCommand):
    """A command whose flags show no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _quiet(super().get_params(ctx))


class Group(TyperGroup):
    """The group of all commands; its own flags show no type either."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        return _quiet(super().get_params(ctx))
