"""A table, its decisions and its action space."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from reap._errors import InputError, unknown
from reap._formats import CUT
from reap._typing import Frame, Series
from reap.space import ActionSpace, draft
from reap.space.table import plain_numbers


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows in units, the decision on each (1 = favourable), and what may change.

    Parameters
    ----------
    name : str
    X : DataFrame (n, f)
    y : Series (n,)
        1 where the decision was favourable, else 0.
    space : ActionSpace
    source, licence, description : str

    Examples
    --------
    >>> import reap
    >>> data = reap.datasets.load("german")
    >>> data
    Dataset 'german': 1,000 rows, 10 features, 70 % favourable
    """

    name: str
    X: Frame
    y: Series
    space: ActionSpace
    source: str = ""
    licence: str = ""
    description: str = ""

    def __repr__(self) -> str:
        rows, features = self.X.shape
        return f"Dataset {self.name!r}: {rows:,} rows, {features} features, {self.y.mean():.0%} favourable".replace(
            "%", " %"
        )


def from_csv(
    path: str | Path,
    *,
    label: str,
    space: ActionSpace | str | Path | None = None,
    favourable: Any = 1,
) -> Dataset:
    """Return a table of your own as a data set.

    Parameters
    ----------
    path : str or Path
        A CSV file with a header.
    label : str
        The column with the decision.
    space : ActionSpace, or path of a TOML file, optional
        Only the columns it declares are used. Without it, one is drafted as ``reap space table.csv`` does: write that to
        a file and review it.
    favourable : value
        The label's value that counts as favourable.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "loans.csv"
    ...     _ = path.write_text("income,debt,paid\\n100,20,yes\\n50,40,no\\n80,10,yes\\n")
    ...     data = from_csv(path, label="paid", favourable="yes")
    >>> data, list(data.y)
    (Dataset 'loans': 3 rows, 2 features, 67 % favourable, [1, 0, 1])
    """
    path = Path(path)
    table = read_csv(path)
    if label not in table.columns:
        raise unknown(f"column in {path.name}", label, table.columns)
    y = binary_label(table[label], favourable)
    X = table.drop(columns=label)
    if space is None:
        space = draft(X).space
    elif not isinstance(space, ActionSpace):
        space = ActionSpace.load(space)
    return Dataset(path.stem, *aligned(X, y, space), source=str(path))


def read_csv(path: Path, *, as_written: bool = False) -> Frame:
    """Return a CSV file as a frame, or say in one sentence why not.

    Amounts written as text ("$1,000", "12 %") are numbers, unless they are wanted ``as_written``.
    """
    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}; check the path") from None
    except IsADirectoryError:
        raise InputError(f"{str(path)!r} is a folder; name a CSV file in it") from None
    except CUT as error:
        raise InputError(f"{path.name} is damaged: {error}") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path.name} cannot be read as a CSV file: {error}") from None
    if table.shape[1] == 1 and ";" in str(table.columns[0]):
        raise InputError(
            f"{path.name} is separated by semicolons; save it with commas, and points in decimals"
        )
    return table if as_written else plain_numbers(table)


def binary_label(column: Series, favourable: Any) -> Series:
    """Return 1 where the label has the favourable value, else 0."""
    if column.isna().any():
        raise InputError(f"the label {column.name!r} is missing in some rows; drop them")
    found = list(column.unique())
    favourable = next((value for value in found if str(value) == str(favourable)), favourable)  # "1" is 1
    if favourable not in found:
        listed = ", ".join(str(v) for v in found[:10])
        raise InputError(
            f"no row has {favourable!r} in {column.name!r} (there are: {listed}); say which is favourable="
        )
    if len(found) == 1:
        raise InputError(
            f"the label {column.name!r} has one class only ({found[0]}); rows of both decisions are needed"
        )
    return (column == favourable).astype("int64").rename("label")


def aligned(X: Frame, y: Series, space: ActionSpace) -> tuple[Frame, Series, ActionSpace]:
    """Return the space's columns of ``X`` in the dtypes the space gives back, so that rows survive a round trip."""
    wanted = [c for c in space.encoding.table if c in X.columns]
    return space.decode(space.encode(X[wanted]), index=X.index), y, space
