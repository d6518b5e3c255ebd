"""The real servers of the service's tests, for those who attack it."""

from tests.service.conftest import case, database, postgres, row, serve, service, talkative

__all__ = ["case", "database", "postgres", "row", "serve", "service", "talkative"]
