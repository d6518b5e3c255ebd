"""Single checks of an engine's manners: what it leaves as it was, returns in the same form, repeats, and refuses.

Each takes ``make(model, space)``, as the checks in ``cases`` do.
"""

from __future__ import annotations

import io
import pickle
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
from sklearn.base import clone

from reap._errors import InputError
from reap.checks.calls import Make, asked
from reap.checks.known_worlds import awkward_world, credit_world
from reap.checks.promises import EVERY, keep
from reap.checks.report import require
from reap.checks.worlds import random_world
from reap.plan import Plan


def input_is_untouched(make: Make) -> None:
    """Frames, rows and matrices that go in come out as they were."""
    world = random_world(4)
    X, x, matrices = world.X.copy(), world.rejected.iloc[[0]], world.matrices(2)
    row, kept = x.copy(), matrices.copy()
    engine = make(world.model, world.space).fit(X)
    engine.plans(row, matrices)
    engine.candidates(row)
    engine.recommend(row)
    require(X.equals(world.X), "fit changed the table")
    require(row.equals(x), "a call changed the subject's row")
    require(np.array_equal(matrices, kept), "a call changed the matrices")


def frames_keep_their_form(make: Make) -> None:
    """``recommend`` returns the subjects' index and dtypes, and says the truth beside them."""
    for world in (random_world(2), random_world(4), random_world(11), credit_world()):
        X = world.X.iloc[:6]
        table = make(world.model, world.space).fit(world.X).recommend(X)
        rows, valid, status = table[list(X.columns)], table["recourse_valid"], table["recourse_status"]
        names = [f"recourse_{name}" for name in ("valid", "effort", "status", "changes", "months")]
        require(table.index.equals(X.index), "recommend returns another index")
        require(list(table.columns) == [*X.columns, *names], f"recommend returns {list(table.columns)}")
        require(rows.dtypes.equals(X.dtypes), f"recommend returns {rows.dtypes.to_dict()}")
        require((world.probability(rows) > 0.5)[valid].all(), "a row marked valid is rejected")
        stays = ~valid | (status == "already_accepted")
        pd.testing.assert_frame_equal(rows[stays], X[stays], obj="the rows of people without a plan")
        accepted = (world.probability(X) > 0.5).tolist()
        require(
            (status == "already_accepted").tolist() == accepted,
            f"accepted are {accepted}, said is {list(status)}",
        )


def awkward_dtypes(make: Make) -> None:
    """Nullable numbers and truths, categories, text, small integers and missing values; frames and Series alike."""
    world = awkward_world()
    engine, A = make(world.model, world.space).fit(world.X), np.eye(world.space.dimension)[None]
    for i in range(4):
        x = world.rejected.iloc[[i]]
        call = asked(engine, world, x, A)
        require(
            call.plans[0].status == "ok",
            f"{x.index[0]} could earn more; the engine says {call.plans[0].status}",
        )
        keep(call, EVERY)
        same_plans(call.plans, engine.plans(world.rejected.iloc[i], A), "for a Series instead of a frame")
    table = engine.recommend(world.rejected.iloc[:4])[list(world.X.columns)]
    require(table.dtypes.equals(world.X.dtypes), f"recommend returns {table.dtypes.to_dict()}")


def same_seed_same_answer(make: Make) -> None:
    """Two engines made alike give the same plans; asking for something else in between changes nothing."""
    for seed in (3, 9):
        world = random_world(seed, rows=120)
        x, matrices = world.rejected.iloc[[0]], world.matrices(5)
        one, two = (make(world.model, world.space).fit(world.X) for _ in range(2))
        two.plans(world.rejected.iloc[[1]], matrices)
        two.plans(x, world.matrices(3, seed=7))
        same_plans(one.plans(x, matrices), two.plans(x, matrices), "from an engine made alike")


def pickle_and_clone(make: Make) -> None:
    """A fitted engine survives pickling; a clone has the settings and the fitted model, but is not fitted."""
    world = random_world(6, rows=80)
    x, A = world.rejected.iloc[[0]], world.matrices(2)
    engine = make(world.model, world.space).fit(world.X)
    before = engine.plans(x, A)
    same_plans(before, pickle.loads(pickle.dumps(engine)).plans(x, A), "after pickling")
    twin = clone(engine)
    require(type(twin) is type(engine) and twin.model is engine.model, "a clone has another type or model")
    require(
        set(twin.get_params(deep=False)) == set(engine.get_params(deep=False)), "a clone has other settings"
    )
    refused(lambda: twin.plans(x, A), "not fitted")
    same_plans(before, twin.fit(world.X).plans(x, A), "from a clone")


def silence(make: Make) -> None:
    """Nothing is printed and nothing is warned about."""
    world = random_world(3)
    said = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
        warnings.simplefilter("error")
        make(world.model, world.space).fit(world.X).recommend(world.X.iloc[:3])
    require(not said.getvalue(), f"the engine prints {said.getvalue()[:60]!r}")


def bad_input_is_refused(make: Make) -> None:
    """Wrong shapes, unknown columns and unfitted engines end in one clear sentence."""
    world = credit_world()
    engine = make(world.model, world.space)
    x, d = world.rejected.iloc[[0]], world.space.dimension
    refused(lambda: engine.plans(x, np.eye(d)), "not fitted")
    engine.fit(world.X)
    refused(lambda: engine.plans(x, np.eye(d + 1)), "matrices")
    refused(lambda: engine.plans(x, np.full((d, d), np.nan)), "matrices")
    refused(lambda: engine.plans(x.rename(columns={"income": "incme"}), np.eye(d)), "incme")
    refused(lambda: engine.plans(world.X.iloc[:2], np.eye(d)), "one subject")
    refused(lambda: engine.fit(world.X.drop(columns="income")), "income")


def refused(call: Callable[[], object], words: str) -> None:
    """Raise unless a call ends in an ``InputError`` with these words."""
    try:
        call()
    except InputError as error:
        require(words in str(error), f"the error should speak of {words!r}; it says: {error}")
    else:
        require(False, f"an InputError about {words!r} was expected; the call went through")


def same_plans(one: Iterable[Plan], two: Iterable[Plan], when: str) -> None:
    """Raise unless plans are the same."""
    for a, b in zip(one, two, strict=True):
        alike = a.status == b.status and np.array_equal(a.path, b.path, equal_nan=True)
        require(alike, f"a plan is another {when}: {a} / {b}")
