"""The columns that a posterior is about: which can move, which feature each is of, and what a learnt prior says of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from reap._errors import InputError
from reap._typing import Ints
from reap.belief.answers import People
from reap.belief.learned_prior import LearnedPrior


def movable(given: Sequence[int] | Ints | None, dimension: int) -> Ints:
    """Return the columns (k,) that can move, in their order."""
    columns = np.arange(dimension) if given is None else np.unique(np.asarray(given, dtype=np.intp))
    if len(columns) == 0 or columns[0] < 0 or columns[-1] >= dimension:
        raise InputError(f"columns is {given!r}; give positions from 0 to {dimension - 1}, at least one.")
    return columns


def labelled(given: Sequence[int] | Ints | None, dimension: int, beside: int) -> Ints:
    """Return the feature of each column (d + beside,); every column beside is one of its own."""
    features = np.asarray(np.arange(dimension) if given is None else given)
    whole = features.shape == (dimension,) and np.issubdtype(features.dtype, np.integer)
    if not whole or features.min() < -1:
        raise InputError(
            f"features is {given!r}; give a whole number for each of the {dimension} columns, −1 where no question shows it."
        )
    return np.concatenate([features, features.max() + 1 + np.arange(beside)]).astype(np.intp)


def learnt(prior: LearnedPrior, dimension: int, columns: Ints | None) -> Ints:
    """Return the columns a prior was learnt for, which must be those, or more than those, that can move here."""
    if prior.dimension != dimension:
        raise InputError(
            f"the prior was learnt for {prior.dimension} encoded columns; here are {dimension}: it belongs to another space."
        )
    if columns is not None and not set(columns.tolist()) <= set(prior.columns):
        raise InputError("the prior was learnt in a space where fewer columns can move; learn it again.")
    return np.array(prior.columns, dtype=np.intp)


def answering(prior: LearnedPrior, who: People) -> People:
    """Return the kinds of people with the shares learnt; where one kind is described, that one."""
    if len(prior.kinds) != len(who.share):
        return who
    shares = np.array(prior.kinds)
    return who._replace(share=shares / shares.sum())
