"""The session: ask, answer, undo, replay. A pure state machine with no input or output of its own.

Its state follows from its events (``reap.elicitation.events``). What was shown is among them, and each round's
randomness derives from the seed and the number of acts, so a session goes on where it stopped, in any process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from reap._errors import InputError
from reap.belief import Belief
from reap.belief.learned_prior import LearnedPriorLike, learned_prior
from reap.elicitation import advice, events, outside, presets
from reap.elicitation.advising import Advising
from reap.elicitation.comparisons import ROWS
from reap.elicitation.events import Event
from reap.elicitation.presets import Preset
from reap.elicitation.rounds import vector
from reap.elicitation.settings import Settings
from reap.questions import Strategy
from reap.recourse import Engine
from reap.space import Limits


class Elicitation(Advising):
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
        ``effort = ΔᵀAΔ + h·k + w·τ²`` with k actions and τ months over the horizon. A confidence set does without.
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
        minds: bool = True,
        random_state: int = 0,
        samples: int = 24,
        center: advice.Center = "published",
        tolerance: float = 0.0,
        objective: Literal["worst-case", "minimax", "expected"] = "worst-case",
        scales: Sequence[float] | None = None,
        rows: int | None = ROWS,
    ) -> None:
        settings = Settings(
            questions=questions,
            options=options,
            preset=preset,
            random_state=int(random_state),
            samples=samples,
            center=center,
            tolerance=tolerance,
            objective=objective,
            warm_up=warm_up,
            held_out=held_out,
            minds=minds,
            scales=scales,
            rows=rows,
        )
        space = engine.space
        own = [name for name, part in (("belief", belief), ("strategy", strategy)) if part is not None]
        self.prior = learnt = presets.checked(prior, preset, belief, space.digest)
        hashed = None if learnt is None else learnt.hash
        z, codes = space.read(x)
        begun = events.started(
            space.at(z, codes), z, limits or Limits(), settings.to_dict(), own, _who(engine), hashed
        )

        # It knows nothing of the session: in a circle, thousands of sessions that are over would wait for the collector.
        def first(difficulties: Mapping[str, int]) -> Belief:
            if belief is not None:
                return belief.copy()
            return presets.belief(preset, space, difficulties, settings.random_state, learnt, minding=minds)

        super().__init__(engine, settings, strategy or presets.strategy(preset, options), begun, first)

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
            log = events.read(text)
            with outside.unjudged():
                session = cls.of(log, engine, belief=belief, strategy=strategy, prior=prior)
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
        presets.check_same(started.get("prior"), learnt)
        z = vector(started["z"])
        session = cls(
            engine,
            engine.space.at_values(z, started["subject"]).decode(z[None]),
            limits=Limits.from_dict(started["limits"]),
            belief=belief,
            strategy=strategy,
            prior=learnt,
            # sessions of before it could be set learnt nothing of it
            **{"minds": False, **started["settings"]},
        )
        session._replay(log)
        return session

    def __repr__(self) -> str:
        preset = self.events[0].payload["settings"]["preset"]
        return f"Elicitation({preset!r}, {self.answered} answered, revision {self.revision})"


def _who(engine: Engine) -> dict[str, Any]:
    """Return the fingerprint of an engine; an engine of somebody else's that answers ``plans`` alone has none."""
    return engine.fingerprint() if hasattr(engine, "fingerprint") else {}
