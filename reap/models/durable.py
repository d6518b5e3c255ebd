"""Acceptance that holds tomorrow: by today's model, and by most of its retrainings.

A row at a score of .501 is refused by the next retraining as often as not. Here a model is seen together with m others:
retrainings on bootstrap samples of its own rows, or models that the user gives. The logit of a row is the least of

    today's model,   the k-th highest of the m others,   and, from 8 others on,   a tolerance bound of them all.

Let ``u = expit((logit − boundary) / 4)`` be what one retraining says of a row; it accepts where u > ½. The m at hand are a sample
of those to come, with mean ū and standard deviation s. With confidence γ at least a share q of those to come accepts, where

    ū − c s > ½,      c = t′_γ(k + m − 1, z_q √m) / √m,

with t′_γ the γ-quantile of the noncentral t and z_q the normal q-quantile: the lower one-sided tolerance bound of a normal
sample, with γ = q. A plan of least effort is found by looking at these very retrainings, and a search finds the rows where their
noise is kind, so that a prediction bound would not be enough; ``docs/durability.md`` has what was tried. For models with a
gradient k is 0; trees leave a search more to pick from, and there s is drawn towards the usual spread (``Spread``). A quarter of
the log-odds is nearly straight up to 4, and still bounded: a member that is very sure counts as sure.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, sqrt
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from scipy.optimize import brentq
from scipy.special import digamma, expit, logit, polygamma
from scipy.stats import nct, norm
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from reap._arrays import some_rows
from reap._errors import InputError
from reap._typing import Array, Frame, Ints
from reap.models.classifier import Classifier, Smooth
from reap.models.declared import OnVectors
from reap.models.estimator import ignored
from reap.models.gradients import Network
from reap.models.trees import Quick, mixed
from reap.models.wrapping import wrap

#: From this many others on they are a sample, with a mean and a deviation.
SAMPLE = 8
#: Retrainings of any model; of a linear one at most; and rows that those of a linear one may read in all.
_REFITS, _MOST, _READ = 20, 100, 200_000
#: Rows on which to see how far retrainings usually differ; of these at least so many must; by more than this variance. What is
#: usual counts for no more than so many times a row's own retrainings.
_MIXED, _ROWS, _SAME, _WEIGHT = 1_000, 30, 1e-10, 10.0
#: Bootstrap samples drawn in search of one that has every class.
_DRAWS = 100
_INSTEAD = "give models=[…] to compare with, or margin= to keep a distance from the threshold"


# the rule ----------------------------------------------------------------------------------------------------


def needed(share: float, count: int) -> int:
    """Return how many of some retrainings must accept: the share of them, or where they are few, what one more asks for.

    Examples
    --------
    >>> needed(0.95, 20), needed(0.9, 20), needed(0.0, 20), needed(0.95, 3)
    (19, 18, 0, 3)
    """
    if count >= SAMPLE:
        return ceil(share * count - 1e-9)
    return min(count, ceil(share * (count + 1) - 1e-9))


def agreed(logits: Array, boundary: float) -> Array:
    """Return u of the module's docstring, for logits of any shape."""
    return np.asarray(expit((logits - boundary) / 4))


@lru_cache(maxsize=64)
def tolerance(share: float, count: int, more: float = 0.0) -> float:
    """Return the factor c of the module's docstring, for ``count`` values, the deviation known with ``more`` degrees of freedom.

    Examples
    --------
    >>> round(tolerance(0.95, 20), 3), round(tolerance(0.95, 100), 3), round(tolerance(0.5, 20), 3)
    (2.396, 1.927, 0.0)
    """
    return float(nct.ppf(share, count - 1 + more, norm.ppf(share) * sqrt(count))) / sqrt(count)


