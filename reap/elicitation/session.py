"""The dialogue: ask, answer, undo, replay. A pure state machine with no input or output of its own.

Its state is a function of the events so far (answers, wishes, changes of situation), the seed, and the plans
that were shown; ``undo`` and ``from_json`` replay events. Each step's randomness derives from seed and revision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import ConfidenceSet
from reap.elicitation import advice, presets, record
from reap.elicitation.answers import Answer, teach
from reap.elicitation.learned import Learned, learned
from reap.elicitation.pool import Pool
from reap.elicitation.presets import DIFFICULTY, PRESETS, Preset
from reap.elicitation.progress import Progress
from reap.elicitation.question import Question, why
from reap.elicitation.rows import Rows
from reap.elicitation.story import Event, Story, answered, constrained
from reap.plan import Confidence, Plan
from reap.recourse import Engine
from reap.recourse.relaxation import together
from reap.space import Limits

__all__ = ["DIFFICULTY", "Elicitation", "Preset", "Progress"]


class Elicitation:
    """A dialogue with one person that ends in the plan that suits them best.

    Parameters
    ----------
    engine : GraphRecourse, GradientRecourse, or anything with ``plans``, ``robust``, ``candidates``
    x : Series or one-row DataFrame
        The subject.
    questions : int
        How many answers to ask for at most; it stops earlier when nothing is left to decide.
    options : int
        Plans shown in a question.
    preset : {"bayes", "reap"}
        "bayes": a posterior that forgives errors, and questions about plans that could really be recommended.
        "reap": the paper to the letter: confidence set, questions about rows of similar cost, its published
        centre, the worst case.
    belief, strategy : optional
        Replace the preset's own.
    limits : Limits, optional
        What the person cannot or will not do.
    random_state : int
    samples : int
        Cost matrices for which the engine is asked in each round.
    center : {"published", "chebyshev", "analytic"}
        Which centre of a confidence set the questions turn on.
    tolerance : float
        Share of answers that a confidence set may leave aside as contradictory.
    objective : {"worst-case", "minimax", "expected"}
        What the final plan of a confidence set minimises.

    Examples
    --------
    >>> import reap
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = reap.datasets.load("german")
    >>> model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    >>> rejected = data.X[model.predict(data.X) == 0]
    >>> engine = reap.GraphRecourse(model, data.space).fit(data.X)
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
        belief: Any = None,
        strategy: Any = None,
        limits: Limits | None = None,
        random_state: int = 0,
        samples: int = 32,
        center: Literal["published", "chebyshev", "analytic"] = "published",
        tolerance: float = 0.0,
        objective: Literal["worst-case", "minimax", "expected"] = "worst-case",
    ) -> None:
        if preset not in PRESETS:
            raise unknown("preset", preset, PRESETS)
        if questions < 0:
            raise InputError(f"questions is {questions}; give 0 or more")
        if options < 2:
            raise InputError(f"options is {options}; a question needs at least 2")
        if not 0 <= tolerance < 1:
            raise InputError(
                f"tolerance is {tolerance}; give the share of answers to leave aside, 0 to below 1"
            )
        self.engine = engine
        self.space = engine.space
        self.questions, self.options, self.preset = questions, options, preset
        self.seed, self.samples = int(random_state), samples
        self.center, self.tolerance, self.objective = center, tolerance, objective
        self._own_belief, self._own_strategy = belief, strategy
        self.strategy = strategy or presets.strategy(preset, options)
        self.replay(Story(self.space.vector(x), limits or Limits()))

    # state -------------------------------------------------------------------------------------------

    def replay(self, story: Story) -> None:
        """Go to the state that a story ends in; the engine is not asked."""
        self._begin = (story.start, story.limits)
        self._z, self.limits = self._begin
        self._x = self.space.decode(self._z[None])
        self.difficulties: dict[str, int] = {}
        self._answers: list[Answer] = []
        self.belief = self._new_belief()
        self._events: list[Event] = []
        self._grown = dict(story.grown)
        self._pool = Pool(self.space, self._grown.get(0, ()))
        self._rows: Rows | None = None
        self._shown: list[frozenset[bytes]] = []
        self._budget = self.questions
        self._turn()
        for event in story.events:
            self._apply(event)
        self._turn(story.pending, story.nothing_left)

    def _turn(self, question: Question | None = None, nothing_left: bool = False) -> None:
        """Begin a revision, for which nothing is planned yet."""
        self._question, self._nothing_left = question, nothing_left
        self._plan: Plan | None = None
        self._status: Plan | None = None

    @property
    def story(self) -> Story:
        """What happened so far, which all of the state follows from."""
        return Story(*self._begin, tuple(self._events), dict(self._grown), self._question, self._nothing_left)

    def resume(self, added: Sequence[Plan] | None, question: Question | None, nothing_left: bool) -> None:
        """Take up a round that was begun elsewhere: the plans the engine added (None: not asked) and the question."""
        if added is not None and self.revision not in self._grown:
            self._grow(added)
        self._question = question or self._question
        self._nothing_left = nothing_left

    def settle(self, plan: Plan) -> None:
        """Let ``recommend`` return a plan that was shown at this revision, so that nobody is shown two."""
        self._plan = plan

    def _new_belief(self) -> Any:
        if self._own_belief is not None:
            return self._own_belief.copy()
        return presets.belief(self.preset, self.space, self.difficulties, self.seed)

    @property
    def revision(self) -> int:
        """Number of events so far; a question and a plan belong to one."""
        return len(self._events)

    @property
    def answered(self) -> int:
        """Number of answers that told something: an option, or "same"."""
        return len(self._answers)

    @property
    def here(self) -> Array:
        """Where the person stands now, as a vector (d,)."""
        return self._z.copy()

    @property
    def pool(self) -> Pool:
        """The plans found so far that could be recommended."""
        return self._pool

    @property
    def stuck(self) -> bool:
        """Whether the engine was asked and found no plan at all."""
        return self._grown.get(self.revision) == [] and not len(self._pool)

    @property
    def replaced(self) -> tuple[str, ...]:
        """Which parts of the preset were replaced by others: "belief", "strategy"."""
        own = {"belief": self._own_belief, "strategy": self._own_strategy}
        return tuple(name for name, part in own.items() if part is not None)

    @property
    def _compares_plans(self) -> bool:
        # A belief with samples can be asked which plans may still be best; a confidence set compares rows.
        return hasattr(self.belief, "sample")

    def _refresh(self) -> None:
        """Let the engine answer for the belief of this revision; its distinct plans join the pool and stay."""
        if self.revision in self._grown:
            return
        matrices = self.belief.sample(
            self.samples, random_state=np.random.default_rng([self.seed, self.revision])
        )
        found = self.engine.plans(
            self._x, np.concatenate([self.belief.estimate()[None], matrices]), self.limits
        )
        self._status = found[0]
        self._grow(self._pool.new(found))

    def _grow(self, added: Sequence[Plan]) -> None:
        self._grown[self.revision] = list(added)
        self._pool.add(added)

    # the dialogue ------------------------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the question to answer now, the same until it is answered; None when there is nothing to ask."""
        if self._question is None and not self._nothing_left:
            self._question = self._choose()
            self._nothing_left = self._question is None
        return self._question

    def _choose(self) -> Question | None:
        shown = len(self._shown)
        if self.answered >= self._budget or shown >= 3 * self._budget + 3:
            return None
        rng = np.random.default_rng([self.seed, self.revision, 1])
        options = self._options()
        if len(options.moves) < 2:
            return None
        asked = [
            [place for path in paths if (place := options.place(path)) is not None] for paths in self._shown
        ]
        asked = [here for here, paths in zip(asked, self._shown, strict=True) if len(here) == len(paths)]
        if isinstance(options, Pool):
            choice = options.comparisons().choose(self.strategy, options.moves, self.belief, asked, rng)
        else:
            matrix = advice.center(self._consistent(), self.center)
            choice = self.strategy.choose(options.moves, matrix, asked=asked, random_state=rng)
        if choice is None:
            return None
        # Which option stands first must not depend on how good it looks: people favour the first.
        plans = tuple(options[choice.options[k]] for k in rng.permutation(len(choice.options)))
        return Question(f"{self.revision}-{shown + 1}", shown + 1, plans, why(choice.gain), choice.gain)

    def _options(self) -> Pool | Rows:
        """Return what a question can compare: plans that could be recommended; for a confidence set accepted rows."""
        if self._compares_plans:
            self._refresh()
            return self._pool
        if self._rows is None:
            self._rows = Rows(self.engine.candidates(self._x, self.limits), self._z)
        return self._rows

    def _consistent(self) -> Any:
        return advice.consistent(self.belief, self._answers, self.tolerance)

    def answer(self, choice: int | str, *, impossible: Sequence[str] = ()) -> None:
        """Answer the question that ``ask`` returned.

        Parameters
        ----------
        choice : int or str
            An option's index or letter, "left", "right", "same", "neither" or "skip".
        impossible : sequence of str
            With "neither": the features whose change is impossible; no plan will touch them again.
        """
        if self._question is None:
            raise InputError("there is no question to answer; call ask() first")
        self._push(answered(self.space, self._question, choice, impossible))

    def constrain(
        self,
        feature: str,
        *,
        fixed: bool = False,
        at_least: Any = None,
        at_most: Any = None,
        exclude: Sequence[Any] = (),
        difficulty: int | None = None,
    ) -> None:
        """State a wish about one feature, at any time: keep it, bound it, exclude levels, say how hard it is (1 to 5)."""
        self._push(
            constrained(
                self.space,
                feature,
                fixed=fixed,
                at_least=at_least,
                at_most=at_most,
                exclude=exclude,
                difficulty=difficulty,
            )
        )

    def release(self, feature: str) -> None:
        """Take back every limit on one feature ("max_changes" for the count of changes)."""
        if feature not in self.limits.names:
            raise InputError(
                f"there is no limit on {feature!r}; limited are: {', '.join(self.limits.names) or 'nothing'}"
            )
        self._push({"type": "release", "feature": feature})

    def replan(self, x_now: Any) -> None:
        """Go on from where the person is now, with all that was learnt about them."""
        self._push({"type": "replan", "z": record.numbers(self.space.vector(x_now))})

    def undo(self) -> None:
        """Take back the last event; the state before it is restored exactly."""
        self.replay(self.story.undone())

    # events ------------------------------------------------------------------------------------------

    def _push(self, event: Event) -> None:
        self._apply({**event, "pending": self._question})

    def _apply(self, event: Event) -> None:
        question: Question | None = event["pending"]
        limits, z = self.limits, self._z
        match event["type"]:
            case "answer" if question is not None:
                limits = self._learn(question, event)
            case "constrain":
                limits = limits.merge(Limits.from_dict(event["limits"]))
                if event["difficulty"] is not None:
                    self.difficulties = {**self.difficulties, event["feature"]: event["difficulty"]}
                    self.belief = teach(self._new_belief(), self._answers)
            case "release":
                limits = limits.without(event["feature"])
            case "replan":
                z = record.vector(event["z"])
                self._budget = self.answered + self.questions
        self._events.append(event)
        self._turn()
        if limits != self.limits or z is not self._z:
            self._move(z, limits)
        if self.revision in self._grown:
            self._pool.add(self._grown[self.revision])

    def _learn(self, question: Question, event: Event) -> Limits:
        moves = [option.moves for option in question.options]
        self._shown.append(frozenset(option.path.tobytes() for option in question.options))
        choice = event["choice"]
        if choice == "same" or isinstance(choice, int):
            answer = Answer.to(moves, choice)
            self._answers.append(answer)
            answer.teach(self.belief)
        return self.limits.merge(Limits(fixed=tuple(event["impossible"])))

    def _move(self, z: Array, limits: Limits) -> None:
        """Take a new start or new limits: plans that are not legal any more leave the pool."""
        self.limits, self._rows = limits, None
        if z is not self._z:
            self._z, self._x = z, self.space.decode(z[None])
            self._pool, self._shown = Pool(self.space), []
        else:
            self._pool = self._pool.within(self.space.tighten(limits))

    # results -----------------------------------------------------------------------------------------

    def recommend(self) -> Plan:
        """Return the plan that suits the person best, as far as is known now; it can be asked for at any time."""
        if self._plan is None:
            self._plan = self._expected() if self._compares_plans else self._of_set()
        return self._plan

    def _expected(self) -> Plan:
        self._refresh()
        if len(self._pool):
            return advice.best_expected(self.engine, self._x, self.belief, self._pool, self.limits)
        plan = self._status or self.engine.plans(self._x, self.belief.estimate()[None], self.limits)[0]
        return self.engine.advised(plan, self._x, self.limits)

    def _of_set(self) -> Plan:
        belief = self._consistent()
        if self.objective == "expected":
            plan = self.engine.plans(self._x, advice.center(belief, self.center)[None], self.limits)[0]
        else:
            plan = self.engine.robust(self._x, belief, self.objective, self.limits)
        return self.engine.advised(plan, self._x, self.limits)

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
        return Progress.at(self.ask(), len(self._shown), self.answered, self._budget)

    @property
    def consistency(self) -> float | None:
        """How well the answers agree, 0 to 1; None where the belief does not say."""
        value = getattr(self.belief, "consistency", None)
        return None if value is None else float(value)

    def conflicts(self) -> list[tuple[int, ...]]:
        """Return the smallest groups of answers in tension, as positions among the answers (0 for the first)."""
        if not self._answers:
            return []
        kept = teach(ConfidenceSet(self.space.dimension), self._answers)
        return [tuple(group) for group in kept.conflicts()]

    def learned(self) -> Learned:
        """Return what the answers say about the person: which changes are hard, which go together."""
        return learned(self.space, self.belief.estimate(), self._z)

    @property
    def history(self) -> list[tuple[Question, int | str]]:
        """The questions answered so far, each with its answer."""
        return [(event["pending"], event["choice"]) for event in self.story.answers]

    # files -------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the session as JSON; ``from_json`` replays it to the identical state."""
        return record.write(self)

    @classmethod
    def from_json(cls, text: str, engine: Engine, *, belief: Any = None, strategy: Any = None) -> Elicitation:
        """Bring a session back to the state it was saved in: same next question, same plan.

        ``engine`` must be the one it was made with; a session with a belief or strategy of its own needs those too.
        """
        data = record.read(text, engine)
        try:
            session = cls(
                engine,
                engine.space.decode(record.vector(data["z"])[None]),
                limits=Limits.from_dict(data["limits"]),
                belief=belief,
                strategy=strategy,
                **data["settings"],
            )
            record.restore(session, data)
        except InputError:
            raise
        except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
            raise InputError(f"the session is damaged: {error}") from None
        return session

    def __repr__(self) -> str:
        return f"Elicitation({self.preset!r}, {self.answered} answered, revision {self.revision})"
