"""A service that begins sessions with a learnt prior: stored by hash, so that sessions under way outlive a change of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reap
from reap.belief import LearnedPrior
from reap.service import acts, exports
from reap.service.desk import Desk
from reap.service.settings import Settings
from reap.service.store import Store

from .conftest import ADMIN


def learnt(rules, path, **changed):
    columns = tuple(rules.legal.movable)
    names = tuple(rules.columns[i] for i in columns)
    usual = LearnedPrior.default(rules.digest, rules.dimension, columns, names, people=30, answers=150)
    prior = replace(usual, **{"learnt": "weights", **changed})
    prior.save(path)
    return prior


@pytest.fixture
def store(tmp_path):
    made = Store(f"sqlite:///{tmp_path}/reap.db")
    made.prepare()
    yield made
    made.engine.dispose()


def test_sessions_under_way_outlive_a_change_of_the_prior(
    case, store, german, german_rejected, talkative, tmp_path
):
    first = learnt(german.space, tmp_path / "first.json")
    second = learnt(
        german.space, tmp_path / "second.json", mean=np.linspace(1.0, -1.0, len(first.columns) + 1)
    )
    z = german.space.vector(german_rejected.iloc[[talkative[0]]])
    desk = Desk(case, store, Settings(questions=2, prior=str(tmp_path / "first.json")))
    token = desk.start(z)
    for settings in (Settings(questions=2), Settings(questions=2, prior=str(tmp_path / "second.json"))):
        later = Desk(case, store, settings)  # another worker, after the operator changed the prior
        with later.open(token) as live:
            assert live.session.preset.learnt.hash == first.hash
        with later.open(later.start(z)) as live:
            assert (live.session.preset.learnt and live.session.preset.learnt.hash) == (
                second.hash if settings.prior else None
            )
    with later.open(token) as live:
        question = live.session.ask()
        if question is not None:
            acts.answer(later, live, question=question.id, revision=live.revision, choice="same", key="k")
        plan = later.plan(live)
    kept, entries = later.log(token)
    text = exports.as_json(kept, entries)
    assert str(exports.load(text, case.engine, prior=tmp_path / "first.json").recommend()) == str(plan)
    with pytest.raises(reap.InputError, match="given was"):
        exports.load(text, case.engine, prior=tmp_path / "second.json")
    with pytest.raises(reap.InputError, match="none was given"):
        exports.load(text, case.engine)


def test_a_prior_of_another_space_does_not_start(case, store, german, tmp_path):
    learnt(german.space, tmp_path / "prior.json", space="elsewhere")
    with pytest.raises(reap.InputError, match="another action space"):
        Desk(case, store, Settings(prior=str(tmp_path / "prior.json")))


def test_the_operator_sees_the_gain(serve, german, tmp_path):
    figures = {
        "learnt_predicted": 0.81,
        "default_predicted": 0.74,
        "gain": 0.5,
        "gain_low": 0.3,
        "gain_high": 0.7,
    }
    learnt(german.space, tmp_path / "prior.json", figures=figures, people=312)
    said = {
        str(tmp_path / "prior.json"): "Learnt from 312 people: 81 % of held-out answers",
        "": "the default",
    }
    for prior, words in said.items():
        client = serve(f"sqlite:///{tmp_path}/reap.db", prior=prior).client
        page = client.get("/operator", auth=("operator", ADMIN))
        assert words in page.text.split('<th scope="row">Prior</th>')[1].split("</tr>")[0]
