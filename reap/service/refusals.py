"""Why a request about a session is refused; what people read about each is in ``faults``."""

from __future__ import annotations

from datetime import date


class StaleError(Exception):
    """The request was made on a state that has changed since; the session has moved on."""


class ReusedError(StaleError):
    """The key of the request belongs to another one, which said something else."""


class ReplacedError(Exception):
    """The session was made with a model, data or release that this service does not use any more."""


class TrialsError(Exception):
    """The session has no trial left, or the service allows none."""


class HeldError(Exception):
    """The session must be kept for some time, whatever the person wants."""

    def __init__(self, until: date) -> None:
        self.until = until
        super().__init__(until.isoformat())


class UncomputedError(Exception):
    """The engine failed on what the person said, so it was not stored."""
