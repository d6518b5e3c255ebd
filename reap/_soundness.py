"""Names that moved; this module goes once nobody imports it."""

from reap.plan import LARGEST as LARGEST
from reap.plan import number as number
from reap.plan import unreadable as unreadable
