"""Targets where the model is a tree ensemble that was read: exact scores of every plan of up to three changes."""

from __future__ import annotations

from reap.recourse.targets.trees.trees import Trees

__all__ = ["Trees"]
