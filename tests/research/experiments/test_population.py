"""The experiment on learnt priors: tiny, and a line for each prior."""

from __future__ import annotations

import pandas as pd
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
    (table,) = population.summary({"population": runs})
    assert table.frame["prior"].tolist() == ["default", "learnt from 30", "population"]
    assert len(population.cells(Scope(tmp_path, ("german", "student")))) == 2 * 4 * 4


def test_numbers_of_past_sessions_may_differ_between_data_sets(tmp_path):
    """What does not depend on them, default and population, stands once for each data set."""
    done = [("german", 300), ("german", 1000), ("student", 300)]
    about = {"population": "scales", "taken": "scales", "t": 3.0, "needed": 1, "oracle": 1.0}
    runs = pd.DataFrame(
        {
            **about,
            "dataset": dataset,
            "past": past,
            "prior": prior,
            "subject": i,
            "answers": t,
            "effort": 1.0 + {"default": 0.3, "learnt": 0.2, "population": 0.1}[prior],
        }
        for dataset, past in done
        for prior in ("default", "learnt", "population")
        for i in range(3)
        for t in (0, 1, 3, 5)
    )
    (table,) = population.summary({"population": runs})
    lines = table.frame.groupby("data")["prior"].apply(sorted).to_dict()
    assert lines == {
        "german": ["default", "learnt from 1000", "learnt from 300", "population"],
        "student": ["default", "learnt from 300", "population"],
    }
