"""What ``fit`` looks at before it trusts a model, rows and labels, and what it keeps of other people.

Mistakes would otherwise end in silent nonsense: what cannot be meant is refused; what may be meant, but rarely is, is said in an
``InputWarning``. See ``docs/mistakes.md``.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from reap._clock import LateError
from reap._errors import InputError, InputWarning, said
from reap._typing import Array, Bools, Ints
from reap.models import Classifier
from reap.space import ActionSpace
from reap.space.encoding import as_frame
from reap.space.table import sense, words_of

#: Rows that are looked at. Fewer than the least say nothing about a model, and fewer of a class nothing about the labels.
_ROWS, _LEAST, _CLASS = 1_000, 50, 10
#: A column that orders the labels this well (area under the curve) was hardly known before the decision: the amount that
#: was written off has .999 (SBA loans), the best column of the eight data sets .98 (student, the grade before).
_TELLS = 0.995
#: Mean rank correlation of scores with what people call better, below which a model looks turned around; it is .05 to .4 for
#: logistic models and boosters on the data sets that name such columns.
_TURNED = -0.1
#: Probabilities above it for everybody come from values that the model has never seen.
_SURE = 0.999
_BAD = words_of(
    "default defaulted defaults bad fraud churn churned delinquent delinquency rejected refused denied declined failed "
    "failure bankrupt bankruptcy dropout overdue loss recidivism"
)
_NOT = words_of("no not non never without")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_AMOUNT = re.compile(r"[\d,.]+")
_SETTINGS = "check target= and threshold="
_RAW = "give it what it was trained on: put scaling and encoding into one Pipeline with the model, trained on the raw table"


def check(classifier: Classifier, X: Any, y: Any) -> None:
    """Refuse what cannot be meant, and warn of what rarely is.

    Parameters
    ----------
    classifier : Classifier
    X : DataFrame, array (n, d) for an encoded space, or None
    y : (n,), optional
    """
    if X is None:
        return
    X = as_frame(X)
    labels = None if y is None else _labels(classifier, X, y)
    for doubt in _doubts(classifier, X, labels, getattr(y, "name", None)):
        warnings.warn(doubt, InputWarning, stacklevel=5)  # of the line that called fit


def _labels(classifier: Classifier, X: Any, y: Any) -> Array:
    """Return the labels (n,), refused where they cannot be those of the rows."""
    labels = np.asarray(y)
    if labels.shape != (len(X),):
        raise InputError(f"y has shape {labels.shape}; give one label for each of the {len(X)} rows")
    if isinstance(X, pd.DataFrame) and isinstance(y, pd.Series) and not X.index.equals(y.index):
        unique = X.index.is_unique and y.index.is_unique
        if unique and len(X.index.difference(y.index)) == 0:
            raise InputError("y has the index of X in another order; give y.loc[X.index]")
    classes = list(getattr(classifier.model, "classes_", ()))
    strange = [label for label in pd.unique(labels).tolist() if classes and label not in classes]
    if strange:
        raise InputError(
            f"y has the label {strange[0]!r}, the model the classes {', '.join(map(said, classes))}; give the labels that the "
            "model was trained on"
        )
    return labels


def _doubts(classifier: Classifier, X: Any, labels: Array | None, name: Any) -> Iterator[str]:
    """Yield a sentence for each thing that is probably a mistake."""
    rare = labels is not None and 2 * int((labels == classifier.target).sum()) < len(labels)
    yield from _of_target(classifier, name if rare else None)
    some = np.unique(np.linspace(0, max(len(X) - 1, 0), min(len(X), _ROWS)).astype(int))
    rows = X.iloc[some] if isinstance(X, pd.DataFrame) else X[some] if isinstance(X, np.ndarray) else X
    Z = classifier.space.encode(rows)
    scores, codes = _scores(classifier, Z), classifier.space.encoding.codes_of(Z)
    _check_levels(classifier, codes)
    if len(Z) < _LEAST:
        return
    accepted = classifier.scale.enough(scores)
    yield from _of_columns(classifier, codes)
    if labels is None:
        yield from _of_columns_that_tell(classifier, codes, accepted, "what the model says")
    elif (good := np.asarray(labels[some] == classifier.target)).any():
        yield from _of_columns_that_tell(classifier, codes, good, "the label y")
        yield from _of_labels(classifier, scores, good)
    if accepted.all() or not accepted.any():
        yield from _of_extremes(classifier, X, labels)
    else:
        yield from _of_direction(classifier, codes, scores)


def _scores(classifier: Classifier, Z: Array) -> Array:
    """Return the scores (n,) of vectors (n, d); a model that cannot take such rows is refused in its own words."""
    scores = _tried(classifier, Z)
    if isinstance(scores, Exception):
        names = ", ".join(classifier.space.encoding.table)
        raise InputError(
            f"the model fails on rows of X ({_quoted(scores)}); it is given a DataFrame with the columns {names[:300]}: train it "
            "on such rows, or say reap.models.on_vectors(model) where it takes encoded arrays"
        ) from scores
    return scores


def _check_levels(classifier: Classifier, codes: Array) -> None:
    """Refuse levels that a plan may advise, that no row of codes (n, f) has, and that the model cannot take."""
    features = [f if f.actionable and len(f.levels) <= _ROWS else None for f in classifier.space.features]
    unseen = [
        (i, int(level))
        for i, feature in enumerate(features)
        if feature is not None
        for level in np.setdiff1d(np.arange(len(feature.levels)), codes[:, i])
    ]
    rows = np.repeat(codes[:1], len(unseen), axis=0)
    for row, (i, level) in zip(rows, unseen, strict=True):
        row[i] = level
    Z = classifier.space.encoding.vectors(rows)
    if not unseen or not isinstance(_tried(classifier, Z), Exception):
        return
    for z, (i, level) in zip(Z, unseen, strict=True):
        if isinstance(error := _tried(classifier, z[None]), Exception):
            feature = classifier.space.features[i]
            raise InputError(
                f"the model fails where {feature.name!r} is {feature.levels[level]!r}, as no row of X is ({_quoted(error)}); "
                "drop that level, for example with Series.cat.remove_unused_categories(), or train the model to take it"
            ) from error


def _tried(classifier: Classifier, Z: Array) -> Array | Exception:
    """Return the scores (n,) of vectors (n, d), or the error that the user's model ends in."""
    try:
        return classifier.score(Z)
    except (InputError, LateError):
        raise
    except Exception as error:  # of somebody else's code, so it may be any
        return error


