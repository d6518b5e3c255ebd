"""Who has a plan by when: what is measured, and what must never be."""

from __future__ import annotations

import pytest

from reap.research.experiments import horizons, runner, tables
from reap.research.experiments.scope import Scope


@pytest.fixture(scope="module")
def scope(tmp_path_factory):
    return Scope(tmp_path_factory.mktemp("horizons"), ("german",), subjects=4, quick=True)


@pytest.fixture(scope="module")
def frame(scope):
    cells = [runner.Cell("horizons", cell) for cell in horizons.cells(scope)]
    return runner.run(cells, scope.out, 1, "horizons", quiet=True)


def test_every_person_is_asked_for_every_number_of_months(frame):
    assert frame.groupby("subject")["within"].apply(sorted).tolist() == [list(horizons.MONTHS)] * 4
    found = frame[frame["status"] == "ok"]
    assert len(found)
    assert (found["months"] <= found["within"]).all()
    assert not frame["late"].any()
    assert not frame["disagree"].any()


def test_more_time_never_asks_for_more_effort(frame):
    efforts = frame[frame["status"] == "ok"].pivot(index="subject", columns="within", values="effort")
    for sooner, later in zip(horizons.MONTHS, horizons.MONTHS[1:], strict=False):
        both = efforts[[sooner, later]].dropna()
        assert (both[later] <= both[sooner] * 1.01).all()


def test_the_table_has_a_share_for_every_number_of_months(frame, scope):
    (result,) = horizons.summary({"horizons": frame})
    assert [name for name in result.frame if name.endswith("months")] == [
        f"{m} months" for m in horizons.MONTHS
    ]
    ((_, share, low, high),) = result.plot.panels["people with a plan"].values()
    assert all(a <= b <= c for a, b, c in zip(low, share, high, strict=True))
    assert "horizons" in tables.NAMES
