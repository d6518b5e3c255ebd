"""Names that moved; this module goes once nobody imports it."""

from reap.space.feature import plain as plain
