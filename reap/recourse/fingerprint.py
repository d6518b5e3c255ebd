"""What a saved session remembers of its engine, so that another engine does not go on with it.

Kind and settings are kept as they are, so a difference can be named. The model is kept as a hash of its scores, rounded to
thousandths, at 32 rows drawn from the space alone: rounding forgives the last digits of another machine, and a retrained
model differs at some of the rows. The scores themselves would give the model away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from reap._typing import Array
from reap.space import ActionSpace
from reap.space.declaration import plain

#: Settings that change no plan, and those that the hashes of space and model cover.
_SILENT = ("model", "models", "space", "verbose", "n_jobs", "time_limit")
_PLAIN = (str, int, float, type(None))
_ROWS, _DIGITS = 32, 3


def fingerprint(engine: Any) -> dict[str, Any]:
    """Return the kind, the settings and the model's hash of a fitted engine, as plain JSON values; see ``Engine.fingerprint``.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [10.0, 20.0, 30.0, 40.0]})
    >>> def score(rows):
    ...     return rows["income"] / 50
    >>> engine = reap.Recourse(score, reap.ActionSpace.from_frame(X), max_changes=2).fit(X)
    >>> known = engine.fingerprint()
    >>> known["kind"], known["settings"]["max_changes"], len(known["model"])
    ('Recourse', 2, 64)
    >>> differences(known, reap.Recourse(score, engine.space).fit(X).fingerprint())
    ['max_changes was 2 and is 3']
    """
    made = engine.__dict__.get("_fingerprint")
    if made is None or made[0] is not engine.classifier_:  # fitted again since
        made = engine._fingerprint = (engine.classifier_, _made(engine))
    return dict(made[1])


def _made(engine: Any) -> dict[str, Any]:
    scores = np.asarray(engine.classifier_.probability(_probes(engine.space)))
    settings = {
        name: value if isinstance(value := plain(given), _PLAIN) else type(value).__name__
        for name, given in sorted(engine.get_params(deep=False).items())
        if name not in _SILENT
    }
    rounded = np.round(scores, _DIGITS) + 0.0  # no minus zero
    return {
        "kind": type(engine).__name__,
        "settings": settings,
        "model": hashlib.sha256(repr(rounded.tolist()).encode()).hexdigest(),
    }


def _probes(space: ActionSpace) -> Array:
    """Return rows (32, d) that depend on the space alone: numbers within their span, every level as likely as another."""
    rng = np.random.default_rng(0)
    Z = rng.random((_ROWS, space.dimension))
    for feature in space.features:
        columns = space.slices[feature.name]
        if feature.kind == "categorical":
            Z[:, columns] = np.eye(len(feature.levels))[rng.integers(len(feature.levels), size=_ROWS)]
        elif feature.levels:
            most = len(feature.levels) - 1
            Z[:, columns.start] = rng.integers(most + 1, size=_ROWS) / max(most, 1)
    return space.snap(Z)


def differences(known: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return in words how two fingerprints differ; empty where they do not."""
    if known["kind"] != here["kind"]:
        return [f"the engine was {known['kind']} and is {here['kind']}"]
    then, now = known["settings"], here["settings"]
    said = [
        f"{name} was {then.get(name)!r} and is {now.get(name)!r}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]
    if known["model"] != here["model"]:
        said.append("the model gives other scores")
    return said
