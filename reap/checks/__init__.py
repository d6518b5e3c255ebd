"""The promises as a suite that anybody can run on their engine or model.

``engine`` and ``model`` take what you have and your own rows; ``tables`` tries an engine on random tables, or on random spaces in
which features move each other. ``CASES`` and its companions are single checks over random worlds, each a function of
``make(model, space)``; ``python -m reap.checks`` runs them on the default engine.
"""

from reap.checks.cases import CASES, FOR_PEOPLE, WITH_TIME_LIMIT
from reap.checks.net import tables
from reap.checks.report import CheckFailed, Report
from reap.checks.suite import engine, model

__all__ = [
    "CASES",
    "FOR_PEOPLE",
    "WITH_TIME_LIMIT",
    "CheckFailed",
    "Report",
    "engine",
    "model",
    "tables",
]
