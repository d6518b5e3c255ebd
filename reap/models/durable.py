"""Acceptance that holds tomorrow: by today's model, and by most of its retrainings.

A row at a score of .501 is refused by the next retraining as often as not. Here a model is seen together with m others:
retrainings on bootstrap samples of its own rows, or models that the user gives. The score of a row is the least of

    today's model,   the k-th highest of the m others,   and, from 8 others on,   a tolerance bound of them all

(``reap.models.agreement`` derives it).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from rich.progress import track
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from reap._arrays import some_rows
from reap._errors import InputError
from reap._typing import Array, Frame, Ints
from reap.models.agreement import SAMPLE, Rule, agreed
from reap.models.classifier import Classifier, Scorer, Smooth
from reap.models.composed import Composed
from reap.models.declared import OnVectors
from reap.models.mixing import mixed
from reap.models.network import Network
from reap.models.spread import Spread
from reap.models.staged import Group, Whole, from_least, stages
from reap.models.together import OneByOne, Stacked, together
from reap.models.trees.several import Several, several
from reap.models.wanted import ignored
from reap.models.wrapping import wrap
from reap.space import ActionSpace

#: Retrainings of any model; of a linear one at most; and rows that those of a linear one may read in all.
_REFITS, _MOST, _READ = 20, 100, 200_000
#: Rows on which to see how far retrainings usually differ.
_MIXED = 1_000
#: How many retrainings that have gradients are asked before the rest: where four and then eight differ, hardly a row is left.
_STAGES = 4, 4
#: Bootstrap samples drawn in search of one that has every class.
_DRAWS = 100
_INSTEAD = "give models=[…] to compare with, or margin= to keep a distance from the threshold"


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
        raise InputError(f"durability is {share!r}; give a share of retrainings between 0 and 1")
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
    smooth = [one.kernel for one in members if isinstance(one.kernel, Smooth)]
    asked = share, len(others), shift, classifier.boundary
    kernel = (
        SmoothMinimum(smooth, Rule.of(*asked))
        if len(smooth) == len(members)
        else Minimum(members, Rule.of(*asked, usual))
    )
    return Classifier(kernel, classifier.space, classifier.target, classifier.threshold, kernel, scale)


def differing(classifier: Classifier, others: Sequence[Classifier], X: Frame) -> Spread | None:
    """Return how far some others usually differ, on rows mixed of rows X; None where a row's own deviation will do.

    It will do for models that all have a gradient, and is not asked for where the others are few.
    """
    if len(others) < SAMPLE or all(one.has_gradient for one in (classifier, *others)):
        return None
    Z = some_rows(classifier.space.encode(X), _MIXED, seed=0)
    Z = mixed(classifier.space, Z, np.random.default_rng(0))[2]
    return Spread.of(agreed(np.stack([one.logit(Z) for one in others]), classifier.boundary))


def accepting(others: Sequence[Classifier], Z: Array) -> Ints:
    """Return by how many of some classifiers each row (n, d) is accepted, (n,)."""
    return np.asarray(np.sum([one.accepts(Z) for one in others], axis=0, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class SmoothMinimum(Smooth):
    """The least of what a rule asks for, of members that all have a gradient; the gradient is that of what binds.

    Parameters
    ----------
    members : sequence of Smooth
        Today's model first.
    rule : Rule
    """

    members: Sequence[Smooth]
    rule: Rule

    def logit(self, Z: Array) -> Array:
        """Return the binding logit, (n,)."""
        return np.asarray(self.rule.candidates(self._together.logits(Z)).min(axis=0))

    def from_least(self, Z: Array, least: float) -> Array:
        """Return the binding logit where it is ``least`` or more, −inf elsewhere, (n,); most members are asked about few rows."""
        groups, few = self._asked
        return from_least(groups, self.rule, len(self.members) - 1, Z, least, few)

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of what binds, (n, d): of a member, or of mean and deviation,
        ``16 Σ_i w_i ∂u_i`` with ``w_i = 1/m − c (u_i − ū) / ((m − 1) s)``.
        """
        logits = self._together.logits(Z)
        return np.asarray(self._together.pull(Z, self.rule.weights(logits)))

    @cached_property
    def _together(self) -> OneByOne | Stacked:
        return together(self.rule.asked(self.members))

    @cached_property
    def _asked(self) -> tuple[list[Group], Group | None]:
        """The members in stages; and all of them at once, for a few rows, where they are networks of one shape."""
        # Nobody knows a retraining to the seventh digit: what might have been is read in single precision, today's model is not.
        members = self.rule.asked(self.members)
        today, *others = (together(some) for some in stages(members, _STAGES))
        groups: list[Group] = [today, *map(_rounded, others)]
        alike = all(isinstance(one, Stacked) for one in (today, *others))
        rest = [_rounded(together(members[1:]))] if others else []
        return groups, Whole([today, *rest]) if alike else None


