"""Trees are read, not sampled: ensembles as tables of nodes, and what they can tell apart of every feature."""

from __future__ import annotations

from reap.models.trees.forest import Forest
from reap.models.trees.lattice import Cells
from reap.models.trees.reader import Reader, read

__all__ = ["Cells", "Forest", "Reader", "read"]
