from __future__ import annotations

import pytest

from tests.batch import people


@pytest.fixture(scope="package")
def fitted():
    """A fitted engine and the table it was fitted on."""
    return people.nearest()


@pytest.fixture
def engine(fitted):
    return fitted[0]


@pytest.fixture
def X(fitted):
    return fitted[1]
