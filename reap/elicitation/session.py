"""The session: ask, answer, undo, replay. A pure state machine with no input or output of its own.

Its state follows from its events (``reap.elicitation.events``). What was shown is among them, and each round's
randomness derives from the seed and the number of acts, so a session goes on where it stopped, in any process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import Belief, ConfidenceSet, LearnedPrior, Posterior
from reap.belief.learned_prior import LearnedPriorLike, learned_prior
from reap.effort import of_moves
from reap.elicitation import advice, events, outside, presets
from reap.elicitation.answers import teach
from reap.elicitation.comparisons import ROWS
from reap.elicitation.events import Event
from reap.elicitation.learned import Learned, learned
from reap.elicitation.options import Rows
from reap.elicitation.parts import Parts
from reap.elicitation.pool import Pool
from reap.elicitation.prediction import Predicting, held_out
from reap.elicitation.presets import PRESETS, Preset
from reap.elicitation.progress import Progress
from reap.elicitation.question import Kind, Question, why
from reap.elicitation.rounds import vector, write_asked, write_recommended
from reap.elicitation.state import State
from reap.elicitation.warm_up import warm_up
from reap.plan import Confidence, Plan
from reap.questions import Strategy
from reap.recourse import Engine
from reap.recourse.relaxation import together
from reap.space import Limits

#: How many of a round's matrices also ask for plans that are easier to bear, and with how many changes at most.
BEARABLE, FEWER = 8, (1, 2)


class Elicitation(State):
    """A session with one person that ends in the plan that suits them best.

    Parameters
    ----------
    engine : Recourse, or any other engine
    x : Series or one-row DataFrame
        The subject.
    questions : int
        How many answers to ask for at most; it stops earlier when nothing is left to decide.
    options : int
        Plans shown in a question.
    preset : {"bayes", "reap"}
        "bayes": a posterior that forgives errors, and questions about plans that could really be recommended.
        "reap": the paper to the letter: confidence set, questions about rows of similar effort, its published
        centre, the worst case.
    belief, strategy : optional
        Replace the preset's own.
    limits : Limits, optional
        What the person cannot or will not do.
    prior : LearnedPrior, str or Path, optional
        What past sessions taught, or its file. The session records its hash, and comes back with that prior only.
    warm_up : bool
        Whether to begin with a question that does not count, where there is one that is not worth asking. Off by
        default: a simulated person needs none. The page and the terminal switch it on.
    held_out : bool
        Whether to end with a question whose answer was predicted (``prediction``), beyond ``questions``. Off by default:
        comparisons of methods count answers. Both need a belief that can predict answers; the preset "reap" has none.
    minds : bool
        Whether the posterior also learns how much the person minds the number of changes, and waiting:
        ``effort = ΔᵀAΔ + h·k + w·τ²`` with k actions and τ months over the horizon. Off by default, as in the tables.
    random_state : int
    samples : int
        Effort matrices for which the engine is asked in each round.
    center : {"published", "chebyshev", "analytic"}
        Which centre of a confidence set the questions turn on.
    tolerance : float
        Share of answers that a confidence set may leave aside as contradictory.
    objective : {"worst-case", "minimax", "expected"}
        What the final plan of a confidence set minimises.
    scales : sequence of float, optional
        What a weight of 1 on the number of changes and on waiting is worth (``minds.scales``); by default taken from the first
        plans found.
    rows : int, optional
        Features that may differ between the plans of a question; one more where nothing else helps. None: any number.

    Examples
    --------
    >>> import reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> rejected = data.X[model.predict(data.X) == 0]
    >>> engine = reap.Recourse(model, data.space).fit(data.X)
    >>> session = engine.elicit(rejected.iloc[0], questions=2)
    >>> while question := session.ask():
    ...     session.answer("left")
    >>> session.recommend().valid
    True
    """

    def __init__(
        self,
        engine: Engine,
        x: Any,
        *,
        questions: int = 5,
        options: int = 2,
        preset: Preset = "bayes",
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        limits: Limits | None = None,
        prior: LearnedPriorLike | None = None,
        warm_up: bool = False,
        held_out: bool = False,
        minds: bool = False,
        random_state: int = 0,
        samples: int = 32,
        center: advice.Center = "published",
        tolerance: float = 0.0,
        objective: Literal["worst-case", "minimax", "expected"] = "worst-case",
        scales: Sequence[float] | None = None,
        rows: int | None = ROWS,
    ) -> None:
        if preset not in PRESETS:
            raise unknown("preset", preset, PRESETS)
        if not isinstance(questions, int | np.integer) or questions < 0:
            raise InputError(f"questions is {questions!r}; give a whole number, 0 or more")
        if not isinstance(options, int | np.integer) or options < 2:
            raise InputError(f"options is {options!r}; a question needs at least 2")
        if rows is not None and rows < 1:
            raise InputError(f"rows is {rows}; a question shows at least 1 difference, None any number")
        if scales is not None and not all(0 <= size < np.inf for size in scales):
            raise InputError(f"scales is {list(scales)}; give finite numbers of at least 0")
        if not 0 <= tolerance < 1:
            raise InputError(
                f"tolerance is {tolerance}; give the share of answers to leave aside, 0 to below 1"
            )
        self.engine, self.seed, self.samples = engine, int(random_state), samples
        self.center, self.tolerance, self.objective = center, tolerance, objective
        self.warm_up, self.held_out, self.rows = warm_up, held_out, rows
        self.strategy = strategy or presets.strategy(preset, options)
        space = engine.space
        settings = {
            "questions": questions,
            "options": options,
            "preset": preset,
            "random_state": self.seed,
            "samples": samples,
            "center": center,
            "tolerance": tolerance,
            "objective": objective,
            "warm_up": warm_up,
            "held_out": held_out,
            "minds": minds,
            "scales": None if scales is None else list(scales),
            "rows": rows,
        }
        own = [name for name, part in (("belief", belief), ("strategy", strategy)) if part is not None]
        known, self.prior = _who(engine), _prior(prior, preset, belief, space.digest)
        hashed = None if self.prior is None else self.prior.hash
        started = events.started(space, space.vector(x), limits or Limits(), settings, own, known, hashed)

        def first(difficulties: Mapping[str, int]) -> Belief:
            if belief is not None:
                return belief.copy()
            return presets.belief(preset, space, difficulties, self.seed, self.prior, minding=minds)

        super().__init__(space, started, questions, first)

    # asking ------------------------------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the question to answer now, the same until it is answered; None when there is nothing to ask."""
        if self._round.question is None and not self._round.over:
            before = self._round.found
            question = self._choose()
            found = self._round.found if before is None else None
            self._ask(None, question)
            self.events.append(Event("asked", write_asked(found, question)))
        return self._round.question

    def _choose(self) -> Question | None:
        if self._ended:
            return None
        rng = np.random.default_rng([self.seed, self.revision, 1])
        if self.answered >= self._budget or len(self._shown) >= 3 * self._budget + 3:
            return self._last(rng)
        options, known = self._options()
        parts = None
        if isinstance(options, Pool):
            parts = self._parts(options, known)
            choice = options.choose(self.strategy, known, self._shown, rng, self.rows, parts)
        else:
            choice = options.choose(self.strategy, known, self._shown, rng)
        if choice is None:
            return self._last(rng)
        if self.warm_up and not self._shown and isinstance(options, Pool) and isinstance(known, Predicting):
            easy = warm_up(options.burden(()), options.moves, known, choice.options)
            if easy is not None:
                return self._question([options[i] for i in easy], rng, kind="warm-up")
        count = len(options.moves)
        whole = parts is None or choice.options[0] < count
        if parts is None or whole:
            plans = [options[i] for i in choice.options]
        else:
            plans = self._scored([parts.plans[i - count] for i in choice.options])
        return self._question(plans, rng, why=why(choice.gain), gain=choice.gain, whole=whole)

    def _parts(self, pool: Pool, known: Belief | Array) -> Parts | None:
        """Return the parts of plans that could be asked about; None for paths, and where nothing can score them."""
        whole = self.rows is not None and not any(plan.along for plan in pool)
        if not (
            whole and len(pool) > 1 and isinstance(known, Posterior) and hasattr(self.engine, "classifier_")
        ):
            return None
        efforts = known.efforts(pool.moves)
        wins = np.bincount(efforts.argmin(axis=1), minlength=len(pool))
        order = np.lexsort((efforts.mean(axis=0), -wins))
        return Parts(self.space, self.limits, [pool[i] for i in order], self._sizes)

    def _scored(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return parts of plans with the model's scores."""
        scores = self.engine.classifier_.score(np.concatenate([plan.path for plan in plans]))
        each = np.asarray(scores).reshape(len(plans), -1)
        return [replace(plan, scores=row) for plan, row in zip(plans, each, strict=True)]

    def _last(self, rng: np.random.Generator) -> Question | None:
        """Return the held-out question with its prediction, where one is wanted and there is something to predict."""
        if not self.held_out or not self.answered or self.prediction is not None:
            return None
        options, known = self._options()
        prior = self._prior(self.difficulties)
        if not (
            isinstance(options, Pool) and isinstance(known, Predicting) and isinstance(prior, Predicting)
        ):
            return None
        pair = held_out(options.burden(self._shown), options.moves, prior, rng)
        return None if pair is None else self._question([options[i] for i in pair], rng, kind="held-out")

    def _question(
        self,
        options: Sequence[Plan],
        rng: np.random.Generator,
        *,
        why: str = "",
        gain: float = float("nan"),
        kind: Kind = "question",
        whole: bool = True,
    ) -> Question:
        # Which option stands first must not depend on how good it looks: people favour the first.
        plans = tuple(options[k] for k in rng.permutation(len(options)))
        shown = len(self._shown) + 1
        number = shown - sum(question.kind == "warm-up" for question, _ in self._replies())
        predicted = probability = None
        if kind == "held-out" and isinstance(self.belief, Predicting):
            likely = self.belief.choice_probabilities(self.pool.priced(plans))
            predicted, probability = int(likely.argmax()), float(likely.max())
        return Question(
            f"{self.revision}-{shown}", number, plans, why, gain, kind, predicted, probability, whole
        )

    def _options(self) -> tuple[Pool | Rows, Belief | Array]:
        """Return what a question compares, and what is known: plans and a belief; for a confidence set rows and its centre."""
        if isinstance(self.belief, advice.Sampled):
            self._search(self.belief)
            return self.pool.without(self._verdicts().aside(self.pool.plans)), self.belief
        if self._rows is None:
            self._rows = Rows(self.engine.candidates(self._x, self.limits), self._z)
        return self._rows, advice.center(self._consistent(), self.center)

    def _search(self, belief: advice.Sampled) -> None:
        """Let the engine answer for the belief of this round; the plans it finds join the pool and stay."""
        if self._round.found is None and not self._settled:
            rng = np.random.default_rng([self.seed, self.revision])
            sampled = [belief.estimate()[None], belief.sample(self.samples, random_state=rng)]
            matrices = self._of_changes(np.concatenate(sampled))
            found = self.engine.plans(self._x, matrices, self.limits)
            if belief.dimension > self.space.dimension and not len(self.pool):
                found += self._easier_to_bear(matrices[:BEARABLE])
            self._join(self.pool.new(found))

    def _easier_to_bear(self, matrices: Array) -> list[Plan]:
        """Return plans for people who mind the number of changes, or waiting: with fewer changes, and ready sooner."""
        tighter = [Limits(max_changes=k) for k in FEWER]
        tighter += [Limits(within_months=1)] if self.space.timed else []
        found: list[Plan] = []
        for each in tighter:
            found += self.engine.plans(self._x, matrices, self.limits.merge(each))
        return found

    def _of_changes(self, A: Array) -> Array:
        """Return matrices (…, d, d) without the columns beside the changes."""
        d = self.space.dimension
        return A[..., :d, :d]

    def _consistent(self) -> Belief:
        return advice.consistent(self.belief, self._answers, self.tolerance)

    # results -----------------------------------------------------------------------------------------

    def recommend(self) -> Plan:
        """Return the plan that suits the person best, as far as is known now; it can be asked for at any time."""
        if self._round.plan is None:
            before = self._round.found
            plan = self._plan()
            found = self._round.found if before is None else None
            self._round.plan = plan
            self.events.append(Event("recommended", write_recommended(found, plan)))
        return self._round.plan

    def _plan(self) -> Plan:
        belief = self._consistent()
        if isinstance(belief, advice.Sampled):
            self._search(belief)
            if len(self.pool):
                plan = advice.best_expected(belief, self.pool, self._verdicts())
                if not hasattr(self.engine, "priced"):  # an engine that answers ``plans`` alone
                    return plan
                return self.engine.priced(plan, self._x, self._of_changes(belief.estimate()), self.limits)
        if isinstance(belief, ConfidenceSet) and self.objective != "expected":
            plan = self.engine.robust(self._x, belief, self.objective, self.limits)
        else:
            A = self._of_changes(advice.center(belief, self.center))
            plan = self.engine.plans(self._x, A[None], self.limits)[0]
        return self.engine.advised(plan, self._x, self.limits)

    def plans(self, count: int = 3, *, today: bool = False) -> list[Plan]:
        """Return the best plan and clearly different ones, at most ``count``; never one that was set aside.

        The others change features that the plans before them leave alone, as far as there is such a plan within twice
        the effort of the best; where there is none, ``note`` says what a plan shares. Fewer come back where there are fewer.
        With ``today=True`` the easiest plan that today's model alone accepts comes last, said as such, where the engine asks
        that plans hold and such a plan is notably easier, or is all there is.
        """
        if count < 1:
            raise InputError(f"count is {count}; give 1 or more")
        best = self.recommend()
        belief = self._consistent()
        A = self._of_changes(advice.center(belief, self.center))
        if best.status != "ok" or not best.valid:
            return [best] + (self._today(best, A) if today else [])
        known = list(self.pool)
        shown = [best]
        while len(shown) < count:  # ask for a plan that leaves alone what the ones before it change
            used = set().union(*(advice.features(plan) for plan in shown))
            apart = self.limits.merge(Limits(fixed=tuple(sorted(used))))
            found = Pool(self.space).new(self.engine.plans(self._x, A[None], apart))
            if not found:
                break
            known, shown = known + found, shown + found
        pool, verdicts = Pool(self.space, known, self._sizes), self._verdicts()
        worth = set(advice.worth_recommending(pool, verdicts).tolist()) if len(pool) else set()
        others = [plan for i, plan in enumerate(pool) if i in worth]
        made = advice.different(best, others, self._price(belief), count)
        return made + (self._today(best, A) if today else [])

    def _today(self, best: Plan, A: Array) -> list[Plan]:
        """Return the easiest plan that today's model alone accepts, where it is notably easier than the best that holds."""
        plan = self.engine.easier(best, self._x, A, self.limits)
        return [] if plan is None or self._verdicts().aside([plan])[0] else [plan]

    def _price(self, belief: Belief) -> Callable[[Plan], float]:
        """Return what gives the effort of a plan, as far as is known."""
        A = advice.center(belief, self.center)
        return lambda plan: of_moves(
            A if self._sizes is not None else self._of_changes(A), *self.pool.priced([plan])
        )

    def refuse(self, plans: Sequence[Plan] | None = None, *, impossible: str | Sequence[str] = ()) -> None:
        """Say "none of these" to plans that were shown, by default those of ``plans()``.

        They are set aside, as many answers as at first may be asked for again, and ``impossible`` names features that
        cannot change.
        """
        self.apply(events.refused(self.space, self.plans() if plans is None else plans, impossible))

    def effort(self, plan: Plan) -> float:
        """Return what a plan asks of the person, as far as is known."""
        return self._price(self.belief)(plan)

    def relaxations(self) -> list[str]:
        """Return the limits, each of which alone would have to go for a plan to exist.

        Where none alone is enough, the smallest set found, in words: ``"age together with amount"``.
        """
        return [together(names) for names in self.engine.relaxations(self._x, self.limits)]

    @property
    def confidence(self) -> Confidence | None:
        """How sure we are of the plan that ``recommend`` returns; None for a confidence set."""
        return self.recommend().confidence

    @property
    def progress(self) -> Progress:
        """Questions asked and answered, and how many are likely still to come."""
        question, shown = self.ask(), len(self._shown)
        if question is None:
            return Progress(shown, self.answered, 0, 0)
        if question.kind == "held-out":
            return Progress(shown, self.answered, 1, 1)
        extra = (question.kind == "warm-up") + (self.held_out and self.prediction is None)
        return Progress(shown, self.answered, 1, self._budget - self.answered + extra)

    @property
    def consistency(self) -> float | None:
        """How well the answers agree, 0 to 1; None where the belief does not say."""
        return self.belief.consistency if isinstance(self.belief, Posterior) else None

    def conflicts(self) -> list[tuple[int, ...]]:
        """Return the smallest groups of answers in tension, as positions among the answers (0 for the first)."""
        if not self._answers:
            return []
        kept = teach(ConfidenceSet(self.space.dimension), self._answers)
        return [tuple(group) for group in kept.conflicts()]

    def learned(self) -> Learned:
        """Return what the answers say about the person: which changes are hard, which go together."""
        minded = self.belief.minds if isinstance(self.belief, Posterior) and self._answers else np.zeros(0)
        return learned(self.space, self._of_changes(self.belief.estimate()), self._z, minded)

    # files -------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the session as JSON; ``from_json`` replays it to the identical state."""
        return events.write(self.events)

    @classmethod
    def from_json(
        cls,
        text: str,
        engine: Engine,
        *,
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        prior: LearnedPriorLike | None = None,
    ) -> Elicitation:
        """Bring a session back to the state it was saved in: same next question, same plan.

        ``engine`` must be the one it was made with, or one like it: another space, kind, setting or model is an error that
        says what differs. A session with a belief, strategy or learnt prior needs those too.
        """
        try:
            session = cls.of(events.read(text), engine, belief=belief, strategy=strategy, prior=prior)
            outside.judge(session, engine)
        except InputError:
            raise
        except outside.MALFORMED as error:
            raise InputError(f"the session is damaged: {error}") from None
        return session

    @classmethod
    def of(
        cls,
        log: Sequence[Event],
        engine: Engine,
        *,
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        prior: LearnedPriorLike | None = None,
    ) -> Elicitation:
        """Return the session that events in force lead to; the engine is not asked."""
        started = log[0].payload
        events.check_engine(started, engine.space, _who(engine))
        for part, given in (("belief", belief), ("strategy", strategy)):
            if part in started["own"] and given is None:
                raise InputError(f"the session was made with a {part} of its own; give {part}=… too")
        learnt = None if prior is None else learned_prior(prior)
        _same_prior(started.get("prior"), learnt)
        session = cls(
            engine,
            engine.space.decode(vector(started["z"])[None]),
            limits=Limits.from_dict(started["limits"]),
            belief=belief,
            strategy=strategy,
            prior=learnt,
            **started["settings"],
        )
        session._replay(log)
        return session

    def __repr__(self) -> str:
        preset = self.events[0].payload["settings"]["preset"]
        return f"Elicitation({preset!r}, {self.answered} answered, revision {self.revision})"


def _prior(
    given: LearnedPriorLike | None, preset: Preset, belief: Belief | None, space: str
) -> LearnedPrior | None:
    """Return the learnt prior of a session, checked."""
    if given is None:
        return None
    if preset == "reap" or belief is not None:
        raise InputError(
            'a learnt prior is for the posterior of preset "bayes"; leave out prior=, or preset="reap" and belief='
        )
    prior = learned_prior(given)
    prior.fits(space)
    return prior


def _same_prior(began: str | None, given: LearnedPrior | None) -> None:
    """Refuse to bring a session back with another prior than the one it began with, by hash."""
    if began == (None if given is None else given.hash):
        return
    if began is None:
        raise InputError("the session began without a learnt prior; load it without prior=")
    said = "none was given" if given is None else f"given was {given.hash[:12]}"
    raise InputError(f"the session began with the learnt prior {began[:12]}, {said}; give prior= that file")


def _who(engine: Engine) -> dict[str, Any]:
    """Return the fingerprint of an engine; an engine of somebody else's that answers ``plans`` alone has none."""
    return engine.fingerprint() if hasattr(engine, "fingerprint") else {}
