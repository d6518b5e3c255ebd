"""Data sets, by name or from a file: a table, its decisions and its action space."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._formats import CUT
from reap._typing import Frame, Series
from reap.datasets import german, openml
from reap.datasets.catalogue import FOLDER, CatalogueEntry, find
from reap.space import ActionSpace, Feature, draft
from reap.space.table import plain_numbers

#: Codes of the files in words, where the curated spaces use words; the paper's setting keeps numbers.
_WORDS = {
    "studytime": {1: "under 2 hours", 2: "2 to 5 hours", 3: "5 to 10 hours", 4: "over 10 hours"},
    "Medu": {0: "none", 1: "primary", 2: "lower secondary", 3: "secondary", 4: "higher"},
    "Fedu": {0: "none", 1: "primary", 2: "lower secondary", 3: "secondary", 4: "higher"},
    "freetime": {1: "very little", 2: "little", 3: "some", 4: "much", 5: "very much"},
    "goout": {1: "very rarely", 2: "rarely", 3: "sometimes", 4: "often", 5: "very often"},
    "health": {1: "very bad", 2: "bad", 3: "fair", 4: "good", 5: "very good"},
    "c_charge_degree": {"F": "felony", "M": "misdemeanor"},
}


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


def load(name: str, *, paper: bool = False, all_columns: bool = False) -> Dataset:
    """Return a data set: rows, decisions (1 = favourable), action space.

    ``german`` ships inside the package and ``synthetic`` is generated; the others are read from the folder named by
    the environment variable ``REAP_DATA``, else from OpenML where it has them.

    Parameters
    ----------
    name : str
        One of ``reap.datasets.names()``.
    paper : bool
        The paper's columns, numbers scaled from least to greatest, every category one-hot, nothing forbidden or dated;
        else the curated space.
    all_columns : bool
        All columns, where only those a layman understands are used by default (German credit: 20, not 10).

    Examples
    --------
    >>> data = load("german")
    >>> print(data.space.feature("duration").describe())
    whole number, 4 to 72 months, in steps of 3; chosen on the day of the application
    >>> list(load("german", paper=True).X)
    ['status', 'duration', 'amount', 'personal_status', 'age']
    """
    entry = find(name)
    if paper and all_columns:
        raise InputError("paper=True chooses the columns; leave out all_columns")
    table = _table(entry)
    y = binary_label(table[entry.label], 1)
    X = table.drop(columns=entry.label)
    space = curated(name)
    if paper:
        X = X[list(entry.paper or X.columns)]
        space = free_space(X, space)
    else:
        X = X.assign(**{c: X[c].map(words) for c, words in _WORDS.items() if c in X})
        if name == "german" and not all_columns:
            chosen = [f for f in space.features if f.name in german.FAMILIAR.split()]
            said = {name: getattr(space, name) for name in ("rules", "horizon", "title", "meaning")}
            space = ActionSpace(chosen, **said)  # its rules are about these columns
    return Dataset(
        name,
        *aligned(X, y, space),
        source=entry.source,
        licence=entry.licence,
        description=entry.description,
    )


def curated(name: str) -> ActionSpace:
    """Return the action space that ships with a data set, for all its columns."""
    text = (files("reap.datasets") / "spaces" / f"{name}.toml").read_text(encoding="utf-8")
    return ActionSpace.from_toml(text, source=f"{name}.toml")


def free_space(X: Frame, words: ActionSpace) -> ActionSpace:
    """Return the paper's space: numbers scaled from least to greatest, every category one-hot, nothing forbidden."""
    features = []
    for name in X.columns:
        known = words.feature(name)
        if pd.api.types.is_numeric_dtype(X[name]):
            low, high = float(X[name].min()), float(X[name].max())
            features.append(Feature(name, range=(low, high), label=known.label, unit=known.unit))
        else:
            features.append(
                Feature(name, "categorical", levels=tuple(sorted(X[name].unique())), label=known.label)
            )
    return ActionSpace(features, title=words.title, meaning=words.meaning)


def _table(entry: CatalogueEntry) -> Frame:
    if entry.name == "german":
        return german.table()
    if entry.name == "synthetic":
        return synthetic()
    if entry.folder is not None:
        return pd.concat([read_csv(entry.folder / file) for file in entry.files], ignore_index=True)
    if entry.openml is not None:
        return openml.fetch(entry)
    raise InputError(
        f"{entry.name!r} is not on this computer: put {' and '.join(entry.files)} into a folder and name it in the "
        f"environment variable {FOLDER} (docs/data.md says where to get them)"
    )


def synthetic() -> Frame:
    """Return the paper's synthetic data (appendix B): 1,000 rows uniform on [−2, 4] × [−2, 7].

    The label is 1 where ``x2 ≥ 1 + x1 + 2 x1² + x1³ − x1⁴``.
    """
    rng = np.random.default_rng(42)
    x1, x2 = rng.uniform([-2.0, -2.0], [4.0, 7.0], size=(1_000, 2)).round(6).T
    label = x2 >= 1 + x1 + 2 * x1**2 + x1**3 - x1**4
    return pd.DataFrame({"x1": x1, "x2": x2, "label": label.astype("int64")})


# a table of your own -----------------------------------------------------------------------------------


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
