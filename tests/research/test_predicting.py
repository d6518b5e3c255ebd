"""What predicts answers: logits against known answers, a population that is found again, and the loaders of real answers."""

from __future__ import annotations

import numpy as np
import pytest

import reap
from reap.belief import Posterior
from reap.research import choices, predicting
from reap.research.choices import Respondent

MEAN, ROOT = np.array([2.0, -1.0]), np.array([[0.8, 0.0], [0.6, 0.5]])
HERE = pytest.mark.skipif(bool(choices.missing()), reason="needs the answers in REAP_DATA/choices")


def crowd(n, questions, seed=0):
    """People of a mixed logit with a known mean and covariance."""
    rng, found = np.random.default_rng(seed), []
    for i in range(n):
        beta = MEAN + ROOT @ rng.standard_normal(2)
        X = rng.random((questions, 3, 2)) * 2
        chance = predicting.softmax(-X @ beta, np.ones(X.shape[:2], bool))
        answers = np.stack([np.eye(3)[rng.choice(3, p=p)] for p in chance])
        found.append(
            Respondent(str(i), X, np.ones(X.shape[:2], bool), answers, (0, 3), np.arange(3, questions))
        )
    return found


def test_hierarchical_bayes_finds_the_population_again():
    found = predicting.hierarchical(crowd(200, 15), rounds=1000)
    assert found.means.mean(axis=0) == pytest.approx(MEAN, abs=4 * max(found.means.std(axis=0).max(), 0.05))
    assert found.means.mean(axis=0) == pytest.approx(MEAN, abs=0.35)
    true = ROOT @ ROOT.T
    assert found.covariances.mean(axis=0) == pytest.approx(true, abs=0.4)


def test_a_mixed_logit_without_spread_is_the_logit_of_everybody():
    who = crowd(1, 8)[0]
    narrow = predicting.Normal(MEAN[None], 1e-12 * np.eye(2)[None])
    mixed, one = (predict(who) for predict in (predicting.mixed_logit(narrow), predicting.same_for_all(MEAN)))
    assert all(mixed[k] == pytest.approx(one[k], abs=1e-4) for k in who.seen)


def test_a_ridge_of_any_strength_lies_between_nothing_and_the_answers_alone():
    X, offered, answers = (getattr(crowd(1, 200)[0], name) for name in ("changes", "offered", "answers"))
    sizes = [np.linalg.norm(predicting.logit(X, offered, answers, np.zeros(2), r)) for r in (1e-6, 1, 1e6)]
    assert sizes[0] > sizes[1] > sizes[2]
    assert sizes[2] < 1e-3


def test_every_predictor_states_chances_of_what_is_offered():
    who = crowd(1, 8)[0]
    offered = who.offered.copy()
    offered[4, 2] = False
    less = Respondent(who.name, who.changes, offered, who.answers, who.seen, np.array([3, 4]))
    ways = predicting.confidence_set(2), predicting.posterior(Posterior(2, bank=500))
    for predict in (*ways, predicting.own(np.zeros(2), 1.0), predicting.same_for_all(np.zeros(2))):
        for chance in predict(less).values():
            assert chance.sum(axis=1) == pytest.approx(1.0)
            assert chance[1, 2] == 0.0


@HERE
@pytest.mark.parametrize("name", choices.FILES)
def test_halves_have_nobody_in_common_and_nothing_is_learnt_from_what_is_held_out(name):
    halves = [{who.name: who for who in choices.read(name, half)} for half in ("choosing", "reported")]
    assert len(halves[0]) >= 20
    assert not set(halves[0]) & set(halves[1])
    for who in halves[0].values():
        assert who.held_out.min() >= who.seen[-1]
        assert (who.changes >= 0).all()
        assert (who.answers[~who.offered] == 0).all()
        assert who.answers.sum(axis=1) == pytest.approx(1.0)


@HERE
def test_orders_differ_and_halves_do_not():
    first, second = (
        {who.name: who for who in choices.read("kidney", "choosing", order=order)} for order in (0, 1)
    )
    assert not set(second) & {who.name for who in choices.read("kidney", "reported")}
    both = set(first) & set(second)
    assert len(both) > 40  # the others decided nothing of what would be held out
    assert any((first[name].changes != second[name].changes).any() for name in both)


def test_a_set_that_is_not_here_is_told_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("REAP_DATA", str(tmp_path))
    with pytest.raises(
        reap.InputError, match=r"the answers 'kidney' are not here; put kidney_study1\.csv into"
    ):
        choices.read("kidney", "choosing")
    with pytest.raises(reap.InputError, match="there is no set of answers"):
        choices.read("planes", "choosing")