def _quoted(error: Exception) -> str:
    """Return the first line of an error, without its full stop."""
    words = (str(error).strip().splitlines() or [""])[0].rstrip(".")
    return f"{type(error).__name__}: {words[:200]}"


def _of_target(classifier: Classifier, name: Any) -> Iterator[str]:
    """Yield what is odd about the target and the threshold.

    ``name`` is that of y where fewer than half of the rows have the target: who turns a column "default" around keeps its name.
    """
    target, scale = classifier.target, classifier.scale
    classes = list(getattr(classifier.model, "classes_", ()))
    words = words_of(next((text for text in (target, name) if isinstance(text, str)), ""))
    if words & _BAD and not words & _NOT and (isinstance(target, str) or target == 1):
        what = repr(target) if isinstance(target, str) else f"{target!r} of {name!r}"
        yield f"target is {what}, which looks like the bad outcome; say target= with the label of the good one"
    counted = len(classes) > 2 and classes == list(range(len(classes)))
    if scale.output == "probability" and counted and target == 1:
        yield (
            f"target is 1, and the model has the classes 0 to {classes[-1]}; say target={classes[-1]} if the last is the best, "
            "target=0 if the first is"
        )
    if scale.output == "score" and len(classes) == 2 and scale.threshold == 0.5:
        yield "threshold is 0.5 of a margin, whose own boundary is 0; say threshold=0 to decide as the model does"