def _rounded(one: OneByOne | Stacked) -> OneByOne | Stacked:
    return one.rounded() if isinstance(one, Stacked) and one.weights else one


@dataclass(frozen=True, eq=False)
class Minimum(Scorer):
    """The least of what a rule asks for, of any members; see ``SmoothMinimum``."""

    members: Sequence[Classifier]
    rule: Rule

    def logit(self, Z: Array) -> Array:
        """Return the binding logit, (n,)."""
        logits = np.concatenate([group.logits(Z) for group in self._stages])
        return np.asarray(self.rule.candidates(logits).min(axis=0))

    def from_least(self, Z: Array, least: float) -> Array:
        """Return the binding logit where it is ``least`` or more, −inf elsewhere, (n,); most members are asked about few rows."""
        return from_least(self._stages, self.rule, len(self.members) - 1, Z, least)

    @cached_property
    def _stages(self) -> list[Several | OneByOne]:
        return [several(some) for some in stages(self.rule.asked(self.members))]

    def probability(self, Z: Array) -> Array:
        """Return the binding probability, (n,)."""
        return np.asarray(expit(self.logit(Z)))


def given(models: Iterable[Any], like: Classifier) -> list[Classifier]:
    """Return models that the user gives, each behind the interface of today's model."""
    scale = like.scale
    return [
        wrap(
            model,
            like.space,
            target=like.target,
            threshold=scale.threshold,
            output=scale.output,
            unit=scale.unit,
            spread=scale.spread,
        )
        for model in models
    ]


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
    estimator, rows, labels = _material(like.model, like.space, X, y)
    count = enough(like, len(X)) if count is None else count
    seeds = np.random.default_rng(random_state).integers(2**31 - 1, size=count)
    jobs = (delayed(_retrain)(estimator, rows, labels, int(seed)) for seed in seeds)
    work = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    made = list(track(work, "Retraining the model", total=count) if verbose else work)
    if isinstance(like.model, OnVectors):
        made = [OnVectors(one) for one in made]
    return given(made, like)


def enough(like: Classifier, rows: int) -> int:
    """Return how many retrainings to make of a model of so many rows: 20, up to 100 of a linear one.

    The more there are, the better their spread is known, and the less a plan must do beyond what holding asks for. A linear
    model is retrained in no time, as long as the rows are few; where they are many the spread is small.

    Examples
    --------
    >>> import pandas as pd, reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = pd.DataFrame({"income": [0.0, 1.0, 2.0, 3.0]})
    >>> model = LogisticRegression().fit(X, [0, 1, 0, 1])
    >>> like = reap.models.wrap(model, reap.ActionSpace.from_frame(X))
    >>> enough(like, 2_000), enough(like, 5_000), enough(like, 100_000)
    (100, 40, 20)
    """
    kernel = like.kernel.inner if isinstance(like.kernel, Composed) else like.kernel
    linear = isinstance(kernel, Network) and len(kernel.weights) == 1
    return min(max(_READ // max(rows, 1), _REFITS), _MOST) if linear else _REFITS


def _material(model: Any, space: ActionSpace, X: Frame, y: Any) -> tuple[Any, Any, Array]:
    """Return what can be refitted, the rows as it takes them, and their labels."""
    vectors = space.encoded or isinstance(model, OnVectors)
    estimator = model.model if isinstance(model, OnVectors) else model
    estimator = getattr(estimator, "best_estimator_", estimator)
    if not all(hasattr(estimator, name) for name in ("fit", "get_params", "predict")):
        raise InputError(f"{type(estimator).__name__} cannot be retrained on rows and labels; {_INSTEAD}")
    labels = np.asarray(y)
    if labels.shape != (len(X),):
        raise InputError(f"y has shape {labels.shape}; give one label for each of the {len(X)} rows")
    if not hasattr(estimator, "classes_"):
        return estimator, _rows(estimator, space, X, vectors), labels
    strange = set(labels.tolist()) - set(np.asarray(estimator.classes_).tolist())
    if strange or len(set(labels.tolist())) < len(estimator.classes_):
        raise InputError(
            f"y has the labels {sorted(set(labels.tolist()), key=str)}, the model the classes "
            f"{np.asarray(estimator.classes_).tolist()}; give the labels that the model was trained on"
        )
    return estimator, _rows(estimator, space, X, vectors), labels


def _rows(estimator: Any, space: ActionSpace, X: Frame, vectors: bool) -> Any:
    """Return rows as an estimator was given them when it was trained."""
    names = getattr(estimator, "feature_names_in_", None)
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
    known = np.unique(labels)
    classes = len(known) if labels.dtype.kind != "f" or len(known) <= 2 else 0  # a regression has none
    for _ in range(_DRAWS):
        picked = rng.integers(len(labels), size=len(labels))
        if not classes or len(np.unique(labels[picked])) == classes:
            return np.asarray(picked)
    raise InputError(f"a class has too few of the {len(labels)} rows to retrain the model; {_INSTEAD}")
