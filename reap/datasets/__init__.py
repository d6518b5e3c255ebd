"""Tables with a curated action space: one ships inside, one is made, six are read; your own work the same way."""

from __future__ import annotations

from reap.datasets.catalogue import CatalogueEntry, available, names
from reap.datasets.loading import Dataset, from_csv, load, read_csv

__all__ = ["CatalogueEntry", "Dataset", "available", "from_csv", "load", "names", "read_csv"]
