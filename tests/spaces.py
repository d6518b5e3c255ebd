"""Random worlds; they live in ``reap.checks.worlds``."""

from reap.checks.worlds import GRADES, World, random_matrices, random_world

__all__ = ["GRADES", "World", "random_matrices", "random_world"]
