"""The paper's experiments and those beyond it: one module a table or figure, one runner, one report."""

from reap.research.experiments.scope import Scope
from reap.research.experiments.tables import NAMES, reproduce

__all__ = ["NAMES", "Scope", "reproduce"]
