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


class _Plain:
    """A command, or the group of all, whose flags show no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, ``--help`` among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for flag in parameters:
            if getattr(flag, "is_flag", False) and flag.metavar is None:
                flag.metavar = ""
        return parameters


class Command(_Plain, TyperCommand):
    """One of the commands."""


class CommandGroup(_Plain, TyperGroup):
    """All of them."""


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
    words = [word for word in given if word != "--debug"]
    try:
        raise SystemExit(app(args=words or ["--help"], prog_name="reap", standalone_mode=False) or 0)
    except typer.Abort:
        raise SystemExit(1) from None
    except (InputError, OSError, ModuleNotFoundError, _UNREADABLE) as error:
        if debug:
            raise
        Console(stderr=True, highlight=False).print(
            f"[bold red]Error:[/] {escape(_sentence(error))}", soft_wrap=True
        )
        raise SystemExit(2) from None


def _sentence(error: Any) -> str:
    if isinstance(error, ModuleNotFoundError):
        for extra, modules in _EXTRAS.items():
            if str(error.name).split(".")[0] in modules.split():
                return f"This needs {error.name}, which is not installed; install it with: pip install 'reap-recourse[{extra}]'"
        raise error
    if isinstance(error, _UNREADABLE):  # what a missing option is for, and where the others are listed
        missing = getattr(error, "param", None) if not getattr(error, "message", "") else None
        said = error.format_message().rstrip(".")
        if missing is not None:
            said = f"Option {max(missing.opts, key=len)} is missing: {(missing.help or '').rstrip('.')}"
        command, end = error.ctx.command_path if error.ctx else "reap", "" if said.endswith("?") else "."
        error = f"{said}{end} `{command} --help` lists what there is."
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be read').lower()}"
    text = str(error)
    if "." not in text.split(" ", 1)[0]:  # a file's name keeps its letters
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "?", "!")) else ".")


if __name__ == "__main__":
    main()
