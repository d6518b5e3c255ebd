"""Frames for models are what decoding gives, cell by cell and dtype by dtype."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reap
from reap.checks.worlds import random_world
from reap.models.frames import Frames


@pytest.mark.parametrize("seed", range(12))
def test_frames_are_those_of_decoding(seed):
    world = random_world(seed)
    Z = world.space.encode(world.X)
    names = list(np.random.default_rng(seed).permutation(world.space.names))
    for columns in (names, names[:2]):
        pd.testing.assert_frame_equal(Frames(world.space, columns).of(Z), world.space.decode(Z)[columns])


def test_values_that_a_dtype_cannot_hold_are_given_as_they_are():
    cards = reap.Feature("cards", "numeric", range=(1, 3), dtype="int64", missing=True)
    frames = Frames(reap.ActionSpace([cards]), ["cards"])
    assert frames.of(np.array([[0.25], [1.0]]))["cards"].tolist() == [1.5, 3.0]
    assert frames.of(np.array([[0.5], [1.0]]))["cards"].dtype == "int64"
    assert np.isnan(frames.of(np.array([[np.nan], [0.5]]))["cards"][0])


def test_columns_of_one_hot_groups():
    X = pd.DataFrame({"a=x": [1.0, 0.0], "a=y": [0.0, 1.0], "n": [0.2, 0.8]})
    space = reap.ActionSpace.from_frame(X, groups={"a": ["a=x", "a=y"]})
    pd.testing.assert_frame_equal(Frames(space, ["n", "a=y"]).of(space.encode(X)), X[["n", "a=y"]])
