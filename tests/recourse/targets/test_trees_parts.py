"""What reading trees leaves out on the way cannot be accepted, or asks for more."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reap
from reap.models.trees import read
from reap.recourse.targets.between import lowered
from reap.recourse.targets.order import asks_no_more
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.trees import Trees
from reap.recourse.targets.trees.cells import Triples
from reap.recourse.targets.trees.ladders import DOWN, FORCED, LEVEL, OWN, UP
from reap.recourse.targets.trees.minimal import minimal
from tests.models.ensembles import blended, make, people, piped

MODELS = ("forest", "boosting", "isotonic")


def searched(name: str, subjects: int = 2):
    X, y = people(300)
    space = reap.ActionSpace.from_frame(X, steps={"income": 100})
    model = blended(name, X) if name == "isotonic" else piped(make(name), X)
    classifier = reap.models.wrap(model.fit(X, y), space)
    reader, Z = read(classifier, space, X), space.encode(X)
    for z in Z[~classifier.accepts(Z)][:subjects]:
        trees = Trees(
            Problem(space, classifier, z, 3), reader, Z[classifier.accepts(Z)], np.random.default_rng(0)
        )
        yield trees, Z


def nearer_cells(cell, sides):
    """All cells on the way to a cell, by the definition."""
    ways = []
    for place, side in zip(cell, sides, strict=True):
        same = np.flatnonzero(side == side[place])
        way = [0, *same[same < place]] if side[place] in (UP, DOWN) else [0] if side[place] == LEVEL else []
        ways.append(sorted({int(place), *way}))
    return [tuple(c) for c in np.stack(np.meshgrid(*ways, indexing="ij"), axis=-1).reshape(-1, len(cell))]


@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.0, 0.6))
def test_minimal_cells_by_their_definition(seed, axes, share):
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(axes):
        counts = rng.integers(0, 3, size=4)
        sides.append(np.repeat([OWN, UP, DOWN, LEVEL, FORCED], [1, *counts]))
    accepted = rng.random([len(side) for side in sides]) < share
    found = minimal(accepted, sides)
    for cell in np.ndindex(*accepted.shape):
        others = [c for c in nearer_cells(cell, sides) if c != cell]
        assert found[cell] == (accepted[cell] and not any(accepted[c] for c in others))


@pytest.mark.parametrize("name", MODELS)
def test_bounds_are_never_passed(name):
    for trees, _ in searched(name):
        grid = trees.searches[0].grid
        count = 0
        for size in (1, 2, 3):
            for ladders in combinations(range(len(grid.ladders)), size):
                rungs = [np.arange(len(grid.ladders[k])) for k in ladders]
                assert grid.blend.scores(ladders, rungs).max() <= grid.blend.bound(ladders, rungs)
                count += 1
        assert count > 20


@pytest.mark.parametrize("name", MODELS)
def test_the_closest_cells_are_those_of_all_triples(name):
    for trees, _ in searched(name, 1):
        grid = trees.searches[0].grid
        triples = Triples(grid.blend, grid.ladders, grid.marks, grid.goal)
        every = triples._bounded()[0]
        tops = np.concatenate(
            [s[:, 1:, 1:, 1:].reshape(len(s), -1).max(axis=1) for *_, s in triples._scores(every)]
        )
        fresh = Triples(grid.blend, grid.ladders, grid.marks, grid.goal)
        cells = fresh.closest()
        scores = []
        for marks in cells:
            changes = sorted((int(grid.marks.ladder[m]), int(grid.marks.rung[m])) for m in marks)
            ladders, rungs = tuple(k for k, _ in changes), [np.array([rung]) for _, rung in changes]
            scores.append(grid.blend.scores(ladders, rungs).item())
        np.testing.assert_allclose(scores, np.sort(tops)[::-1][: len(scores)], atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_numbers_are_taken_back_as_far_as_trees_cannot_tell(name):
    for trees, Z in searched(name):
        problem = trees.problem
        rows = problem.tidy(problem.within(Z[:80]))
        back = problem.nearer(rows)
        np.testing.assert_allclose(problem.score(back), problem.score(rows), atol=1e-9)
        assert np.diag(asks_no_more(problem.moves(back), problem.moves(rows))).all()
        assert problem.space.allows(problem.z0, back).all()
        np.testing.assert_array_equal(problem.nearer(back), back)
        moved = np.abs(back - rows).max(axis=1) > 1e-9
        assert moved.any()


def test_a_row_is_looked_behind_once_for_all_its_matrices():
    for trees, Z in searched("boosting", 1):
        problem, rng = trees.problem, np.random.default_rng(0)
        rows = problem.tidy(problem.within(Z[trees.reader.classifier.accepts(Z)][:3]))
        rows = rows[problem.judge(rows, counted=False) >= problem.goal]
        A = rng.standard_normal((4, rows.shape[1], rows.shape[1]))
        A = A @ A.transpose(0, 2, 1)
        problem.max_changes = None
        many, of = np.concatenate([rows, rows]), np.arange(2 * len(rows)) % 4
        together = lowered(problem, A, many, of)
        alone = [lowered(problem, A, row[None], np.array([k]))[0] for row, k in zip(many, of, strict=True)]
        np.testing.assert_array_equal(together, alone)
        assert np.diag(asks_no_more(problem.moves(together), problem.moves(many))).all()
