"""The audit of Adult by sex and race, with the real engine; its figures again with pandas."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("REAP_DATA"), reason="needs adult.csv in the folder REAP_DATA"),
]


def test_adult_by_sex_and_race(tmp_path):
    data = reap.datasets.load("adult")
    rows = data.X.sample(1500, random_state=0)
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(
        rows, data.y[rows.index]
    )
    engine = reap.Recourse(model, data.space).fit(rows)
    accepted = engine.classifier_.accepts(data.space.encode(rows))
    people = rows[~accepted].iloc[:120]
    result = reap.batch.run(engine, people, output=tmp_path / "plans.parquet", reference=rows, n_jobs=1)
    found = reap.audit(result.path, by=["sex", "race"], matrices=20, resamples=200)

    plans = engine.recommend(people)
    none = plans["recourse_status"] != "ok"
    assert found.people == len(people)
    assert found.share == pytest.approx(none.mean())
    large = people.groupby("race").size() >= 30  # of smaller groups only the count is told
    assert large.any()
    assert not large.all()
    share = none.groupby(people["race"]).mean().where(large)
    np.testing.assert_allclose(found["race"].table["share"], share)
    np.testing.assert_array_equal(found["sex"].table["people"], people.groupby("sex").size())

    free = [f.name for f in data.space.features if f.actionable and f.derived is None]
    columns = np.concatenate([np.r_[data.space.slices[name]] for name in free])
    a, r = data.space.encode(rows[accepted])[:, columns], data.space.encode(people)[:, columns]
    unit = np.mean(((a[:, None] - r[None]) ** 2).sum(axis=2))
    effort = plans.loc[~none, "recourse_effort"] / unit
    np.testing.assert_allclose(
        found["sex"].table["median"], effort.groupby(people["sex"]).median(), rtol=1e-9
    )
    mean = effort.groupby(people["race"]).mean().where(large)
    np.testing.assert_allclose(found["race"].table["mean"], mean, rtol=1e-9)

    page = found.to_html(tmp_path / "audit.html")
    assert "By sex · race" in page
    assert "Capital gains" in page
