"""The table of effects: small worlds, in which the truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap.research.experiments import Scope, effects


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    scope = Scope(tmp_path_factory.mktemp("effects"), quick=True)
    return pd.concat([effects.run(scope.out, **cell) for cell in effects.cells(scope)])


def test_who_knows_the_true_effects_is_never_refused_in_the_world(runs):
    assert set(runs["method"]) == set(effects.METHODS)
    knows = runs[runs["method"] == "the true effects"]
    assert knows["found"].sum() >= 4
    assert knows.loc[knows["found"], "accepted"].all()


def test_who_takes_features_as_independent_is_refused_or_does_too_much(runs):
    blind = runs[(runs["method"] == "no effects") & runs["found"]]
    assert (~blind["accepted"] | blind["much"]).mean() > 0.5


def test_the_table_has_a_line_a_method_and_model(runs):
    (made,) = effects.summary({"effects": runs})
    assert len(made.frame) == 2 * len(effects.METHODS)
    own = made.frame[made.frame["method"] == "the true effects"]
    assert (own["effort, of those accepted"] == "1.00 (1.00)").all()
    assert (own["refused in the world"] == "0.0 %").all()


def test_rows_of_a_structure_have_its_slopes():
    world = effects.Structure.random(np.random.default_rng(3))
    X = world.rows(4_000, np.random.default_rng(4))
    from reap.space import effects as fit

    fitted = fit(X, world.arrows)
    for i, name in enumerate(world.names):
        for term in fitted.equations.get(name, ()):
            level = term.level is not None
            true = (
                world.raised[i, effects.LEVELS.index(term.level)]
                if level
                else world.slopes[i, int(term.name[1])]
            )
            assert term.slope == pytest.approx(true, abs=0.15)
