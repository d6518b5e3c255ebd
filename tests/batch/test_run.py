"""The promise of a batch: the same plans as one by one, every row once, whatever the file it comes from."""

from __future__ import annotations

import json

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import reap
from reap.batch import store, tables
from tests.batch import people


def assert_same(batch, engine, X):
    """Assert that a batch equals the one-by-one API in values; returns the latter."""
    wanted = engine.recommend(X)
    pd.testing.assert_frame_equal(batch[list(wanted.columns)], wanted, check_names=False)
    return wanted


def test_a_frame_gives_the_frame_of_recommend(engine, X):
    made = reap.batch.run(engine, X, n_jobs=1, chunk_size=37)
    wanted = assert_same(made, engine, X)
    assert list(made.columns[: len(wanted.columns)]) == list(wanted.columns)
    assert made.index.equals(X.index)
    assert set(made["recourse_status"]) == {"ok", "already_accepted"}


def test_index_dtypes_and_further_columns_are_kept(engine, X):
    people_table = X.iloc[:60].assign(
        school=lambda f: f["school"].astype("category"),
        duration=lambda f: f["duration"].astype("int16"),
        branch=pd.date_range("2024-01-01", periods=60),
    )
    people_table.index = [f"p{i % 59}" for i in range(60)]  # one id twice is no reason to lose a row
    before = people_table.copy(deep=True)
    made = reap.batch.run(engine, people_table, n_jobs=1, chunk_size=7)
    pd.testing.assert_frame_equal(people_table, before)
    assert made.index.equals(people_table.index)
    pd.testing.assert_series_equal(made["branch"], people_table["branch"])
    assert_same(made, engine, people_table.drop(columns="branch"))
    assert made["school"].dtype == people_table["school"].dtype


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_processes_give_the_same_whatever_joblib_is_set_to(engine, X, backend):
    with joblib.parallel_config(backend=backend):
        made = reap.batch.run(engine, X, n_jobs=2, chunk_size=17)
    assert_same(made, engine, X)


def test_a_batch_within_a_worker_gives_the_same(engine, X):
    """A worker of joblib may start no processes of its own; it must not take itself for one that was left behind."""
    inner = joblib.delayed(reap.batch.run)(engine, X.iloc[:40], n_jobs=2, chunk_size=10)
    (made, _) = joblib.Parallel(2)([inner, inner])
    assert_same(made, engine, X.iloc[:40])


def test_the_path_rebuilds_the_plan(engine, X):
    d = engine.space.dimension
    made = reap.batch.run(engine, X, n_jobs=1)
    for i in made.index[made["recourse_status"] == "ok"][:20]:
        plan = engine.plans(X.loc[[i]], np.eye(d))[0]
        path = made.loc[i, "recourse_path"].reshape(-1, d)
        np.testing.assert_array_equal(path, plan.path)
        assert np.sum(np.diff(path, axis=0) ** 2) == pytest.approx(made.loc[i, "recourse_effort"])
        assert made.loc[i, "recourse_probability"] == plan.score


def test_a_matrix_and_limits_for_everybody(engine, X):
    A = np.diag(np.linspace(0.1, 3, engine.space.dimension))
    limits = engine.space.limits(fixed=["income"])
    made = reap.batch.run(engine, X.iloc[:50], matrix=A, limits=limits, n_jobs=1)
    wanted = engine.recommend(X.iloc[:50], matrix=A, limits=limits)
    pd.testing.assert_frame_equal(made[list(wanted.columns)], wanted)
    assert (made["income"] == X.iloc[:50]["income"]).all()


# files -----------------------------------------------------------------------------------------------


@pytest.fixture
def source(request, tmp_path, X):
    path = tmp_path / f"people{request.param}"
    rows = X.assign(applicant=[f"a{i}" for i in range(len(X))])
    if request.param.startswith(".csv"):
        rows.to_csv(path, index=False)
    elif request.param == ".parquet":
        rows.to_parquet(path, row_group_size=23, index=False)
    elif request.param == ".categories.parquet":
        rows.assign(job=rows["job"].astype("category")).to_parquet(path, row_group_size=31, index=False)
    else:
        path.mkdir()
        for k in range(3):
            rows.iloc[k * 40 : (k + 1) * 40 if k < 2 else None].to_parquet(path / f"{k}.parquet", index=False)
    return path


FORMATS = [".csv", ".csv.gz", ".parquet", ".categories.parquet", ".folder"]


@pytest.mark.parametrize("source", FORMATS, indirect=True)
@pytest.mark.parametrize("output", ["plans.parquet", "plans"])
def test_files_in_files_out(engine, X, source, output, tmp_path):
    result = reap.batch.run(engine, source, output=tmp_path / output, n_jobs=1, chunk_size=41)
    made = pd.read_parquet(result.path)
    assert result.rows == len(X) == len(made)
    assert list(made["row_id"]) == list(range(len(X)))
    assert list(made["applicant"]) == [f"a{i}" for i in range(len(X))]
    made = made.assign(job=made["job"].astype(X["job"].dtype))
    assert_same(made.reset_index(drop=True), engine, X)
    assert result.statuses == made["recourse_status"].value_counts().to_dict()
    assert not list(tmp_path.glob("*.parts"))
    assert not list(tmp_path.glob("**/.*"))


