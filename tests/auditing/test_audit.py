"""The figures of an audit, each computed again another way with pandas and scipy."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import reap
from reap.auditing import figures
from reap.auditing.population import population


@pytest.fixture
def rejected(plans, rows):
    """Rejected people as a table of the test's own making, with the effort from the definition."""
    out = plans[~plans["recourse_status"].isin(["already_accepted", "invalid_row"])].copy()
    out[["sex", "branch"]] = rows.loc[out.index, ["sex", "branch"]]
    out["none"] = out["recourse_status"] != "ok"
    return out


def unit(engine, rows, rejected, A, sample=None):
    """The mean effort over all pairs of a rejected and an accepted person, by summing over the pairs."""
    space = engine.space
    features = [c for c in rows.columns if c != "branch"]
    Z = space.encode(rows.drop(index=[3, 4])[features])
    accepted = Z[engine.classifier_.accepts(Z)]
    own = space.encode(rows.loc[rejected.index, features])
    gaps = (accepted[:, None] - own[None]).reshape(-1, space.dimension)
    gaps[:, space.slices["sex"]] = 0.0  # nobody can act on it
    return np.einsum("ni,ij,nj->n", gaps, A, gaps).mean()


def test_there_is_something_to_find(found, rejected):
    assert 20 < found.without_plan < found.people - 90
    assert found.people == len(rejected)
    assert found.unread == 2


def test_headline_is_the_share_without_any_legal_plan(found, rejected):
    assert found.without_plan == rejected["none"].sum()
    assert found.share == pytest.approx(rejected["none"].mean())
    wilson = stats.binomtest(int(rejected["none"].sum()), len(rejected)).proportion_ci(0.95, "wilson")
    assert (found.share_low, found.share_high) == pytest.approx((wilson.low, wilson.high))
    assert found.statuses == rejected["recourse_status"].value_counts().to_dict()


def test_effort_is_measured_in_the_spread_between_accepted_and_rejected(found, engine, rows, rejected):
    one = unit(engine, rows, rejected, np.eye(engine.space.dimension))
    effort = rejected.loc[~rejected["none"], "recourse_effort"] / one
    assert found.median == pytest.approx(effort.median())
    assert found.p90 == pytest.approx(effort.quantile(0.9))
    assert found.median_low <= found.median <= found.median_high
    groups = effort.groupby(rejected["sex"])
    table = found["sex"].table
    np.testing.assert_allclose(table["median"], groups.median())
    np.testing.assert_allclose(table["mean"], groups.mean())
    np.testing.assert_allclose(table["p90"], groups.quantile(0.9))


@pytest.mark.parametrize("name", ["sex", "branch"])
def test_groups_are_counted_as_pandas_counts_them(found, rejected, name):
    table, groups = found[name].table, rejected.groupby(name)
    assert list(table.index) == sorted(rejected[name].unique())
    np.testing.assert_array_equal(table["people"], groups.size())
    np.testing.assert_array_equal(table["without_plan"], groups["none"].sum())
    np.testing.assert_allclose(table["share"], groups["none"].mean())
    np.testing.assert_allclose(
        table["changes"], rejected[~rejected["none"]].groupby(name)["recourse_changes"].mean()
    )


def test_groups_together(found, rejected):
    both = rejected.groupby([rejected["sex"] + " · " + rejected["branch"]])
    np.testing.assert_array_equal(found["sex · branch"].table["people"], both.size())


def test_tests_are_those_of_scipy(found, rejected):
    chi = stats.chi2_contingency(pd.crosstab(rejected["sex"], rejected["none"]), correction=False)
    assert found["sex"].share_comparison.p == pytest.approx(chi.pvalue)
    planned = rejected[~rejected["none"]]
    kruskal = stats.kruskal(*(g["recourse_effort"].round(12) for _, g in planned.groupby("sex")))
    assert found["sex"].effort_comparison.p == pytest.approx(kruskal.pvalue)


def test_features_share_the_effort_out(found, engine, rejected):
    space, planned = engine.space, rejected[~rejected["none"]]
    moves = np.stack([np.diff(p.reshape(-1, space.dimension), axis=0)[0] for p in planned["recourse_path"]])
    by_feature = pd.DataFrame(
        {n: (moves[:, space.slices[n]] ** 2).sum(axis=1) for n in space.names}, planned.index
    )
    np.testing.assert_allclose(
        found.features[list(space.names)], by_feature.sum() / by_feature.to_numpy().sum()
    )
    for group, part in by_feature.groupby(planned["sex"]):
        np.testing.assert_allclose(found["sex"].features.loc[group], part.sum() / part.to_numpy().sum())
    assert found.features["sex"] == found.features["income"] == 0
    assert found.features.sum() == pytest.approx(1)
    np.testing.assert_allclose(found.changed[list(space.names)], (by_feature > 0).mean())


def test_contributions_sum_to_the_effort_under_any_matrix(plans):
    people = population(plans)
    rng = np.random.default_rng(0)
    G = rng.normal(size=(people.space.dimension,) * 2)
    np.testing.assert_allclose(
        figures.contributions(people, G @ G.T).sum(axis=1), figures.efforts(people, G @ G.T), rtol=1e-9
    )


