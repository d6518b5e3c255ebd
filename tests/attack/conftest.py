"""The real servers of the service's tests, for those who attack it."""

import pytest

from tests.service.conftest import brief_engine, case, database, postgres, row, serve, service, talkative

__all__ = ["brief_engine", "case", "database", "postgres", "row", "serve", "service", "talkative"]


@pytest.fixture(scope="session")
def quick(german, german_rejected):
    """Somebody for whom everything is found in a tenth of a second: attacked is what is stored, not what is computed."""
    return german.space.values(german.space.vector(german_rejected.iloc[[3]]))