def test_a_file_can_also_become_a_frame(engine, X, tmp_path):
    X.iloc[:30].to_parquet(tmp_path / "p.parquet")
    made = reap.batch.run(engine, tmp_path / "p.parquet", n_jobs=1, chunk_size=11)
    assert_same(made.rename_axis(None), engine, X.iloc[:30])


@pytest.mark.parametrize("output", ["plans.parquet", "plans"])
def test_the_output_says_what_it_was_made_from(engine, X, output, tmp_path):
    X.to_csv(tmp_path / "p.csv", index=False)
    result = reap.batch.run(
        engine, tmp_path / "p.csv", output=tmp_path / output, reference=X, n_jobs=1, provenance={"by": "me"}
    )
    manifest = store.read_manifest(result.path)
    assert manifest == result.manifest
    assert manifest["complete"]
    assert manifest["space"] == engine.space.digest
    assert manifest["data"] == tables.file_digest(tmp_path / "p.csv")
    assert manifest["reap"] == reap.__version__
    assert manifest["provenance"] == {"by": "me"}
    assert manifest["engine"]["name"] == "Nearest"
    assert reap.ActionSpace.from_toml(manifest["toml"]) == engine.space
    accepted = engine.space.encode(X)[engine.classifier_.accepts(engine.space.encode(X))]
    assert manifest["accepted"]["rows"] == len(accepted)
    np.testing.assert_allclose(manifest["accepted"]["mean"], accepted.mean(axis=0))
    if output.endswith(".parquet"):
        assert pd.read_parquet(result.path).attrs["reap"] == manifest


def test_hashes_are_the_same_for_a_model_trained_again_and_differ_for_another(X):
    first, second = people.nearest()[0], people.nearest()[0]
    first.space.encoding.steps, first.plans(X.iloc[[0]], np.eye(first.space.dimension))
    one, two = (reap.batch.run(e, X.iloc[:2], n_jobs=1).attrs["reap"] for e in (first, second))
    assert one == two
    other = people.nearest(n=140)[0]
    three = reap.batch.run(other, X.iloc[:2], n_jobs=1).attrs["reap"]
    assert three["model"] != one["model"]
    assert three["engine"]["fitted"] != one["engine"]["fitted"]


# rows that fail --------------------------------------------------------------------------------------


def test_bad_rows_of_a_csv_get_a_reason_and_the_others_their_plan(engine, X, tmp_path):
    text = X.iloc[:60].astype(object)
    text.loc[3, "duration"] = "two years"
    text.loc[17, "job"] = "astronaut"
    text.loc[18, "rate"] = None
    text.loc[40, "income"] = 123.5
    text.to_csv(tmp_path / "p.csv", index=False)
    result = reap.batch.run(engine, tmp_path / "p.csv", output=tmp_path / "o.parquet", n_jobs=1, chunk_size=8)
    made = pd.read_parquet(result.path)
    bad = made[made["recourse_status"] == "invalid_row"]
    assert list(bad["row_id"]) == [3, 17, 18, 40]
    assert "'two years'" in bad["recourse_reason"].iloc[0]
    assert "astronaut" in bad["recourse_reason"].iloc[1]
    assert "'rate' is missing in row 18" in bad["recourse_reason"].iloc[2]
    assert "whole number" in bad["recourse_reason"].iloc[3]
    assert not bad["recourse_valid"].any()
    assert bad["recourse_effort"].isna().all()
    assert bad["recourse_path"].isna().all()
    assert list(bad["income"].iloc[:3]) == list(X.loc[[3, 17, 18], "income"])
    good = [i for i in range(60) if i not in (3, 17, 18, 40)]
    wanted = engine.recommend(X.loc[good])
    np.testing.assert_array_equal(made.loc[good, "recourse_effort"], wanted["recourse_effort"])
    assert list(made.loc[good, "job"]) == list(wanted["job"])
    assert result.statuses["invalid_row"] == 4


def test_bad_rows_of_a_frame_keep_their_values_and_dtypes(engine, X):
    rows = X.iloc[:20].copy()
    rows.loc[5, "rate"] = np.nan
    made = reap.batch.run(engine, rows, n_jobs=1, chunk_size=6)
    assert made.loc[5, "recourse_status"] == "invalid_row"
    assert_same(made.drop(index=5), engine, rows.drop(index=5))
    assert (made.dtypes[rows.columns] == rows.dtypes).all()


class Moody(people.Nearest):
    def plans(self, x, matrices, limits=None):
        if x["duration"].iloc[0] % 7 == 0:
            raise ZeroDivisionError("no plan on the seventh month")
        return super().plans(x, matrices, limits)


