"""Recourse that learns what effort means to the person who has to make it.

Public names are resolved on first use, so that ``import reap`` is quick and touches nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.2.0"

_NAMES = {
    "ActionSpace": "reap.space",
    "Feature": "reap.space",
    "Limits": "reap.space",
    "InputError": "reap._errors",
    "InputWarning": "reap._errors",
    "Plan": "reap.plan",
    "ConfidenceSet": "reap.belief",
    "Posterior": "reap.belief",
    "Bayes": "reap.elicitation",
    "Elicitation": "reap.elicitation",
    "Paper": "reap.elicitation",
    "Question": "reap.elicitation",
    "Recourse": "reap.recourse",
    "GraphRecourse": "reap.recourse",
    "GradientRecourse": "reap.recourse",
    "PoolRecourse": "reap.recourse",
    "Durability": "reap.recourse",
    "audit": "reap.auditing",
    "learn": "reap.learning",
}
_MODULES = {
    **{
        name: f"reap.{name}"
        for name in (
            "batch",
            "belief",
            "checks",
            "datasets",
            "effort",
            "models",
            "questions",
            "recourse",
            "research",
            "space",
        )
    },
    "notebook": "reap.doors.notebook",
    "mlflow": "reap.doors.mlflow",
    "baselines": "reap.research.baselines",
    "experiments": "reap.research.experiments",
    "subjects": "reap.research.subjects",
}

__all__ = [*_NAMES, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    if name in _MODULES:
        try:
            return importlib.import_module(_MODULES[name])
        except ModuleNotFoundError as error:
            if not _MODULES[name].startswith("reap.doors."):
                raise
            from reap._errors import InputError

            extra = f"install it with: pip install 'reap-recourse[{name}]'"
            raise InputError(f"reap.{name} needs {error.name}, which is not installed; {extra}") from None
    raise AttributeError(f"module 'reap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
