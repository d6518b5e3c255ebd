"""The schema of the database has a version, and every start brings an older one to this release's.

``versions/`` holds one file for each change, in the form of Alembic. A database of the first release has no version; it is
known by its columns. What a change cannot do in SQL (signing what is there) the store does after it.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext, StampStep
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from reap._errors import InputError
from reap.service.tables import META

#: What a database without a version is, by a column that its sessions have: the newest first.
_UNMARKED = (("trials", "0002"), ("id", "0001"))


def migrate(connection: sa.Connection) -> None:
    """Bring the schema to this release's, in the transaction of a connection that nobody else writes beside."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    script = ScriptDirectory.from_config(config)
    current = MigrationContext.configure(connection).get_current_revision()
    if current == script.get_current_head():
        return
    if current is None:
        current = _unmarked(connection)
        if current is None:  # nothing here yet
            META.create_all(connection)
        _stamp(connection, config, script, current or "head")
    _upgrade(connection, config, script)


def _unmarked(connection: sa.Connection) -> str | None:
    """Return the version of a database that does not say which it has; None where it has no tables of ours."""
    look = sa.inspect(connection)
    if not look.has_table("sessions"):
        return None
    columns = {column["name"] for column in look.get_columns("sessions")}
    return next(version for name, version in _UNMARKED if name in columns)


def _stamp(connection: sa.Connection, config: Config, script: ScriptDirectory, version: str) -> None:
    def steps(current: str, context: MigrationContext) -> list[StampStep]:
        return script._stamp_revs(version, current)

    _run(connection, config, script, steps)


def _upgrade(connection: sa.Connection, config: Config, script: ScriptDirectory) -> None:
    def steps(current: str, context: MigrationContext) -> object:
        return script._upgrade_revs("head", current)

    try:
        _run(connection, config, script, steps)
    except CommandError as error:
        raise InputError(
            f"the database was written by a later release ({error}); start that release, or name another database"
        ) from None


def _run(connection: sa.Connection, config: Config, script: ScriptDirectory, steps: object) -> None:
    with EnvironmentContext(config, script, fn=steps) as environment:
        environment.configure(connection=connection, target_metadata=META)
        environment.run_migrations()
