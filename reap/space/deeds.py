"""Names that moved; this module goes once nobody imports it."""

from reap.space.words import doings as doings
from reap.space.words import sentences as sentences
from reap.space.words import together as together