def test_an_engine_that_breaks_on_a_row_breaks_nothing_else(engine, X):
    moody = Moody(engine.model, engine.space).fit(X)
    made = reap.batch.run(moody, X.iloc[:60], n_jobs=1)
    broken = X.iloc[:60]["duration"] % 7 == 0
    assert (made["recourse_status"] == "failed").equals(broken)
    assert set(made.loc[broken, "recourse_reason"]) == {"ZeroDivisionError: no plan on the seventh month"}
    assert_same(made[~broken], engine, X.iloc[:60][~broken])


def test_people_without_a_plan_have_a_status(engine, X):
    limits = engine.space.limits(fixed=["income", "duration", "rate", "job", "school"])
    made = reap.batch.run(engine, X, limits=limits, n_jobs=1)
    stuck = made[made["recourse_status"] == "none_found"]
    assert len(stuck)
    assert set(stuck["recourse_reason"]) == {"Nobody is near."}
    pd.testing.assert_frame_equal(stuck[X.columns], X.loc[stuck.index])


# refused before any work -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: X.drop(columns="rate"), "rate"),
        (lambda X: X.rename(columns={"rate": "rates"}), "did you mean 'rates'"),
        (lambda X: X.assign(recourse_effort=1.0), "begin with recourse_"),
        (lambda X: X.iloc[:0], "no rows"),
        (lambda X: X.to_numpy(), "DataFrame or a file"),
    ],
)
def test_tables_that_cannot_be_run(engine, X, change, words):
    with pytest.raises(reap.InputError, match=words):
        reap.batch.run(engine, change(X), n_jobs=1)


def test_files_that_cannot_be_run(engine, X, tmp_path):
    with pytest.raises(reap.InputError, match="there is no file"):
        reap.batch.run(engine, tmp_path / "absent.parquet")
    (tmp_path / "p.parquet").write_text("income,duration")
    with pytest.raises(reap.InputError, match="not a Parquet file"):
        reap.batch.run(engine, tmp_path / "p.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(reap.InputError, match="no Parquet files"):
        reap.batch.run(engine, tmp_path / "empty")
    X.iloc[:0].to_csv(tmp_path / "none.csv", index=False)
    with pytest.raises(reap.InputError, match="no rows"):
        reap.batch.run(engine, tmp_path / "none.csv", output=tmp_path / "o.parquet")
    with pytest.raises(reap.InputError, match="not fitted"):
        reap.batch.run(people.Nearest(engine.model, engine.space), X)
    with pytest.raises(reap.InputError, match="no column 'idd'"):
        reap.batch.run(engine, X, id_column="idd")


# memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_input_is_not_read_far_ahead(X, jobs, tmp_path, monkeypatch):
    """Three chunks for each process, and the first, which is read to see what there is."""
    slow, read, ahead = people.nearest(delay=0.01)[0], [], []
    frames, write = tables.InMemory.frames, store.PlanStore.write

    def counted(self, size):
        for frame in frames(self, size):
            read.append(len(frame))
            yield frame

    def held(self, number, table):
        write(self, number, table)
        ahead.append(len(read) - len(self.parts))

    monkeypatch.setattr(tables.InMemory, "frames", counted)
    monkeypatch.setattr(store.PlanStore, "write", held)
    reap.batch.run(slow, X, output=tmp_path / "plans", n_jobs=jobs, chunk_size=5)
    assert len(ahead) == 30
    assert max(ahead) <= 4 * jobs


def test_parquet_chunks_have_the_size_asked_for_across_row_groups(X, tmp_path):
    X.to_parquet(tmp_path / "p.parquet", row_group_size=7, index=False)
    frames = list(tables.ParquetFiles(tmp_path / "p.parquet").frames(30))
    assert [len(f) for f in frames] == [30] * 5
    pd.testing.assert_frame_equal(pd.concat(frames).rename_axis(None), X)


def test_parts_share_one_schema_whatever_is_in_them(engine, X, tmp_path):
    rows = X.assign(note=[None] * 75 + ["x"] * 75)
    reap.batch.run(engine, rows, output=tmp_path / "plans", n_jobs=1, chunk_size=50)
    schemas = {str(pq.read_schema(p)) for p in (tmp_path / "plans").glob("part-*.parquet")}
    assert len(schemas) == 1
    assert pq.read_schema(next((tmp_path / "plans").glob("part-*"))).field("note").type in (
        pa.string(),
        pa.large_string(),
    )
    assert json.loads((tmp_path / "plans" / "_manifest.json").read_text())["rows"] == 150


@pytest.mark.parametrize("kind", ["Recourse", "GraphRecourse", "GradientRecourse"])
def test_the_real_engines_agree_with_one_by_one_and_keep_their_hash(X, kind):
    first = people.nearest()[0]
    made = [getattr(reap, kind)(first.model, first.space).fit(X) for _ in range(2)]
    rows = X.iloc[:4]
    one = reap.batch.run(made[0], rows, n_jobs=1, chunk_size=3)
    assert_same(one, made[0], rows)
    used, fresh = (reap.batch.run(e, rows, n_jobs=1, chunk_size=3).attrs["reap"] for e in made)
    assert used == fresh
