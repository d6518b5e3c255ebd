"""Where a person can go: with few changes, with more where there is no other way, waiting where nothing else helps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from cachetools import LRUCache

from reap._typing import Array
from reap.models import Classifier
from reap.models.trees.reader import Reader
from reap.recourse.subject import Subject
from reap.recourse.targets.boundary.boundary import Boundary
from reap.recourse.targets.enumeration import row_count
from reap.recourse.targets.pool import QUICK, Source
from reap.recourse.targets.problem import Problem
from reap.recourse.targets.targets import Targets
from reap.recourse.targets.trees import Trees
from reap.space import ActionSpace, Limits

#: Subjects whose targets are kept: a session asks for plans of the same person again and again.
_KEPT = 128
#: Where no plan of few changes exists this many more counts are tried one by one, before any number is allowed.
_MORE = 3
#: How far a probability that was read may be from the model's own: rounding is far below.
MISREAD = 1e-5


@dataclass
class Search:
    """Targets of people, each made once.

    Parameters
    ----------
    classifier : Classifier
        Who decides, as the search asks: without its pipeline where its trees were read.
    reader : Reader, optional
        The trees that were read.
    rows : (n, d)
        Accepted rows of other people.
    max_changes : int, optional
        Actions of a plan at most, where such a plan exists.
    seed : int
    """

    classifier: Classifier
    reader: Reader | None
    rows: Array
    max_changes: int | None
    seed: int
    _known: LRUCache[Any, Targets] = field(default_factory=lambda: LRUCache(_KEPT))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def targets(self, subject: Subject, limits: Limits | None, deadline: float) -> Iterator[Targets]:
        """Lend where a subject can go within limits, made on first use; nobody else has it meanwhile.

        Others are served at the same time: who comes anew, which takes longest, keeps nobody waiting.
        """
        key = _key(subject, limits)
        with self._lock:
            kept = self._known.get(key)
        if kept is None:
            made = self._found(subject, deadline)
            with self._lock:
                kept = self._known.setdefault(key, made)
        with kept.lent():
            kept.problem.deadline = deadline
            yield kept

    def forget(self, subject: Subject, limits: Limits | None) -> None:
        """Let the targets of a subject within limits be made anew."""
        with self._lock:
            self._known.pop(_key(subject, limits), None)

    def _found(self, subject: Subject, deadline: float) -> Targets:
        """Return the targets of a subject with few changes, then with one more at a time, then with any number.

        All of these with waiting longer than the actions take, where nothing else helps. Once time is over only any number.
        """
        classifier, reader = self._asked(subject)
        most = len([f for f in subject.space.features if f.is_action])
        few = [] if self.max_changes is None else range(self.max_changes, min(most, self.max_changes + _MORE))
        found: Targets | None = None
        first = Problem(subject.space, classifier, subject.z, (*few, None)[0], deadline)
        ways = [(_sooner(first), False), (subject.space, True)]
        begun: Problem | None = first
        for space, waits in ways if subject.space.timed else ways[:1]:
            futile, tried = (
                0,
                list[int | None](),
            )  # changes that are known not to be enough, and what was tried
            for count in (*few, None):
                if found is not None and found.problem.late and count is not None:
                    continue
                problem, begun = begun, None
                if problem is None or problem.space is not space:
                    problem = Problem(space, classifier, subject.z, count, deadline, waits)
                if problem.max_changes in tried:  # the person allows no more: it would be the same again
                    continue
                tried.append(problem.max_changes)
                found = Targets(self._source(problem, reader, futile))
                if len(found):
                    return found
                if found.pool.complete:  # all rows were looked at, those of more changes too
                    break
                futile = count or 0
        assert found is not None  # any number of changes was tried
        return found

    def _asked(self, subject: Subject) -> tuple[Classifier, Reader | None]:
        """Return whom to ask: the model itself where what was read of it says something else of the subject."""
        if self.reader is None:
            return self.classifier, None
        read = float(self.classifier.score(subject.z[None])[0])
        if abs(read - subject.score) > MISREAD:
            return self.reader.asked, None
        return self.classifier, self.reader

    def _source(self, problem: Problem, reader: Reader | None, futile: int) -> Source:
        """Return where targets come from: trees where the model could be read, else the decision boundary."""
        rng = np.random.default_rng(self.seed)
        if reader is None:
            return Boundary(problem, self.rows, rng)
        if reader.quick and row_count(problem, problem.max_changes) <= QUICK:
            return Boundary(problem, self.rows, rng, QUICK)
        return Trees(problem, reader, self.rows, rng, futile)


def _key(subject: Subject, limits: Limits | None) -> tuple[bytes, str]:
    return subject.z.tobytes(), repr(limits or None)


def _sooner(problem: Problem) -> ActionSpace:
    """Return the space up to the month before mere waiting is enough for the subject of a problem; all of it where that never is.

    From that month on whoever does nothing is accepted, so a plan that takes as long asks for what is not needed.
    """
    space, z0 = problem.space, problem.z0
    rows = problem.later()
    enough = rows[problem.score(rows) >= problem.goal]
    if len(enough) == 0:
        return space
    first = int(space.months(z0, enough).min())
    return space.tighten(Limits(within_months=max(first - 1, 0)))
