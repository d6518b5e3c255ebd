"""Why the model said no: the factors of a refusal, most important first, each compared with people who were accepted.

Let ``x`` be the person, ``r`` the typical accepted person, ``f`` the model's logit, ``x[j←r]`` the person with factor j alone
as in ``r``. A factor's contribution is

    alone(j) = f(x[j←r]) − f(x),

what the score gains where this factor alone is typical. Anybody can check it: change that factor, score the row again. For an
additive model (a scorecard, a logistic regression) it is the exact difference in points and the contributions add up to
``f(r) − f(x)``. Where factors work together it may be zero for each of them alone: a forest that wants both. Those come after
the others, by what a typical accepted person would lose with the person's value,

    within(j) = f(r) − f(r[j←x]),

unless the typical value would lower the score.

A reason must not contradict the space. Most accepted people of German credit have no account at the bank, and nobody is told to
close one; some model likes small savings. Where the typical value would help but lies against what the feature may do, the
person is compared with the best level that it may take, "better: 200 DM or more". Without one that raises the score it is no
reason for them.

All of it takes one batch of about 2m + 2 scores for m factors that differ; nothing is drawn at random.
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
    better : object
        The value that the person is compared with: the typical one, unless the feature may not become that.
    contribution : float
        What the logit gains where this factor alone is better.
    score : float
        The model's score then, in its own unit.
    text : str
        "Duration: 48 months (people who get a yes usually have: 18 months)", "Savings: below 100 DM (better: 1,000 DM or more)".
    """

    feature: str
    label: str
    value: Any
    typical: Any
    better: Any
    contribution: float
    score: float
    text: str

    def __str__(self) -> str:
        return self.text


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
    mine, theirs = space.values(z), space.values(reference)
    other = ~((z == reference) | (np.isnan(z) & np.isnan(reference)))
    differ = [f for f in space.features if other[space.slices[f.name]].any()]
    if not differ:
        return []
    barred = [may_not_become(f, mine[f.name], theirs[f.name]) for f in differ]
    levels = [(j, level) for j, f in enumerate(differ) if barred[j] for level in _open(f, mine[f.name])]
    put_right, put_wrong = _swapped(space, differ, z, reference), _swapped(space, differ, reference, z)
    allowed = _levels(space, [(differ[j], level) for j, level in levels], z)
    m, rows = len(differ), np.concatenate([put_right, z[None], put_wrong, reference[None], allowed])
    logits, scores = classifier.logit(rows), classifier.score(rows)
    alone, within = logits[:m] - logits[m], logits[2 * m + 1] - logits[m + 1 : 2 * m + 1]
    usual = [(alone[j], scores[j], theirs[f.name]) for j, f in enumerate(differ)]
    found = {j: usual[j] for j in range(m) if alone[j] > _NOISE and not barred[j]}
    for row, (j, level) in enumerate(levels, 2 * m + 2):
        gain = logits[row] - logits[m]
        if alone[j] > _NOISE and gain > max(_NOISE, found.get(j, (0.0,))[0]):  # of several levels the best
            found[j] = gain, scores[row], level
    first = sorted(found, key=lambda j: -found[j][0])
    still = [abs(alone[j]) <= _NOISE and not barred[j] for j in range(m)]
    then = [int(j) for j in np.argsort(-within, kind="stable") if within[j] > _NOISE and still[j]]
    found |= {j: usual[j] for j in then}
    return [_reason(differ[j], mine, theirs, *found[j]) for j in [*first, *then][:n]]


def may_not_become(feature: Feature, value: Any, other: Any) -> bool:
    """Return whether a change from one value to another is against what the space says of a feature that may change.

    Examples
    --------
    >>> savings = Feature("savings", "ordinal", levels=("none", "some", "much"), direction="up")
    >>> may_not_become(savings, "some", "none"), may_not_become(savings, "some", "much")
    (True, False)
    """
    if not feature.is_action or value is None or other is None:
        return False
    if not feature.is_number:
        if (value, other) in feature.forbidden:
            return True
        value, other = feature.levels.index(value), feature.levels.index(other)
    return bool(other < value if feature.direction == "up" else feature.direction == "down" and other > value)


def _open(feature: Feature, value: Any) -> list[Any]:
    """Return the other levels that a feature may take; none of a number, of which nobody can say how far is better."""
    return [level for level in feature.levels if level != value and not may_not_become(feature, value, level)]


def _levels(space: ActionSpace, levels: list[tuple[Feature, Any]], base: Array) -> Array:
    """Return the base (k, d), in each row one feature at another level."""
    rows = np.repeat(base[None], len(levels), axis=0)
    codes = space.encoding.codes_of(rows)
    for row, (feature, level) in zip(codes, levels, strict=True):
        row[space.names.index(feature.name)] = feature.levels.index(level)
    vectors = space.encoding.vectors(codes)
    for row, made, (feature, _level) in zip(rows, vectors, levels, strict=True):
        row[space.slices[feature.name]] = made[space.slices[feature.name]]
    return rows


def _swapped(space: ActionSpace, features: list[Feature], base: Array, other: Array) -> Array:
    """Return the base (m, d), in each row one feature taken from the other."""
    rows = np.repeat(base[None], len(features), axis=0)
    for row, feature in zip(rows, features, strict=True):
        row[space.slices[feature.name]] = other[space.slices[feature.name]]
    return rows


def _reason(
    feature: Feature,
    mine: dict[str, Any],
    theirs: dict[str, Any],
    contribution: float,
    score: float,
    better: Any,
) -> Reason:
    name = feature.name
    text = words(feature, mine[name], theirs[name], better)
    return Reason(
        name, feature.label, mine[name], theirs[name], better, float(contribution), float(score), text
    )


def words(feature: Feature, value: Any, typical: Any, better: Any) -> str:
    """Return a reason as a person reads it, in the language in use."""
    said = (
        _("{label}: {value} (people who get a yes usually have: {better})")
        if better == typical
        else _("{label}: {value} (better: {better})")
    )
    return said.format(label=feature.label, value=feature.show(value), better=feature.show(better))
