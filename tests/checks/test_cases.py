"""A simple honest engine passes every case; an engine that breaks one promise fails the case that is for it."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import reap
from reap.checks import CASES, FOR_PEOPLE, WITH_TIME_LIMIT, CheckFailed, cases
from reap.effort import Efforts
from tests.checks.engines import Rows


@pytest.mark.parametrize("assert_case", CASES, ids=lambda case: case.__name__)
def test_an_honest_engine_passes(assert_case):
    assert_case(Rows)


class Forgetful(Rows):
    """Does not care about a person's limits."""

    def plans(self, x, matrices, limits=None):
        return super().plans(x, matrices)


class Twice(Rows):
    """Gives every candidate twice."""

    def candidates(self, x, limits=None):
        found = super().candidates(x, limits)
        return type(found)(found.subject, np.repeat(found.targets, 2, axis=0), np.repeat(found.scores, 2))


class Paths(Rows):
    """Calls its plans paths, which a session's pool keeps whatever they ask for."""

    def plans(self, x, matrices, limits=None):
        return [replace(plan, along=True) for plan in super().plans(x, matrices, limits)]


class Greedy(Rows):
    """Writes into the matrices it is given."""

    def plans(self, x, matrices, limits=None):
        plans = super().plans(x, matrices, limits)
        np.asarray(matrices)[:] = 0
        return plans


class Stepwise(Rows):
    """Calls its columns otherwise."""

    def recommend(self, X, **how):
        return super().recommend(X, **how).rename(columns={"recourse_changes": "recourse_steps"})


class Floats(Rows):
    """Gives every number back as a float."""

    def recommend(self, X, **how):
        return super().recommend(X, **how).astype({"income": float})


class Moody(Rows):
    """Answers differently every time."""

    count = itertools.count()

    def plans(self, x, matrices, limits=None):
        found = self.candidates(x, limits)
        if next(self.count) % 2 and len(found) > 1:
            return [found[0]] * len(self._efforts(matrices))
        return super().plans(x, matrices, limits)


class Sticky(Rows):
    """Takes what it learnt along when cloned."""

    def __sklearn_clone__(self):
        twin = super().__sklearn_clone__()
        twin.__dict__.update(self.__dict__)
        return twin


class Busy(Rows):
    """Has a plan for those who need none."""

    def plans(self, x, matrices, limits=None):
        return [
            replace(p, status="none_found") if p.status == "already_accepted" else p
            for p in super().plans(x, matrices, limits)
        ]


class Hopeful(Rows):
    """Calls rejected rows a plan."""

    def candidates(self, x, limits=None):
        found = super().candidates(x, limits)
        if len(found) or found.subject.verdict is not None:
            return found
        return type(found)(found.subject, self.rows_[:3], np.full(3, 0.9))


class Vague(Rows):
    """Does not tell impossible limits from a failed search."""

    def plans(self, x, matrices, limits=None):
        return [
            replace(p, status="none_found") if p.status == "infeasible" else p
            for p in super().plans(x, matrices, limits)
        ]


class Loud(Rows):
    """Prints."""

    def fit(self, X, y=None):
        print("fitting")
        return super().fit(X, y)


class Warning_(Rows):
    """Warns."""

    def fit(self, X, y=None):
        warnings.warn("look here", stacklevel=1)
        return super().fit(X, y)


class Lax(Rows):
    """Takes matrices of any size."""

    def _efforts(self, given):
        d = self.space.dimension
        return Efforts.of(
            np.atleast_3d(np.nan_to_num(given))[:, :d, :d].reshape(-1, d, d)
            if np.ndim(given) == 3
            else np.eye(d)[None]
        )


class Cheap(Rows):
    """States half of every effort."""

    def plans(self, x, matrices, limits=None):
        return [p.with_(effort=p.effort / 2) for p in super().plans(x, matrices, limits)]


class Illegal(Rows):
    """Goes to rows of others as they are."""

    def candidates(self, x, limits=None):
        found = super().candidates(x, limits)
        if not len(found):
            return found
        scores = self.classifier_.probability(self.rows_)
        return type(found)(found.subject, self.rows_[scores > 0.5], scores[scores > 0.5])


FAULTS = [
    (Forgetful, cases.limits_are_kept, "changes against the person's limit"),
    (Twice, cases.candidates_are_plans, "occurs twice"),
    (Greedy, cases.input_is_untouched, "changed the matrices"),
    (Stepwise, cases.frames_keep_their_form, "recourse_steps"),
    (Floats, cases.frames_keep_their_form, "recommend returns"),
    (Floats, cases.awkward_dtypes, "recommend returns"),
    (Moody, cases.same_seed_same_answer, "from an engine made alike"),
    (Sticky, cases.pickle_and_clone, "'not fitted' was expected"),
    (Busy, cases.accepted_people, "none_found"),
    (Hopeful, cases.nobody_is_accepted, "states the scores"),
    (Vague, cases.impossible_limits, "the status is 'none_found'"),
    (Loud, cases.silence, "prints 'fitting"),
    (Lax, cases.bad_input_is_refused, "the call went through"),
    (Cheap, cases.random_worlds, "states an effort"),
    (Illegal, cases.random_worlds, "is illegal"),
    (Cheap, cases.features_that_move_each_other, "states an effort"),
    (Rows, cases.more_changes_are_said, "is accepted without age"),
    (Rows, cases.plans_for_people, "in random world"),
    (Paths, cases.sessions_for_people, "asks for all of"),
    (Rows, cases.tables_of_users, "is accepted without"),
]


@pytest.mark.parametrize(("engine", "case", "said"), FAULTS, ids=lambda part: getattr(part, "__name__", ""))
def test_a_broken_promise_is_found(engine, case, said):
    with pytest.raises(CheckFailed, match=said):
        case(engine)


def test_a_warning_is_an_error():
    with pytest.raises(UserWarning, match="look here"):
        cases.silence(Warning_)


def test_every_case_is_broken_by_somebody():
    assert {case for _, case, _ in FAULTS} == {*CASES, *FOR_PEOPLE}


class Slow(reap.Recourse):
    """Calls a search that was cut short a search without success."""

    def plans(self, x, matrices, limits=None):
        return [
            replace(p, status="none_found", note="") if p.status == "time_limit" else p
            for p in super().plans(x, matrices, limits)
        ]


def test_an_excuse_for_being_out_of_time_is_found():
    (case,) = WITH_TIME_LIMIT
    with pytest.raises(CheckFailed, match="the status is 'none_found'"):
        case(Slow)
