"""Columns that a model wants and the space leaves out, such as an ID: the person's own values go to the model as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reap._errors import InputError


def carried(
    model: Any, table: Any, data: str, row: int | None, wrapping: Mapping[str, Any]
) -> tuple[Any, int] | None:
    """Return the model with one person's own values, and the person's row number; None where it wants no such column.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    table : Dataset
        The rows that the space declares.
    data : str
        The CSV file with all columns.
    row : int, optional
        The person's row number; by default the first person whom the model rejects.
    wrapping : mapping
        Target and threshold, as ``reap.models.wrap`` takes them.
    """
    from reap.datasets import read_csv
    from reap.models import carrying, wrap

    first = model[0] if hasattr(model, "steps") else model
    names = getattr(first, "feature_names_in_", None)
    known = {column for feature in table.space.features for column in (feature.columns or (feature.name,))}
    wanted = [] if names is None else [str(name) for name in names if str(name) not in known]
    if not wanted or not data.lower().endswith((".csv", ".csv.gz")) or set(wanted) & set(table.space.columns):
        return None
    rows = read_csv(Path(data))
    if not set(wanted) <= set(rows.columns):
        return None  # what is missing is said where the model is wrapped
    if row is not None and not 0 <= row < len(rows):
        return None
    Z = table.space.encode(table.X)
    for i in range(len(rows)) if row is None else [row]:
        own = carrying(model, rows.iloc[i][wanted].to_dict())
        if row is not None or not wrap(own, table.space, **wrapping).accepts(Z[[i]])[0]:
            return own, i
    raise InputError(
        "the model accepts everybody in this table, so there is nobody to advise; name a row with --row"
    )
