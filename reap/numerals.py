"""Names that moved; this module goes once nobody imports it."""

from reap.language import read_number as read
from reap.language import typed as typed

__all__ = ["read", "typed"]
