"""Columns that a model wants and the space leaves out, such as an ID: the person's own values go to the model as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import typer

from reap._errors import InputError
from reap._typing import Frame
from reap.space import ActionSpace


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
    from reap.models import carrying, wanted, wrap

    names = wanted(model, table.space)
    if not names or not is_csv(data):
        return None
    rows = read_csv(Path(data))
    if not set(names) <= set(rows.columns):
        return None  # what is missing is said where the model is wrapped
    if row is not None and not 0 <= row < len(rows):
        return None
    Z = table.space.encode(table.X)
    for i in range(len(rows)) if row is None else [row]:
        own = carrying(model, rows.iloc[i][names].to_dict())
        if row is not None or not wrap(own, table.space, **wrapping).accepts(Z[[i]])[0]:
            return own, i
    raise InputError(
        "the model accepts everybody in this table, so there is nobody to advise; name a row with --row"
    )


def keeping(
    model: Any, space: ActionSpace, tables: Sequence[str | Path], *, guests: bool = False
) -> ActionSpace:
    """Return the space with the columns that the model reads beside its own: everybody keeps their own value.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    space : ActionSpace
    tables : CSV or Parquet files
        Of everybody who is to be served.
    guests : bool
        Whether people come who are in none of the tables: nobody's ID among a hundred others says what theirs would do.
    """
    from reap.models import wanted

    names = wanted(model, space)
    found = [_columns(Path(table), names) for table in tables] if names else []
    if not found or any(frame is None for frame in found):
        return space  # what is missing is said where the model is wrapped
    made = space.keeping(pd.concat(found, ignore_index=True))
    named = [f.name for f in made.features[len(space.features) :] if f.kind == "ordinal"]
    if guests and named:
        raise InputError(
            f"the model reads {named[0]!r}, which is another text for nearly everybody, so it cannot tell what to do with "
            "somebody new; train it without this column"
        )
    text = f"The model reads {', '.join(names)} beside the features of the space: everybody keeps their own value."
    typer.echo(text, err=True)
    return made


def _columns(path: Path, names: list[str]) -> Frame | None:
    """Return some columns of a file, of any number of rows; None where one is missing."""
    from reap.batch.tables import ParquetFiles

    if is_csv(path.name):
        some = pd.read_csv(
            path, usecols=lambda name: name in names, on_bad_lines="skip", encoding_errors="replace"
        )
        return some[names] if set(names) <= set(some) else None
    table = ParquetFiles(path)
    if not set(names) <= set(table.columns):
        return None
    return pd.concat([frame[names] for frame in table.frames(100_000)], ignore_index=True)


def is_csv(name: str) -> bool:
    """Return whether a name is that of a CSV file."""
    return name.lower().endswith((".csv", ".csv.gz"))
