"""The paper's experiments and those beyond it: one module a table or figure, one runner, one report."""

from reap.experiments.scope import Scope
from reap.experiments.tables import NAMES, reproduce

__all__ = ["NAMES", "Scope", "reproduce"]
