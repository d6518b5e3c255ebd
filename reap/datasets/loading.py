"""Data sets by name."""

from __future__ import annotations

from importlib.resources import files

import pandas as pd

from reap._errors import InputError
from reap._typing import Frame
from reap.datasets import german, openml, synthetic
from reap.datasets.catalogue import FOLDER, CatalogueEntry, find
from reap.datasets.dataset import Dataset, aligned, binary_label, read_csv
from reap.space import ActionSpace, Feature

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
        if entry.default and not all_columns:
            chosen = [f for f in space.features if f.name in entry.default]
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
        return synthetic.table()
    if entry.folder is not None:
        return pd.concat([read_csv(entry.folder / file) for file in entry.files], ignore_index=True)
    if entry.openml is not None:
        return openml.fetch(entry)
    raise InputError(
        f"{entry.name!r} is not on this computer: put {' and '.join(entry.files)} into a folder and name it in the "
        f"environment variable {FOLDER} (docs/data.md says where to get them)"
    )
