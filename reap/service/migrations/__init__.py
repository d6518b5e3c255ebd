"""The schema of the database has a version, and every start brings an older one to this release's.

Beside this file there is one for each change, in the form of Alembic. A database of the first release does not say which version
it has. What a change cannot do in SQL (signing what is there) the store does after it.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from reap._errors import InputError

_FIRST = "0001"


def migrate(connection: sa.Connection, tables: sa.MetaData) -> None:
    """Bring the schema to these tables, in the transaction of a connection that nobody else writes beside."""
    config = Config()
    here = str(Path(__file__).parent)
    script = ScriptDirectory(here, version_locations=[here])
    current = MigrationContext.configure(connection).get_current_revision()
    if current == script.get_current_head():
        return

    def run(steps: object) -> None:
        with EnvironmentContext(config, script, fn=steps) as environment:
            environment.configure(connection=connection, target_metadata=tables)
            environment.run_migrations()

    if current is None:
        known = sa.inspect(connection).has_table("sessions")
        if not known:
            tables.create_all(connection)
        run(lambda version, context: script._stamp_revs(_FIRST if known else "head", version))
    try:
        run(lambda version, context: script._upgrade_revs("head", version))
    except CommandError as error:
        raise InputError(
            f"the database was written by another release ({error}); start that release, or name another database"
        ) from None
