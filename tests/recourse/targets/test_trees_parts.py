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
from reap.recourse.targets.trees.minimal import least_of, minimal, spread
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


def random_sides(rng, axes):
    counts = rng.integers(0, 3, size=(axes, 4))
    return [np.repeat([OWN, UP, DOWN, LEVEL, FORCED], [1, *some]) for some in counts]


@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.0, 0.6))
def test_minimal_cells_by_their_definition(seed, axes, share):
    rng = np.random.default_rng(seed)
    sides = random_sides(rng, axes)
    accepted = rng.random([len(side) for side in sides]) < share
    found = minimal(accepted, sides)
    for cell in np.ndindex(*accepted.shape):
        others = [c for c in nearer_cells(cell, sides) if c != cell]
        assert found[cell] == (accepted[cell] and not any(accepted[c] for c in others))


@given(st.integers(0, 10_000), st.integers(1, 3), st.floats(0.0, 0.6))
def test_few_cells_of_many_groups_are_minimal_as_whole_arrays_are(seed, axes, share):
    rng = np.random.default_rng(seed)
    sides = random_sides(rng, axes)
    accepted = rng.random([4, *(len(side) for side in sides)]) < share
    accepted[1] = False  # a group without any cell
    group, *cells = np.nonzero(accepted)
    found = np.zeros_like(accepted)
    least = least_of(group, np.stack(cells, axis=1), sides)
    found[(group[least], *(place[least] for place in cells))] = True
    np.testing.assert_array_equal(found, minimal(accepted, sides))


@given(st.integers(0, 10_000), st.floats(0.0, 0.6))
def test_what_is_enough_is_enough_for_all_beyond(seed, share):
    rng = np.random.default_rng(seed)
    sides = random_sides(rng, 2)
    accepted = rng.random([len(side) for side in sides]) < share
    found = spread(spread(accepted, sides[0], 0), sides[1], 1)
    for cell in np.ndindex(*accepted.shape):
        assert found[cell] == any(accepted[c] for c in nearer_cells(cell, sides))


@pytest.mark.parametrize("name", MODELS)
def test_triples_are_those_of_all_their_cells(name):
    count = 0
    for trees, _ in searched(name):
        grid = trees.searches[0].grid
        triples = Triples(grid.blend, grid.ladders, grid.marks, grid.goal)
        expected = set()
        for kinds, blocks, scores in triples._scores(triples._bounded()[0]):
            good = minimal(scores >= triples.goal, [triples.sides[kind] for kind in kinds])
            t, *at = np.nonzero(good[:, 1:, 1:, 1:])
            marks = triples._marked(blocks[t], np.stack(at, axis=1) + 1)
            expected |= {tuple(cell) for cell in np.sort(marks, axis=1).tolist()}
        found = np.sort(triples.found(), axis=1).tolist()
        assert len(found) == len(expected)
        assert {tuple(cell) for cell in found} == expected
        count += len(found)
    assert count > 0


@pytest.mark.parametrize("name", MODELS)
def test_effects_made_together_are_those_made_one_by_one(name):
    for trees, _ in searched(name, 1):
        for effects in trees.searches[0].grid.blend.parts:
            names, rng = effects.index(3).names, np.random.default_rng(0)
            assert len(names) > 3
            rungs = rng.integers(0, effects.sizes[names][:, :, None], (*names.shape, 4))
            together = effects.threes(names[:, ::-1], rungs[:, ::-1]).transpose(0, 3, 2, 1)
            for ladders, some, made in zip(names.tolist(), rungs, together, strict=True):
                np.testing.assert_allclose(made, effects.three(tuple(ladders), list(some)), atol=1e-6)


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
