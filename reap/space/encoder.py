"""Names that moved; this module goes once nobody imports it."""

from reap.space.encoding import SpaceEncoder as SpaceEncoder
