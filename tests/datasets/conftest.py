from __future__ import annotations

import os

import pytest

from reap.datasets import available


@pytest.fixture(params=[entry.name for entry in available()])
def name(request):
    entry = next(entry for entry in available() if entry.name == request.param)
    if not entry.present:
        pytest.skip(f"{entry.name}: {entry.where} (now {os.environ.get('REAP_DATA', 'not set')})")
    return request.param
