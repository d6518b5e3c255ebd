"""Every kind of people on every data set: what the table takes from the others, and what it marks."""

from __future__ import annotations

import pandas as pd

from reap.research.experiments import factors, kinds, quality
from reap.research.experiments.scope import Scope


def runs(dataset, people, efforts, *, lapse=0.0, options=2):
    """One plan a person after 5 and after 10 answers; the best plan takes an effort of 1."""
    frames = [
        pd.DataFrame(
            {
                "dataset": dataset,
                "own": True,
                "people": people,
                "lapse": lapse,
                "options": options,
                "subject": range(len(efforts)),
                "matrix": 0,
                "answers": answers,
                "method": "ours",
                "found": True,
                "effort": efforts,
                "oracle": 1.0,
            }
        )
        for answers in (5, 10)
    ]
    return pd.concat(frames, ignore_index=True)


def test_every_kind_meets_every_data_set(tmp_path):
    assert kinds.DATASETS == quality.DATASETS
    made = kinds.cells(Scope(tmp_path, datasets=("synthetic",)))
    for factor, changed in factors.FACTORS.items():
        who = changed.get("people", "gaussian"), changed.get("lapse", 0.0)
        for options in (2, 4):
            alike = [c for c in made if ((c["people"], c["lapse"]), c["options"]) == (who, options)]
            people = sum((c["subjects"][1] - c["subjects"][0]) * c["matrices"] for c in alike)
            assert people == 0 if factor == "base" else people >= kinds.RUNS


def test_what_misses_its_target_is_marked():
    found = {
        "quality": runs("german", "gaussian", [1.0, 1.02]),
        "kinds": pd.concat([runs("german", "counting", [1.0, 1.0]), runs("gmc", "counting", [1.5, 1.0])]),
    }
    table, lines = kinds.summary(found)
    by = table.frame.set_index("people")
    assert by.loc["base", "german"] == "1.0 / 1.0"
    assert by.loc["base", "gmc"] == "–"
    assert by.loc["people who count changes", ["german", "gmc"]].tolist() == ["0.0 / 0.0", "25.0! / 25.0!"]
    assert lines.frame["runs"].tolist() == [2, 2, 2]
    assert "4 of 6 places" in table.remarks[2]
