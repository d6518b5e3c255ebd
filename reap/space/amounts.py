"""Names that moved; this module goes once nobody imports it."""

from reap.space.infer import plain_numbers as plain
from reap.space.infer import read_amounts as read

__all__ = ["plain", "read"]
