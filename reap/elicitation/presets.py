"""The two ways to hold a session: our own, and the paper's to the letter; each with the settings that research turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import Belief, ConfidenceSet, LearnedPrior, Posterior
from reap.belief.learned_prior import LearnedPriorLike, learned_prior
from reap.elicitation.learned import FACTORS
from reap.elicitation.pool import ROWS, minded
from reap.questions import Decision, SimilarCost, Strategy
from reap.space import ActionSpace

Center = Literal["published", "chebyshev", "analytic"]
Objective = Literal["worst-case", "minimax", "expected"]


@dataclass(frozen=True)
class Bayes:
    """Our own way: a posterior that forgives errors, and questions about plans that could really be recommended.

    Parameters
    ----------
    prior : LearnedPrior, str or Path, optional
        What past sessions taught, or its file. The session records its hash, and comes back with that prior only.
    minds : bool
        Whether the posterior also learns how much the person minds the number of changes, and waiting:
        ``effort = ΔᵀAΔ + h·k + w·τ²`` with k actions and τ months over the horizon.
    samples : int
        Effort matrices for which the engine is asked in each round.
    rows : int, optional
        Features that may differ between the plans of a question; None: any number.
    scales : sequence of float, optional
        What a weight of 1 on the number of changes and on waiting is worth; by default taken from the first plans found.

    Examples
    --------
    >>> Bayes(samples=8).to_dict()["samples"], made("bayes") == Bayes(), made("reap") == Paper()
    (8, True, True)
    """

    prior: LearnedPriorLike | None = None
    minds: bool = True
    samples: int = 24
    rows: int | None = ROWS
    scales: Sequence[float] | None = None

    name: ClassVar[str] = "bayes"
    #: Whether questions compare plans that the engine finds for samples of the belief, or rows that the model accepts.
    plans: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.samples, int | np.integer) or not 1 <= self.samples <= 10_000:
            raise InputError(f"samples is {self.samples!r}; give a whole number from 1 to 10,000")
        if not isinstance(self.minds, bool):
            raise InputError(f"minds is {self.minds!r}; expected True or False")
        if self.rows is not None and not (isinstance(self.rows, int | np.integer) and self.rows >= 1):
            raise InputError(
                f"rows is {self.rows!r}; a question shows at least 1 difference, None any number"
            )
        if self.scales is not None and not all(0 <= size < np.inf for size in self.scales):
            raise InputError(f"scales is {list(self.scales)}; give finite numbers of at least 0")

    def strategy(self, options: int) -> Strategy:
        """Return which questions are asked, with this number of options."""
        return Decision(options=options)

    def belief(self, space: ActionSpace, difficulties: Mapping[str, int], seed: int) -> Posterior:
        """Return what is believed of a person before any answer, with what they said of single features."""
        factors = np.ones(space.dimension)
        for name, level in difficulties.items():
            factors[space.slices[name]] = FACTORS[level]
        features = np.full(space.dimension, -1)  # what comes by itself is shown in no question
        for i, feature in enumerate(space.features):
            if feature.is_set:
                features[space.slices[feature.name]] = i
        return _unasked(
            space.dimension,
            self.learnt,
            tuple(factors.tolist()) if difficulties else None,
            None if space.legal.movable is None else tuple(space.legal.movable),
            tuple(features.tolist()),
            minded(space) if self.minds else 0,
            seed,
        ).copy()

    @property
    def learnt(self) -> LearnedPrior | None:
        """The learnt prior, read from its file."""
        return None if self.prior is None else learned_prior(self.prior)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, without the prior, which has a file of its own."""
        said = asdict(replace(self, prior=None))
        del said["prior"]
        return said | {
            "scales": None if self.scales is None else list(self.scales),
            "name": self.name,
        }


@dataclass(frozen=True)
class Paper:
    """The paper to the letter: a confidence set, questions about rows of similar effort, and the worst case.

    Parameters
    ----------
    center : {"published", "chebyshev", "analytic"}
        Which centre of the confidence set the questions turn on.
    tolerance : float
        Share of answers that the confidence set may leave aside as contradictory.
    objective : {"worst-case", "minimax", "expected"}
        What the final plan minimises over the confidence set; "expected": the effort at its centre.
    """

    center: Center = "published"
    tolerance: float = 0.0
    objective: Objective = "worst-case"

    name: ClassVar[str] = "reap"
    plans: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.center not in get_args(Center):
            raise unknown("centre", self.center, get_args(Center))
        if self.objective not in get_args(Objective):
            raise unknown("objective", self.objective, get_args(Objective))
        if not 0 <= self.tolerance < 1:
            raise InputError(
                f"tolerance is {self.tolerance}; give the share of answers to leave aside, 0 to below 1"
            )

    def strategy(self, options: int) -> Strategy:
        """Return which questions are asked, with this number of options."""
        return SimilarCost(options=options)

    def belief(self, space: ActionSpace, difficulties: Mapping[str, int], seed: int) -> ConfidenceSet:
        """Return what is believed of a person before any answer; the paper knows nothing of single features."""
        return ConfidenceSet(space.dimension)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self) | {"name": self.name}


Preset: TypeAlias = Bayes | Paper
PRESETS: dict[str, type[Bayes] | type[Paper]] = {"bayes": Bayes, "reap": Paper}


def made(preset: str | Preset) -> Preset:
    """Return a preset by its name, or as it is."""
    if not isinstance(preset, str):
        return preset
    if preset not in PRESETS:
        raise unknown("preset", preset, tuple(PRESETS))
    return PRESETS[preset]()


def read(started: Mapping[str, Any], prior: LearnedPriorLike | None) -> Preset:
    """Return the preset that the first event of a session says, with the learnt prior that it began with, by its hash."""
    settings, began = dict(started["settings"]["preset"]), started.get("prior")
    kind, learnt = PRESETS[settings.pop("name")], None if prior is None else learned_prior(prior)
    if began != (None if learnt is None else learnt.hash):
        if began is None:
            raise InputError("the session began without a learnt prior; load it without prior=")
        given = "none was given" if learnt is None else f"given was {learnt.hash[:12]}"
        raise InputError(
            f"the session began with the learnt prior {began[:12]}, {given}; give prior= that file"
        )
    return kind(**settings) if learnt is None else Bayes(**settings, prior=learnt)


def center(belief: Belief, preset: Preset) -> Array:
    """Return the matrix (d, d) that stands for a belief: the preset's centre of a confidence set, or the estimate."""
    if isinstance(belief, ConfidenceSet) and isinstance(preset, Paper):
        return np.asarray(belief.center(preset.center).matrix)
    return np.asarray(belief.estimate())


@lru_cache(maxsize=8)
def _unasked(
    dimension: int,
    prior: LearnedPrior | None,
    difficulties: tuple[float, ...] | None,
    columns: tuple[int, ...] | None,
    features: tuple[int, ...],
    beside: int,
    seed: int,
) -> Posterior:
    """Return the belief before any answer, with its matrices: all people of a service begin with the same one."""
    belief = Posterior(
        dimension,
        prior="people" if prior is None else prior,
        difficulties=difficulties,
        columns=columns,
        features=features,
        beside=beside,
        random_state=seed,
    )
    belief.estimate()  # makes the matrices, so that copies share them
    return belief