@dataclass(frozen=True)
class Spread:
    """How far retrainings usually differ: the variance by their mean ū on a row, ``log s₀² = a + b (ū − ½)²``.

    Where means are alike, true deviations σ are nearly alike: ``k s₀²/σ²`` is taken to be χ² with k degrees of freedom. What is
    known of σ after seeing s is then the same with k + m − 1 degrees of freedom around

        s̃² = (k s₀² + (m − 1) s²) / (k + m − 1),

    whether or not the row was picked for its s (Smyth, "Linear models and empirical Bayes methods for assessing differential
    expression", 2004). ``log s²`` has the mean ``log s₀² + β(m − 1) − β(k)``, with ``β(n) = ψ(n/2) − log(n/2)``, and the variance
    ``ψ′((m − 1)/2) + ψ′(k/2)``: least squares gives a and b, its rest gives k.

    Parameters
    ----------
    level, slope, weight : float
        a, b and k.
    """

    level: float
    slope: float
    weight: float

    @classmethod
    def of(cls, u: Array) -> Spread | None:
        """Return the usual spread of values u (m, n) of m retrainings on n rows; None where too few rows tell."""
        freedom = len(u) - 1
        mean, variance = u.mean(axis=0), u.var(axis=0, ddof=1)
        known = variance > _SAME
        if known.sum() < _ROWS:
            return None
        columns = np.column_stack([np.ones(known.sum()), (mean[known] - 0.5) ** 2])
        logs = np.log(variance[known]) - _bias(freedom)
        (level, slope), *_ = np.linalg.lstsq(columns, logs, rcond=None)
        rest = logs - columns @ (level, slope)
        left, weight = rest @ rest / (len(rest) - 2) - polygamma(1, freedom / 2), _WEIGHT * freedom
        if left > polygamma(1, weight / 2):
            weight = 2 * float(brentq(lambda half: polygamma(1, half) - left, 1e-6, weight / 2))
        return cls(float(level + _bias(weight)), float(slope), weight)

    def drawn(self, mean: Array, deviation: Array, count: int) -> Array:
        """Return deviations (n,) of ``count`` retrainings with means (n,), each drawn towards what is usual."""
        usual = np.exp(self.level + self.slope * (mean - 0.5) ** 2)
        own = count - 1
        return np.asarray(np.sqrt((self.weight * usual + own * deviation**2) / (self.weight + own)))


def _bias(freedom: float) -> float:
    """Return the mean of ``log(χ²/n)`` with n degrees of freedom."""
    return float(digamma(freedom / 2) - np.log(freedom / 2))


@dataclass(frozen=True)
class Rule:
    """How the scores of today's model and of others become one.

    Parameters
    ----------
    count : int
        How many of the others must accept.
    factor : float, or None
        How many standard deviations their mean must be above the boundary; None: not asked.
    shift : float
        The margin of today's model, as a logit.
    boundary : float
    usual : Spread, optional
        How far the others usually differ; None: only what they do on the row itself counts.
    """

    count: int
    factor: float | None
    shift: float
    boundary: float
    usual: Spread | None = None

    @classmethod
    def of(
        cls, share: float, others: int, shift: float, boundary: float, usual: Spread | None = None
    ) -> Rule:
        """Return the rule for a share of others; of few of them, or for less than a half, only a count is asked for."""
        more = 0.0 if usual is None else usual.weight
        sampled = others >= SAMPLE and 0.5 <= share < 1
        factor = tolerance(float(share), others, more) if sampled else None
        return cls(needed(share, others), factor, shift, boundary, usual)

    def least(self, logits: Array) -> Array:
        """Return the least of what is asked for, (n,), from logits (m + 1, n) with today's model first."""
        found, others = logits[0] - self.shift, logits[1:]
        if self.count:
            place = len(others) - self.count
            found = np.minimum(found, np.partition(others, place, axis=0)[place])
        if self.factor is not None:
            u = agreed(others, self.boundary)
            mean, deviation = u.mean(axis=0), u.std(axis=0, ddof=1)
            if self.usual is not None:
                deviation = self.usual.drawn(mean, deviation, len(others))
            found = np.minimum(found, 16 * (mean - self.factor * deviation - 0.5) + self.boundary)
        return np.asarray(found)


# a model among models ----------------------------------------------------------------------------------------


