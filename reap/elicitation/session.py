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
from reap._typing import Array
from reap.belief import Belief, ConfidenceSet
from reap.belief.learned_prior import LearnedPriorLike
from reap.elicitation import choosing, presets
from reap.elicitation import events as log
from reap.elicitation.events import ACTS, MALFORMED, VERBS, Event, LogReader, Shown, in_force, read_plans
from reap.elicitation.learned import Learned, learned, movable
from reap.elicitation.pool import Pool, beside, extended, key, scales
from reap.elicitation.presets import Paper, Preset
from reap.elicitation.question import Question
from reap.language import _, listed
from reap.plan import Plan, numbers
from reap.questions import Strategy
from reap.questions.strategy import samples_of
from reap.recourse import Candidates, Engine
from reap.space import ActionSpace, Limits
from reap.space.words import lowered

#: Where a search for plans saved a smaller share of the expected effort, the engine is not asked again for what people choose.
SAVED = 0.005

B = TypeVar("B", bound=Belief)


@dataclass(frozen=True, eq=False)
class ToldAnswer:
    """An answer as a belief takes it in: the moves (s, d) that were compared, the preferred first, or all about the same.

    ``beside`` (k, e) are the columns beside the moves, for beliefs that learn what people mind besides.
    """

    moves: tuple[Array, ...]
    same: bool = False
    beside: Array | None = None

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
    """What happened between two acts of the person, and the act that ended it; None while it goes on.

    ``found`` are the plans that joined the pool, None where the engine was not asked; ``saved`` is the share of the expected
    effort that they save. ``over``: nothing is left to ask.
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
        learnt = made.learnt
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
            **log.standing(space.at(z, codes), z),
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
        self.engine = engine
        self._hold(space, made, belief, strategy, [Event("started", said)])

    def _hold(
        self,
        space: ActionSpace,
        preset: Preset,
        belief: Belief | None,
        strategy: Strategy | None,
        events: Sequence[Event],
        reader: LogReader | None = None,
    ) -> Elicitation:
        """Let events happen to somebody new; return the session."""
        if preset.plans and belief is not None:
            samples_of(belief, f"the preset {preset.name!r}")
        self.preset, self._everybody = preset, space
        self._given_belief, self._given_strategy = belief, strategy
        self._replay(events, reader)
        return self

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

        def replayed() -> Elicitation:
            started = events[0].payload
            log.check_engine(started, engine.space, engine.fingerprint())
            for part, given in (("belief", belief), ("strategy", strategy)):
                if part in started["own"] and given is None:
                    raise InputError(f"the session was made with a {part} of its own; give {part}=… too")
            session = cls.__new__(cls)
            session.engine, preset = engine, presets.read(started, prior)
            reader = None if trusted else LogReader(engine)
            return session._hold(engine.space, preset, belief, strategy, events, reader)

        return replayed() if trusted else _guarded(replayed)

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
        return self.preset.silence(self)

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
        self.apply(log.screened(self.space, self.changeable, changeable, difficulty))

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
        self.apply(log.answered(self.space, self._round.question, choice, impossible))

    def revise(self, position: int, choice: int | str, *, impossible: str | Sequence[str] = ()) -> None:
        """Give another answer to an earlier question, by its position in ``history``; later answers stay."""
        questions = [given.question for given in self.history]
        self.apply(log.revised(self.space, questions, position, choice, impossible))

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
        self.apply(log.constrained(self.space, feature, fixed=fixed, difficulty=difficulty, **wish))

    def release(self, feature: str) -> None:
        """Take back every limit on one feature, or on the whole plan ("max_changes", "within_months")."""
        self.apply(log.released(self.limits, feature))

    def refuse(self, plans: Sequence[Plan] | None = None, *, impossible: str | Sequence[str] = ()) -> None:
        """Say "none of these" to plans that were shown, by default those of ``plans()``.

        They are set aside, as many answers as at first may be asked for again, and ``impossible`` names features that
        cannot change.
        """
        self.apply(log.refused(self.space, self.plans() if plans is None else plans, impossible))

    def replan(self, x_now: Any) -> None:
        """Go on from where the person is now, with all that was learnt about them."""
        z, codes = self._everybody.read(x_now)
        self.apply(log.replanned(self._everybody.at(z, codes), z))

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
        self.here = numbers(said["z"])
        self.space = self._everybody.at_values(self.here, said["subject"])
        self._x = self.space.decode(self.here[None])
        self.pool = Pool(self.space, sizes=sizes)
        self._accepted: Candidates | None = None

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
            first = choice if isinstance(choice, int) else 0
            order = [first, *(i for i in range(len(question.options)) if i != first)]
            options = [question.options[i] for i in order]
            moves = tuple(option.moves for option in options)
            self.answers.append(ToldAnswer(moves, choice == "same", self._beside(options)))
            self.answers[-1].teach(self.belief)

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
            self.limits, self._accepted = limits, None
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
            weights = samples_of(self.belief, "a session").weights
            least = [self._efforts(each).min(axis=1) @ weights for each in (self.pool, before)]
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
            found, pool, question = None, self.pool, None
            if self.answered < self._budget and len(self._shown) < 3 * self._budget + 3:
                rng = np.random.default_rng([self._seed, self.revision, 1])
                looked = self._round.found is not None
                if looked or self._settled:
                    question = self.preset.question(self, pool, rng)
                if question is None and not looked:  # before we say that nothing is left to ask
                    found, pool = self.preset.look(self)
                    if found or not self._settled:
                        question = self.preset.question(self, pool, rng)
            shown = Shown(found, question)
            self._happen(shown.event(), shown, pool)
        return self._round.question

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
        return Question(f"{self.revision}-{number}", number, plans, gain, whole)

    # what it leads to --------------------------------------------------------------------------------------

    def recommend(self) -> Plan:
        """Return the plan that suits the person best, as far as is known now; it can be asked for at any time."""
        if self._round.plan is None:
            found, pool = None, self.pool
            if (
                self._round.found is None
            ):  # what is recommended is looked for, also where a question was not worth it
                found, pool = self.preset.look(self)
            shown = Shown(found, plan=self.preset.best(self, pool))
            self._happen(shown.event(), shown, pool)
        assert self._round.plan is not None
        return self._round.plan

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
        return choosing.to_choose_from(self, self.recommend(), count, today=today)

    def effort(self, plan: Plan) -> float:
        """Return what a plan asks of the person, as far as is known."""
        return self.preset.effort(self, plan)

    @property
    def matrix(self) -> Array:
        """What a change is expected to cost this person, (d, d), for ``engine.plans``; what they mind besides is not in it."""
        d = self.space.dimension
        return self.preset.matrix(self)[:d, :d]

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

    def _efforts(self, pool: Pool) -> Array:
        """Return the effort of each plan for each of the people that the belief holds possible, (n, m)."""
        return np.asarray(samples_of(self.belief, "a session").efforts(pool.moves), dtype=float)

    def __repr__(self) -> str:
        return f"Elicitation({self.preset.name!r}, {self.answered} answered, revision {self.revision})"


def reading(
    events: Sequence[Event], space: ActionSpace, belief: Belief, *, trusted: bool = True
) -> Elicitation:
    """Return a session for reading what was said in it, with a belief of one's own: without an engine, it cannot ask."""

    def replayed() -> Elicitation:
        session = Elicitation.__new__(Elicitation)
        return session._hold(space, Paper(), belief, None, events, None if trusted else LogReader(None))

    return replayed() if trusted else _guarded(replayed)


def teach(belief: B, answers: Iterable[ToldAnswer]) -> B:
    """Return the belief after it learned from all answers."""
    for reply in answers:
        reply.teach(belief)
    return belief


def _guarded(replayed: Callable[[], Elicitation]) -> Elicitation:
    """Replay a log that nobody has looked at: its numbers may overflow, and whatever it ends in is a sentence."""
    try:
        with np.errstate(all="ignore"):
            return replayed()
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"the session is damaged: {type(error).__name__}: {error}") from None
