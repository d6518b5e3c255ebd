"""Which question comes next: let the engine answer for what is believed, then choose what is worth asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from reap._typing import Array
from reap.belief import Belief, Posterior
from reap.effort import Efforts
from reap.elicitation import advice, minds
from reap.elicitation.acts import Acts
from reap.elicitation.events import Event
from reap.elicitation.options import Rows, key
from reap.elicitation.parts import Parts
from reap.elicitation.pool import Pool
from reap.elicitation.prediction import Predicting, held_out
from reap.elicitation.progress import Progress
from reap.elicitation.question import Kind, Question, why
from reap.elicitation.rounds import write_asked
from reap.elicitation.second_look import doubted
from reap.elicitation.settings import Settings
from reap.elicitation.warm_up import warm_up
from reap.language import _
from reap.plan import Plan
from reap.questions import Choice, Strategy
from reap.questions.saving import Saving
from reap.recourse import Engine

#: Matrices drawn for a warm-up, which does not count.
WARM = 8
#: Plans whose parts are asked about, the most promising.
PROMISING = 25
#: How many of a round's matrices also ask for plans that are easier to bear, and what a change then asks beside its size.
BEARABLE, MINDED = 8, (0.03, 1.0)


class Asking(Acts):
    """A session that asks.

    Parameters
    ----------
    engine : Engine
    settings : Settings
    strategy : Strategy
    started : Event
    prior : callable
        As in ``State``.
    """

    def __init__(
        self,
        engine: Engine,
        settings: Settings,
        strategy: Strategy,
        started: Event,
        prior: Callable[[Mapping[str, int]], Belief],
    ) -> None:
        self.engine, self.settings, self.strategy = engine, settings, strategy
        self.seed = settings.random_state
        super().__init__(engine.space, started, settings.questions, prior)

    def ask(self) -> Question | None:
        """Return the question to answer now, the same until it is answered; None when there is nothing to ask."""
        if self._round.question is None and not self._round.over:
            before = self._round.found
            question = self._choose()
            found = self._round.found if before is None else None
            self._ask(None, question)
            self.events.append(Event("asked", write_asked(found, question)))
        return self._round.question

    @property
    def ended(self) -> str | None:
        """Why nothing is asked, or nothing more, as a sentence; None while there is a question."""
        if self.ask() is not None:
            return None
        if self.answered and self.answered >= self._budget:
            return _("You have answered all questions.")
        if self._rows is not None:  # the paper's way compares rows
            return _("There is nothing left to compare.")
        pool = self.pool.without(self._verdicts().aside(self.pool.plans))
        if len(pool) == 0:
            return _("There is no plan to compare.")
        if len(pool) == 1:
            return _("There is only one plan for you, so there is nothing to compare.")
        if np.isinf(pool.burden(())).all():
            return _("The plans for you are too much alike to feel a difference, so nothing is asked.")
        if self.answered:
            return _("More answers would not change your plan.")
        return _("One plan is the easiest for you whatever you find hard, so nothing is asked.")

    @property
    def progress(self) -> Progress:
        """Questions asked and answered, and how many are likely still to come."""
        question, shown = self.ask(), len(self._shown)
        if question is None:
            return Progress(shown, self.answered, 0, 0)
        if question.kind == "held-out":
            return Progress(shown, self.answered, 1, 1)
        extra = (question.kind == "warm-up") + (self.settings.held_out and self.prediction is None)
        return Progress(shown, self.answered, 1, self._budget - self.answered + extra)

    def _choose(self) -> Question | None:
        if self._ended:
            return None
        rng = np.random.default_rng([self.seed, self.revision, 1])
        if self.answered >= self._budget or len(self._shown) >= 3 * self._budget + 3:
            return self._last(rng)
        if self.settings.warm_up and not self._shown and (warm := self._warm_up(rng)) is not None:
            return warm
        question = self._worth_asking(rng)
        if question is None and self._round.found is None and isinstance(self.belief, advice.Sampled):
            self._look(self.belief)  # before we say that nothing is left to ask
            question = self._worth_asking(rng) if self._round.found else None
        return question or self._last(rng)

    def _warm_up(self, rng: np.random.Generator) -> Question | None:
        """Return an easy question between plans that are about right; they are not kept. None where there is none.

        It does not count, and nobody should wait for more than that before they see anything.
        """
        belief = self.belief
        if not (isinstance(belief, advice.Sampled) and isinstance(belief, Predicting)):
            return None
        matrices = self._drawn(belief, WARM)
        found = Pool(self.space).new(self.engine.plans(self._x, self._minding(matrices, WARM), self.limits))
        if len(found) < 2:
            return None
        beside = belief.dimension > self.space.dimension
        pool = Pool(self.space, found, minds.scales(self.space, found) if beside else None)
        choice = pool.choose(self.strategy, belief, (), rng, self.settings.rows)
        easy = choice and warm_up(pool.burden(()), pool.moves, belief, choice.options)
        return self._question([pool[i] for i in easy], rng, kind="warm-up") if easy else None

    def _worth_asking(self, rng: np.random.Generator) -> Question | None:
        """Return the question that the strategy chooses among the plans there are; None where it has none."""
        options, known = self._options()
        parts = None
        if isinstance(options, Pool):
            parts = self._parts(options, known)
            losing = self._verdicts().losing(options.plans)
            again = self._doubted(options, known)
            choice = options.choose(
                self.strategy, known, self._shown, rng, self.settings.rows, parts, losing, again
            )
            if choice is not None and (second := self._second_look(options, choice, again, rng)):
                return second
        else:
            choice = options.choose(self.strategy, known, self._shown, rng)
        if choice is None:
            return None
        count = len(options.moves)
        whole = parts is None or choice.options[0] < count
        if parts is None or whole:
            plans = [options[i] for i in choice.options]
        else:
            plans = self._scored([parts.plans[i - count] for i in choice.options])
        return self._question(plans, rng, why=why(choice.gain), gain=choice.gain, whole=whole)

    def _doubted(self, pool: Pool, known: Belief | Array) -> dict[frozenset[bytes], bytes]:
        """Return the pairs of plans that may be compared once more, with the one that was chosen."""
        if not (isinstance(known, Predicting) and isinstance(self.strategy, Saving)):
            return {}
        return doubted([(question, act.payload) for question, act in self._replies()], known, pool)

    def _second_look(
        self, pool: Pool, choice: Choice, again: Mapping[frozenset[bytes], bytes], rng: np.random.Generator
    ) -> Question | None:
        """Return the question that compares two plans once more, where that was chosen."""
        shown = {key(pool[i]): pool[i] for i in choice.options if i < len(pool)}
        for pair, winner in again.items():
            if pair <= set(shown):
                options = [shown[name] for name in sorted(pair)]
                question = self._question(options, rng, gain=choice.gain, kind="second look")
                earlier = [key(option) for option in question.options].index(winner)
                return replace(question, earlier=earlier)
        return None

    def _parts(self, pool: Pool, known: Belief | Array) -> Parts | None:
        """Return the parts of plans that could be asked about; None for paths, and where nothing can score them."""
        whole = self.settings.rows is not None and not any(plan.along for plan in pool)
        if not (
            whole and len(pool) > 1 and isinstance(known, Posterior) and hasattr(self.engine, "classifier_")
        ):
            return None
        efforts = known.efforts(pool.moves)
        wins = np.bincount(efforts.argmin(axis=1), minlength=len(pool))
        promising = np.sort(np.lexsort((efforts.mean(axis=0), -wins))[:PROMISING])
        return pool.parts(self.limits, promising)

    def _scored(self, plans: Sequence[Plan]) -> list[Plan]:
        """Return parts of plans with the model's scores."""
        scores = self.engine.classifier_.score(np.concatenate([plan.path for plan in plans]))
        each = np.asarray(scores).reshape(len(plans), -1)
        return [replace(plan, scores=row) for plan, row in zip(plans, each, strict=True)]

    def _last(self, rng: np.random.Generator) -> Question | None:
        """Return the held-out question with its prediction, where one is wanted and there is something to predict."""
        if not self.settings.held_out or not self.answered or self.prediction is not None:
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
        replies = self._replies()
        since = replies[
            len(replies) - len(self._shown) :
        ]  # numbers begin anew where the person stands somewhere else
        number = shown - sum(question.kind == "warm-up" for question, _ in since)
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
        return self._rows, advice.center(self._consistent(), self.settings.center)

    def _search(self, belief: advice.Sampled) -> None:
        """Let the engine answer for the belief of this round, where that may bring something."""
        if self._round.found is None and not self._settled:
            self._look(belief)

    def ahead(self) -> Callable[[], object] | None:
        """Return work that can be done for the next question while the person thinks; None where it hangs on the answer.

        A warm-up teaches nothing, so what the engine will be asked is known. It may be done in another thread: the session
        has no part in it, the engine remembers what it found.
        """
        question = self._round.question
        if question is None or question.kind != "warm-up" or not isinstance(self.belief, advice.Sampled):
            return None
        matrices = self._drawn(self.belief, self.settings.samples, self.revision + 1)
        return partial(self.engine.plans, self._x, self._asked(self.belief, matrices), self.limits)

    def _drawn(self, belief: advice.Sampled, samples: int, revision: int | None = None) -> Array:
        """Return matrices (1 + samples, d, d) that may be the person's at a revision (the present one), the estimate first."""
        rng = np.random.default_rng([self.seed, self.revision if revision is None else revision])
        sampled = [belief.estimate()[None], belief.sample(samples, random_state=rng)]
        return self._of_changes(np.concatenate(sampled))

    def _look(self, belief: advice.Sampled) -> None:
        """Let the engine answer for the belief of this round; the plans it finds join the pool and stay."""
        matrices = self._drawn(belief, self.settings.samples)
        found = self.engine.plans(self._x, self._asked(belief, matrices), self.limits)
        self._join(self.pool.new(found))

    def _asked(self, belief: advice.Sampled, matrices: Array) -> Array | Efforts:
        """Return what a round asks the engine for; the first round also for people who mind more than the changes."""
        begins = belief.dimension > self.space.dimension and not len(self.pool)
        return self._minding(matrices, BEARABLE) if begins else matrices

    def _minding(self, matrices: Array, count: int) -> Efforts:
        """Return people with these matrices, and of the first ``count`` also who minds the number of changes, or waiting."""
        some = matrices[:count]
        size = np.trace(some, axis1=1, axis2=2) / self.space.dimension
        minded = [Efforts.of(some, per_change=h * size) for h in MINDED]
        if self.space.timed:
            minded.append(Efforts.of(some, per_wait=size))
        return Efforts.joined([Efforts.of(matrices), *minded])

    def _of_changes(self, A: Array) -> Array:
        """Return matrices (…, d, d) without the columns beside the changes."""
        d = self.space.dimension
        return A[..., :d, :d]

    def _consistent(self) -> Belief:
        return advice.consistent(self.belief, self._answers, self.settings.tolerance)
