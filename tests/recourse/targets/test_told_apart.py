"""Scores of listings by cells, against those of the rows themselves; and the rows that a person may become at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import reap
from reap.models.trees import read, scoring
from reap.recourse.targets import pool, told_apart
from reap.recourse.targets.enumeration import Listing, everything, row_count
from reap.recourse.targets.problem import Problem
from tests.models.ensembles import people, piped

BOOSTING = HistGradientBoostingClassifier(max_iter=20, random_state=0)
PACES = {"income": "100 EUR a month", "housing": "4 months a level", "grade": "7 months a level"}


def space_of(clock=True, **settings):
    """Return the space of ``people``: with a clock, actions take time and age goes on meanwhile."""
    kinds = {"clock": "years"} if clock else {"actionable": False}
    features = [
        reap.Feature("age", "integer", range=(18, 36), **kinds),
        reap.Feature("income", "numeric", range=(500, 2500), step=100.0, max_change=1200, missing=True),
        reap.Feature("cards", "integer", range=(0, 6), direction="down"),
        reap.Feature("housing", "categorical", levels=("own", "rent", "free")),
        reap.Feature("grade", "ordinal", levels=("a", "b", "c", "d")),
        reap.Feature("owner", "binary", levels=(False, True)),
    ]
    if clock:
        features = [replace(f, pace=PACES[f.name]) if f.name in PACES else f for f in features]
    return reap.ActionSpace(features, horizon=26, **settings)


def read_model(space, model=BOOSTING):
    X, y = people()
    made = piped(clone(model), X).fit(X, y)
    return read(reap.models.wrap(made, space), space, X), space.encode(X)


@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("limits", [{}, {"exclude": {"housing": ["rent"]}, "at_least": {"cards": 2}}])
def test_scores_by_cells_are_those_of_the_rows(clock, waits, limits):
    space = space_of(clock)
    reader, Z = read_model(space)
    space = space.tighten(space.limits(**limits))
    compared = 0
    for z in Z[:40]:
        if space.obstacle(z) is not None:
            continue
        for most in (2, None):
            listing = Listing(Problem(space, reader.classifier, z, most, waits=waits), most)
            if len(listing) > 20_000:
                continue
            rows = listing.rows()
            scores = told_apart.scores(listing)
            np.testing.assert_allclose(scores, listing.problem.score(rows), rtol=0, atol=1e-12)
            some = np.arange(0, len(listing), 7)
            assert np.array_equal(listing.rows(some), rows[some])
            compared += len(listing)
    assert compared > 5_000


def test_rows_are_made_where_something_ties_values_together_or_the_model_was_not_read(monkeypatch):
    space = space_of()
    reader, Z = read_model(space)
    listing = Listing(Problem(space, reader.classifier, Z[0], 2), 2)
    assert told_apart.scores(listing) is not None
    assert told_apart.scores(Listing(Problem(space, reader.asked, Z[0], 2), 2)) is None
    ruled = space_of(rules=["income + 100 * cards <= 2500"])
    assert told_apart.scores(Listing(Problem(ruled, reader.classifier, Z[0], 2), 2)) is None
    monkeypatch.setattr(scoring, "_WORDS", 0)  # as of a deep forest
    deep = read_model(space, RandomForestClassifier(5, random_state=0))[0]
    assert told_apart.scores(Listing(Problem(space, deep.classifier, Z[0], 2), 2)) is None


def test_the_pool_is_the_one_of_rows(monkeypatch):
    """Also where nothing is accepted, and the row that comes closest is to be known."""
    space = space_of()
    reader, Z = read_model(space)
    space = space.tighten(space.limits(fixed=("grade", "cards"), at_most={"income": 1500}))
    Z = [z for z in Z if space.obstacle(z) is None]
    problems = [[Problem(space, reader.classifier, z, 2) for z in Z[:60]] for _ in range(2)]
    by_cells = [pool.enumerated(problem, 50_000) for problem in problems[0]]
    monkeypatch.setattr(told_apart, "scores", lambda listing: None)
    by_rows = [pool.enumerated(problem, 50_000) for problem in problems[1]]
    for one, other in zip(by_cells, by_rows, strict=True):
        assert np.array_equal(one.rows, other.rows)
        assert one.complete == other.complete
        assert one.problem.goal == other.problem.goal
        assert one.problem.closest == pytest.approx(other.problem.closest, abs=1e-12)
    assert any(len(one) == 0 for one in by_cells)
    assert any(len(one) > 0 for one in by_cells)


def test_who_must_change_more_than_they_may_has_no_row():
    space = space_of()
    reader, Z = read_model(space)
    own = next(z for z in Z if space.values(z)["housing"] == "rent")
    problem = Problem(space.tighten(space.limits(exclude={"housing": ["rent"]})), reader.classifier, own, 2)
    assert len(Listing(problem, 0)) == 0 == len(everything(problem, 0))
    assert told_apart.scores(Listing(problem, 0)) is None
    assert len(Listing(problem, 1)) == row_count(problem, 1) > 0


@pytest.mark.parametrize("most", [None, 2])
def test_rows_of_the_grid_are_possible_as_the_space_allows_them(most):
    space = space_of(max_changes=most)
    reader, Z = read_model(space)
    for z in Z[:6]:
        problem = Problem(space, reader.classifier, z)
        rows = everything(problem, 3, places=4)
        assert np.array_equal(problem.possible(rows), space.allows(z, rows))
        assert problem.possible(rows).all() == (most is None)
