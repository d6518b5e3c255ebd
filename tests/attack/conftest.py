"""The real servers of the service's tests, for those who attack it."""

from tests.service.conftest import brief_engine, case, database, postgres, row, serve, service, talkative

__all__ = ["brief_engine", "case", "database", "postgres", "row", "serve", "service", "talkative"]
