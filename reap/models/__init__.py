"""Any classifier behind one interface: probability, logit and, where it exists, gradient of encoded rows."""

from __future__ import annotations

from reap.models.classifier import Classifier
from reap.models.declared import carrying, on_vectors, torch_model
from reap.models.estimator import wanted
from reap.models.wrapping import wrap

__all__ = ["Classifier", "carrying", "on_vectors", "torch_model", "wanted", "wrap"]
