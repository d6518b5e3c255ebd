"""What the events of a session lead to: where the person stands, their limits, what is believed of them, which plans are known.

The state is a function of the events alone. Letting an event happen asks no engine, so undo and resuming are exact and quick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import Belief
from reap.elicitation import minds
from reap.elicitation.answers import Answer, teach
from reap.elicitation.events import ACTS, VERBS, Event, in_force
from reap.elicitation.history import History
from reap.elicitation.options import Rows, key
from reap.elicitation.pool import SAVED, Pool, saved
from reap.elicitation.question import Question
from reap.elicitation.rounds import Round, read_asked, read_plans, read_recommended, vector
from reap.elicitation.screening import changeable
from reap.elicitation.verdicts import Verdicts
from reap.plan import Plan
from reap.space import ActionSpace, Limits


class State(History):
    """A session without an engine.

    Parameters
    ----------
    space : ActionSpace
    started : Event
        The first event.
    questions : int
        How many answers to ask for at most.
    prior : callable
        Returns a belief before any answer, for the levels of difficulty that the person has named.

    Attributes
    ----------
    events : list of Event
        What happened, without what was undone.
    limited : list of Limits
        For every event the limits that were in force when it happened.
    limits : Limits
        What the person cannot or will not do.
    screened : bool
        Whether the screening was answered or skipped.
    difficulties : mapping of feature to level, 1 very easy to 5 very hard
    belief : Belief
    pool : Pool
        The plans found so far that could be recommended.
    """

    def __init__(
        self,
        space: ActionSpace,
        started: Event,
        questions: int,
        prior: Callable[[Mapping[str, int]], Belief],
    ) -> None:
        self._everybody, self.questions, self._prior = space, questions, prior
        self._judged: Verdicts | None = None
        self._replay([started])

    def _replay(self, events: Sequence[Event]) -> None:
        self.events = [events[0]]
        self._begin()
        self.limited = [self.limits]
        for event in events[1:]:
            self.apply(event)

    def _begin(self) -> None:
        """Go to where the person stood at first."""
        started = self.events[0].payload
        given = started["settings"].get("scales")
        self._sizes: Array | None = None if given is None else np.array(given)
        self._stand(started)
        self._stated, self._screened = Limits.from_dict(started["limits"]), Limits()
        self.limits = self._stated
        self.screened = False
        self.difficulties: dict[str, int] = {}
        self.belief = self._prior(self.difficulties)
        self._answers: list[Answer] = []
        self._shown: list[frozenset[bytes]] = []
        self._refused: list[Plan] = []
        self._budget = self.questions
        self._rounds: list[Round] = []
        self._round, self._judged = Round(), None

    def _stand(self, said: Mapping[str, Any]) -> None:
        """Go to where an event says that the person stands."""
        self._z = vector(said["z"])
        self.space = self._everybody.at_values(self._z, said["subject"])
        self._x = self.space.decode(self._z[None])
        self.pool = Pool(self.space, sizes=self._sizes)
        self._rows: Rows | None = None

    # where the person stands ------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        """Number of answers that told something: an option, or "same"."""
        return len(self._answers)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that told something, as they count now and as a belief takes them in."""
        return tuple(self._answers)

    @property
    def changeable(self) -> list[str]:
        """The actions that this person could change at all, whatever the screening says: what to ask about in it.

        None where the limits leave some feature no value; ``recommend`` then says which limit would have to go.
        """
        return changeable(self.space.tighten(self._stated), self._z)

    @property
    def here(self) -> Array:
        """Where the person stands now, as a vector (d,)."""
        return self._z.copy()

    @property
    def stuck(self) -> bool:
        """Whether the engine was asked and found no plan at all."""
        return self._round.found is not None and not len(self.pool)

    def _verdicts(self) -> Verdicts:
        """What the answers say about single plans; the same as long as the person says nothing."""
        if self._judged is None:
            given = [(question, act.payload) for question, act in self._replies()]
            self._judged = Verdicts(self.space.tighten(self.limits), given, self._z, self._refused)
        return self._judged

    # letting events happen ---------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back the last act; the state before it is restored exactly."""
        if not self.revision:
            raise InputError("there is nothing to undo")
        self._replay(in_force([*self.events, Event("undone", {})]))

    def apply(self, event: Event) -> None:
        """Let an event happen. No engine is asked."""
        limits = self.limits
        match event.type:
            case "asked":
                found, question = read_asked(event.payload, self.space)
                self._ask(found, question)
            case "recommended":
                found, plan = read_recommended(event.payload, self.space)
                self._join(found)
                self._round.plan = plan
            case "revised":
                self._revise(event)
            case act if act in ACTS:
                self._act(event)
            case _:
                raise unknown("event", event.type, VERBS)
        self.events.append(event)
        self.limited.append(limits)

    def _ask(self, found: Sequence[Plan] | None, question: Question | None) -> None:
        self._join(found)
        self._round.question, self._round.over = question, question is None

    def _join(self, found: Sequence[Plan] | None) -> None:
        """Let the plans that an engine found join the pool; None: it was not asked."""
        if found is not None:
            self._round.found = found
            if self._sizes is None and len(found) and self.belief.dimension > self.space.dimension:
                self._sizes = minds.scales(self.space, found)
                self.pool = Pool(self.space, self.pool, self._sizes)
            before = self.pool.moves
            self.pool.add(found)
            self._round.saved = saved(self.belief, before, self.pool.moves)

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
                self._budget = self.answered + self.questions
                self._limit(self._stated.merge(Limits(fixed=tuple(said["impossible"]))))
            case "replanned":
                self._stand(said)
                self._shown, self._budget = [], self.answered + self.questions
        self._rounds.append(replace(self._round, act=event))
        self._round, self._judged = Round(), None

    def _learn(self, choice: int | str) -> None:
        question = self._round.question
        if question is None:
            raise InputError("there is no question to answer; call ask() first")
        self._shown.append(frozenset(key(option) for option in question.options))
        counts = question.kind != "warm-up"
        if counts and (choice == "same" or isinstance(choice, int)):
            options = question.options
            more = self._beside(options)
            answer = Answer.to([option.moves for option in options], choice, more)
            self._answers.append(answer)
            answer.teach(self.belief)

    def _beside(self, options: Sequence[Plan]) -> Array | None:
        """Return the columns beside the moves of options, where the belief learns from them."""
        if self.belief.dimension == self.space.dimension:
            return None
        if self._sizes is None:  # no engine was asked: an answer from elsewhere
            self._sizes = minds.scales(self.space, options)
            self.pool = Pool(self.space, self.pool, self._sizes)
        return minds.beside(self.space, options, self._sizes)

    @property
    def scales(self) -> list[float] | None:
        """What a weight of 1 on the number of changes, and on waiting, is worth; None where nothing was found or learnt."""
        return None if self._sizes is None else self._sizes.tolist()

    def _find(self, difficulties: Mapping[str, int]) -> None:
        """Take in how hard the person finds changes; what the answers taught stays."""
        if difficulties:
            self.difficulties = {**self.difficulties, **difficulties}
            self.belief = teach(self._prior(self.difficulties), self._answers)

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
        given = [act for _, act in self._given()]
        place = next(i for i, old in enumerate(done) if old.act is given[event.payload["position"]])
        said = {name: event.payload[name] for name in ("choice", "impossible")}
        self._begin()
        for i, old in enumerate(done):
            if old.act is None:
                continue
            self._ask(old.found if i <= place else None, old.question)
            self._act(old.act if i != place else Event("answered", {**old.act.payload, **said}))
