"""What people are shown: few rows, nothing dominated, nothing twice, no beaten plan; and that the checks can see faults."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from reap.plan import Plan
from reap.research.experiments.dialogues import beaten, dominated, printed, shown
from reap.research.experiments.scope import Scope, make_bench
from reap.research.experiments.sessions import hold
from reap.research.subjects import Mahalanobis


def faults(made, engine, count):
    """Everything shown in sessions with some people of a bench."""
    found = []
    for i in range(count):
        person = Mahalanobis.random(made.dimension, np.random.default_rng([3, i]))
        session = engine.elicit(made.subjects.iloc[[i]], questions=5)
        found.append(shown(session, person))
    return found


def check(found):
    """No fault at all, at most 3 rows in at least 95 % of the questions, and 2 in the median session."""
    questions, few = sum(each["questions"] for each in found), sum(each["few"] for each in found)
    assert questions
    for fault in ("dominated", "repeats", "beaten", "unannounced"):
        assert sum(each[fault] for each in found) == 0, fault
    assert few >= 0.95 * questions
    assert np.nanmedian([each["rows"] for each in found]) <= 2


@pytest.mark.parametrize("dataset", ["german", "synthetic"])
def test_no_session_shows_what_it_must_not(tmp_path, dataset):
    made = make_bench(tmp_path, **Scope(tmp_path, quick=True).bench(dataset, own=True))
    check(faults(made, made.engine("recourse"), 8))


@pytest.mark.long
@pytest.mark.parametrize(
    "dataset", ["synthetic", "german", "student", "bank", "compas", "adult", "gmc", "heloc"]
)
def test_no_session_on_any_data_set_shows_what_it_must_not(tmp_path, dataset):
    from reap.datasets import available

    if not any(entry.name == dataset and entry.present for entry in available()):
        pytest.skip(f"{dataset} is not here")
    made = make_bench(tmp_path, **Scope(tmp_path).bench(dataset, own=True))
    check(faults(made, made.engine("recourse"), min(100, len(made.subjects))))


@pytest.fixture(scope="module")
def question(german_engine, german_rejected):
    question = german_engine.elicit(german_rejected.iloc[0]).ask()
    assert question is not None
    return question


def test_the_checks_see_a_dominated_option(question, german):
    free = [f for f in german.space.features if f.is_action and f.is_number]
    columns = [german.space.slices[f.name].start for f in free]
    less = question.options[0]
    end = less.path[-1].copy()
    column = next(c for c in columns if less.path[0][c] != end[c])
    end[column] += 0.1 * np.sign(end[column] - less.path[0][column])  # further on the same way
    more = Plan(german.space, np.stack([less.path[0], end]), np.array([0.2, 0.8]))
    assert dominated(german.space, [less, more])
    assert not dominated(german.space, question.options)


def test_the_checks_see_a_repeat_in_another_order(question):
    turned = replace(question, options=question.options[::-1])
    assert printed(turned) == printed(question)


def test_the_checks_see_a_beaten_plan(question):
    question = replace(question, whole=True)  # two plans, not steps of them
    first, second = question.options
    assert beaten(second, [(question, 0)])
    assert not beaten(first, [(question, 0)])
    assert not beaten(second, [(question, 0), (question, 1)])  # it won since
    assert not beaten(second, [(question, 0), (question, "neither")])  # the last answer was another
    assert not beaten(second, [(replace(question, whole=False), 0)])


def test_rows_read_are_counted(german_engine, german_rejected):
    someone = Mahalanobis.random(german_engine.space.dimension, 0)
    outcomes = hold(german_engine, german_rejected.iloc[[0]], someone, at=range(4), seed=0)
    read = [each.rows for each in outcomes]
    assert read[0] == 0
    assert all(1 <= after - before <= 4 for before, after in itertools.pairwise(read) if after > before)
