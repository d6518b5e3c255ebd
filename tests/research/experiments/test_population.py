"""The experiment on learnt priors: tiny, and a line for each prior."""

from __future__ import annotations

import pytest

from reap.research.experiments import Scope, population


@pytest.mark.slow
def test_a_line_for_each_prior(tmp_path):
    scope = Scope(tmp_path, ("german",), quick=True)
    (cell,) = population.cells(scope)
    runs = population.run(tmp_path, **cell)
    assert set(runs["prior"]) == {"default", "learnt", "population"}
    assert (runs["effort"] >= runs["oracle"] - 1e-12).all()
    same = runs[runs["answers"] == 0].groupby("subject")["oracle"].nunique()
    assert (same == 1).all()  # the same people for every prior
    (table,) = population.summary({"population": runs}, scope)
    assert table.frame["prior"].tolist() == ["default", "learnt from 30", "population"]
    assert len(population.cells(Scope(tmp_path, ("german", "student")))) == 2 * 4 * 4
