"""The paper's experiments and those beyond it: one module a table, one runner, one report."""

from reap.research.experiments.runner import NAMES, Scope, reproduce

__all__ = ["NAMES", "Scope", "reproduce"]