def test_a_matrix_that_was_assumed_sets_effort_and_unit(engine, rows, rejected):
    A = np.diag(np.linspace(0.2, 2.0, engine.space.dimension))
    plans = reap.batch.run(engine, rows, matrix=A, n_jobs=1)
    found = reap.audit(plans, by=["sex"], matrices=3, resamples=20)
    ok = plans["recourse_status"] == "ok"
    kept = plans[ok | (plans["recourse_status"] == "none_found")]
    assert found.median == pytest.approx(
        (plans.loc[ok, "recourse_effort"] / unit(engine, rows, kept, A)).median()
    )


def test_dependence_on_the_matrix(found, plans, engine, rejected):
    """Measured again from the definition under the same draws."""
    space, planned = engine.space, rejected[~rejected["none"]]
    matrices = figures.people_matrices(space.dimension, 40, 0)
    moves = np.stack([np.diff(p.reshape(-1, space.dimension), axis=0)[0] for p in planned["recourse_path"]])
    ratios = []
    for A in matrices:
        effort = pd.Series(np.einsum("ni,ij,nj->n", moves, A, moves), planned.index)
        if effort.median() <= 0:  # half of the plans are welcome: no measure
            continue
        ratios.append(effort.groupby(planned["sex"]).median() / effort.median())
    ratios = pd.DataFrame(ratios)
    np.testing.assert_allclose(found["sex"].relative, ratios, rtol=1e-9)
    table = found["sex"].sensitivity()
    np.testing.assert_allclose(table["above"], (ratios > 1).mean())
    np.testing.assert_allclose(table["high"], ratios.quantile(0.95))
    hardest, stays = found["sex"].hardest()
    assert hardest == table["assumed"].idxmax()
    assert stays == pytest.approx((ratios.idxmax(axis=1) == hardest).mean())


def test_bootstrap_interval_covers_the_median_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(200):
        low, high = figures.interval(rng.exponential(size=80), 200, 0.9, rng)
        hits += low <= np.log(2) <= high
    assert 0.82 <= hits / 200 <= 0.97


def test_small_counts_are_permuted():
    rng = np.random.default_rng(0)
    groups = pd.Series(["a"] * 12 + ["b"] * 12)
    without = pd.Series([True] * 5 + [False] * 7 + [False] * 12)
    found = figures.compare_shares(without, groups, rng)
    assert "permutation" in found.name
    assert found.p == pytest.approx(stats.fisher_exact(pd.crosstab(groups, without)).pvalue, abs=0.02)
    few = figures.compare_efforts(np.array([1.0, 2, 3, 4, 10, 11, 12]), pd.Series(list("aaaabbb")), rng)
    assert "permutation" in few.name
    assert few.p == pytest.approx(2 / 35, abs=0.02)  # 2 of the 35 ways to choose three are as extreme


def test_figures_of_small_groups_are_withheld_everywhere(plans):
    frame = plans.copy()
    frame["kind"] = np.where(np.arange(len(frame)) % 60 == 0, "rare", "usual")
    found = reap.audit(frame, by=["kind"], matrices=5, resamples=50)
    line = found["kind"].table.loc["rare"]
    assert 0 < line["people"] < 30
    assert line.drop("people").isna().all()
    assert found["kind"].compared == ["usual"]
    assert np.isnan(found["kind"].share_comparison.p)
    assert "rare" not in found["kind"].features.index
    assert f"rare *: {line['people']:.0f} people, too few to be told about" in str(found)
    told = json.loads(found.to_json())["groupings"][0]["groups"]
    assert {name for name, value in told["rare"].items() if value is not None} == {"people"}
    assert told["usual"]["median"] is not None
    assert "withheld" in found.to_html()
    assert "rare *" in found.to_html()


def test_the_way_is_a_share_of_the_typical_span(found, rejected, plans):
    people = population(plans, None, None)
    lengths = np.sqrt((people.V**2).sum(axis=1))
    assert found.way == pytest.approx(np.median(lengths))
    assert np.allclose(
        figures.ways(people, 7 * np.eye(people.space.dimension)), lengths
    )  # size of A says nothing
    assert "of a feature's typical span" in str(found)


def test_features_group_by_what_people_were_and_numbers_are_cut(plans, rows, rejected):
    found = reap.audit(plans, by=["duration"], matrices=3, resamples=20)["duration"]
    assert found.table["people"].sum() == len(rejected)
    assert len(found.table) == 4
    spans = [tuple(map(float, name.split(" to "))) for name in found.table.index]
    own = rows.loc[rejected.index, "duration"]
    for (low, high), people in zip(spans, found.table["people"], strict=True):
        assert own.between(low, high).sum() == people


# files, page, command --------------------------------------------------------------------------------


