"""From sessions to a prior: what is shared is found, nothing is where nothing is, files repeat to the byte, people can leave."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import reap
from reap.belief import Posterior
from reap.belief.learning import fit
from reap.elicitation import events
from reap.learning import check, describe, fairness, gain
from reap.learning.reading import read_sessions
from tests.learning.people import COLUMNS, HARD, NOTHING, scaled, session, space

RULES = space()


def crowd(draw, n, first=0, **options):
    return [session(RULES, draw, first + i, **options) for i in range(n)]


def expected(prior):
    """Return the matrix to plan with before any answer."""
    return Posterior(4, prior, bank=20_000).mean


def first_excess(mean, people=200_000):
    """Return the excess of the first plan, before any answer, over people never seen: a ratio of sums.

    So many people, because efforts have a long tail: of 2,000 three alone move it by some points.
    """
    rng, asked, best = np.random.default_rng(9), 0.0, 0.0
    for _ in range(people // 10_000):
        pool = np.abs(rng.standard_normal((10_000, 8, 4))) * (rng.random((10_000, 8, 4)) < 0.4) + 0.05
        matrices = np.stack([HARD(rng) for _ in range(10_000)])
        true = np.einsum("npi,nij,npj->np", pool, matrices, pool)
        first = np.einsum("npi,ij,npj->np", pool, mean, pool).argmin(axis=1)
        asked += true[np.arange(len(pool)), first].sum()
        best += true.min(axis=1).sum()
    return asked / best - 1


@pytest.fixture(scope="module")
def past():
    return crowd(HARD, 60)


@pytest.fixture(scope="module")
def prior(past):
    return reap.learn(past, RULES)


def test_what_people_share_is_found(prior):
    assert prior.learnt == "weights"
    assert np.argsort(prior.mean[:4]).tolist() == [1, 3, 2, 0]
    assert prior.figures["learnt_log_likelihood"] > prior.figures["default_log_likelihood"]
    assert prior.figures["gate_t"] > 2
    assert (prior.people, prior.answers) == (60, 300)
    # people's weights have these means, but for what their own matrices add
    assert np.abs(prior.mean[:4] - [2, -2, 1, -1]).max() < 1.0
    assert prior.guessing < 0.05


def unknown(rng):
    """A person as the default has them."""
    return Posterior(4).sample(1, random_state=rng).matrices[0]


def test_nothing_is_learnt_where_nothing_is_shared():
    crowds = [reap.learn(crowd(unknown, 40, first), RULES) for first in (0, 1000, 2000, 3000)]
    nothing = [found for found in crowds if found.learnt == "nothing"]
    assert len(nothing) >= 3  # the gate lets one crowd in forty through by chance
    found = nothing[0]
    np.testing.assert_array_equal(Posterior(4, found).mean, Posterior(4).mean)
    assert "Nothing was learnt from 40 people" in gain(found)


def test_people_who_are_alike_are_believed_to_be_alike():
    """They share no scales: whatever else is learnt of them, no column is made harder than another."""
    found = reap.learn(crowd(NOTHING, 40), RULES)
    mean = np.diag(Posterior(4, found).mean)
    assert mean.max() / mean.min() < 2


def test_how_many_people_mind_the_number_of_changes():
    found = reap.learn(crowd(NOTHING, 90, counting=0.7), RULES)
    assert found.learnt == "weights"
    assert found.minded[0] > 0.4
    minds = [np.mean(Posterior(4, given, beside=1).sample(900).per_change > 0) for given in (found, "people")]
    assert minds[0] > 3 * minds[1]
    assert "the number of changes: " in describe(found)
    more = [session(RULES, NOTHING, 7000 + i, counting=0.7) for i in range(25)]
    assert check(found, more, RULES).gain > 0


def test_a_session_counts_once(past):
    again = [*past, *past[:20]]
    assert len(read_sessions(again, RULES).past) == 60


def test_no_row_of_anybody_is_in_the_file(past, prior):
    text = prior.to_json()
    assert set(prior.names) == set(COLUMNS)
    for each in past:
        assert str(each.here.tolist()) not in text
    assert len(text) < 5000  # 60 people would not fit: it does not grow with them


@pytest.mark.parametrize("count", [0, 29])
def test_too_few_people(past, count):
    with pytest.raises(reap.InputError, match=f"{count} people answered .* at least 30"):
        reap.learn(past[:count], RULES)
    with pytest.raises(reap.InputError, match="give 30 or more"):
        reap.learn(past, RULES, least=5)


def test_people_who_said_nothing_do_not_count(past):
    silent = [session(RULES, HARD, 900 + i, answers=0) for i in range(40)]
    with pytest.raises(reap.InputError, match="29 people"):
        reap.learn([*past[:29], *silent], RULES)


def test_sessions_with_another_space_teach_nothing(past):
    other = space(features={"hours": {"max_change": 5}})
    assert other.digest != RULES.digest
    with pytest.raises(reap.InputError, match="60 sessions were held with another action space"):
        reap.learn(past, other)


def test_what_was_undone_or_revised_counts_as_it_counts():
    one = session(RULES, HARD, 3)
    before = read_sessions([one], RULES).past
    one.revise(0, 1 - one.history[0][1])
    assert read_sessions([one], RULES).past.fingerprint != before.fingerprint
    one.undo()
    assert read_sessions([one], RULES).past.fingerprint == before.fingerprint
    one.undo()
    assert read_sessions([one], RULES).past.answers == 4


def test_a_stated_difficulty_is_taken_out():
    """Who said that hours are very hard for them says nothing about everybody by finding them hard."""

    def moves(one):
        ((*answers,),) = read_sessions([one], RULES).past.people
        return np.concatenate([V for answer in answers for V in answer.moves])

    one = session(RULES, HARD, 3)
    plain = moves(one)
    one.constrain("hours", difficulty=5)
    stated = moves(one)
    assert stated[:, 0] == pytest.approx(plain[:, 0] * np.sqrt(10.0))
    assert stated[:, 1:] == pytest.approx(plain[:, 1:])


def test_a_damaged_session_is_refused(past):
    text = events.write(past[0].events).replace('"choice"', '"choise"')
    with pytest.raises(reap.InputError, match="session is damaged"):
        reap.learn([text], RULES)


GUESSES = {"random": lambda rng: int(rng.integers(2)), "left": lambda rng: 0}


@cache
def learnt(seed, guess=None):
    """Return what 540 people teach; with 60 more, where ``guess`` is given, who answer without looking."""
    people = crowd(HARD, 540, 100_000 * seed)
    if guess:
        people += crowd(HARD, 60, 100_000 * seed + 50_000, guess=GUESSES[guess])
    return reap.learn(people, RULES)


@pytest.mark.long
@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_poisoned_tenth_moves_excess_by_less_than_a_point(seed, guess):
    """A tenth of 600 people answer without looking: the first plans stay as good, or as bad."""
    before, after = learnt(seed), learnt(seed, guess)
    assert after.guessing > before.guessing + 0.01
    assert abs(first_excess(expected(after)) - first_excess(expected(before))) < 0.01


@pytest.mark.parametrize("guess", GUESSES)
def test_people_who_guess_are_found_and_move_little(guess, past, prior):
    """A fifth more people, who answer at random or always say "left": more are taken for such, and what is learnt stays."""
    guessing = crowd(HARD, 12, 5000, guess=GUESSES[guess])
    found = fit(read_sessions([*past, *guessing], RULES).past)
    assert found.guessing > prior.guessing + 0.02  # who answers at random is partly taken for careless
    assert np.abs(found.population.mean[:4] - prior.mean[:4]).max() < 0.5


def test_the_same_sessions_give_the_same_file(past, prior):
    """In any order, as text: the same bytes."""
    texts = [events.write(each.events) for each in past]
    shuffled = [texts[i] for i in np.random.default_rng(1).permutation(len(texts))]
    assert reap.learn(shuffled, RULES).to_json() == prior.to_json()


def test_drift_is_seen(prior):
    same = check(prior, crowd(HARD, 25, 2000), RULES)
    other = check(prior, crowd(scaled([-2.0, 2.0, -1.0, 1.0]), 25, 3000), RULES)
    assert same.gain > 0
    assert not same.harmful
    assert other.harmful
    assert "worse than the default" in str(other)
    with pytest.raises(reap.InputError, match="another action space"):
        check(prior, [], space(features={"hours": {"max_change": 5}}))
    with pytest.raises(reap.InputError, match="needs 2 or more"):
        check(prior, [], RULES)


def test_the_report_says_what_was_learnt(prior):
    said = describe(prior)
    assert "Learnt from 60 people" in said
    hours, savings = (
        next(line for line in said.splitlines() if name in line) for name in ("hours", "savings")
    )
    assert float(hours.split()[1]) > 1 > float(savings.split()[1])
    assert prior.hash in said


def test_a_learnt_prior_saves_effort_from_the_first_plan_on(prior):
    assert first_excess(Posterior(4, prior).mean) < first_excess(Posterior(4).mean) / 3


def test_the_fairness_table_shows_whom_it_serves(prior):
    """Those with few hours are like those who taught; those with many are the opposite, and are served worse."""
    opposite = scaled([-2.0, 2.0, -1.0, 1.0])
    people = [session(RULES, HARD, 4000 + i) for i in range(60)]
    people = [p for p in people if p.here[0] < 0.15][:8]
    others = [session(RULES, opposite, 4100 + i) for i in range(60)]
    people += [p for p in others if p.here[0] > 0.2][:8]
    table = fairness(prior, people, RULES, "hours", least=5).set_index("group")
    assert table["people"].tolist() == [8, 8, 16]
    like, unlike = table.iloc[1], table.iloc[0]  # "up to 3" sorts after "above 3"
    assert like["first excess, learnt"] < like["first excess, default"]
    assert unlike["first excess, learnt"] > unlike["first excess, default"]
    with pytest.raises(reap.InputError, match="there is no feature 'sex'"):
        fairness(prior, people, RULES, "sex")
    small = fairness(prior, people[:3], RULES, "hours")
    assert small["group"].tolist() == ["other", "all"]
