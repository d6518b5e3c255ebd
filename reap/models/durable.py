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
from itertools import pairwise
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
from reap.models.agreement import SAMPLE, Rule, Spread, agreed
from reap.models.classifier import Classifier, Smooth
from reap.models.declared import OnVectors
from reap.models.gradients import ACTIVATIONS, Network
from reap.models.trees import JointTrees, mixed
from reap.models.wanted import ignored
from reap.models.wrapping import wrap
from reap.scores import Scale
from reap.space import ActionSpace

#: Retrainings of any model; of a linear one at most; and rows that those of a linear one may read in all.
_REFITS, _MOST, _READ = 20, 100, 200_000
#: Rows on which to see how far retrainings usually differ.
_MIXED = 1_000
#: How many of the others are asked before the rest: of most rows these know already that too few accept them.
_FIRST = 4
#: Rows that go through networks of one shape at a time, so that the layers of all of them stay in the processor's cache.
_BLOCK = 256
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
    asked = share, len(others), shift, classifier.boundary
    if all(one.has_gradient for one in members):
        kernel: Minimum = SmoothMinimum(members, Rule.of(*asked))
    else:
        kernel = Minimum(members, Rule.of(*asked, usual))
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
    """The least of what a rule asks for, of any members: a model among models.

    Parameters
    ----------
    members : sequence of Classifier
        Today's model first.
    rule : Rule
    """

    members: Sequence[Classifier]
    rule: Rule

    def score(self, Z: Array) -> Array:
        """Return the binding probability, (n,)."""
        return np.asarray(expit(self.logit(Z)))

    def logit(self, Z: Array) -> Array:
        """Return the binding logit, (n,)."""
        return np.asarray(self.rule.candidates(self.logits(Z)).min(axis=0))

    def from_least(self, Z: Array, least: float) -> Array:
        """Return the binding logit where it is ``least`` or more, −inf elsewhere, (n,).

        A search looks at thousands of rows, most of which the first members refuse already: the others are not asked about them.
        """
        found, live = np.full(len(Z), -np.inf), np.arange(len(Z))
        known, others = np.empty((0, len(Z))), len(self.members) - 1
        for begin, end in pairwise((0, 1, 1 + _FIRST, 1 + others)):
            known = np.concatenate([known, self.logits(Z[live], begin, end)])
            fine = known[0] - self.rule.shift >= least
            if self.rule.count:
                fine &= (known[1:] < least).sum(axis=0) <= others - self.rule.count
            live, known = live[fine], known[:, fine]
        logits = self.rule.candidates(known).min(axis=0)
        found[live] = np.where(logits >= least, logits, -np.inf)
        return found

    def logits(self, Z: Array, begin: int = 0, end: int | None = None) -> Array:
        """Return the logits of some members, by default of all, (m, n)."""
        stack = self._stack
        if isinstance(stack, JointTrees) or (stack is not None and not np.isnan(Z).any()):
            return stack.logits(Z, begin, end)
        some = self.members[begin:end]
        return np.array([one.logit(Z) for one in some]).reshape(len(some), len(Z))

    @cached_property
    def _stack(self) -> Stack | JointTrees | None:
        return Stack.of(self.members) or JointTrees.of(self.members)


class SmoothMinimum(Minimum, Smooth):
    """The same of members that all have a gradient; the gradient is that of what binds.

    Of a member, or of mean and deviation: ``16 Σ_i w_i ∂u_i`` with ``w_i = 1/m − c (u_i − ū) / ((m − 1) s)``.
    """

    def gradient(self, Z: Array) -> Array:
        """Return the gradient of what binds, (n, d)."""
        slope = np.zeros(np.shape(Z))
        for weight, member in zip(self.rule.weights(self.logits(Z)), self.members, strict=True):
            if (rows := np.flatnonzero(weight)).size:
                slope[rows] += weight[rows, None] * member.gradient(Z[rows])
        return slope


@dataclass(frozen=True, eq=False)
class Stack:
    """Networks of one shape with one output, which go through each layer together: one by one most of the time are calls.

    Parameters
    ----------
    networks : sequence of Network, m of them
    scale : Scale
        What their outputs are.
    """

    networks: Sequence[Network]
    scale: Scale

    @classmethod
    def of(cls, members: Sequence[Classifier]) -> Stack | None:
        """Return the networks of some classifiers; None where some are none, or differ in their shape."""
        networks = [one.kernel for one in members if isinstance(one.kernel, Network)]
        shapes = {(one.activation, one.bent, *(weight.shape for weight in one.weights)) for one in networks}
        if len(networks) < len(members) or len(shapes) != 1 or networks[0].weights[-1].shape[1] != 1:
            return None
        return cls(networks, members[0].scale)

    def logits(self, Z: Array, begin: int = 0, end: int | None = None) -> Array:
        """Return the logits of some of them, (m, n), of vectors (n, d) in which nothing is missing."""
        first, weights, biases, signs = self._layers
        one, some = self.networks[0], slice(begin, end)
        activate, X, outs = ACTIVATIONS[one.activation][0], one.inputs(Z), list[Array]()
        for rows in range(0, max(len(X), 1), _BLOCK):
            h = X[rows : rows + _BLOCK] @ first[some] + biases[0][some]
            for weight, bias in zip(weights, biases[1:], strict=True):
                h = activate(h) @ weight[some]
                h += bias[some]
            outs.append(h[:, :, 0])
        out = signs[some, None] * np.concatenate(outs, axis=1)
        return self.scale.logit(out) if self.scale.output == "score" else out

    @cached_property
    def _layers(self) -> tuple[Array, list[Array], list[Array], Array]:
        """The first layers (m, d, k), the weights and biases of the others, and whether the target is the first class."""
        first, *weights = (
            np.stack(layer) for layer in zip(*(one.weights for one in self.networks), strict=True)
        )
        biases = [
            np.stack(layer)[:, None] for layer in zip(*(one.biases for one in self.networks), strict=True)
        ]
        return first, weights, biases, np.array([1.0 if one.index == 1 else -1.0 for one in self.networks])


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
    linear = isinstance(like.kernel, Network) and len(like.kernel.weights) == 1
    return min(max(_READ // max(rows, 1), _REFITS), _MOST) if linear else _REFITS


def trainable(model: Any) -> bool:
    """Return whether a model can be trained again on rows and labels.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> trainable(LogisticRegression()), trainable(lambda rows: 0.5)
    (True, False)
    """
    return all(hasattr(_estimator(model), name) for name in ("fit", "get_params", "predict"))


def _estimator(model: Any) -> Any:
    estimator = model.model if isinstance(model, OnVectors) else model
    return getattr(estimator, "best_estimator_", estimator)


def _material(model: Any, space: ActionSpace, X: Frame, y: Any) -> tuple[Any, Any, Array]:
    """Return what can be refitted, the rows as it takes them, and their labels."""
    vectors = space.encoded or isinstance(model, OnVectors)
    estimator = _estimator(model)
    if not trainable(model):
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
