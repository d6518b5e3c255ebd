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


# each breaks one promise --------------------------------------------------------------------------------


def engine(name, **methods):
    return type(name, (Rows,), methods)


def plans(change):
    """Plans that are changed, one by one."""
    return lambda self, x, matrices, limits=None: [change(p) for p in Rows.plans(self, x, matrices, limits)]


def candidates(change):
    """Other candidates; ``change`` is given the engine and those that were found."""
    return lambda self, x, limits=None: change(self, Rows.candidates(self, x, limits))


def recommend(change):
    """Another table."""
    return lambda self, X, **how: change(Rows.recommend(self, X, **how))


def instead(status, said):
    """A plan of one status gets another."""
    return plans(lambda p: replace(p, status=said) if p.status == status else p)


def greedy(self, x, matrices, limits=None):
    made = Rows.plans(self, x, matrices, limits)
    np.asarray(matrices)[:] = 0
    return made


def fit(happen):
    def fitted(self, X, y=None):
        happen()
        return Rows.fit(self, X, y)

    return fitted


def hopeful(self, found):
    if len(found) or found.subject.verdict is not None:
        return found
    return type(found)(found.subject, self.rows_[:3], np.full(3, 0.9))


def illegal(self, found):
    """Rows of others as they are."""
    if not len(found):
        return found
    scores = self.classifier_.probability(self.rows_)
    return type(found)(found.subject, self.rows_[scores > 0.5], scores[scores > 0.5])


def twice(self, found):
    return type(found)(found.subject, np.repeat(found.targets, 2, axis=0), np.repeat(found.scores, 2))


def lax(self, given):
    """Matrices of any size."""
    d = self.space.dimension
    fine = np.nan_to_num(given)[:, :d, :d].reshape(-1, d, d) if np.ndim(given) == 3 else np.eye(d)[None]
    return Efforts.of(fine)


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


Cheap = engine("Cheap", plans=plans(lambda plan: plan.with_(effort=plan.effort / 2)))
Illegal = engine("Illegal", candidates=candidates(illegal))
Floats = engine("Floats", recommend=recommend(lambda table: table.astype({"income": float})))
Stepwise = engine(
    "Stepwise",
    recommend=recommend(lambda table: table.rename(columns={"recourse_changes": "recourse_steps"})),
)
Forgetful = engine("Forgetful", plans=lambda self, x, matrices, limits=None: Rows.plans(self, x, matrices))
Warning_ = engine("Warning_", fit=fit(lambda: warnings.warn("look here", stacklevel=1)))
#: A session's pool keeps paths whatever they ask for.
Paths = engine("Paths", plans=plans(lambda plan: replace(plan, along=True)))
FAULTS = [
    (Forgetful, cases.limits_are_kept, "changes against the person's limit"),
    (engine("Twice", candidates=candidates(twice)), cases.candidates_are_plans, "occurs twice"),
    (engine("Greedy", plans=greedy), cases.input_is_untouched, "changed the matrices"),
    (Stepwise, cases.frames_keep_their_form, "recourse_steps"),
    (Floats, cases.frames_keep_their_form, "recommend returns"),
    (Floats, cases.awkward_dtypes, "recommend returns"),
    (Moody, cases.same_seed_same_answer, "from an engine made alike"),
    (Sticky, cases.pickle_and_clone, "'not fitted' was expected"),
    (engine("Busy", plans=instead("already_accepted", "none_found")), cases.accepted_people, "none_found"),
    (engine("Hopeful", candidates=candidates(hopeful)), cases.nobody_is_accepted, "states the scores"),
    (
        engine("Vague", plans=instead("infeasible", "none_found")),
        cases.impossible_limits,
        "the status is 'none_found'",
    ),
    (engine("Loud", fit=fit(lambda: print("fitting"))), cases.silence, "prints 'fitting"),
    (engine("Lax", _efforts=lax), cases.bad_input_is_refused, "the call went through"),
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
        made = super().plans(x, matrices, limits)
        return [replace(p, status="none_found", note="") if p.status == "time_limit" else p for p in made]


def test_an_excuse_for_being_out_of_time_is_found():
    (case,) = WITH_TIME_LIMIT
    with pytest.raises(CheckFailed, match="the status is 'none_found'"):
        case(Slow)
