"""From rows to plans: in which steps, judged once more exactly as they are shown, with notes on how they were found.

*Route*: actions one a step, in an order that is legal at every step. All actions begin today and go on side by side, so every
stage is judged against the start. What is done first comes first; of what takes equally long, what raises the score most for its
effort. Then comes waiting, where the actions are not enough, and last, in one step, what is chosen on the day of the application.
Where an action alone would break a rule, another comes first, or both go together. The order does not depend on what effort means
to the person, so a row has one route.

*Judging* waits for others: the model scores the paths of a whole chunk of people about as fast as those of one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from reap import effort
from reap._arrays import row_keys
from reap._typing import Array
from reap.language import _, current, listed, ngettext
from reap.models.classifier import Remembered
from reap.plan import Plan, Status
from reap.recourse.acceptance import Acceptance
from reap.recourse.engine import Subject
from reap.recourse.problem import Problem
from reap.recourse.search import Reachable, Searches
from reap.scores import Scale
from reap.space.words import lowered

#: Features that are done in one step.
Features = tuple[int, ...]


class PlanDraft:
    """Rows of least effort for b people; no row where nothing was found.

    Parameters
    ----------
    subject : Subject
    found : Reachable
    rows : (b, d), or (0, d) where nothing was found
        Of what the person does.
    efforts : (b,)

    Attributes
    ----------
    keys : list of int
        One for each row, the same for equal ones: a person's plan to a row is made once, since its route does not depend on the
        matrix.
    late : bool
        Whether the search for them was stopped at its time limit. Judging comes after, and the clock goes on.
    """

    def __init__(self, subject: Subject, found: Reachable, rows: Array, efforts: Array) -> None:
        self.subject, self.found, self.rows, self.efforts = subject, found, rows, efforts
        self.keys, self.late = row_keys(rows).tolist(), found.problem.late


@dataclass
class PlanMaker:
    """Turns drafts into plans; the models are asked once for everybody.

    Parameters
    ----------
    today : Remembered
        Today's model, whose scores are shown.
    acceptance : Acceptance
        Who must accept a plan.
    search : Searches
        Where the drafts come from.
    """

    today: Remembered
    acceptance: Acceptance
    search: Searches

    def plans(self, drafts: Sequence[PlanDraft | list[Plan]]) -> list[list[Plan]]:
        """Return the plans of drafts; those of people who need none or can have none stay as they are."""
        some = [draft for draft in drafts if isinstance(draft, PlanDraft)]
        new = [
            (
                draft,
                [
                    k
                    for key, k in dict(zip(draft.keys, itertools.count())).items()
                    if not self._has(draft, key)
                ],
            )
            for draft in some
        ]
        self._make(
            [(draft, rows) for draft, rows in new if rows],
            [draft.found.problem.nearest for draft in some if not draft.keys],
        )
        return [self._spread(one) if isinstance(one, PlanDraft) else one for one in drafts]

    def _has(self, draft: PlanDraft, key: int) -> bool:
        return self._place(draft, key) in draft.found.plans

    def _spread(self, draft: PlanDraft) -> list[Plan]:
        """Return a plan for each person of a draft, with its effort, out of the distinct ones."""
        if not draft.keys:
            return [self.nothing(draft.subject, draft.found, draft.late)] * len(draft.efforts)
        made = [draft.found.plans[self._place(draft, key)] for key in draft.keys]
        efforts = draft.efforts.tolist()
        return [p.with_(effort=e) if p.status == "ok" else p for p, e in zip(made, efforts, strict=True)]

    def _make(self, new: Sequence[tuple[PlanDraft, list[int]]], others: Sequence[Array]) -> None:
        """Make the plans to some rows of drafts, to which there is none yet: with routes, scores, warnings.

        Other rows (d,) are scored in the same call, and remembered: one row takes a pipeline as long as all.
        """
        targets = [(draft, k) for draft, rows in new for k in rows]
        paths = [
            draft.found.problem.then(path)
            for draft, rows in new
            for path in routes(draft.found.problem, draft.rows[rows])
        ]
        if paths or others:
            scores = self.today.score(np.concatenate([*paths, *(row[None] for row in others)]))
        if not paths:
            return
        ends = np.cumsum([len(path) for path in paths])
        if self.acceptance.exact:
            accepted = self.today.classifier.scale.enough(scores[ends - 1])
        else:
            accepted = self.acceptance.classifier.accepts(np.stack([path[-1] for path in paths]))
        made = [
            self._made(draft, draft.rows[k], path, along, yes)
            for (draft, k), path, along, yes in zip(
                targets, paths, np.split(scores[: ends[-1]], ends[:-1]), accepted, strict=True
            )
        ]
        quick = self.search.quick if self.acceptance.exact else None
        for (draft, k), plan in zip(targets, self.acceptance.told(made, quick), strict=True):
            draft.found.plans[self._place(draft, draft.keys[k])] = plan

    def _place(self, draft: PlanDraft, key: int) -> tuple[str, bool, bool, int]:
        """Return where the plan to a row is kept: its words depend on the language, its chance on who asks."""
        return current(), draft.late, self.acceptance.by_chance, key

    def nothing(self, subject: Subject, found: Reachable, late: bool) -> Plan:
        """Return the honest refusal: proven or not, stopped at its time limit (``late``) or not, and how close it came."""
        problem, complete = found.problem, found.complete
        status: Status = "infeasible" if complete else "time_limit" if late else "none_found"
        if not self.acceptance.exact and not late:
            asked = self.acceptance.quick or self.today.classifier
            today = Searches(asked, self.search.max_changes, for_people=self.acceptance.for_people).find(
                subject, problem.deadline
            )
            if len(today):
                return subject.refused(status, self.acceptance.short(today.problem.then(today.rows)))
            problem = today.problem
        if not np.isfinite(problem.closest):
            return subject.refused(status, _("No legal row could be tried."))
        said = (
            _("The best score within reach is {best}; {needed} is needed.")
            if complete
            else _("The best score that we found within reach is {best}; {needed} is needed.")
        )
        best = float(self.today.score(problem.nearest[None])[0])
        return subject.refused(
            status, said.format(best=subject.scale.number(best), needed=subject.scale.needed)
        )

    def _made(self, draft: PlanDraft, row: Array, path: Array, scores: Array, accepted: bool) -> Plan:
        """Return the plan to a row (d,) on a path (s + 1, d) with its scores (s + 1,), or the honest refusal."""
        subject = draft.subject
        if not (accepted and subject.space.allows(subject.z, path[-1])[0]):
            return self.nothing(subject, draft.found, draft.late)
        if self.acceptance.for_people:
            stages = rising(subject.scale, scores)
            path, scores = path[stages], scores[stages]
        return Plan(subject.space, path, scores, note=self._note(draft, row), scale=subject.scale)

    def _note(self, draft: PlanDraft, row: Array) -> str:
        """Return what is to be said of how the plan to a row (d,) of a draft was found."""
        said, problem, few = [], draft.found.problem, self.search.max_changes
        count = int(problem.changed(row[None])[0, problem.acts].sum())
        took = problem.space.time.actions(problem.z0, row) if problem.waits else {}
        waits = problem.waits and problem.space.time.months(problem.z0, row)[0] > max(
            took.values(), default=0
        )
        if few is not None and count > few:
            most = ngettext(
                "No plan of {n} change or fewer was found.", "No plan of {n} changes or fewer was found.", few
            )
            said.append(most.format(n=few))
        if self.acceptance.for_people:
            moved = [
                f for f, m in zip(problem.space.features, problem.changed(row[None])[0], strict=True) if m
            ]
            if last := [lowered(f.label) for f in moved if f.advice == "last"]:
                text = _("No plan was found that leaves this as you asked for it: {features}.")
                said.append(text.format(features=listed(last)))
        if waits and count == 0:
            said.append(_("Nothing has to change but the date. No plan that is ready sooner was found."))
        elif waits:
            said.append(_("No plan without waiting was found."))
        if draft.late:
            said.append(_("The search was stopped at its time limit; an easier plan may exist."))
        return " ".join(said)


def rising(scale: Scale, scores: Array) -> list[int]:
    """Return which stages of a path to keep, by their scores (s + 1,), so that no step lowers the score.

    A step after which the score is lower belongs to the next one, and one after which it is higher than at the end to the last.

    Examples
    --------
    >>> rising(Scale(0.5), np.array([0.2, 0.1, 0.4, 0.9, 0.7]))
    [0, 2, 4]
    """
    height = scores if scale.output == "probability" else scale.logit(scores)
    kept = [len(scores) - 1]
    for stage in reversed(range(1, len(scores) - 1)):
        if height[0] < height[stage] < height[kept[0]]:
            kept.insert(0, stage)
    return [0, *kept]


# in which steps -----------------------------------------------------------------------------------------------


def routes(problem: Problem, targets: Array) -> list[Array]:
    """Return the path (s + 1, d) to each of targets (n, d): the start, then the row after each step."""
    changed = problem.changed(targets)
    actions = [np.flatnonzero(c & problem.acts).tolist() for c in changed]
    clocks = [np.flatnonzero(c & ~problem.acts).tolist() for c in changed]
    alone = [
        _stages(problem, target, [(a,) for a in acts]) for target, acts in zip(targets, actions, strict=True)
    ]
    rows, ends = np.concatenate(alone), np.cumsum([len(a) for a in alone])[:-1]
    several = any(len(acts) > 1 for acts in actions)  # one action has no order
    worth = np.split(_worth(problem, rows) if several else np.zeros(len(rows)), ends)
    months = np.split(np.nan_to_num(problem.space.time.months(problem.z0, rows)), ends)
    total = problem.space.time.months(problem.z0, targets)
    orders = list[list[Features]]()
    for i, acts in enumerate(actions):
        by_worth = [acts[k] for k in np.lexsort((-worth[i], months[i]))]
        parts: list[Features] = [(a,) for a in by_worth if not _on_the_day(problem, a)]
        if clocks[i] and total[i] > months[i].max(initial=0.0):
            parts.append(tuple(clocks[i]))
        if last := tuple(a for a in by_worth if _on_the_day(problem, a)):
            parts.append(last)
        orders.append(parts)
    found = [_along(problem, target, order) for target, order in zip(targets, orders, strict=True)]
    if problem.tied:  # most are legal as they are; the others need another order
        legal = problem.space.allows(problem.z0, problem.then(np.concatenate(found)))
        for i, fine in enumerate(np.split(legal, np.cumsum([len(stages) for stages in found])[:-1])):
            if not fine.all():
                found[i] = _along(problem, targets[i], _grouped(problem, targets[i], orders[i]))
    return [np.concatenate([problem.z0[None], stages]) for stages in found]


def _along(problem: Problem, target: Array, steps: list[Features]) -> Array:
    """Return the rows (s, d) after each of some steps to a target (d,)."""
    stages = _stages(problem, target, [sum(steps[: k + 1], ()) for k in range(len(steps))])
    stages[-1:] = target
    return stages


def _worth(problem: Problem, rows: Array) -> Array:
    """Return how much the score of each of rows (n, d) gains for its effort, (n,)."""
    size = effort.size(problem.moves(rows))
    return (problem.score(rows) - problem.score_now) / np.maximum(size, 1e-12)


def _on_the_day(problem: Problem, feature: int) -> bool:
    return problem.space.features[feature].when == "application"


def _stages(problem: Problem, target: Array, sets: list[Features]) -> Array:
    """Return the rows (n, d) in which some of the target's actions are done."""
    kept = np.zeros((len(sets), len(problem.space.features)), dtype=bool)
    for k, done in enumerate(sets):
        kept[k, list(done)] = True
    return problem.partly(np.repeat(target[None], len(sets), axis=0), kept, problem.z0)


def _grouped(problem: Problem, target: Array, order: list[Features]) -> list[Features]:
    """Return the parts of a plan in steps: always the first that can be done now; several together where none can."""
    steps: list[Features] = []
    left = list(order)
    while left:
        for size in range(1, len(left) + 1):
            sets = list(combinations(left, size))
            done = sum(steps, ())
            rows = _stages(problem, target, [sum(some, done) for some in sets])
            if size == len(left):
                rows[-1] = target
            # from the start: what a rule asks for beside an action may have been done in an earlier step
            legal = problem.space.allows(problem.z0, problem.then(rows))
            if legal.any() or size == len(left):
                chosen = sets[int(legal.argmax()) if legal.any() else 0]
                steps.append(sum(chosen, ()))
                left = [part for part in left if part not in chosen]
                break
    return steps
