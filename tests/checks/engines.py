"""An honest engine in few lines, and engines that each break one promise."""

from __future__ import annotations

import numpy as np

from reap.recourse import Candidates, Engine
from reap.recourse.engine import check_robust
from reap.recourse.robust import WorstCase


class Rows(Engine):
    """The cheapest legal and accepted row of other people, as one step."""

    def __init__(self, model, space, *, target=1, threshold=0.5, random_state=0):
        self.model, self.space = model, space
        self.target, self.threshold, self.random_state = target, threshold, random_state

    def fit(self, X, y=None):
        self._accept(X, y)
        self.rows_ = self.space.encode(X)
        return self

    def candidates(self, x, limits=None):
        subject = self._subject(x, limits)
        if subject.verdict is not None:
            return Candidates(subject, self.rows_[:0], np.empty(0))
        rows = subject.space.project(self.rows_, subject.z)
        rows = np.unique(rows[subject.space.allows(subject.z, rows)], axis=0)
        scores = self.classifier_.probability(rows)
        fine = scores > self.threshold
        return Candidates(subject, rows[fine], scores[fine])

    def plans(self, x, matrices, limits=None):
        people, found = self._efforts(matrices), self.candidates(x, limits)
        if found.subject.verdict is not None:
            return [found.subject.verdict] * len(people)
        if not len(found):
            return [found.subject.refused("none_found", "No row of the table can be reached.")] * len(people)
        efforts = found.subject.efforts(people, found.targets)
        return [
            found.subject.plan_to(found.targets[i], found.scores[i], each[i])
            for i, each in zip(efforts.argmin(axis=1), efforts, strict=True)
        ]

    def robust(self, x, confidence_set, objective="worst-case", limits=None):
        check_robust(confidence_set, objective, self.space.dimension)
        found = self.candidates(x, limits)
        place, worst = WorstCase(confidence_set).least(found.moves, most=len(found))
        return found.subject.plan_to(found.targets[place], found.scores[place], worst)


class Altered:
    """A plan that says something else about itself."""

    def __init__(self, plan, **said):
        self.__dict__.update(said, _plan=plan)

    def __getattr__(self, name):
        return getattr(self.__dict__["_plan"], name)
