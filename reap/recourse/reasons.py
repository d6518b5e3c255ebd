"""Why the model said no: the factors of a refusal, most important first, each compared with people who were accepted.

Let ``x`` be the person, ``r`` the typical accepted person, ``f`` the model's logit, ``x[j←r]`` the person with factor j alone
as in ``r``. A factor's contribution is

    alone(j) = f(x[j←r]) − f(x),

what the score gains where this factor alone is typical. Anybody can check it: change that factor, score the row again. For an
additive model (a scorecard, a logistic regression) it is the exact difference in points and the contributions add up to
``f(r) − f(x)``. Where factors work together it may be zero for each of them alone: a forest that wants both. Those come after
the others, by what a typical accepted person would lose with the person's value,

    within(j) = f(r) − f(r[j←x]).

Both take 2m + 2 scores for m factors that differ, in one batch; nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.language import _
from reap.models import Classifier
from reap.space import ActionSpace, Feature

#: Smaller differences of the logit are rounding.
_NOISE = 1e-9


@dataclass(frozen=True)
class Reason:
    """One factor of a refusal.

    Parameters
    ----------
    feature, label : str
    value, typical : object
        The person's value and that of the typical accepted person, in units; None where it is missing.
    contribution : float
        What the logit gains where this factor alone is typical.
    score : float
        The model's score then, in its own unit.
    text : str
        "Duration: 48 months (typical of accepted people: 18 months)".
    """

    feature: str
    label: str
    value: Any
    typical: Any
    contribution: float
    score: float
    text: str

    def __str__(self) -> str:
        return self.text


def typical(classifier: Classifier, accepted: Array) -> Array | None:
    """Return the typical one of accepted rows (n, d): medians of numbers and ordered levels, most frequent categories.

    Where the model refuses that mixture it is the accepted row nearest to it. None without a row.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [10, 30, 32, 90], "owner": ["no", "yes", "yes", "no"], "job": ["a", "b", "b", "c"]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> everybody = reap.models.wrap(lambda frame: 0.9 * frame["income"].notna(), space)
    >>> space.decode(typical(everybody, space.encode(X)[1:])[None])
       income owner job
    0      32   yes   b
    """
    if not len(accepted):
        return None
    space = classifier.space
    known = ~np.isnan(accepted)
    middle = np.full(accepted.shape[1], np.nan)
    some = known.any(axis=0)
    middle[some] = np.nanquantile(accepted[:, some], 0.5, axis=0, method="higher")
    for feature in space.features:
        if feature.kind == "categorical":
            columns = space.slices[feature.name]
            shares = accepted[:, columns].sum(axis=0)
            middle[columns] = np.eye(len(shares))[shares.argmax()] if shares.any() else 0.0
    middle = space.snap(middle[None])[0]  # round, as people say it
    if bool(classifier.accepts(middle[None])[0]):
        return np.asarray(middle)
    away = np.abs(np.where(known & some, accepted - middle, 1.0)).sum(axis=1)
    return np.asarray(accepted[int(away.argmin())])


def reasons(classifier: Classifier, z: Array, reference: Array | None, n: int = 4) -> list[Reason]:
    """Return the principal reasons why a vector (d,) is refused, at most n; none for one that is accepted.

    Parameters
    ----------
    classifier : Classifier
    z : (d,)
    reference : (d,), or None
        The typical accepted person.
    n : int
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n is {n!r}; give the number of reasons, at least 1")
    if bool(classifier.accepts(z[None])[0]):
        return []
    if reference is None:
        raise InputError(
            "the engine knows nobody who is accepted, so a refusal cannot be compared with anybody; call fit(X) with rows "
            "of which the model accepts some"
        )
    space = classifier.space
    other = ~((z == reference) | (np.isnan(z) & np.isnan(reference)))
    differ = [f for f in space.features if other[space.slices[f.name]].any()]
    if not differ:
        return []
    m = len(differ)
    put_right, put_wrong = _swapped(space, differ, z, reference), _swapped(space, differ, reference, z)
    rows = np.stack([*put_right, z, *put_wrong, reference])
    logits, scores = classifier.logit(rows), classifier.score(put_right)
    alone, within = logits[:m] - logits[m], logits[-1] - logits[m + 1 : -1]
    first = [j for j in np.argsort(-alone, kind="stable") if alone[j] > _NOISE]
    then = [j for j in np.argsort(-within, kind="stable") if within[j] > _NOISE and j not in first]
    mine, theirs = space.values(z), space.values(reference)
    return [
        _reason(differ[j], mine[differ[j].name], theirs[differ[j].name], alone[j], scores[j])
        for j in [*first, *then][:n]
    ]


def _swapped(space: ActionSpace, features: list[Feature], base: Array, other: Array) -> Array:
    """Return the base (m, d), in each row one feature taken from the other."""
    rows = np.repeat(base[None], len(features), axis=0)
    for row, feature in zip(rows, features, strict=True):
        row[space.slices[feature.name]] = other[space.slices[feature.name]]
    return rows


def _reason(feature: Feature, value: Any, usual: Any, contribution: float, score: float) -> Reason:
    text = words(feature, value, usual)
    return Reason(feature.name, feature.label, value, usual, float(contribution), float(score), text)


def words(feature: Feature, value: Any, usual: Any) -> str:
    """Return a reason as a person reads it, in the language in use."""
    said = _("{label}: {value} (typical of accepted people: {typical})")
    return said.format(label=feature.label, value=feature.show(value), typical=feature.show(usual))
