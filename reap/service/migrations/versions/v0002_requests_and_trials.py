"""A key belongs to one request, and a session has so many trials."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add what a request said, and how many rows a session has scored."""
    op.add_column("events", sa.Column("request", sa.String(64)))
    op.add_column("sessions", sa.Column("trials", sa.Integer, nullable=False, server_default="0"))