def _of_columns(classifier: Classifier, codes: Array) -> Iterator[str]:
    """Yield what is odd about the columns of codes (n, f): numbers as text, one-hot columns that may be 1 together."""
    features = classifier.space.features
    binary = dict[str, list[int]]()
    for i, feature in enumerate(features):
        texts = [level for level in feature.levels if isinstance(level, str)]
        if any(map(_THOUSANDS.fullmatch, texts)) and all(map(_AMOUNT.fullmatch, texts)):
            yield (
                f"{feature.name!r} holds numbers as text ({texts[0]!r}), so each is a category; make them numbers, for example "
                "with pd.read_csv(…, thousands=',')"
            )
        if feature.kind == "binary" and feature.actionable and set(feature.levels) == {0, 1}:
            binary.setdefault(re.split(r"[_=.]", feature.name)[0], []).append(i)
    for places in binary.values():
        if len(places) > 2 and (codes[:, places].sum(axis=1) == 1).all():
            names = ", ".join(repr(features[i].name) for i in places)
            yield (
                f"exactly one of the columns {names} is 1 in every row, and a plan may set two of them; make the space from "
                "the table before get_dummies, and train a Pipeline with a OneHotEncoder on it"
            )


def _of_columns_that_tell(classifier: Classifier, codes: Array, wanted: Bools, what: str) -> Iterator[str]:
    """Yield the first column of codes (n, f) that alone tells which rows are wanted (n,)."""
    if not _CLASS <= wanted.sum() <= len(wanted) - _CLASS:
        return
    for feature, column in zip(classifier.space.features, codes.T, strict=True):
        code = np.nan_to_num(column, nan=-1.0)
        if what != "the label y" and len(np.unique(code)) != 2:  # one number may be all that a model looks at
            continue
        if feature.kind == "categorical":  # levels have no order: that of their shares
            if len(feature.levels) > len(code) / _LEAST:
                continue
            level = code.astype(int) + 1
            code = (np.bincount(level, wanted) / np.maximum(np.bincount(level), 1))[level]
        right = _auc(wanted, code)
        if max(right, 1 - right) >= _TELLS:
            yield (
                f"the column {feature.name!r} alone tells {what} of nearly every row; if it is the label, or known only after "
                "the decision, drop it from X and train the model again"
            )
            return


def _of_labels(classifier: Classifier, scores: Array, good: Bools) -> Iterator[str]:
    """Yield whether the scores (n,) go against the labels."""
    if not _CLASS <= good.sum() <= len(good) - _CLASS or np.ptp(scores) == 0:
        return
    right = _auc(good, scores)
    if right < 0.5:
        yield (
            f"the model scores rows with the label {classifier.target!r} lower than the others (AUC {right:.2f}); check target=, "
            "and that X and y are in the units and the order it was trained on"
        )


def _auc(wanted: Bools, values: Array) -> float:
    """Return the share of pairs, one wanted and one not, in which the wanted one has the larger value; ties count half."""
    more, less = int(wanted.sum()), int((~wanted).sum())
    return float((rankdata(values)[wanted].sum() - more * (more + 1) / 2) / (more * less))


def _of_extremes(classifier: Classifier, X: Any, labels: Array | None) -> Iterator[str]:
    """Yield what is odd where the model says the same of all rows."""
    scores = classifier.score(classifier.space.encode(X))
    accepted, count = classifier.scale.enough(scores), len(scores)
    if not accepted.any():
        best = classifier.scale.say(float(scores.max()))
        yield (
            f"the model accepts none of the {count:,} rows of X (the best has {best}, needed is {classifier.scale.needed}); "
            f"{_SETTINGS}, and {_RAW}"
        )
    elif accepted.all():
        refused = 0 if labels is None else int((labels != classifier.target).sum())
        if refused:
            yield f"the model accepts all {count:,} rows of X, and y refuses {refused:,}; {_SETTINGS}, and {_RAW}"
        elif classifier.scale.output == "probability" and (scores.min() > _SURE or np.ptp(scores) == 0):
            score = classifier.scale.say(float(scores.min()))
            yield f"the model accepts all {count:,} rows of X with a score of {score} or more; {_RAW}"


