"""People are scored and judged together; their plans are those of the one-by-one API."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from tests.models.ensembles import make, people, piped


@pytest.fixture(scope="module")
def crowd():
    X, y = people(400)
    model = piped(make("histogram"), X).fit(X, y)
    return reap.Recourse(model, reap.ActionSpace.from_frame(X)).fit(X), X


@pytest.mark.parametrize("fixed", [(), ("income", "cards", "grade", "housing")])
def test_plans_and_refusals_are_those_of_each_alone(crowd, fixed):
    engine, X = crowd
    A, limits = np.eye(engine.space.dimension), engine.space.limits(fixed=fixed)
    together = engine.plan_each(X.iloc[:80], A, limits)
    assert len({plan.status for plan in together}) > 1
    for i, plan in enumerate(together):
        alone = engine.plans(X.iloc[[i]], A, limits)[0]
        assert (alone.status, alone.note) == (plan.status, plan.note)
        assert alone.effort == plan.effort or np.isnan([alone.effort, plan.effort]).all()
        assert np.array_equal(alone.path, plan.path)
        if plan.status == "infeasible":
            assert "The best score within reach is" in alone.note
    made = reap.batch.run(engine, X.iloc[:80], limits=limits, n_jobs=1)
    np.testing.assert_array_equal(made["recourse_effort"], [plan.effort for plan in together])


def test_one_who_cannot_be_read_hides_nobody(crowd):
    engine, X = crowd
    some = X.iloc[:5].astype({"housing": object})
    some.loc[some.index[2], "housing"] = "a cave"
    found = engine.plan_each(some, np.eye(engine.space.dimension))
    assert [isinstance(one, reap.InputError) for one in found] == [False, False, True, False, False]
    with pytest.raises(reap.InputError, match="a cave"):
        engine.recommend(some)


def test_a_subclass_that_plans_in_its_own_way_is_asked(crowd):
    engine, X = crowd

    class Refusing(reap.Recourse):
        def plans(self, x, matrices, limits=None):
            raise RuntimeError("not today")

    own = Refusing(engine.model, engine.space).fit(X)
    assert all(
        isinstance(one, RuntimeError) for one in own.plan_each(X.iloc[:3], np.eye(engine.space.dimension))
    )
