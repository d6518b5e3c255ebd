"""The command ``reap``: every job of the library from a terminal.

Bad input ends in one sentence and exit code 2; ``--debug`` shows the traceback instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.markup import escape

from reap import __version__
from reap._errors import InputError
from reap.cli._flags import Command, Group
from reap.cli.ask import ask
from reap.cli.audit import audit
from reap.cli.batch import batch
from reap.cli.datasets import datasets
from reap.cli.demo import demo
from reap.cli.learn import learn
from reap.cli.recommend import reasons, recommend
from reap.cli.reproduce import reproduce
from reap.cli.serve import serve
from reap.cli.sessions import export, sessions, verify
from reap.cli.space import space

#: Which extra brings a library that the core does without.
_EXTRAS = {
    "web": (
        "fastapi",
        "uvicorn",
        "sqlalchemy",
        "jinja2",
        "multipart",
        "skops",
        "prometheus_client",
        "psycopg",
        "pydantic",
    ),
    "cluster": ("pyarrow", "distributed", "dask"),
    "plots": ("matplotlib",),
    "torch": ("torch",),
    "baselines": ("dice_ml", "raiutils"),
}

app = typer.Typer(
    cls=Group,
    help="Recourse that learns what effort means to the person who has to make it.\n\n"
    "Start with `reap demo`. Then `reap ask` holds a session with you; `reap recommend` gives a plan without questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    add_completion=False,
)
for command in (
    demo,
    ask,
    recommend,
    reasons,
    space,
    datasets,
    batch,
    audit,
    serve,
    sessions,
    verify,
    export,
    learn,
    reproduce,
):
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
            if str(error.name).split(".")[0] in modules:
                return f"This needs {error.name}, which is not installed; install it with: pip install 'reap[{extra}]'"
        raise error
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {(error.strerror or 'cannot be read').lower()}"
    text = str(error)
    if "." not in text.split(" ", 1)[0]:  # a file's name keeps its letters
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "?", "!")) else ".")


if __name__ == "__main__":
    main()
