"""A first action space for a table that nobody has looked at: every guess is marked, nothing stops at the first problem."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from reap._errors import InputError, unknown
from reap._typing import Frame, Series
from reap.space import files
from reap.space.encoding import as_frame
from reap.space.feature import Clock, Feature
from reap.space.space import ActionSpace
from reap.space.table import (
    features_of,
    happened,
    label_of,
    large,
    long_tail,
    multiple_of,
    passing,
    plain_numbers,
    protected,
    read_amounts,
    relations,
    sense,
    unit_of,
    words_of,
)

#: Words in their order, least first.
_ORDERS = (
    *("none never", "no yes"),
    "none primary elementary lower_secondary secondary high_school upper_secondary vocational some_college college "
    "associate tertiary bachelor bachelors undergraduate graduate university master masters postgraduate doctorate phd",
    "xs s m l xl xxl",
    "tiny small medium large huge",
    "none very_low low medium moderate average high very_high",
    "never very_rarely rarely seldom sometimes often very_often always",
    "very_bad bad poor fair average good very_good excellent",
    "junior mid middle senior lead principal",
    "child teenager young adult middle_aged senior elderly",
)
_CODES = words_of("code codes type class category zip zipcode postcode postal sector")
_NAMES = words_of("id ids nr uuid guid key ref reference iban ssn email phone")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./]\d{1,2}[./]\d{2,4}( .*)?")


@dataclass(frozen=True)
class Draft:
    """A space to review.

    Parameters
    ----------
    space : ActionSpace
    checks : mapping
        What was guessed, by feature: each a sentence that stands in the file after ``# check:``.
    left_out : mapping
        Why a column is no feature, by column.
    """

    space: ActionSpace
    checks: Mapping[str, Sequence[str]]
    left_out: Mapping[str, str]

    def to_toml(self) -> str:
        """Return the space as a file with comments, every guess marked."""
        return files.write(self.space, comments=True, checks=self.checks, left_out=self.left_out)


def draft(
    table: Frame, *, label: str | None = None, drop: Sequence[str] = (), fixed: Sequence[str] = ()
) -> Draft:
    """Return a first action space for a table, with everything that was guessed.

    Parameters
    ----------
    table : DataFrame
    label : str, optional
        The column with the decision; it is no feature.
    drop : names of other columns to leave out
    fixed : names of features nobody can change

    Examples
    --------
    >>> made = draft(pd.DataFrame({"id": [7, 8, 9], "income_eur": [900, 1500, 2500], "age": [30, 40, 50]}))
    >>> made.left_out
    {'id': 'it names a row'}
    >>> made.space.feature("income_eur").unit, made.space.feature("income_eur").direction
    ('€', 'up')
    """
    table = as_frame(table)
    if not isinstance(table, pd.DataFrame) or not table.shape[1] or not len(table):
        raise InputError("a table with at least one row and one column is needed, as a pandas DataFrame")
    for name in (*([label] if label is not None else []), *drop, *fixed):
        if name not in table.columns:
            raise unknown("column", name, map(str, table.columns))
    left_out: dict[str, str] = {}
    checks: dict[str, list[str]] = {}
    made: list[Feature] = []
    table = table.set_axis([str(column) for column in table.columns], axis=1)
    for name in table.columns.drop(list(drop) + ([label] if label is not None else [])):
        column = table[name]
        if isinstance(column, pd.DataFrame):
            left_out[name] = "it is there more than once"
            continue
        reason = _no_feature(column)
        if reason is not None:
            left_out[name] = reason
            continue
        try:
            feature, checks[name] = _feature(column, name in fixed)
        except InputError as error:
            left_out[name] = str(error)
            continue
        made.append(feature)
    if not made:
        said = "; ".join(f"{name!r}: {why}" for name, why in left_out.items())
        raise InputError(f"no column of the table can be a feature ({said})")
    for relation in relations(plain_numbers(table), [feature.name for feature in made if feature.is_number]):
        others = " and ".join(relation.others)
        checks[relation.name].append(
            f'follows from {others}? Then say derived = "{relation.formula}"'
            if relation.formula
            else f"moves with {others}; can one change without the other?"
        )
    return Draft(ActionSpace(made), checks, left_out)


# what is no feature -----------------------------------------------------------------------------------


def _no_feature(column: Series) -> str | None:
    known = column.dropna()
    if not len(known):
        return "it is empty"
    if column.dtype.kind in "mM":
        return _dated(column)
    words = words_of(str(column.name))
    try:
        different = known.nunique()
    except TypeError:
        return f"it holds a {type(known.iloc[0]).__name__} in a cell"
    if different == 1 and len(column) > 1:
        return "it is the same in every row"
    if words & _NAMES or str(column.name).startswith("Unnamed:"):
        return "it names a row"
    if pd.api.types.is_numeric_dtype(column.dtype):
        whole = known.to_numpy(dtype=float)
        if len(known) > 20 and different == len(known) and (np.abs(np.diff(whole)) == 1).all():
            return "it numbers the rows"
        return None
    texts = known.astype(str).str.strip()
    if texts.str.fullmatch(_DATE).mean() > 0.9:
        return _dated(column)
    if different > 50 and different > len(known) / 2 and read_amounts(column) is None:
        return f"it has {different:,} different texts in {len(known):,} rows, like a name"
    return None


def _dated(column: Series) -> str:
    return (
        f'it holds dates: as a clock, add a column with the months since then, and say clock = "months" '
        f"(for example months_since_{column.name})"
    )


# what a feature is ------------------------------------------------------------------------------------


def _feature(column: Series, fixed: bool) -> tuple[Feature, list[str]]:
    """Return one feature and what was guessed about it."""
    name = str(column.name)
    words, guesses = words_of(name), []
    amount = read_amounts(column)
    if amount is not None:
        column = amount.values
        guesses.append(amount.said)
    said: dict[str, Any] = {"missing": True} if column.isna().any() else {}
    if said:
        share = float(column.isna().mean())
        guesses.append(f"missing in {share:.1%} of the rows; it is then left as it is")
    order = _order(column)
    if order is not None:
        said |= {"kind": "ordinal", "levels": tuple(order)}
        guesses.append("is this the order of the levels, least first?")
    elif words & _CODES and pd.api.types.is_numeric_dtype(column.dtype) and column.nunique() <= 50:
        said["kind"] = "categorical"
        guesses.append("taken for codes without an order")
    made = features_of(column.to_frame(), {name: said})[0]
    facts: dict[str, Any] = {"label": label_of(name), "unit": unit_of(words)}
    if made.is_number:
        if made.step is not None and made.step > 1:
            exact = multiple_of(column.dropna().to_numpy(dtype=float)) == made.step
            guesses.append(
                f"{'nearly all rows are multiples of' if exact else 'said in steps of'} {made.step:,.10g}"
            )
        if (said_of := long_tail(made)) is not None:
            guesses.append(said_of.rstrip("."))
        if amount is not None and amount.unit:
            facts["unit"] = amount.unit
        elif facts["unit"]:
            guesses.append(f"the unit is read off the name: {facts['unit']}")
    made = replace(made, **facts)
    return _directed(made, fixed, guesses)


def _directed(made: Feature, fixed: bool, guesses: list[str]) -> tuple[Feature, list[str]]:
    if fixed:
        return replace(made, actionable=False), guesses
    if passing(made):
        unit: Clock = "months" if made.unit == "months" or words_of(made.name) & {"month", "m"} else "years"
        guesses.append(f"goes by itself, in {unit}? It moves only once some feature has a pace")
        return replace(made, clock=unit), guesses
    if protected(made):
        guesses.append("looks like a protected trait, so nobody is told to change it")
        return replace(made, actionable=False), guesses
    if happened(made):
        guesses.append("looks like something nobody can change")
        return replace(made, actionable=False), guesses
    if large(made):
        guesses.append(
            "looks like a large decision of life (home, family, work, study, health): advise it only on purpose"
        )
        return replace(made, actionable=False), guesses
    way = sense(made)
    if way is not None:
        guesses.append(f"more of it is {'better' if way == 'up' else 'worse'}, so it may only {_GOES[way]}")
        made = replace(made, direction=way)
    else:
        guesses.append("may change either way; does all of it make sense?")
    guesses.append('how long does it take? pace = "…" or when = "application"')
    return made, guesses


_GOES = {"up": "rise", "down": "fall"}


def _order(column: Series) -> list[Any] | None:
    """Return the levels of a column of words in their order, where one of the known orders has all of them."""
    if pd.api.types.is_numeric_dtype(column.dtype) or isinstance(column.dtype, pd.CategoricalDtype):
        return None
    levels = list(column.dropna().unique())
    spelled = {
        level: re.sub(r"[^a-z]+", "_", str(level).lower().replace("'", "")).strip("_") for level in levels
    }
    for known in _ORDERS:
        places = {word: i for i, word in enumerate(known.split())}
        if len(levels) > 2 and all(word in places for word in spelled.values()):
            return sorted(levels, key=lambda level: places[spelled[level]])
    return None