def _of_direction(classifier: Classifier, codes: Array, scores: Array) -> Iterator[str]:
    """Yield whether scores fall with what people call better, as those of a model for the bad outcome do."""
    agreement = dict[str, float]()
    for feature, code in zip(classifier.space.features, codes.T, strict=True):
        way = sense(feature)  # by its name: "may only rise" is also said of an age
        known = ~np.isnan(code)
        if way is None or min(len(np.unique(code[known])), len(np.unique(scores[known]))) < 2:
            continue
        by_rank = np.corrcoef(rankdata(code[known]), rankdata(scores[known]))[0, 1]
        agreement[feature.name] = float(by_rank if way == "up" else -by_rank)
    if len(agreement) > 1 and np.mean(list(agreement.values())) < _TURNED:
        worst = sorted(agreement, key=lambda name: agreement[name])[:2]
        what = " and ".join(repr(name) for name in worst)
        yield (
            f"the model prefers people who are worse off ({what}); if {classifier.target!r} is the bad outcome, say target= with "
            "the label of the good one"
        )


# what is kept of other people ---------------------------------------------------------------------------------


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
    middle = space.encoding.snap(middle[None])[0]  # round, as people say it
    if bool(classifier.accepts(middle[None])[0]):
        return np.asarray(middle)
    away = np.abs(np.where(known & some, accepted - middle, 1.0)).sum(axis=1)
    return np.asarray(accepted[int(away.argmin())])


def prototypes(space: ActionSpace, Z: Array, k: int) -> Array:
    """Return the average person of each group of at least k rows, as vectors (m, d).

        Rows are grouped by the columns that can change. Numbers are averaged, levels take the nearest to the
    average or the most frequent, all in units as they are shown.

    Parameters
    ----------
    space : ActionSpace
    Z : (n, d) vectors of the rows
    k : int

    Examples
    --------
    >>> import pandas as pd, reap
    >>> X = pd.DataFrame({"income": [10, 12, 50, 54], "owner": ["no", "no", "yes", "yes"]})
    >>> space = reap.ActionSpace.from_frame(X)
    >>> space.decode(prototypes(space, space.encode(X), 2))
       income owner
    0      11    no
    1      52   yes
    """
    if k > len(Z):
        raise InputError(
            f"anonymity is {k}, but the table has {len(Z)} rows; give more rows or a smaller number"
        )
    known = ~np.isnan(Z)
    filled = np.where(known, Z, 0.0)
    averages = []
    for rows in groups(filled[:, space.legal.movable or []], k):
        count = known[rows].sum(axis=0)
        averages.append(np.where(count > 0, filled[rows].sum(axis=0) / np.maximum(count, 1), np.nan))
    return space.encode(space.decode(np.array(averages)))


def groups(Z: Array, k: int) -> list[Ints]:
    """Return a partition of rows (n, m) into groups of k to 2k − 1 near ones (more where they are all alike).

    Halve at the median of the column with the largest variance, while both halves keep k rows (Mondrian, LeFevre,
    DeWitt and Ramakrishnan 2006).

    Examples
    --------
    >>> [group.tolist() for group in groups(np.array([[0.0], [5.0], [0.1], [5.1]]), 2)]
    [[0, 2], [1, 3]]
    """
    waiting, done = [np.arange(len(Z))], []
    while waiting:
        rows = waiting.pop()
        spread = Z[rows].var(axis=0) if Z.shape[1] else np.zeros(1)
        if len(rows) < 2 * k or spread.max() == 0:
            done.append(rows)
            continue
        order = rows[np.argsort(Z[rows, spread.argmax()], kind="stable")]
        waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
    return done
