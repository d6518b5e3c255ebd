"""Names that moved; this module goes once nobody imports it."""

from reap.space.encoding import as_frame as as_frame
from reap.space.encoding import as_given as as_given
