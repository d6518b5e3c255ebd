"""Whether a model was fitted again since an engine learnt from it: half of its answers would be those of another model."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline

from reap.models.declared import Carrying, OnVectors


def state(model: Any) -> dict[str, Any]:
    """Return what fitting left in a model, by name: what ends in "_" in scikit-learn, and a booster.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0], [1]], [0, 1])
    >>> then = state(tree)
    >>> refitted(then, tree), refitted(then, tree.fit([[0], [1]], [1, 0]))
    (False, True)
    """
    if isinstance(model, OnVectors | Carrying):
        return state(model.model)
    model = getattr(model, "best_estimator_", model)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    return {
        f"{i} {name}": value
        for i, step in enumerate(steps)
        for name, value in getattr(step, "__dict__", {}).items()
        if (name.endswith("_") and not name.startswith("__")) or name == "_Booster"
    }


def refitted(then: dict[str, Any], model: Any) -> bool:
    """Return whether fitting has replaced something since ``state`` was taken; training in place is seen by its counters."""
    now = state(model)
    return any(
        name not in now or (now[name] is not value and not _same(now[name], value))
        for name, value in then.items()
    )


def _same(one: Any, other: Any) -> bool:
    return isinstance(one, str | int | float) and bool(one == other)
