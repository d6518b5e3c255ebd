"""What a feature is, what may change, and how rows become vectors."""

from reap.space.draft import Draft, draft
from reap.space.encoding import SpaceEncoder
from reap.space.feature import Feature
from reap.space.limits import Limits
from reap.space.review import Finding
from reap.space.space import ActionSpace
from reap.space.words import Change

__all__ = ["ActionSpace", "Change", "Draft", "Feature", "Finding", "Limits", "SpaceEncoder", "draft"]
