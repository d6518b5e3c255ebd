"""The tables of 0.2.0: a key belongs to one request, a session has so many trials and is signed, types of entries are longer.

There was a 0002 between the releases, which no release had.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns; the store signs what is there."""
    op.add_column("events", sa.Column("request", sa.String(64)))
    op.add_column("sessions", sa.Column("trials", sa.Integer, nullable=False, server_default="0"))
    op.add_column("sessions", sa.Column("signature", sa.String(64), nullable=False, server_default=""))
    if op.get_bind().dialect.name != "sqlite":  # which does not mind how long a text is
        op.alter_column("events", "type", type_=sa.String(32), existing_type=sa.String(16))
