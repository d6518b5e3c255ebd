"""The two ways to hold a session: our own, and the paper's to the letter; each with the settings that research turns.

A way answers what the session asks of it: what is believed of somebody (``belief``), which matrix stands for that (``matrix``),
which plans there are (``look``), what is asked (``question``), why nothing is (``silence``), what is recommended (``best``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import Belief, ConfidenceSet, LearnedPrior, Posterior
from reap.belief.learned_prior import LearnedPriorLike, learned_prior
from reap.effort import Efforts, of_moves
from reap.elicitation.choosing import aside, may_be_recommended
from reap.elicitation.learned import FACTORS
from reap.elicitation.pool import ROWS, PlanParts, Pool, minded, places, row_place
from reap.elicitation.question import Question
from reap.language import _
from reap.plan import Confidence, Plan
from reap.questions import Decision, SimilarCost, Strategy
from reap.questions.greedy import promising
from reap.questions.strategy import samples_of
from reap.recourse.advice import advised, priced
from reap.recourse.chance import MOST
from reap.space import ActionSpace

if TYPE_CHECKING:
    from reap.elicitation.session import Elicitation

#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05
#: Plans whose parts are asked about, the most promising.
PROMISING = 25
#: How many of a round's matrices also ask for plans that are easier to bear, and what a change then asks beside its size.
BEARABLE, MINDED = 8, (0.03, 1.0)

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

    # how a session is held --------------------------------------------------------------------------------

    def matrix(self, session: Elicitation) -> Array:
        """Return what a change is expected to cost, (d, d), with the columns beside the changes."""
        return np.asarray(session.belief.estimate())

    def effort(self, session: Elicitation, plan: Plan) -> float:
        """Return the expected effort of a plan."""
        return float(samples_of(session.belief, "a session").expected(session.pool.priced([plan]))[0])

    def silence(self, session: Elicitation) -> str:
        """Return why nothing is asked, or nothing more, as a sentence."""
        pool = session.pool.without(aside(session, session.pool))
        if len(pool) == 0:
            return _("There is no plan to compare.")
        if len(pool) == 1:
            return _("There is only one plan for you, so there is nothing to compare.")
        if pool.alike:
            return _("The plans for you are too much alike to feel a difference, so nothing is asked.")
        if session.answered:
            return _("More answers would not change your plan.")
        return _("One plan is the easiest for you whatever you find hard, so nothing is asked.")

    def look(self, session: Elicitation) -> tuple[list[Plan], Pool]:
        """Let the engine answer for the belief of this round; return the plans that join the pool, and the pool with them."""
        engine, x, d = session.engine, session._x, session.space.dimension
        belief = samples_of(session.belief, "a session")
        rng = np.random.default_rng([session._seed, session.revision])
        drawn = Efforts.of(belief.sample(self.samples, random_state=rng))
        each = Efforts.of(drawn.matrices[..., :d, :d], drawn.powers, drawn.per_change, drawn.per_wait)
        asked = Efforts.joined([Efforts.of(session.matrix[None]), each])
        if belief.dimension > d and not len(session.pool):
            asked = _minding(asked, session.space)
        found = engine.plans(x, asked, session.limits)
        if engine.acceptance_.by_chance:  # the easiest of all is what no recommendation may exceed by much
            easiest = engine.holding(0).plans(x, asked[:1], session.limits)
            found += engine.acceptance_.told(easiest)
        joining = session.pool.new(found)
        return joining, session._with(joining)

    def best(self, session: Elicitation, pool: Pool) -> Plan:
        """Return the plan that is the easiest chance of a yes, by expected effort, with how sure we are of it."""
        engine, x, limits = session.engine, session._x, session.limits
        if not len(pool):
            return advised(engine, engine.plans(x, session.matrix[None], limits)[0], x, limits)
        belief = samples_of(session.belief, "a session")
        efforts, expected, worth = (
            session._efforts(pool),
            belief.expected(pool.moves),
            may_be_recommended(session, pool),
        )
        limit = MOST * float(expected[worth].min())
        rank = np.where(expected <= limit, expected / pool.chances, np.inf)
        best = int(worth[np.argmin(rank[worth])])
        shown = ~aside(session, pool)
        shown[worth] = True
        others, own = efforts[:, shown], efforts[:, [best]]
        least = others.min(axis=1, keepdims=True)
        # against a tenth of the usual effort at least: without this floor the expectation need not exist
        floor = np.maximum(np.maximum(least, np.median(others, axis=1, keepdims=True) / 10), 1e-300)
        confidence = Confidence(
            within=float(belief.weights @ (own <= (1 + WITHIN) * least)[:, 0]),
            excess=float(belief.weights @ ((own - least) / floor)[:, 0]),
            answers=session.answered,
        )
        plan = replace(pool[best], confidence=confidence, effort=float(expected[best]))

        def asks(one: Plan) -> float:  # by the scales of this pool: the session's own may be empty yet
            return float(belief.expected(pool.priced([one]))[0])

        return priced(engine, plan, x, session.matrix, limits, asks)

    def question(self, session: Elicitation, pool: Pool, rng: np.random.Generator) -> Question | None:
        """Return the question that the strategy chooses among plans and their parts; None where it has none."""
        options = pool.without(aside(session, pool))
        parts = self._parts(session, options)
        choice = options.choose(session.strategy, session.belief, session._shown, rng, self.rows, parts)
        if choice is None:
            return None
        count = len(options)
        if parts is None or choice.options[0] < count:
            return session._question([options[i] for i in choice.options], rng, choice.gain)
        shown = [parts.plans[i - count] for i in choice.options]
        scores = np.asarray(session.engine.classifier_.score(np.concatenate([part.path for part in shown])))
        each = zip(shown, scores.reshape(len(shown), -1), strict=True)
        return session._question(
            [replace(part, scores=row) for part, row in each], rng, choice.gain, whole=False
        )

    def _parts(self, session: Elicitation, pool: Pool) -> PlanParts | None:
        """Return the parts of plans that could be asked about; None for paths."""
        if self.rows is None or len(pool) < 2 or any(plan.along for plan in pool):
            return None
        weights = samples_of(session.belief, "a session").weights
        some = promising(session._efforts(pool), weights, np.arange(len(pool)), PROMISING)
        return pool.parts(session.limits, np.sort(some))


def _minding(people: Efforts, space: ActionSpace) -> Efforts:
    """Return people, and of the first few also who minds the number of changes, or waiting."""
    some = people.matrices[:BEARABLE]
    size = np.trace(some, axis1=1, axis2=2) / space.dimension
    minds = [Efforts.of(some, per_change=h * size) for h in MINDED]
    if space.timed:
        minds.append(Efforts.of(some, per_wait=size))
    return Efforts.joined([people, *minds])


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
    learnt: ClassVar[None] = None

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

    # how a session is held --------------------------------------------------------------------------------

    def believed(self, session: Elicitation) -> Belief:
        """Return a confidence set without the answers left aside as contradictory; any other belief as it is."""
        belief, allowed = session.belief, int(np.floor(self.tolerance * session.answered))
        if allowed == 0 or not isinstance(belief, ConfidenceSet):
            return belief
        dropped = set(belief.relaxed_center(violations=allowed).dropped)
        kept = ConfidenceSet(belief.dimension, epsilon=belief.epsilon)
        for i, reply in enumerate(session.answers):
            if i not in dropped:
                reply.teach(kept)
        return kept

    def matrix(self, session: Elicitation) -> Array:
        """Return the centre of the confidence set, (d, d); the estimate of another belief."""
        belief = self.believed(session)
        if isinstance(belief, ConfidenceSet):
            return np.asarray(belief.center(self.center).matrix)
        return np.asarray(belief.estimate())

    def effort(self, session: Elicitation, plan: Plan) -> float:
        """Return the effort of a plan at the centre."""
        return of_moves(session.matrix, plan.moves)

    def question(self, session: Elicitation, pool: Pool, rng: np.random.Generator) -> Question | None:
        """Return the next question, about rows that the model accepts; None where nothing is left to ask."""
        if session._accepted is None:
            session._accepted = session.engine.candidates(session._x, session.limits)
        rows, here = session._accepted, session.here
        if len(rows.moves) < 2:
            return None
        asked = places(lambda name: row_place(rows.moves, here, name), session._shown)
        choice = session.strategy.choose(rows.moves, session.matrix, asked=asked, random_state=rng)
        return None if choice is None else session._question([rows[i] for i in choice.options], rng)

    def silence(self, session: Elicitation) -> str:
        """Return why nothing more is asked, as a sentence."""
        return _("There is nothing left to compare.")

    def look(self, session: Elicitation) -> tuple[None, Pool]:
        """Look for no plans: rows are compared."""
        return None, session.pool

    def best(self, session: Elicitation, pool: Pool) -> Plan:
        """Return the plan of the objective over the confidence set."""
        engine, x, limits = session.engine, session._x, session.limits
        if self.objective == "expected":
            return advised(engine, engine.plans(x, session.matrix[None], limits)[0], x, limits)
        belief = self.believed(session)
        if not isinstance(belief, ConfidenceSet):
            raise InputError(
                f"the {self.objective} plan needs a ConfidenceSet, and the belief is a {type(belief).__name__}; "
                'give preset=reap.Paper(objective="expected")'
            )
        return advised(engine, engine.robust(x, belief, self.objective, limits), x, limits)


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
