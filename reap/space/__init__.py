"""What a feature is, what may change, and how rows become vectors."""

from reap.space.draft import Draft, draft
from reap.space.effects import Fitted, effects
from reap.space.encoding import Encoding, SpaceEncoder
from reap.space.feature import Feature
from reap.space.legal import Legal
from reap.space.limits import Limits
from reap.space.review import Finding
from reap.space.space import ActionSpace
from reap.space.time import Clocks
from reap.space.words import Change

__all__ = [
    "ActionSpace",
    "Change",
    "Clocks",
    "Draft",
    "Encoding",
    "Feature",
    "Finding",
    "Fitted",
    "Legal",
    "Limits",
    "SpaceEncoder",
    "draft",
    "effects",
]
