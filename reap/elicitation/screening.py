"""What a person could change at all: asked about before the first question, so that no question is wasted on the rest."""

from __future__ import annotations

from reap._errors import InputError
from reap._typing import Array
from reap.space import ActionSpace, Feature


def movable(space: ActionSpace, z: Array) -> list[Feature]:
    """Return the actions that are open to somebody who stands at z (d,), in the order of the table.

    None where limits leave some feature no value: then nothing is legal, whatever else changes, and a plan says why.
    """
    try:
        lower, upper = space.box(z)
    except InputError:
        return []

    def is_open(feature: Feature) -> bool:
        columns = space.slices[feature.name]
        if feature.kind == "categorical":
            return bool(upper[columns].sum() > 1)
        return bool(upper[columns] > lower[columns] + 1e-12)

    return [feature for feature in space.features if feature.is_action and is_open(feature)]


def changeable(space: ActionSpace, z: Array) -> list[str]:
    """Return their names."""
    return [feature.name for feature in movable(space, z)]
