"""The session: ask, answer, undo, replay. A pure state machine with no input or output of its own.

Its state follows from its events (``reap.elicitation.events``). What was shown is among them, and each round's
randomness derives from the seed and the number of acts, so a session goes on where it stopped, in any process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from reap import __version__
from reap._errors import InputError, unknown
from reap._typing import Array, Bools, Ints
from reap.belief import Belief, ConfidenceSet
from reap.belief.learned_prior import LearnedPriorLike
from reap.effort import Efforts, of_moves
from reap.elicitation import events as log
from reap.elicitation import presets, saying
from reap.elicitation.events import (
    ACTS,
    MALFORMED,
    VERBS,
    Event,
    LogReader,
    Shown,
    in_force,
    read_plans,
    vector,
)
from reap.elicitation.learned import Learned, learned, movable
from reap.elicitation.pool import PlanParts, Pool, Rows, beside, extended, key, scales
from reap.elicitation.presets import Bayes, Paper, Preset
from reap.elicitation.question import Question, why
from reap.language import _, listed
from reap.plan import Confidence, Plan
from reap.questions import Strategy
from reap.questions.greedy import promising
from reap.questions.strategy import samples_of
from reap.recourse import Engine
from reap.recourse.advice import advised, asks_for_less, easier, priced, safer
from reap.recourse.chance import MOST
from reap.space import ActionSpace, Limits
from reap.space.words import lowered

#: A plan counts as best while no other is easier by more than this.
WITHIN = 0.05
#: Other plans to choose from ask for at most this many times the effort of the best one.
AFFORDABLE = 2.0
#: Where a search for plans saved a smaller share of the expected effort, the engine is not asked again for what people choose.
SAVED = 0.005
#: Plans whose parts are asked about, the most promising.
PROMISING = 25
#: How many of a round's matrices also ask for plans that are easier to bear, and what a change then asks beside its size.
BEARABLE, MINDED = 8, (0.03, 1.0)

B = TypeVar("B", bound=Belief)


@dataclass(frozen=True, eq=False)
class ToldAnswer:
    """An answer as a belief takes it in: the moves (s, d) that were compared, the preferred first, or all about the same.

    Parameters
    ----------
    moves : tuple of arrays (s, d)
    same : bool
    beside : (k, e) array, optional
        The columns beside the moves, for beliefs that learn what people mind besides.
    """

    moves: tuple[Array, ...]
    same: bool = False
    beside: Array | None = None

    @classmethod
    def to(cls, moves: Sequence[Array], choice: int | str, beside: Array | None = None) -> ToldAnswer:
        """Return the answer that chose one of several moves, or called them all the same."""
        if isinstance(choice, str):
            return cls(tuple(moves), True, beside)
        order = [choice, *(i for i in range(len(moves)) if i != choice)]
        return cls(tuple(moves[i] for i in order), False, None if beside is None else beside[order])

    def teach(self, belief: Belief) -> None:
        """Let a belief learn from it."""
        moves = list(self.moves)
        if self.beside is not None and belief.dimension > np.shape(moves[0])[-1]:
            moves = extended(moves, self.beside)
        if self.same:
            belief.update_same(moves)
        else:
            belief.update(moves[0], moves[1:])


class PastAnswer(NamedTuple):
    """A question that was answered, the answer as it counts now, and the features it named as impossible to change."""

    question: Question
    choice: int | str
    impossible: tuple[str, ...] = ()

    @property
    def dropped(self) -> str:
        """What "neither" took off the table, as a sentence: what was named, or, where nothing was, the plans; else empty."""
        if self.choice != "neither":
            return ""
        if not self.impossible:
            return _("We will not show these again: {options}.").format(options=listed(self.question.titles))
        space = self.question.options[0].space
        labels = listed(lowered(space.feature(name).label) for name in self.impossible)
        return _("Nothing that changes this will be asked or recommended: {features}.").format(
            features=labels
        )


@dataclass(frozen=True)
class Progress:
    """How far the session is: questions shown and answered, and how many answers are still to come.

    ``least`` is the question on the table, ``most`` what is left of those asked for. Any answer may be the last one that is
    needed, so no number between them is announced.

    Examples
    --------
    >>> print(Progress(asked=3, answered=2, least=1, most=3))
    2 answered, at most 3 to go
    """

    asked: int
    answered: int
    least: int
    most: int

    def __str__(self) -> str:
        if self.most == 0:
            return _("{n} answered, nothing left to ask").format(n=self.answered)
        if self.most == 1:
            return _("{n} answered, the last one").format(n=self.answered)
        return _("{n} answered, at most {most} to go").format(n=self.answered, most=self.most)


@dataclass(eq=False)
class Round:
    """What happened between two acts of the person, and the act that ended it.

    Parameters
    ----------
    found : list of Plan, optional
        The plans that joined the pool; None where the engine was not asked.
    saved : float
        The share of the expected effort that they save.
    question : Question, optional
        The question on the table.
    over : bool
        Whether there is nothing left to ask.
    plan : Plan, optional
        The plan recommended.
    act : Event, optional
        None while the round goes on.
    """

    found: list[Plan] | None = None
    saved: float = 1.0
    question: Question | None = None
    over: bool = False
    plan: Plan | None = None
    act: Event | None = None


class Elicitation:
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
    preset : {"bayes", "reap"}, Bayes or Paper
        "bayes": a posterior that forgives errors, and questions about plans that could really be recommended.
        "reap": the paper to the letter: confidence set, questions about rows of similar effort, its published
        centre, the worst case. `reap.Bayes` and `reap.Paper` are the same with settings of their own, such as a learnt prior.
    belief, strategy : optional
        Replace the preset's own.
    limits : Limits, optional
        What the person cannot or will not do.
    random_state : int

    Attributes
    ----------
    events : list of Event
        What happened, without what was undone.
    limits : Limits
        What the person cannot or will not do, as they have said by now.
    difficulties : mapping of feature to level, 1 very easy to 5 very hard
    screened : bool
        Whether the screening was answered or skipped.
    answers : list of ToldAnswer
        The answers that told something, as they count now and as the belief takes them in.
    belief : Belief
    pool : Pool
        The plans found so far that could be recommended.
    here : (d,)
        Where the person stands now.

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

    engine: Engine
    preset: Preset
    strategy: Strategy

    def __init__(
        self,
        engine: Engine,
        x: Any,
        *,
        questions: int = 5,
        options: int = 2,
        preset: str | Preset = "bayes",
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        limits: Limits | None = None,
        random_state: int = 0,
    ) -> None:
        if not isinstance(questions, int | np.integer) or questions < 0:
            raise InputError(f"questions is {questions!r}; give a whole number, 0 or more")
        if not isinstance(options, int | np.integer) or options < 2:
            raise InputError(f"options is {options!r}; a question needs at least 2")
        made, space = presets.made(preset), engine.space
        learnt = made.learnt if isinstance(made, Bayes) else None
        if learnt is not None:
            if belief is not None:
                raise InputError(
                    "a learnt prior is for the preset's own posterior; leave out prior or belief="
                )
            learnt.fits(space.digest)
        z, codes = space.read(x)
        own = [name for name, part in (("belief", belief), ("strategy", strategy)) if part is not None]
        said = {
            "space": space.digest,
            "z": saying.numbers(z),
            "subject": space.at(z, codes).values(z),
            "limits": (limits or Limits()).to_dict(),
            "settings": {
                "questions": int(questions),
                "options": int(options),
                "random_state": int(random_state),
                "preset": made.to_dict(),
            },
            "own": own,
            "engine": engine.fingerprint(),
            "reap": __version__,
            **({} if learnt is None else {"prior": learnt.hash}),
        }
        self._hold(engine, made, belief, strategy)
        self._replay([Event("started", said)])

    def _hold(self, engine: Engine, preset: Preset, belief: Belief | None, strategy: Strategy | None) -> None:
        if preset.plans and belief is not None:
            samples_of(belief, f"the preset {preset.name!r}")
        self.engine, self.preset, self._everybody = engine, preset, engine.space
        self._given_belief, self._given_strategy = belief, strategy

    # files -----------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Return the session as JSON; ``from_json`` replays it to the identical state."""
        return log.write(self.events)

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
        return cls.of(log.read(text), engine, belief=belief, strategy=strategy, prior=prior, trusted=False)

    @classmethod
    def of(
        cls,
        events: Sequence[Event],
        engine: Engine,
        *,
        belief: Belief | None = None,
        strategy: Strategy | None = None,
        prior: LearnedPriorLike | None = None,
        trusted: bool = True,
    ) -> Elicitation:
        """Return the session that events in force lead to; the engine is not asked. Not ``trusted``: each is checked first."""
        reader = None if trusted else LogReader(engine)

        def replayed() -> Elicitation:
            started = events[0].payload
            log.check_engine(started, engine.space, engine.fingerprint())
            for part, given in (("belief", belief), ("strategy", strategy)):
                if part in started["own"] and given is None:
                    raise InputError(f"the session was made with a {part} of its own; give {part}=… too")
            session = cls.__new__(cls)
            session._hold(engine, presets.read(started, prior), belief, strategy)
            session._replay(events, reader)
            return session

        return replayed() if trusted else _guarded(replayed)

    @classmethod
    def _read(
        cls, events: Sequence[Event], space: ActionSpace, belief: Belief, reader: LogReader | None
    ) -> Elicitation:
        """Return a session without an engine; see ``reading``."""
        session = cls.__new__(cls)
        session.preset, session._everybody = Paper(), space
        session._given_belief, session._given_strategy = belief, None
        session._replay(events, reader)
        return session

    # where the session stands ------------------------------------------------------------------------------

    @property
    def revision(self) -> int:
        """Number of acts so far; a question and a plan belong to one."""
        return sum(event.type in ACTS for event in self.events)

    @property
    def answered(self) -> int:
        """Number of answers that told something: an option, or "same"."""
        return len(self.answers)

    @property
    def history(self) -> list[PastAnswer]:
        """The questions answered so far, each with its answer as it counts now."""
        return [
            PastAnswer(done.question, done.act.payload["choice"], tuple(done.act.payload["impossible"]))
            for done in self._rounds
            if done.question is not None and done.act is not None and done.act.type == "answered"
        ]

    @property
    def changeable(self) -> list[str]:
        """The actions that this person could change at all, whatever the screening says: what to ask about in it.

        None where the limits leave some feature no value; ``recommend`` then says which limit would have to go.
        """
        return [
            feature.name
            for feature in movable(self.space.tighten(self._stated), self.here)
            if feature.advice != "never" or not self.engine.acceptance_.for_people
        ]

    @property
    def progress(self) -> Progress:
        """Questions asked and answered, and how many are likely still to come."""
        question, shown = self.ask(), len(self._shown)
        left = 0 if question is None else self._budget - self.answered
        return Progress(shown, self.answered, int(question is not None), left)

    @property
    def ended(self) -> str | None:
        """Why nothing is asked, or nothing more, as a sentence; None while there is a question."""
        if self.ask() is not None:
            return None
        if self.answered and self.answered >= self._budget:
            return _("You have answered all questions.")
        if not self.preset.plans:  # the paper's way compares rows
            return _("There is nothing left to compare.")
        pool = self.pool.without(self._aside(self.pool))
        if len(pool) == 0:
            return _("There is no plan to compare.")
        if len(pool) == 1:
            return _("There is only one plan for you, so there is nothing to compare.")
        if np.isinf(pool.burden(())).all():
            return _("The plans for you are too much alike to feel a difference, so nothing is asked.")
        if self.answered:
            return _("More answers would not change your plan.")
        return _("One plan is the easiest for you whatever you find hard, so nothing is asked.")

    # what the person says ----------------------------------------------------------------------------------

    def screen(
        self, changeable: Sequence[str] | None, *, difficulty: Mapping[str, int] | None = None
    ) -> None:
        """Say before the first question what could realistically change, and how hard that would be.

        Parameters
        ----------
        changeable : sequence of str, or None
            Names out of ``changeable``; every other action stays as it is. None: skipped. Another screening replaces the
            limits of the one before.
        difficulty : mapping of feature to level, optional
            1 very easy to 5 very hard, for features that are named.
        """
        self.apply(saying.screened(self.space, self.changeable, changeable, difficulty))

    def answer(self, choice: int | str, *, impossible: str | Sequence[str] = ()) -> None:
        """Answer the question that ``ask`` returned.

        Parameters
        ----------
        choice : int or str
            An option's index or letter, "left", "right", "same", "neither" or "skip".
        impossible : sequence of str
            With "neither": the features whose change is impossible; no plan will touch them again. Where none is named, the
            options themselves are set aside: neither shown nor recommended again while another plan is left.
            ``history[-1].dropped`` says what went.
        """
        if self._round.question is None:
            raise InputError("there is no question to answer; call ask() first")
        self.apply(saying.answered(self.space, self._round.question, choice, impossible))

    def revise(self, position: int, choice: int | str, *, impossible: str | Sequence[str] = ()) -> None:
        """Give another answer to an earlier question, by its position in ``history``; later answers stay."""
        questions = [given.question for given in self.history]
        self.apply(saying.revised(self.space, questions, position, choice, impossible))

    def constrain(
        self,
        feature: str | None = None,
        *,
        fixed: bool = False,
        at_least: Any = None,
        at_most: Any = None,
        exclude: Sequence[Any] = (),
        difficulty: int | None = None,
        within_months: int | None = None,
    ) -> None:
        """State a wish about one feature, at any time: keep it, bound it, exclude levels, say how hard it is (1 to 5).

        ``within_months``, with or without a feature, says when the plan must be done.
        """
        wish = {"at_least": at_least, "at_most": at_most, "exclude": exclude, "within_months": within_months}
        self.apply(saying.constrained(self.space, feature, fixed=fixed, difficulty=difficulty, **wish))

    def release(self, feature: str) -> None:
        """Take back every limit on one feature, or on the whole plan ("max_changes", "within_months")."""
        self.apply(saying.released(self.limits, feature))

    def refuse(self, plans: Sequence[Plan] | None = None, *, impossible: str | Sequence[str] = ()) -> None:
        """Say "none of these" to plans that were shown, by default those of ``plans()``.

        They are set aside, as many answers as at first may be asked for again, and ``impossible`` names features that
        cannot change.
        """
        self.apply(saying.refused(self.space, self.plans() if plans is None else plans, impossible))

    def replan(self, x_now: Any) -> None:
        """Go on from where the person is now, with all that was learnt about them."""
        z, codes = self._everybody.read(x_now)
        self.apply(saying.replanned(self._everybody.at(z, codes), z))

    def undo(self) -> None:
        """Take back the last act; the state before it is restored exactly."""
        if not self.revision:
            raise InputError("there is nothing to undo")
        self._replay(in_force([*self.events, Event("undone", {})]))

    # letting events happen: one way, be they said now or replayed ------------------------------------------

    def apply(self, event: Event) -> None:
        """Let an event happen. No engine is asked."""
        shown = Shown.of(event, self.space) if event.type in ("asked", "recommended") else Shown()
        self._happen(event, shown)

    def _happen(self, event: Event, shown: Shown, pool: Pool | None = None) -> None:
        """Let an event happen: what it shows, and the pool that the plans found make, where that is known already."""
        match event.type:
            case "asked":
                self._join(shown.found, pool)
                self._round.question, self._round.over = shown.question, shown.question is None
            case "recommended":
                self._join(shown.found, pool)
                self._round.plan = shown.plan
            case "revised":
                self._revise(event)
            case act if act in ACTS:
                self._act(event)
            case _:
                raise unknown("event", event.type, VERBS)
        self.events.append(event)

    def _replay(self, events: Sequence[Event], reader: LogReader | None = None) -> None:
        if reader is not None:
            reader.started(events[0], self._everybody)
        self.events = [events[0]]
        self._begin()
        for event in events[1:]:
            if reader is not None:
                asked = [given.question for given in self.history]
                reader.check(event, self.space, self.limits, self.here, self._round.question, asked)
            self.apply(event)

    def _begin(self) -> None:
        """Go to where the person stood at first."""
        started = self.events[0].payload
        settings = started["settings"]
        self._questions, self._seed = settings["questions"], settings["random_state"]
        self.strategy = self._given_strategy or self.preset.strategy(settings["options"])
        given = settings["preset"].get("scales")
        self._stand(started, None if given is None else np.array(given))
        self._stated, self._screened = Limits.from_dict(started["limits"]), Limits()
        self.limits = self._stated
        self.screened = False
        self.difficulties: dict[str, int] = {}
        self.belief = self._unasked()
        self.answers: list[ToldAnswer] = []
        self._shown: list[frozenset[bytes]] = []
        self._refused: list[Plan] = []
        self._budget = self._questions
        self._rounds: list[Round] = []
        self._round = Round()

    def _stand(self, said: Mapping[str, Any], sizes: Array | None) -> None:
        """Go to where an event says that the person stands."""
        self.here = vector(said["z"])
        self.space = self._everybody.at_values(self.here, said["subject"])
        self._x = self.space.decode(self.here[None])
        self.pool = Pool(self.space, sizes=sizes)
        self._rows: Rows | None = None

    def _unasked(self) -> Belief:
        """Return what is believed before any answer, with what the person said of single features."""
        if self._given_belief is not None:
            return self._given_belief.copy()
        return self.preset.belief(self._everybody, self.difficulties, self._seed)

    def _act(self, event: Event) -> None:
        said = event.payload
        match event.type:
            case "answered":
                self._learn(said["choice"])
                self._limit(self._stated.merge(Limits(fixed=tuple(said["impossible"]))))
            case "screened":
                self.screened, self._screened = True, Limits.from_dict(said["limits"])
                self._find(said["difficulty"])
                self._limit(self._stated)
            case "constrained":
                if said["difficulty"] is not None:
                    self._find({said["feature"]: said["difficulty"]})
                self._limit(self._stated.merge(Limits.from_dict(said["limits"])))
            case "released":
                self._screened = self._screened.without(said["feature"])
                self._limit(self._stated.without(said["feature"]))
            case "refused":
                self._refused = [*self._refused, *read_plans(said["plans"], self.space)]
                self._budget = self.answered + self._questions
                self._limit(self._stated.merge(Limits(fixed=tuple(said["impossible"]))))
            case "replanned":
                self._stand(said, self.pool.sizes)
                self._shown, self._budget = [], self.answered + self._questions
        self._rounds.append(replace(self._round, act=event))
        self._round = Round()

    def _learn(self, choice: int | str) -> None:
        question = self._round.question
        if question is None:
            raise InputError("there is no question to answer; call ask() first")
        self._shown.append(frozenset(key(option) for option in question.options))
        if choice == "same" or isinstance(choice, int):
            moves = [option.moves for option in question.options]
            reply = ToldAnswer.to(moves, choice, self._beside(question.options))
            self.answers.append(reply)
            reply.teach(self.belief)

    def _beside(self, options: Sequence[Plan]) -> Array | None:
        """Return the columns beside the moves of options, where the belief learns from them."""
        if self.belief.dimension == self.space.dimension:
            return None
        if self.pool.sizes is None:  # no engine was asked: an answer from elsewhere
            self.pool = Pool(self.space, self.pool, scales(self.space, options))
        assert self.pool.sizes is not None
        return beside(self.space, options, self.pool.sizes)

    def _find(self, difficulties: Mapping[str, int]) -> None:
        """Take in how hard the person finds changes; what the answers taught stays."""
        if difficulties:
            self.difficulties = {**self.difficulties, **difficulties}
            self.belief = teach(self._unasked(), self.answers)

    def _limit(self, stated: Limits) -> None:
        """Take new limits, beside those of the screening; plans that are not legal any more leave the pool."""
        self._stated, limits = stated, stated.merge(self._screened)
        if limits != self.limits:
            self.limits, self._rows = limits, None
            self.pool = self.pool.within(self.space.tighten(limits))

    def _revise(self, event: Event) -> None:
        """Go back to the answer, let the other one happen in its place, then all that came later.

        Plans found after the old answer may break what the new one forbids: they are left out, and the engine will be
        asked again.
        """
        done = self._rounds
        given = [i for i, old in enumerate(done) if old.act is not None and old.act.type == "answered"]
        place = given[event.payload["position"]]
        said = {name: event.payload[name] for name in ("choice", "impossible")}
        self._begin()
        for i, old in enumerate(done):
            if old.act is None:
                continue
            self._join(old.found if i <= place else None)
            self._round.question, self._round.over = old.question, old.question is None
            self._act(old.act if i != place else Event("answered", {**old.act.payload, **said}))

    def _join(self, found: list[Plan] | None, pool: Pool | None = None) -> None:
        """Let the plans that an engine found join the pool; None: it was not asked."""
        if found is None:
            return
        before, self.pool = self.pool, self._with(found) if pool is None else pool
        saved = 1.0
        if self.preset.plans and len(before):
            least = [self._each(each).min(axis=1) @ self._weights for each in (self.pool, before)]
            saved = 1 - float(least[0]) / float(least[1]) if least[1] > 0 else 0.0
        self._round.found, self._round.saved = found, saved

    def _with(self, found: Sequence[Plan]) -> Pool:
        """Return the pool with plans that joined; the first ones set the scale of what is minded besides."""
        sizes = self.pool.sizes
        if sizes is None and len(found) and self.belief.dimension > self.space.dimension:
            sizes = scales(self.space, found)
        return Pool(self.space, [*self.pool, *found], sizes) if len(found) else self.pool

    # which question comes next -----------------------------------------------------------------------------

    def ask(self) -> Question | None:
        """Return the question to answer now, the same until it is answered; None when there is nothing to ask."""
        if self._round.question is None and not self._round.over:
            shown, pool = self._next()
            self._happen(shown.event(), shown, pool)
        return self._round.question

    def _next(self) -> tuple[Shown, Pool | None]:
        """Return what comes next: the plans that the engine finds, the question, and the pool with these plans."""
        if self.answered >= self._budget or len(self._shown) >= 3 * self._budget + 3:
            return Shown(), None
        rng = np.random.default_rng([self._seed, self.revision, 1])
        if not self.preset.plans:
            return Shown(question=self._about_rows(rng)), None
        found, question = None, None
        if self._round.found is not None or self._settled:
            question = self._about_plans(self.pool, rng)
        pool = self.pool
        if question is None and self._round.found is None:  # before we say that nothing is left to ask
            found, pool = self._look()
            if found or not self._settled:
                question = self._about_plans(pool, rng)
        return Shown(found, question), pool

    @property
    def _settled(self) -> bool:
        """Whether the engine was asked since anything but a choice was said, and its plans saved next to nothing.

        The belief only narrows then: what the engine would find for it is in the pool.
        """
        for done in reversed(self._rounds if len(self.pool) else ()):
            said = done.act
            if said is None or said.type != "answered" or said.payload["choice"] == "neither":
                return False
            if done.found is not None:
                return done.saved < SAVED
        return False

    def _about_rows(self, rng: np.random.Generator) -> Question | None:
        """Return a question about rows that the model accepts, as the paper asks them."""
        if self._rows is None:
            self._rows = Rows(self.engine.candidates(self._x, self.limits), self.here)
        A = presets.center(self._consistent(), self.preset)
        choice = self._rows.choose(self.strategy, A, self._shown, rng)
        return None if choice is None else self._question([self._rows[i] for i in choice.options], rng)

    def _about_plans(self, pool: Pool, rng: np.random.Generator) -> Question | None:
        """Return the question that the strategy chooses among plans and their parts; None where it has none."""
        options = pool.without(self._aside(pool))
        parts = self._parts(options)
        assert isinstance(self.preset, Bayes)
        choice = options.choose(self.strategy, self.belief, self._shown, rng, self.preset.rows, parts)
        if choice is None:
            return None
        count = len(options)
        if parts is None or choice.options[0] < count:
            return self._question([options[i] for i in choice.options], rng, choice.gain)
        shown = [parts.plans[i - count] for i in choice.options]
        scores = np.asarray(self.engine.classifier_.score(np.concatenate([part.path for part in shown])))
        each = zip(shown, scores.reshape(len(shown), -1), strict=True)
        return self._question(
            [replace(part, scores=row) for part, row in each], rng, choice.gain, whole=False
        )

    def _parts(self, pool: Pool) -> PlanParts | None:
        """Return the parts of plans that could be asked about; None for paths."""
        rows = isinstance(self.preset, Bayes) and self.preset.rows is not None
        if not rows or len(pool) < 2 or any(plan.along for plan in pool):
            return None
        some = promising(self._each(pool), self._weights, np.arange(len(pool)), PROMISING)
        return pool.parts(self.limits, np.sort(some))

    def _question(
        self,
        options: Sequence[Plan],
        rng: np.random.Generator,
        gain: float = float("nan"),
        *,
        whole: bool = True,
    ) -> Question:
        # Which option stands first must not depend on how good it looks: people favour the first.
        plans = tuple(options[k] for k in rng.permutation(len(options)))
        number = len(self._shown) + 1
        return Question(f"{self.revision}-{number}", number, plans, why(gain), gain, whole)

    def _look(self) -> tuple[list[Plan], Pool]:
        """Let the engine answer for the belief of this round; return the plans that join the pool, and the pool with them."""
        assert isinstance(self.preset, Bayes)
        belief, rng = samples_of(self.belief, "a session"), np.random.default_rng([self._seed, self.revision])
        drawn = Efforts.of(belief.sample(self.preset.samples, random_state=rng))
        each = (self._of_changes(drawn.matrices), drawn.powers, drawn.per_change, drawn.per_wait)
        asked = Efforts.joined([Efforts.of(self._of_changes(belief.estimate())[None]), Efforts.of(*each)])
        if belief.dimension > self.space.dimension and not len(self.pool):
            asked = self._minding(asked)
        found = self.engine.plans(self._x, asked, self.limits)
        if (
            self.engine.acceptance_.by_chance
        ):  # the easiest of all is what no recommendation may exceed by much
            easiest = self.engine.holding(0).plans(self._x, asked[:1], self.limits)
            found += self.engine.acceptance_.told(easiest)
        joining = self.pool.new(found)
        return joining, self._with(joining)

    def _minding(self, people: Efforts) -> Efforts:
        """Return people, and of the first few also who minds the number of changes, or waiting."""
        some = people.matrices[:BEARABLE]
        size = np.trace(some, axis1=1, axis2=2) / self.space.dimension
        minded = [Efforts.of(some, per_change=h * size) for h in MINDED]
        if self.space.timed:
            minded.append(Efforts.of(some, per_wait=size))
        return Efforts.joined([people, *minded])

    # what it leads to --------------------------------------------------------------------------------------

    def recommend(self) -> Plan:
        """Return the plan that suits the person best, as far as is known now; it can be asked for at any time."""
        if self._round.plan is None:
            found, pool = None, self.pool
            if self.preset.plans and self._round.found is None:
                # what is recommended is looked for, also where a question was not worth it
                found, pool = self._look()
            shown = Shown(found, plan=self._best(pool))
            self._happen(shown.event(), shown, pool)
        assert self._round.plan is not None
        return self._round.plan

    def _best(self, pool: Pool) -> Plan:
        """Return the plan of least expected effort, with how sure we are of it."""
        belief, limits = self._consistent(), self.limits
        if self.preset.plans and len(pool):
            efforts, weights, worth = self._each(pool), self._weights, self._open(pool)
            expected = samples_of(belief, "a session").expected(pool.moves)
            limit = MOST * float(expected[worth].min())
            rank = np.where(expected <= limit, expected / pool.chances, np.inf)  # the easiest chance of a yes
            best = int(worth[np.argmin(rank[worth])])
            shown = ~self._aside(pool)
            shown[worth] = True
            others, own = efforts[:, shown], efforts[:, [best]]
            least = others.min(axis=1, keepdims=True)
            # against a tenth of the usual effort at least: without this floor the expectation need not exist
            floor = np.maximum(np.maximum(least, np.median(others, axis=1, keepdims=True) / 10), 1e-300)
            confidence = Confidence(
                within=float(weights @ (own <= (1 + WITHIN) * least)[:, 0]),
                excess=float(weights @ ((own - least) / floor)[:, 0]),
                answers=self.answered,
            )
            plan = pool[best].with_(confidence=confidence, effort=float(expected[best]))

            def effort(one: Plan) -> float:
                return float(samples_of(belief, "a session").expected(pool.priced([one]))[0])

            return priced(self.engine, plan, self._x, self.matrix, limits, effort)
        if isinstance(self.preset, Paper) and self.preset.objective != "expected":
            if not isinstance(belief, ConfidenceSet):
                raise InputError(
                    f"the {self.preset.objective} plan needs a ConfidenceSet, and the belief is a {type(belief).__name__}; "
                    'give preset=reap.Paper(objective="expected")'
                )
            plan = self.engine.robust(self._x, belief, self.preset.objective, limits)
        else:
            plan = self.engine.plans(self._x, self.matrix[None], limits)[0]
        return advised(self.engine, plan, self._x, limits)

    def plans(self, count: int = 3, *, today: bool = False) -> list[Plan]:
        """Return the best plan and clearly different ones, at most ``count``; never one that was set aside.

        Where the engine looks for the easiest chance of a yes, the second is a *safer* one that 95 % of the model's possible
        updates accept, if there is one, with its price in ``note``. The others change features that the plans before them leave
        alone, as far as there is such a plan within twice the effort of the best; where there is none, ``note`` says what
        a plan shares. Fewer come back where there are fewer.
        With ``today=True`` the easiest plan that today's model alone accepts comes last, said as such, where the engine asks
        that plans hold and such a plan is notably easier, or is all there is.
        """
        if count < 1:
            raise InputError(f"count is {count}; give 1 or more")
        best, made = self.recommend(), []
        A = self.matrix
        if best.status == "ok" and best.valid:
            known, shown = list(self.pool), [best]
            while len(shown) < count:  # ask for a plan that leaves alone what the ones before it change
                used = set().union(*map(_features, shown))
                apart = self.limits.merge(Limits(fixed=tuple(sorted(used))))
                found = Pool(self.space).new(self.engine.plans(self._x, A[None], apart))
                if not found:
                    break
                known, shown = known + found, shown + found
            pool = Pool(self.space, known, self.pool.sizes)
            made = self._different(best, [pool[int(i)] for i in self._open(pool)], count)
            safe = safer(self.engine, best, self._x, A, self.limits, self.effort)
            if count > 1 and safe is not None and not self._aside(Pool(self.space, [safe]))[0]:
                others = [plan for plan in made[1:] if _features(plan) != _features(safe)]
                made = [best, safe, *others][:count]
            made = [best, *sorted(made[1:], key=asks_for_less)]
        lighter = easier(self.engine, best, self._x, A, self.limits) if today else None
        if lighter is not None and not self._aside(Pool(self.space, [lighter]))[0]:
            made = [*(made or [best]), lighter]
        return made or [best]

    def _different(self, best: Plan, others: Sequence[Plan], count: int) -> list[Plan]:
        """Return a plan and up to ``count − 1`` clearly different ones, each with what could not be met in its note.

        In turn the plan that shares fewest features with those before it, then the easiest, of those within ``AFFORDABLE``
        times the effort of the first; a plan that changes the same features as one before it is not different.
        """
        chosen, limit = [best], AFFORDABLE * self.effort(best)
        efforts = {id(plan): self.effort(plan) for plan in others}
        beaten = {
            key(option)
            for question, choice, _impossible in self.history
            if isinstance(choice, int) and question.whole and key(question.options[choice]) == key(best)
            for option in question.options
        }
        while len(chosen) < count:
            taken = [_features(plan) for plan in chosen]
            before = set().union(*taken)
            left = [p for p in others if efforts[id(p)] <= limit and _features(p) not in taken]
            if not left:
                break
            plan = min(left, key=lambda p: (len(_features(p) & before), efforts[id(p)]))
            labels = [lowered(c.label) for c in plan.changes if c.feature in before]
            note = _(
                "Like a plan above, it changes {features}: any other plan would ask more than twice as much of you."
            )
            said = note.format(features=listed(labels)) if labels else None
            less = efforts[id(plan)] < self.effort(best)
            if plan.chance is not None and less and key(plan) not in beaten:  # they said it asks for more
                said = _("This plan asks less of you than the first, but a yes is less likely to last.")
            chosen.append(plan.with_(effort=efforts[id(plan)], note=said))
        return chosen

    def effort(self, plan: Plan) -> float:
        """Return what a plan asks of the person, as far as is known."""
        if not self.preset.plans:
            return of_moves(self.matrix, plan.moves)
        return float(samples_of(self.belief, "a session").expected(self.pool.priced([plan]))[0])

    @property
    def matrix(self) -> Array:
        """What a change is expected to cost this person, (d, d), for ``engine.plans``; what they mind besides is not in it."""
        return self._of_changes(presets.center(self._consistent(), self.preset))

    def learned(self) -> Learned:
        """Return what the answers say about the person: which changes are hard, which go together."""
        d, more = self.space.dimension, self.belief.dimension - self.space.dimension
        minded = np.zeros(0)
        if self.preset.plans and more and self.answers:
            belief = samples_of(self.belief, "a session")
            minded = belief.weights @ (belief.efforts(np.eye(d + more)[d:]) > 0)
        return learned(self.space, self.matrix, self.here, minded)

    def conflicts(self) -> list[tuple[int, ...]]:
        """Return the smallest groups of answers in tension, as positions among the answers (0 for the first)."""
        return teach(ConfidenceSet(self.space.dimension), self.answers).conflicts() if self.answers else []

    def _open(self, pool: Pool) -> Ints:
        """Return the places (n,) of the plans that may be recommended: not set aside, and not just refused for another.

        A plan that was refused in favour of one still on the table is not recommended right after; later it may win again
        if the belief says so. Where none is left, those that were refused, then all.
        """
        open_ = ~self._aside(pool)
        for kept in (open_ & ~self._just_lost(pool), open_):
            if kept.any():
                return np.flatnonzero(kept)
        return np.arange(len(pool))

    def _aside(self, pool: Pool) -> Bools:
        """Return which plans (n,) were set aside: refused, or neither of two, with those that ask for all of one and more."""
        plans = list(self._refused)
        for question, choice, impossible in self.history:
            if choice == "neither" and not impossible:  # what is named is for the limits
                plans += question.options
        here = [plan for plan in plans if np.array_equal(plan.path[0], self.here, equal_nan=True)]
        return pool.covered(here, alike=True)

    def _just_lost(self, pool: Pool) -> Bools:
        """Return which plans (n,) the last answer refused in favour of one that can be recommended."""
        none = np.zeros(len(pool), dtype=bool)
        if not (history := self.history):
            return none
        question, choice, _impossible = history[-1]
        start = question.options[0].path[0]
        if not (
            isinstance(choice, int) and question.whole and np.array_equal(start, self.here, equal_nan=True)
        ):
            return none
        winner = pool.place(key(question.options[choice]))
        if winner is None or self._aside(pool)[winner]:
            return none
        return pool.covered([option for i, option in enumerate(question.options) if i != choice])

    def _consistent(self) -> Belief:
        """Return a confidence set without the answers left aside as contradictory; any other belief as it is."""
        if not (isinstance(self.preset, Paper) and isinstance(self.belief, ConfidenceSet)):
            return self.belief
        allowed = int(np.floor(self.preset.tolerance * self.answered))
        if allowed == 0:
            return self.belief
        dropped = set(self.belief.relaxed_center(violations=allowed).dropped)
        kept = [reply for i, reply in enumerate(self.answers) if i not in dropped]
        return teach(ConfidenceSet(self.belief.dimension, epsilon=self.belief.epsilon), kept)

    def _each(self, pool: Pool) -> Array:
        """Return the effort of each plan for each of the people that the belief holds possible, (n, m)."""
        return np.asarray(samples_of(self.belief, "a session").efforts(pool.moves), dtype=float)

    @property
    def _weights(self) -> Array:
        return samples_of(self.belief, "a session").weights

    def _of_changes(self, A: Array) -> Array:
        """Return matrices (…, d, d) without the columns beside the changes."""
        d = self.space.dimension
        return A[..., :d, :d]

    def __repr__(self) -> str:
        return f"Elicitation({self.preset.name!r}, {self.answered} answered, revision {self.revision})"


def reading(
    events: Sequence[Event], space: ActionSpace, belief: Belief, *, trusted: bool = True
) -> Elicitation:
    """Return a session for reading what was said in it, with a belief of one's own: without an engine, it cannot ask."""
    if trusted:
        return Elicitation._read(events, space, belief, None)
    return _guarded(lambda: Elicitation._read(events, space, belief, LogReader(None)))


def teach(belief: B, answers: Iterable[ToldAnswer]) -> B:
    """Return the belief after it learned from all answers."""
    for reply in answers:
        reply.teach(belief)
    return belief


def _features(plan: Plan) -> set[str]:
    return {change.feature for change in plan.changes}


def _guarded(replayed: Callable[[], Elicitation]) -> Elicitation:
    """Replay a log that nobody has looked at: its numbers may overflow, and whatever it ends in is a sentence."""
    try:
        with np.errstate(all="ignore"):
            return replayed()
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"the session is damaged: {type(error).__name__}: {error}") from None