def test_json_is_plain_and_complete(found, tmp_path):
    found.to_json(tmp_path / "audit.json")
    data = json.loads((tmp_path / "audit.json").read_text(), parse_constant=pytest.fail)
    assert data["share"] == found.share
    assert data["groupings"][0]["groups"]["female"]["people"] == int(
        found["sex"].table.loc["female", "people"]
    )
    assert data["made_from"]["space"] == found.manifest["space"]
    assert (
        data["groupings"][0]["sensitivity"]["male"]["low"]
        <= data["groupings"][0]["sensitivity"]["male"]["high"]
    )


def test_the_page_stands_alone_and_is_repeatable(found, plans):
    page = found.to_html()
    for foreign in ("<script", "http-equiv", 'src="', "@import", "url(http"):
        assert foreign not in page
    assert page.count("<svg") == 4 * 3
    assert f"{found.without_plan:,} people" in page
    assert "Made from" in page
    assert found.manifest["model"] in page
    again = reap.audit(plans, by=["sex", "branch"], matrices=40, resamples=300)
    assert again.to_html() == page


def test_names_of_groups_are_escaped(plans):
    odd = plans.assign(kind=["<b>&" if i % 2 else "x" for i in range(len(plans))])
    odd.attrs = plans.attrs
    page = reap.audit(odd, by=["kind"], matrices=3, resamples=20).to_html()
    assert "<b>&<" not in page
    assert "&lt;b&gt;&amp;" in page


def test_nobody_without_a_plan_and_nobody_with_one(engine, rows):
    everybody = reap.batch.run(engine, rows.drop(index=[3, 4]), n_jobs=1)
    found = reap.audit(everybody, by=["sex"], matrices=3, resamples=20)
    assert found.without_plan == 0
    assert "0.0" in found.to_html()
    stuck = engine.space.limits(fixed=[n for n in engine.space.names if n != "sex"])
    nobody = reap.batch.run(engine, rows.drop(index=[3, 4]), limits=stuck, n_jobs=1)
    found = reap.audit(nobody, by=["sex", "branch"], matrices=3, resamples=20)
    assert found.share == 1.0
    assert np.isnan(found.median)
    assert json.loads(found.to_json())["median"] is None
    assert "100.0" in found.to_html()


@pytest.mark.parametrize("output", ["plans.parquet", "plans"])
def test_the_command_reads_what_the_batch_wrote(engine, rows, tmp_path, output):
    import typer

    from reap.cli.batch import audit

    features = [c for c in rows.columns if c != "branch"]
    result = reap.batch.run(
        engine, rows, output=tmp_path / output, reference=rows.drop(index=[3, 4])[features], n_jobs=1
    )
    app = typer.Typer()
    app.command()(audit)
    given = [str(result.path), "--by", "sex", "--by", "branch", "--matrices", "5", "--resamples", "20"]
    files = ["--html", str(tmp_path / "a.html"), "--json", str(tmp_path / "a.json")]
    done = CliRunner().invoke(app, [*given, *files], catch_exceptions=False)
    assert done.exit_code == 0
    assert "rejected people" in done.output
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")
    direct = (
        reap.audit(pd.read_parquet(result.path), by=["sex", "branch"], matrices=5, resamples=20)
        if output.endswith(".parquet")
        else reap.audit(result.path, by=["sex", "branch"], matrices=5, resamples=20)
    )
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads(direct.to_json())


@pytest.mark.parametrize(
    ("change", "by", "words"),
    [
        (lambda f: f, ["sexx"], "did you mean 'sex'"),
        (lambda f: f, ["recourse_effort"], "no column to group by"),
        (lambda f: f, [], "at least one column"),
        (lambda f: f.drop(columns="recourse_path"), ["sex"], "recourse_path"),
        (
            lambda f: f[f["recourse_status"] == "already_accepted"],
            ["sex"],
            "nobody in the table was rejected",
        ),
        (lambda f: f.assign(many=range(len(f))).astype({"many": str}), ["many"], "join them"),
    ],
)
def test_what_cannot_be_audited(plans, change, by, words):
    frame = change(plans)
    frame.attrs = plans.attrs
    with pytest.raises(reap.InputError, match=words):
        reap.audit(frame, by=by, matrices=3, resamples=10)


def test_what_is_missing_is_asked_for(plans, engine, rows):
    bare = plans.copy()
    bare.attrs = {}
    with pytest.raises(reap.InputError, match="space="):
        reap.audit(bare, by=["sex"])
    rejected = plans[plans["recourse_status"] != "already_accepted"]
    rejected.attrs = plans.attrs
    with pytest.raises(reap.InputError, match="accepted="):
        reap.audit(rejected, by=["sex"])
    features = [c for c in rows.columns if c != "branch"]
    Z = engine.space.encode(rows.drop(index=[3, 4])[features])
    accepted = rows.drop(index=[3, 4])[features][engine.classifier_.accepts(Z)]
    one = reap.audit(rejected, by=["sex"], accepted=accepted, matrices=3, resamples=20)
    two = reap.audit(plans, by=["sex"], matrices=3, resamples=20)
    assert one.median == pytest.approx(two.median)
