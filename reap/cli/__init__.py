"""The command ``reap``: every job of the library from a terminal.

Bad input ends in one sentence and exit code 2; ``--debug`` shows the traceback instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from reap import __version__
from reap._errors import InputError
from reap.cli.ask import ask
from reap.cli.batch import audit, batch
from reap.cli.data import datasets, space
from reap.cli.learn import learn
from reap.cli.recommend import demo, reasons, recommend
from reap.cli.reproduce import reproduce
from reap.cli.service import export, mcp, serve, sessions, verify

#: Which extra brings a library that the core does without.
_EXTRAS = {
    "web": "fastapi uvicorn sqlalchemy jinja2 multipart skops prometheus_client psycopg pydantic",
    "cluster": "pyarrow distributed dask",
    "plots": "matplotlib",
    "torch": "torch",
    "baselines": "dice_ml raiutils",
    "mcp": "mcp mcp_types",
}

#: What typer raises for a command line it cannot read; the class has no public name of its own.
_UNREADABLE: Any = typer.BadParameter.__base__


def _quiet(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return parameters


def _unreadable(error: Any, ctx: Any) -> InputError:
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
            if nothing and isinstance(self, CommandGroup):
                raise
            raise _unreadable(error, ctx) from None


class Command(_Plain, TyperCommand):
    """A command whose flags show no type."""


class CommandGroup(_Plain, TyperGroup):
    """The group of all commands; its own flags show no type either."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is named."""
        try:
            return super().resolve_command(ctx, args)
        except _UNREADABLE as error:
            raise _unreadable(error, ctx) from None


app = typer.Typer(
    cls=CommandGroup,
    help="Recourse that learns what effort means to the person who has to make it.\n\n"
    "Start with `reap demo`. Then `reap ask` holds a session with you; `reap recommend` gives a plan without questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    add_completion=False,
)
_COMMANDS = (
    *(demo, ask, recommend, reasons, space, datasets, batch, audit, serve, sessions, verify, export),
    *(learn, mcp, reproduce),
)
for command in _COMMANDS:
    app.command(cls=Command)(command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"reap {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", help="Print the version.", callback=_version, is_eager=True
    ),
    debug: bool = typer.Option(False, "--debug", help="Show the traceback of an error."),
) -> None:
    """Recourse that learns what effort means to the person who has to make it."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; errors of the user's are one sentence."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        app(args=[g for g in given if g != "--debug"], prog_name="reap")
    except (InputError, OSError, ModuleNotFoundError) as error:
        if debug:
            raise
        Console(stderr=True, highlight=False).print(
            f"[bold red]Error:[/] {escape(_sentence(error))}", soft_wrap=True
        )
        raise SystemExit(2) from None


def _sentence(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        for extra, modules in _EXTRAS.items():
            if str(error.name).split(".")[0] in modules.split():
                return f"This needs {error.name}, which is not installed; install it with: pip install 'reap-recourse[{extra}]'"
        raise error
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be read').lower()}"
    text = str(error)
    if "." not in text.split(" ", 1)[0]:  # a file's name keeps its letters
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "?", "!")) else ".")


if __name__ == "__main__":
    main()
