"""What a session leads to: the plan that suits the person, others beside it, and what was learnt of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reap._errors import InputError
from reap._typing import Array
from reap.belief import Belief, ConfidenceSet, Posterior
from reap.effort import of_moves
from reap.elicitation import advice, saying
from reap.elicitation.answers import teach
from reap.elicitation.asking import Asking
from reap.elicitation.events import Event
from reap.elicitation.learned import Learned, learned
from reap.elicitation.pool import Pool
from reap.elicitation.rounds import write_recommended
from reap.elicitation.second_look import taken_back
from reap.plan import Confidence, Plan
from reap.recourse.advice import advised, easier, possible, priced, relaxations, together
from reap.space import Limits


class Advising(Asking):
    """A session that advises; see ``Asking``."""

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
            # what is recommended is looked for, also where a question was not worth it
            if self._round.found is None:
                self._look(belief)
            if len(self.pool):
                plan = advice.best_expected(belief, self.pool, self._verdicts())
                if not hasattr(self.engine, "acceptance_"):  # an engine that answers ``plans`` alone
                    return plan
                return priced(self.engine, plan, self._x, self._of_changes(belief.estimate()), self.limits)
        if isinstance(belief, ConfidenceSet) and self.settings.objective != "expected":
            plan = self.engine.robust(self._x, belief, self.settings.objective, self.limits)
        else:
            A = self._of_changes(advice.center(belief, self.settings.center))
            plan = self.engine.plans(self._x, A[None], self.limits)[0]
        return advised(self.engine, plan, self._x, self.limits)

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
        A = self._of_changes(advice.center(belief, self.settings.center))
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
        plan = easier(self.engine, best, self._x, A, self.limits)
        return [] if plan is None or self._verdicts().aside([plan])[0] else [plan]

    def _price(self, belief: Belief) -> Callable[[Plan], float]:
        """Return what gives the effort of a plan, as far as is known."""
        A = advice.center(belief, self.settings.center)
        return lambda plan: of_moves(
            A if self._sizes is not None else self._of_changes(A), *self.pool.priced([plan])
        )

    def refuse(self, plans: Sequence[Plan] | None = None, *, impossible: str | Sequence[str] = ()) -> None:
        """Say "none of these" to plans that were shown, by default those of ``plans()``.

        They are set aside, as many answers as at first may be asked for again, and ``impossible`` names features that
        cannot change.
        """
        self.apply(saying.refused(self.space, self.plans() if plans is None else plans, impossible))

    def effort(self, plan: Plan) -> float:
        """Return what a plan asks of the person, as far as is known."""
        return self._price(self.belief)(plan)

    def relaxations(self) -> list[str]:
        """Return the limits, each of which alone would have to go for a plan to exist.

        Where none alone is enough, the smallest set found, in words: ``"age together with amount"``.
        """
        return [together(names) for names in relaxations(self.limits, possible(self.engine, self._x))]

    @property
    def confidence(self) -> Confidence | None:
        """How sure we are of the plan that ``recommend`` returns; None for a confidence set."""
        return self.recommend().confidence

    @property
    def matrix(self) -> Array:
        """What a change is expected to cost this person, (d, d), for ``engine.plans``; what they mind besides is not in it."""
        return self._of_changes(self.belief.estimate())

    @property
    def consistency(self) -> float | None:
        """How well the answers agree, 0 to 1; None where the belief does not say."""
        return self.belief.consistency if isinstance(self.belief, Posterior) else None

    def conflicts(self) -> list[tuple[int, ...]]:
        """Return the smallest groups of answers in tension, as positions among the answers (0 for the first).

        An answer that the person took back at a second look is in tension with nothing.
        """
        told = [(question, choice) for question, choice in self.history if choice not in ("neither", "skip")]
        gone = taken_back(told)
        stand = [i for i in range(len(self._answers)) if i not in gone]
        if not stand:
            return []
        kept = teach(ConfidenceSet(self.space.dimension), [self._answers[i] for i in stand])
        return [tuple(stand[k] for k in group) for group in kept.conflicts()]

    def learned(self) -> Learned:
        """Return what the answers say about the person: which changes are hard, which go together."""
        minded = self.belief.minds if isinstance(self.belief, Posterior) and self._answers else np.zeros(0)
        return learned(self.space, self.matrix, self._z, minded)