def durable(
    classifier: Classifier,
    others: Sequence[Classifier],
    *,
    share: float = 0.95,
    margin: float = 0.0,
    usual: Spread | None = None,
) -> Classifier:
    """Return a classifier that accepts what the model and enough of the others accept.

    Parameters
    ----------
    classifier : Classifier
        Today's model.
    others : sequence of Classifier
        Its retrainings, or other models; may be empty.
    share : float
        The share q of further retrainings that should accept, from 0 to 1.
    margin : float
        What today's score must have above the threshold.
    usual : Spread, optional
        How far the others usually differ, see ``differing``; only for models without a gradient.

    Examples
    --------
    >>> import numpy as np, pandas as pd, reap
    >>> space = reap.ActionSpace.from_frame(pd.DataFrame({"income": [0.0, 100.0]}))
    >>> def at(shift):
    ...     return reap.models.wrap(reap.models.on_vectors(lambda Z: np.clip(Z[:, 0] - shift, 0, 1)), space)
    >>> careful = durable(at(0.0), [at(0.1), at(0.2), at(0.9)], share=0.5)
    >>> careful.accepts(np.array([[0.55], [0.75]]))
    array([False,  True])
    """
    if not (isinstance(share, int | float | np.number) and 0 <= share <= 1):
        raise InputError(f'durability is {share!r}; give a share of retrainings between 0 and 1, or "chance"')
    scale = classifier.scale
    margin = scale.checked_margin(margin)
    if scale.output == "score":
        shift = margin / scale.spread
    else:
        shift = float(logit(classifier.threshold + margin) - classifier.boundary)
    if not others:  # a margin alone is a higher threshold; trees can be read with it
        raised = float(expit(classifier.boundary + shift))
        return replace(classifier, threshold=raised)
    members = [classifier, *others]
    smooth = all(one.has_gradient for one in members)
    rule = Rule.of(share, len(others), shift, classifier.boundary, None if smooth else usual)
    kernel = SmoothMinimum(members, rule) if smooth else Minimum(members, rule)
    return Classifier(kernel, classifier.space, classifier.target, classifier.threshold, kernel)


def differing(classifier: Classifier, others: Sequence[Classifier], X: Frame) -> Spread | None:
    """Return how far some others usually differ, on rows mixed of rows X; None where a row's own deviation will do.

    It will do for models that all have a gradient, and is not asked for where the others are few.
    """
    if len(others) < SAMPLE or all(one.has_gradient for one in (classifier, *others)):
        return None
    Z = some_rows(classifier.space.encode(X), _MIXED, seed=0)
    Z = mixed(classifier.space, Z, np.random.default_rng(0))
    return Spread.of(agreed(np.stack([one.logit(Z) for one in others]), classifier.boundary))


