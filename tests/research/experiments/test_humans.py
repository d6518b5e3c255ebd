"""Real answers as a table: quick runs stay in the choosing half, absent sets are named, figures are means over people."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap.research import choices
from reap.research.experiments import Scope, humans
from reap.research.experiments import reproduce as run


def test_sets_that_are_not_here_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("REAP_DATA", str(tmp_path))
    made = run(["humans"], Scope(tmp_path, quick=True), quiet=True)["humans"]
    assert "Not here, and left out: colours, electricity, kidney, swissmetro, trains" in " ".join(
        made[0].remarks
    )
    assert set(made[0].frame["method"]) == {humans.RECORDED}


@pytest.mark.skipif(bool(choices.missing()), reason="needs the answers in REAP_DATA/choices")
def test_a_quick_run_says_nothing_of_the_reported_half(tmp_path):
    cells = [cell for cell in humans.cells(Scope(tmp_path, quick=True)) if cell["dataset"] == "kidney"]
    reported = {who.name for who in choices.read("kidney", "reported")}
    frame = pd.concat([humans.run(tmp_path, **cell) for cell in cells], ignore_index=True)
    assert not set(frame["person"]) & reported
    made = humans.summary({"humans": frame})[0].frame
    assert set(humans.METHODS) <= set(made.loc[made["set"] == "kidney", "method"])
    coin = frame[frame["method"] == "coin"]
    assert coin["loss"].to_numpy() == pytest.approx(np.log(2))


@pytest.mark.skipif(bool(choices.missing()), reason="needs the answers in REAP_DATA/choices")
def test_nobody_is_taught_by_their_own_fold():
    for fold in range(humans.FOLDS):
        asked = {who.name for who in choices.read("kidney", "reported") if humans._fold(who) == fold}
        assert not asked & {who.name for who in humans.teachers("kidney", "reported", fold)}
    quick = {who.name for who in humans.teachers("kidney", "choosing", 0)}
    assert not quick & {who.name for who in choices.read("kidney", "reported")}


def test_a_person_counts_once_however_many_questions_they_answered():
    rows = [("a", 0.0)] * 9 + [("b", 1.0)]
    frame = pd.DataFrame(rows, columns=["person", "hit"]).assign(
        dataset="kidney", method="coin", answers=0, stated=0.5, loss=1.0
    )
    found = humans.figures(frame).iloc[0]
    assert (found["hit"], found["people"], found["over"]) == (0.5, 2, 0.0)
    assert found["hit_low"] <= found["hit"] <= found["hit_high"]


def test_pictures_show_hits_against_answers_and_what_was_stated():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"person": np.arange(400) % 40, "answers": np.repeat([0, 5], 200)}).assign(
        dataset="kidney", method="ours", stated=0.5 + 0.5 * rng.random(400), loss=0.5
    )
    frame["hit"] = (rng.random(400) < frame["stated"]).astype(float)
    _, hits, stated = humans.summary({"humans": frame})
    assert hits.plot.panels["kidney"]["ours"][0] == [0.0, 5.0]
    points = stated.plot.panels["kidney"]["ours"]
    assert len(points[0]) == 10
    assert points[0] == sorted(points[0])
    assert np.abs(np.subtract(points[0], points[1])).mean() < 0.1
