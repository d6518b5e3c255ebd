"""The row of a session is signed; types of entries have longer names."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the signature; the store signs what is there."""
    op.add_column("sessions", sa.Column("signature", sa.String(64), nullable=False, server_default=""))
    if op.get_bind().dialect.name != "sqlite":  # which does not mind how long a text is
        op.alter_column("events", "type", type_=sa.String(32), existing_type=sa.String(16))
