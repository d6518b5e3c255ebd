"""Tables with a curated action space: one ships inside, one is made, six are read; your own work the same way."""

from __future__ import annotations

from reap.datasets.catalogue import CatalogueEntry, available, names
from reap.datasets.dataset import Dataset, from_csv, read_csv
from reap.datasets.loading import load

__all__ = ["CatalogueEntry", "Dataset", "available", "from_csv", "load", "names", "read_csv"]
