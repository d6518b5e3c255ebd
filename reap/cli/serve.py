"""``reap serve``: the service and its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from reap._errors import InputError
from reap._typing import Frame
from reap.cli import _options, _setup
from reap.cli._options import DECISION, Decision, deciding

if TYPE_CHECKING:
    from reap.service.settings import Settings

DATABASE = typer.Option(
    None, "--database", help="sqlite:///FILE or postgresql+psycopg://…; by default reap.db in this folder."
)
EXAMPLES = typer.Option(
    None,
    "--examples",
    help="A CSV file of people whom a visitor may take as an example; by default only the embedded data has some.",
)
CONFIG = typer.Option(None, "--config", help="A TOML file with settings; see docs/operate.md.")


@deciding()
def serve(
    data: str = _options.DATA,
    decision: Decision = DECISION,
    database: str | None = DATABASE,
    host: str = typer.Option("127.0.0.1", "--host", help="Address to listen on."),
    port: int = typer.Option(8000, "--port", help="Port to listen on; 0 takes a free one."),
    workers: int | None = typer.Option(
        None,
        "--workers",
        help="Processes; by default one for each core, at most 4, and one for a database in memory.",
    ),
    config: Path | None = CONFIG,
    allow_pickle: bool = typer.Option(
        False,
        "--allow-pickle",
        help="Load a model that pickle wrote. It can run any code: only your own files.",
    ),
    prior: Path | None = _options.PRIOR,
    examples: Path | None = EXAMPLES,
    seed: int = _options.SEED,
) -> None:
    """Serve the pages and the API; without options the embedded German credit example."""
    settings = read_settings(database, config)
    if prior is not None:
        settings = settings.model_copy(update={"prior": str(prior)})
    from reap.service.case import Case
    from reap.service.server import run

    print("Preparing the model …", flush=True)
    setup = _setup.prepare(
        data, decision, seed, allow_pickle=allow_pickle, guests=True, anonymity=settings.anonymity
    )
    if settings.prior:  # a prior of another space is refused here, in a sentence, not in every worker
        from reap.belief import LearnedPrior

        LearnedPrior.load(settings.prior).fits(setup.engine.space.digest)
    case = Case.of(setup.engine, setup.X, shown_examples(data, setup, examples))
    run(case, settings, host=host, port=port, workers=workers)


def shown_examples(data: str, setup: _setup.Setup, file: Path | None) -> Frame:
    """Return the people a visitor may take as examples: those of a file, or of the embedded data; never a lender's own rows."""
    if file is not None:
        from reap.datasets import read_csv

        given = read_csv(file)
        missing = [column for column in setup.X.columns if column not in given]
        if missing:
            raise InputError(
                f"{file} lacks the columns {', '.join(missing)}; examples are rows like those of the data"
            )
        return given[list(setup.X.columns)].astype(setup.X.dtypes.to_dict())
    return setup.rejected if data == "german" else setup.rejected.iloc[:0]


def read_settings(database: str | None, config: Path | None) -> Settings:
    """Return the settings of environment and file, with the database named on the command line."""
    try:
        from reap.service.settings import Settings
    except ImportError as error:
        raise InputError(
            f"the service needs {error.name}; install it with: pip install 'reap[web]'"
        ) from None
    settings = Settings.read(file=config)
    return settings.model_copy(update={"database_url": database}) if database else settings
