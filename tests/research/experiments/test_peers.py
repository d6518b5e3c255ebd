"""Other people's packages beside ours: who is missing is said, who is there is asked for real and judged as they are."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from reap.research import choices, peers
from reap.research.experiments import Scope, reproduce
from reap.research.experiments import peers as table
from reap.research.experiments.bench import make_bench

EVERYBODY = (peers.BOTORCH, peers.OCEAN, peers.NICE, peers.CFNOW, peers.DICE)


def here(peer):
    return pytest.mark.skipif(bool(peers.absent(peer)), reason=f"{peer.package} {peers.absent(peer)}")


def test_who_is_missing_is_said_and_ours_is_run_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(peers, "absent", lambda peer: "not installed: No module")
    scope = Scope(tmp_path, datasets=("german",), subjects=2, quick=True)
    tables = {made.title: made for made in reproduce(["peers"], scope, quiet=True)["peers"]}
    said = " ".join(tables[table.TITLE].remarks)
    assert "Asked: nobody else" in said
    assert all(f"Not asked: {peer.package}, which is not installed" in said for peer in EVERYBODY)
    assert set(tables[table.TITLE].frame["method"]) == set(table.SESSIONS)
    for title in (table.FREE, table.RULED):
        assert tables[title].frame["method"].tolist() == [table.OURS]
    # our plan obeys the space and the model, whatever anybody else does
    assert (
        tables[table.RULED].frame.loc[0, ["found", "keep the rules", "both, as written"]].tolist()
        == ["2"] * 3
    )


def test_a_package_that_is_there_on_too_old_a_python_says_which_it_needs():
    later = peers.Peer("numpy", "numpy", python=(sys.version_info.major, sys.version_info.minor + 1))
    assert peers.absent(later).startswith("needs Python 3.")


def test_rows_are_counted_as_they_are_and_compared_where_both_can_be_used():
    def row(method, subject, effort, **told):
        about = {"dataset": "german", "free": False, "proven": False, "failed": False, "found": True}
        judged = {"valid": True, "legal": True, "stands": True, "changes": 2.0, "seconds": 0.1}
        return {**about, **judged, "method": method, "subject": subject, "effort": effort, **told}

    theirs = "NICE, sparsity"
    frame = pd.DataFrame(
        [
            row("ours", 0, 1.0),
            row("ours", 1, 2.0),
            row(theirs, 0, 3.0, seconds=0.2),
            row(theirs, 1, 0.1, legal=False, seconds=0.05),  # easier, and not allowed
            row(theirs, 2, np.nan, found=False, failed=True, valid=np.nan, legal=np.nan, stands=np.nan),
        ]
    )
    made = table._plans_table(frame, free=False)
    line = made.frame.set_index("method").loc[theirs]
    assert line[["people", "found", "keep the rules", "both, as written"]].tolist() == [3, "2", "1", "1"]
    assert line["effort beside ours"] == "3.00 [3.00, 3.00] (1)"
    assert f"{theirs} for 1" in made.remarks[-1]


# the packages themselves ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ground(tmp_path_factory):
    made = make_bench(tmp_path_factory.mktemp("peers"), "german", True, 0, 400, 5)
    return table._ground(made, free=True)


@pytest.mark.extras
@pytest.mark.parametrize("name", [name for name, (peer, _) in table.MAKERS.items() if peer is not None])
def test_each_package_returns_a_row_that_the_forest_accepts(name, ground):
    peer, make = table.MAKERS[name]
    if peers.absent(peer):
        pytest.skip(f"{peer.package} {peers.absent(peer)}")
    known, Z = ground
    rows, proven = make(known)(Z[0])
    assert rows.shape == (1, known.space.dimension)
    assert known.classifier.accepts(rows)[0]
    assert proven == (peer is peers.OCEAN)
    for block in known.blocks:  # one level of each category
        if block.stop - block.start > 1:
            assert rows[0, block].sum() == 1


@pytest.mark.extras
@here(peers.OCEAN)
def test_nothing_is_nearer_than_what_ocean_proves(ground):
    known, Z = ground
    theirs, ours = peers.ocean(known), table._ours(known)
    A = table._weights(known.space)
    for z in Z[:4]:
        (near, proven), (row, _) = theirs(z), ours(z)
        assert proven
        assert (near[0] - z) @ A @ (near[0] - z) <= (row[0] - z) @ A @ (row[0] - z) + 1e-6


@pytest.mark.extras
@here(peers.BOTORCH)
def test_botorch_asks_no_pair_twice_and_finds_what_is_preferred():
    points = np.random.default_rng(0).random((6, 3))
    known, rng = peers.Preferences(points), np.random.default_rng(1)
    assert known.best() is None
    asked = []
    while pair := known.question(rng):
        asked.append(frozenset(pair))
        known.learn([tuple(sorted(pair, key=lambda i: points[i].sum()))])
    assert len(asked) == len(set(asked)) == 15
    assert known.best() == points.sum(axis=1).argmin()


@pytest.mark.extras
@here(peers.BOTORCH)
def test_botorch_predicts_people_among_what_was_offered():
    rng = np.random.default_rng(0)
    changes = rng.random((15, 3, 2))
    offered = np.ones((15, 3), dtype=bool)
    offered[::2, 2] = False
    best = np.where(offered, changes[..., 0], np.inf).argmin(axis=1)  # only the first column counts
    who = choices.Respondent("made up", changes, offered, np.eye(3)[best], (0, 12), np.arange(12, 15))
    found = peers.pairwise_gp()(who)
    for chances in found.values():
        assert chances.sum(axis=1) == pytest.approx(1)
        assert not chances[~offered[12:]].any()
    assert found[0] == pytest.approx(offered[12:] / offered[12:].sum(axis=1, keepdims=True))
    told = np.arange(3), best[12:]
    assert (found[12][told] > found[0][told]).all()
