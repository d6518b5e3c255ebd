"""The dialogue: ask, answer, undo, replay. A pure state machine with no input or output of its own.

Its state is a function of the events so far (answers, wishes, changes of situation), the seed, and the plans
that were shown; ``undo`` and ``from_json`` replay events. Each step's randomness derives from seed and revision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from reap._errors import InputError, unknown
from reap._typing import Array
from reap.belief import ConfidenceSet, Posterior
from reap.elicitation import advice, record
from reap.elicitation.answers import Answer, read_choice, teach
from reap.elicitation.learned import Learned, learned
from reap.elicitation.protocols import Engine, Options
from reap.elicitation.question import Question
from reap.plan import Confidence, Plan
from reap.questions import Decision, SimilarCost
from reap.space import Limits

Preset = Literal["bayes", "reap"]
#: What a level of difficulty (1 very easy … 5 very hard) multiplies the effort of a feature by.
DIFFICULTY = {1: 0.1, 2: 0.4, 3: 1.0, 4: 2.5, 5: 10.0}


@dataclass(frozen=True)
class Progress:
    """How far the dialogue is: questions shown and answered, and how many are likely still to come."""

    asked: int
    answered: int
    least: int
    most: int

    def __str__(self) -> str:
        if self.most == 0:
            return f"{self.answered} answered, nothing left to ask"
        span = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{self.answered} answered, {span} to go"


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
        if preset not in ("bayes", "reap"):
            raise unknown("preset", preset, ("bayes", "reap"))
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
        self.strategy = strategy or (
            SimilarCost(options=options) if preset == "reap" else Decision(options=options)
        )
        self._begin = (self.space.vector(x), limits or Limits())
        self._events: list[dict[str, Any]] = []
        self._grown: dict[int, list[Plan]] = {}
        self._reset()

    # state -------------------------------------------------------------------------------------------

    def _reset(self) -> None:
        self._z, self.limits = self._begin
        self._x = self.space.decode(self._z[None])
        self.difficulties: dict[str, int] = {}
        self._answers: list[Answer] = []
        self.belief = self._new_belief()
        self._pool: list[Plan] = []
        self._rows: Options | None = None
        self._shown: list[frozenset[bytes]] = []
        self._budget = self.questions
        self._question: Question | None = None
        self._nothing_left = False
        self._plan: Plan | None = None
        self._status: Plan | None = None

    def _new_belief(self) -> Any:
        if self._own_belief is not None:
            return self._own_belief.copy()
        if self.preset == "reap":
            return ConfidenceSet(self.space.dimension)
        prior: Any = "people"
        if self.difficulties:
            prior = np.ones(self.space.dimension)
            for name, level in self.difficulties.items():
                prior[self.space.slices[name]] = DIFFICULTY[level]
        return Posterior(
            self.space.dimension, prior=prior, columns=self.space.movable, random_state=self.seed
        )

    @property
    def revision(self) -> int:
        """Number of events so far; a question and a plan belong to one."""
        return len(self._events)

    @property
    def answered(self) -> int:
        """Number of answers that told something: an option, or "same"."""
        return len(self._answers)

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
        estimate = self.belief.estimate([plan.moves for plan in self._pool])
        found = self.engine.plans(self._x, np.concatenate([estimate[None], matrices]), self.limits)
        self._status = found[0]
        known = {plan.path.tobytes() for plan in self._pool}
        added = []
        for plan in found:
            key = plan.path.tobytes()
            if plan.status == "ok" and plan.valid and key not in known:
                known.add(key)
                added.append(plan)
        self._grown[self.revision] = added
        self._pool = self._pool + added

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
        if self._compares_plans:
            self._refresh()
            moves: Any = [plan.moves for plan in self._pool]
            belief, burden = self.belief, self._burden()
            keys = [plan.path.tobytes() for plan in self._pool]
        else:
            rows = self._candidates()
            known = advice.consistent(self.belief, self._answers, self.tolerance)
            moves, belief, burden = rows.moves, advice.center(known, self.center), None
            keys = []
        if len(moves) < 2:
            return None
        asked = self._asked(keys, moves)
        choice = self.strategy.choose(moves, belief, asked=asked, burden=burden, random_state=rng)
        if choice is None:
            return None
        source = self._pool if self._compares_plans else self._candidates()
        # Which option stands first must not depend on how good it looks: people favour the first.
        options = tuple(source[choice.options[k]] for k in rng.permutation(len(choice.options)))
        number = shown + 1
        return Question(f"{self.revision}-{number}", number, options, self._why(choice.gain), choice.gain)

    def _why(self, gain: float) -> str:
        if np.isnan(gain):
            return "As far as we know these cost you about the same; your answer tells which matters more to you."
        return f"Any of these may suit you best; knowing which is expected to save {gain:.0%} of your effort."

    def _candidates(self) -> Options:
        if self._rows is None:
            self._rows = self.engine.candidates(self._x, self.limits)
        return self._rows

    def _asked(self, keys: list[bytes], moves: Any) -> list[tuple[int, ...]]:
        """Return the questions shown so far as indices into the present options."""
        asked = []
        for shown in self._shown:
            if self._compares_plans:
                places = [keys.index(key) for key in shown if key in keys]
            else:
                rows = [np.frombuffer(key).reshape(-1, moves.shape[1])[-1] - self._z for key in shown]
                hits = [
                    np.flatnonzero((np.abs(moves - np.nan_to_num(row)) < 1e-12).all(axis=1)) for row in rows
                ]
                places = [int(hit[0]) for hit in hits if len(hit)]
            if len(places) == len(shown):
                asked.append(tuple(places))
        return asked

    def _burden(self) -> Array:
        """Return how many features differ between the targets of each pair of plans, (N, N)."""
        if not self._pool:
            return np.zeros((0, 0))
        targets = np.stack([plan.path[-1] for plan in self._pool])
        n = len(targets)
        differs = self.space.changed(np.repeat(targets, n, axis=0), np.tile(targets, (n, 1)))
        return np.asarray(differs.sum(axis=1).reshape(n, n).astype(float))

    def answer(self, choice: int | str, *, impossible: Sequence[str] = ()) -> None:
        """Answer the question that ``ask`` returned.

        Parameters
        ----------
        choice : int or str
            An option's index or letter, "left", "right", "same", "neither" or "skip".
        impossible : sequence of str
            With "neither": the features whose change is impossible; no plan will touch them again.
        """
        question = self._question
        if question is None:
            raise InputError("there is no question to answer; call ask() first")
        given = read_choice(choice, len(question.options))
        if isinstance(impossible, str):
            impossible = [impossible]
        for name in impossible:
            self.space.feature(name)
        if impossible and given != "neither":
            raise InputError('impossible changes are named with the answer "neither"')
        self._push({"type": "answer", "choice": given, "impossible": list(impossible)})

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
        wish = self.space.limits(
            fixed=[feature] if fixed else [],
            at_least={} if at_least is None else {feature: at_least},
            at_most={} if at_most is None else {feature: at_most},
            exclude={feature: list(exclude)} if exclude else {},
        )
        self.space.feature(feature)
        if difficulty is not None and difficulty not in DIFFICULTY:
            raise InputError(
                f"difficulty is {difficulty!r}; give a level from 1 (very easy) to 5 (very hard)"
            )
        if not wish and difficulty is None:
            raise InputError(
                f"say what you wish for {feature!r}: fixed, at_least, at_most, exclude or difficulty"
            )
        self._push(
            {"type": "constrain", "feature": feature, "limits": wish.to_dict(), "difficulty": difficulty}
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
        z = self.space.vector(x_now)
        self._push({"type": "replan", "z": [None if np.isnan(v) else v for v in z.tolist()]})

    def undo(self) -> None:
        """Take back the last event; the state before it is restored exactly."""
        if not self._events:
            raise InputError("there is nothing to undo")
        events, pending = self._events[:-1], self._events[-1]["pending"]
        self._replay(events, {k: v for k, v in self._grown.items() if k <= len(events)}, pending)

    # events ------------------------------------------------------------------------------------------

    def _push(self, event: dict[str, Any]) -> None:
        event["pending"] = self._question
        self._apply(event)

    def _apply(self, event: dict[str, Any]) -> None:
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
                z = np.array([np.nan if v is None else v for v in event["z"]], dtype=float)
                self._budget = self.answered + self.questions
        self._events.append(event)
        self._question = self._plan = self._status = None
        self._nothing_left = False
        if limits != self.limits or z is not self._z:
            self._move(z, limits)
        if self.revision in self._grown:
            self._pool = self._pool + self._grown[self.revision]

    def _learn(self, question: Question, event: Mapping[str, Any]) -> Limits:
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
            self._pool, self._shown = [], []
            return
        space = self.space.tighten(limits)
        self._pool = [plan for plan in self._pool if space.allows(plan.path[:1], plan.path[1:]).all()]

    def _replay(
        self, events: Sequence[dict[str, Any]], grown: dict[int, list[Plan]], pending: Question | None
    ) -> None:
        self._reset()
        self._events, self._grown = [], grown
        self._pool = list(grown.get(0, ()))
        for event in events:
            self._apply(event)
        self._question = pending

    # results -----------------------------------------------------------------------------------------

    def recommend(self) -> Plan:
        """Return the plan that suits the person best, as far as is known now; it can be asked for at any time."""
        if self._plan is None:
            self._plan = self._expected() if self._compares_plans else self._of_set()
        return self._plan

    def _expected(self) -> Plan:
        self._refresh()
        if self._pool:
            return advice.best_expected(self.engine, self._x, self.belief, self._pool, self.limits)
        plan = self._status or self.engine.plans(self._x, self.belief.estimate()[None], self.limits)[0]
        return advice.with_advice(plan, self.engine, self._x, self.limits)

    def _of_set(self) -> Plan:
        belief = advice.consistent(self.belief, self._answers, self.tolerance)
        if self.objective == "expected":
            plan = self.engine.plans(self._x, advice.center(belief, self.center)[None], self.limits)[0]
        else:
            plan = self.engine.robust(self._x, belief, self.objective, self.limits)
        return advice.with_advice(plan, self.engine, self._x, self.limits)

    def relaxations(self) -> list[str]:
        """Return the limits, each of which alone would have to go for a plan to exist."""
        return advice.relaxations(self.engine, self._x, self.limits)

    @property
    def confidence(self) -> Confidence | None:
        """How sure we are of the plan that ``recommend`` returns; None for a confidence set."""
        return self.recommend().confidence

    @property
    def progress(self) -> Progress:
        """Questions asked and answered, and how many are likely still to come."""
        question = self.ask()
        if question is None:
            return Progress(len(self._shown), self.answered, 0, 0)
        most = max(1, self._budget - self.answered)
        # The expected gain falls by about a third with each answer; it stops at half a per cent.
        steps = (
            most if np.isnan(question.gain) else int(np.ceil(np.log(max(question.gain, 0.006) / 0.005) / 0.4))
        )
        return Progress(len(self._shown), self.answered, int(np.clip(steps, 1, most)), most)

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
        return learned(self.space, self.belief.estimate([plan.moves for plan in self._pool]), self._z)

    @property
    def history(self) -> list[tuple[Question, int | str]]:
        """The questions answered so far, each with its answer."""
        return [
            (e["pending"], e["choice"])
            for e in self._events
            if e["type"] == "answer" and e["pending"] is not None
        ]

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
