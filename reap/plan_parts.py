"""Names that moved; this module goes once nobody imports it."""

from reap.plan import date as date
