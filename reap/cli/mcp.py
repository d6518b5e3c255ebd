"""``reap mcp``: a session held by a chat assistant."""

from __future__ import annotations

import typer

from reap.cli import _options, _setup
from reap.cli._options import DECISION, DecisionOptions, deciding


@deciding()
def mcp(
    data: str = _options.DATA,
    decision: DecisionOptions = DECISION,
    questions: int = typer.Option(5, "--questions", "-q", help="Answers to ask for at most."),
    seed: int = _options.SEED,
) -> None:
    """Let a chat assistant hold a session: a Model Context Protocol server over standard input and output."""
    from reap.doors.assistant import server

    setup = _setup.prepare(data, decision, seed)
    server(setup.engine, setup.rejected.reset_index(drop=True), questions=questions).run("stdio")
