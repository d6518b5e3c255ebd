"""Names that moved; this module goes once nobody imports it."""

from reap.space.words import Meaning as Meaning
from reap.space.words import in_time as in_time
