"""From drafts to plans: judged once more exactly as they are shown, with notes on how they were found, or honestly refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reap._typing import Array
from reap.language import _, ngettext
from reap.models.remembered import Remembered
from reap.plan import Plan, Status
from reap.recourse.acceptance import Acceptance
from reap.recourse.drafts import Draft
from reap.recourse.subject import Subject
from reap.recourse.targets.boundary.boundary import Boundary
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.search import Search
from reap.recourse.targets.targets import Targets


@dataclass(frozen=True)
class Judge:
    """Turns drafts into plans; the models are asked once for everybody.

    Parameters
    ----------
    today : Remembered
        Today's model, whose scores are shown.
    acceptance : Acceptance
        Who must accept a plan.
    search : Search
        Where the drafts come from.
    """

    today: Remembered
    acceptance: Acceptance
    search: Search

    def plans(self, drafts: Sequence[Draft | list[Plan]]) -> list[list[Plan]]:
        """Return the plans of drafts; what is no draft stays as it is."""
        paths = [path for draft in drafts if isinstance(draft, Draft) for path in draft.paths]
        if not paths:
            return [draft for draft in drafts if not isinstance(draft, Draft)]
        ends = np.cumsum([len(path) for path in paths])
        scores = self.today.score(np.concatenate(paths))
        last = np.stack([path[-1] for path in paths])
        if self.acceptance.exact:
            accepted = self.today.classifier.scale.enough(scores[ends - 1])
        else:
            accepted = self.acceptance.classifier.accepts(last)
        judged = iter(zip(np.split(scores, ends[:-1]), accepted, strict=True))
        made = [
            plan
            for draft in drafts
            if isinstance(draft, Draft)
            for plan in self._made(draft, [next(judged) for _ in draft.paths])
        ]
        quick = self.search.classifier if self.acceptance.exact else None
        told = iter(self.acceptance.told(made, quick))
        return [
            _spread(draft, [next(told) for _ in draft.paths]) if isinstance(draft, Draft) else draft
            for draft in drafts
        ]

    def nothing(self, subject: Subject, targets: Targets) -> Plan:
        """Return the honest refusal: proven or not, and how close it came."""
        problem, complete = targets.problem, targets.pool.complete
        status: Status = "infeasible" if complete else "time_limit" if problem.late else "none_found"
        if not self.acceptance.exact and not problem.late:
            problem = Problem(
                subject.space,
                self.today.classifier,
                subject.z,
                problem.max_changes,
                problem.deadline,
                problem.waits,
            )
            rng = np.random.default_rng(self.search.seed)
            rows = Boundary(problem, self.search.rows, rng).pool.rows
            if len(rows):
                return subject.refused(status, self.acceptance.short(rows))
        note = _("No legal row could be tried.")
        if np.isfinite(problem.closest):
            said = (
                _("Of all rows there are, the best scores {best}; {needed} is needed.")
                if complete
                else _("Of the rows tried, the best scores {best}; {needed} is needed.")
            )
            scale = subject.scale
            best = scale.number(float(self.today.score(problem.nearest[None])[0]))
            note = said.format(best=best, needed=scale.needed)
        return subject.refused(status, note)

    def _made(self, draft: Draft, judged: list[tuple[Array, bool]]) -> list[Plan]:
        """Return the plans of a draft, one a path, given the scores along each and whether its end is accepted."""
        subject, targets = draft.subject, draft.targets
        fine = subject.space.allows(subject.z, draft.rows) & [accepted for _, accepted in judged]
        return [
            Plan(
                subject.space,
                draft.paths[k],
                scores,
                note=self._note(draft.rows[k], targets),
                scale=subject.scale,
            )
            if fine[k]
            else self.nothing(subject, targets)
            for k, (scores, _) in enumerate(judged)
        ]

    def _note(self, row: Array, targets: Targets) -> str:
        """Return what is to be said of how the plan to a row (d,) was found."""
        said, problem, few = [], targets.problem, self.search.max_changes
        count = problem.counts(row[None])[0]
        took = problem.space.action_months(problem.z0, row) if problem.waits else {}
        waits = problem.waits and problem.space.months(problem.z0, row)[0] > max(took.values(), default=0)
        if few is not None and count > few:
            most = ngettext(
                "No plan of {n} change or fewer was found.", "No plan of {n} changes or fewer was found.", few
            )
            said.append(most.format(n=few))
        if waits:
            said.append(_("No plan without waiting was found."))
        if problem.late:
            said.append(_("The search was stopped at its time limit; an easier plan may exist."))
        return " ".join(said)


def _spread(draft: Draft, made: Sequence[Plan]) -> list[Plan]:
    """Return a plan for each matrix of a draft, with its effort, out of the distinct ones."""
    return [
        made[k].with_(effort=float(value)) if made[k].status == "ok" else made[k]
        for k, value in zip(draft.which, draft.efforts, strict=True)
    ]