def accepting(others: Sequence[Classifier], Z: Array) -> Ints:
    """Return by how many of some classifiers each row (n, d) is accepted, (n,)."""
    return np.asarray(np.sum([one.accepts(Z) for one in others], axis=0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Minimum:
    """The least of what a rule asks for, of any members, today's model first: a model among models."""

    members: Sequence[Classifier]
    rule: Rule

    def score(self, Z: Array) -> Array:
        """Return the binding probability, (n,)."""
        return np.asarray(expit(self.logit(Z)))

    def logit(self, Z: Array) -> Array:
        """Return the binding logit, (n,)."""
        return self.rule.least(self.logits(Z))

    def logits(self, Z: Array) -> Array:
        """Return the logits of all members, (m, n)."""
        if self._quick is not None:
            return self.members[0].linked(self._quick.scores(Z))
        return np.array([one.logit(Z) for one in self.members])

    @cached_property
    def _quick(self) -> Quick | None:
        kernels = [one.kernel for one in self.members if isinstance(one.kernel, Quick)]
        return Quick.joined(kernels) if len(kernels) == len(self.members) else None


class SmoothMinimum(Minimum, Smooth):
    """The same of members that all have a gradient; it has one by differences."""


# retrainings -------------------------------------------------------------------------------------------------


def given(models: Iterable[Any], like: Classifier) -> list[Classifier]:
    """Return models that the user gives, each behind the interface of today's model."""
    of = like.scale
    settings: dict[str, Any] = {
        "threshold": of.threshold,
        "output": of.output,
        "unit": of.unit,
        "spread": of.spread,
    }
    return [wrap(model, like.space, target=like.target, **settings) for model in models]


def retrained(
    like: Classifier,
    X: Frame,
    y: Any,
    count: int | None = None,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Classifier]:
    """Return retrainings of a model: each on its own bootstrap sample of the rows, with its own seed.

    Parameters
    ----------
    like : Classifier
        Today's model, a scikit-learn estimator or Pipeline that can be cloned.
    X, y : DataFrame, and the labels (n,)
        The rows it was trained on.
    count : int, optional
        By default ``enough`` of them.
    random_state : int
    n_jobs : int, optional
        Processes, as in joblib.
    verbose : bool
        Show a progress bar.
    """
    estimator, labels = _estimator(like.model), np.asarray(y)
    rows = _rows(like, estimator, X, labels)
    count = enough(like, len(X)) if count is None else count
    seeds = np.random.default_rng(random_state).integers(2**31 - 1, size=count)
    jobs = (delayed(_retrain)(estimator, rows, labels, int(seed)) for seed in seeds)
    work = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    made = list(track(work, "Retraining the model", total=count) if verbose else work)
    return given([OnVectors(one) for one in made] if isinstance(like.model, OnVectors) else made, like)


def enough(like: Classifier, rows: int) -> int:
    """Return how many retrainings to make of a model of so many rows: 20, up to 100 of a linear one.

    The more there are, the better their spread is known, and the less a plan must do beyond what holding asks for. A linear
    model is retrained in no time, as long as the rows are few; where they are many the spread is small.
    """
    linear = isinstance(like.kernel, Network) and len(like.kernel.weights) == 1
    return min(max(_READ // max(rows, 1), _REFITS), _MOST) if linear else _REFITS


def trainable(model: Any) -> bool:
    """Return whether a model can be trained again on rows and labels."""
    return all(hasattr(_estimator(model), name) for name in ("fit", "get_params", "predict"))


def _estimator(model: Any) -> Any:
    estimator = model.model if isinstance(model, OnVectors) else model
    return getattr(estimator, "best_estimator_", estimator)


def _rows(like: Classifier, estimator: Any, X: Frame, labels: Array) -> Any:
    """Return rows as an estimator was given them when it was trained; what it cannot be retrained on is refused."""
    if not trainable(like.model):
        raise InputError(f"{type(estimator).__name__} cannot be retrained on rows and labels; {_INSTEAD}")
    if labels.shape != (len(X),):
        raise InputError(f"y has shape {labels.shape}; give one label for each of the {len(X)} rows")
    if hasattr(estimator, "classes_"):
        given, classes = set(labels.tolist()), np.asarray(estimator.classes_).tolist()
        if given != set(classes):
            raise InputError(
                f"y has the labels {sorted(given, key=str)}, the model the classes {classes}; give the labels that the model "
                "was trained on"
            )
    space, names = like.space, getattr(estimator, "feature_names_in_", None)
    vectors = space.encoded or isinstance(like.model, OnVectors)
    if names is None:
        encoded = vectors or getattr(estimator, "n_features_in_", None) == space.dimension
        return space.encode(X) if encoded else X
    if not vectors and isinstance(X, pd.DataFrame):
        dropped = {name: None for name in ignored(estimator) if name not in X.columns}
        if set(names) <= {*X.columns, *dropped}:
            return X.assign(**dropped)[list(names)]
    return pd.DataFrame(space.encode(X), columns=list(space.columns))[list(names)]


def _retrain(estimator: Any, rows: Any, labels: Array, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    try:
        fresh = clone(estimator)
        seeded = [name for name in fresh.get_params() if name.split("__")[-1] == "random_state"]
        fresh.set_params(**{name: int(rng.integers(2**31 - 1)) for name in seeded})
        picked = _sample(labels, rng)
        some = rows.iloc[picked] if isinstance(rows, pd.DataFrame) else np.asarray(rows)[picked]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # today's model said so already
            return fresh.fit(some, labels[picked])
    except InputError:
        raise
    except Exception as error:  # what another's estimator may raise is not known
        raise InputError(f"{type(estimator).__name__} cannot be retrained ({error}); {_INSTEAD}") from error


def _sample(labels: Array, rng: np.random.Generator) -> Ints:
    """Return a bootstrap sample of positions (n,) in which every class is present."""
    known = len(np.unique(labels))
    numbers = labels.dtype.kind == "f" and known > 2  # of a regression, which has no classes
    for _ in range(_DRAWS):
        picked = rng.integers(len(labels), size=len(labels))
        if numbers or len(np.unique(labels[picked])) == known:
            return np.asarray(picked)
    raise InputError(f"a class has too few of the {len(labels)} rows to retrain the model; {_INSTEAD}")
