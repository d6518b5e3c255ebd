"""From drafts to plans: judged once more exactly as they are shown, with notes on how they were found, or honestly refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from reap._typing import Array
from reap.language import _, current, ngettext
from reap.models.remembered import Remembered
from reap.plan import Plan, Status
from reap.recourse.acceptance import Acceptance
from reap.recourse.drafts import Draft, Refusal
from reap.recourse.routes.actions import routes
from reap.recourse.search import Found, Search
from reap.recourse.subject import Subject


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

    def plans(self, drafts: Sequence[Draft | Refusal | list[Plan]]) -> list[list[Plan]]:
        """Return the plans of drafts, and of refusals what is to be said; what is neither stays as it is."""
        nearest = [one.nearest for one in drafts if isinstance(one, Refusal) and one.nearest is not None]
        best = iter(self._learn([draft for draft in drafts if isinstance(draft, Draft)], nearest))
        plans = list[list[Plan]]()
        for one in drafts:
            if isinstance(one, Draft):
                plans.append(_spread(one))
            elif isinstance(one, Refusal):
                plans.append([_refused(one, None if one.nearest is None else next(best))] * one.count)
            else:
                plans.append(one)
        return plans

    def _learn(self, drafts: Sequence[Draft], others: Sequence[Array]) -> list[float]:
        """Make the plans to all rows of drafts to which there is none yet: with routes, scores, warnings.

        Returned are the scores of some other rows (d,), asked for in the same call: one row takes a pipeline as long as all.
        """
        new = [
            (draft, k)
            for draft in drafts
            for k, key in enumerate(draft.keys)
            if _place(draft, key) not in draft.found.plans
        ]
        paths = list[Array]()
        for draft in drafts:
            some = [k for one, k in new if one is draft]
            paths += routes(draft.found.problem, draft.rows[some]) if some else []
        if not paths and not others:
            return []
        scores = self.today.score(np.concatenate([*paths, *(row[None] for row in others)]))
        if new:
            self._keep(new, paths, scores[: len(scores) - len(others)])
        return list(map(float, scores[len(scores) - len(others) :]))

    def _keep(self, new: Sequence[tuple[Draft, int]], paths: Sequence[Array], scores: Array) -> None:
        """Make the plans to rows of drafts, by their numbers, on paths (s + 1, d) each; scores of all paths end to end."""
        ends = np.cumsum([len(path) for path in paths])
        if self.acceptance.exact:
            accepted = self.today.classifier.scale.enough(scores[ends - 1])
        else:
            accepted = self.acceptance.classifier.accepts(np.stack([path[-1] for path in paths]))
        made = [
            self._made(draft, draft.rows[k], path, along, yes)
            for (draft, k), path, along, yes in zip(
                new, paths, np.split(scores, ends[:-1]), accepted, strict=True
            )
        ]
        quick = self.search.quick if self.acceptance.exact else None
        for (draft, k), plan in zip(new, self.acceptance.told(made, quick), strict=True):
            draft.found.plans[_place(draft, draft.keys[k])] = plan

    def nothing(self, subject: Subject, found: Found, late: bool) -> Plan:
        """Return the honest refusal: proven or not, stopped at its time limit (``late``) or not, and how close it came."""
        problem, complete = found.problem, found.complete
        if not self.acceptance.exact and not late:
            asked = self.acceptance.quick or self.today.classifier
            today = Search(asked, self.search.max_changes).find(subject, problem.deadline)
            if len(today):
                return subject.refused(_status(complete, late), self.acceptance.short(today.rows))
            problem = today.problem
        return self.plans([Refusal.of(subject, problem, complete, late)])[0][0]

    def _made(self, draft: Draft, row: Array, path: Array, scores: Array, accepted: bool) -> Plan:
        """Return the plan to a row (d,) on a path (s + 1, d) with its scores (s + 1,), or the honest refusal."""
        subject = draft.subject
        if not (accepted and subject.space.allows(subject.z, row)[0]):
            return self.nothing(subject, draft.found, draft.late)
        return Plan(subject.space, path, scores, note=self._note(draft, row), scale=subject.scale)

    def _note(self, draft: Draft, row: Array) -> str:
        """Return what is to be said of how the plan to a row (d,) of a draft was found."""
        said, problem, few = [], draft.found.problem, self.search.max_changes
        count = int(problem.changed(row[None])[0, problem.acts].sum())
        took = problem.space.action_months(problem.z0, row) if problem.waits else {}
        waits = problem.waits and problem.space.months(problem.z0, row)[0] > max(took.values(), default=0)
        if few is not None and count > few:
            most = ngettext(
                "No plan of {n} change or fewer was found.", "No plan of {n} changes or fewer was found.", few
            )
            said.append(most.format(n=few))
        if waits and count == 0:
            said.append(_("Nothing has to change but the date. No plan that is ready sooner was found."))
        elif waits:
            said.append(_("No plan without waiting was found."))
        if draft.late:
            said.append(_("The search was stopped at its time limit; an easier plan may exist."))
        return " ".join(said)


def _status(complete: bool, late: bool) -> Status:
    """Return why there is no plan: all rows were looked at, time ran out, or none was found."""
    return "infeasible" if complete else "time_limit" if late else "none_found"


def _refused(refusal: Refusal, best: float | None) -> Plan:
    """Return the honest refusal, with the score that came closest, if any was within reach."""
    subject, note = refusal.subject, _("No legal row could be tried.")
    if best is not None:
        said = (
            _("The best score within reach is {best}; {needed} is needed.")
            if refusal.complete
            else _("The best score that we found within reach is {best}; {needed} is needed.")
        )
        note = said.format(best=subject.scale.number(best), needed=subject.scale.needed)
    return subject.refused(_status(refusal.complete, refusal.late), note)


def _place(draft: Draft, key: int) -> tuple[str, bool, int]:
    """Return where the plan to a row is kept: its words depend on the language, and on whether time ran out."""
    return current(), draft.late, key


def _spread(draft: Draft) -> list[Plan]:
    """Return a plan for each matrix of a draft, with its effort, out of the distinct ones."""
    made = [draft.found.plans[_place(draft, key)] for key in draft.keys]
    return [
        made[k].with_(effort=float(value)) if made[k].status == "ok" else made[k]
        for k, value in zip(draft.which, draft.efforts, strict=True)
    ]
