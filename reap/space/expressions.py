"""Names that moved; this module goes once nobody imports it."""

from reap.space.rules import Expression as Expression
