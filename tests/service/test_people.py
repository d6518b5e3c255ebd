"""People walk the real pages, and every rule of what people need is counted on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import reap
from reap.service.case import Case
from reap.service.settings import Settings

from .conftest import running
from .people import Walk, form_of, text_of


@dataclass
class World:
    """A service whose plans must hold, its case, and the people who are refused, as rows."""

    here: object
    case: object
    people: list


def opened(data, folder, count, durability="chance"):
    """Serve at most 3,000 rows of a data set as ``reap serve`` does, with the logistic model of the tests."""
    X = data.X.sample(min(len(data.X), 3000), random_state=0)
    y = data.y[X.index]
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=2000)).fit(X, y)
    engine = reap.Recourse(model, data.space, durability=durability, random_state=0).fit(X, y)
    refused = data.X[~engine.classifier_.accepts(data.space.encode(data.X))]
    chosen = refused.sample(count, random_state=3)
    rows = [data.space.values(data.space.vector(chosen.iloc[[i]])) for i in range(count)]
    case = Case.of(engine, X, refused.iloc[:0])
    settings = Settings(database_url=f"sqlite:///{folder}/reap.db", rate=0, starts=0)
    seen = SimpleNamespace(engine=engine, like=X)
    return running(case, settings), seen, rows


def walked(data, folder, count, tell=lambda *_: None, **settings):
    """Let people walk; returns what was counted, what was broken, and figures of their first plans. ``tell`` hears of each."""
    server, case, rows = opened(data, folder, count, **settings)
    counts, broken, plans = Counter(), [], []
    with server as here:
        for seed, row in enumerate(rows):
            walk = Walk(here, case, seed).run(row)
            counts += walk.counts
            broken += walk.broken
            plans += walk.plans
            tell(seed, walk.broken)
    return counts, broken, plans


def test_six_people_find_no_rule_broken(german, tmp_path):
    counts, broken, plans = walked(german, tmp_path, 6)
    assert broken == []
    assert max(first.times for first in plans) <= 1.5
    assert counts["with a plan"] >= 1
    assert counts["says what is equal"] >= 4  # there were questions


def test_impossible_people_are_told_what_is_allowed_and_odd_ones_are_asked_whether_they_meant_it(
    service, german, german_rejected
):
    """Somebody of −3 or 150 years, with 10¹² DM or −5 months, was told "Good news: yes"."""
    row = german.space.values(german.space.vector(german_rejected.iloc[[3]]))
    page = service.client.get("/").text
    form = form_of(page, "/start")

    def sent(**odd):
        typed = {f"f.{name}": str(value) for name, value in {**row, **odd}.items()}
        sure = {"sure": typed.pop("f.sure")} if "sure" in odd else {}
        return service.client.post("/start", data={**form, **typed, **sure})

    for odd in ({"age": -3}, {"age": 150}, {"amount": 10**12}, {"duration": -5}, {"amount": "10.000"}):
        answer = sent(**odd)
        assert answer.status_code == 422, odd
        assert "Please check one field" in text_of(answer.text)
        assert "Good news" not in answer.text
    asked = sent(age=91)
    assert asked.status_code == 422
    assert "Did you mean that?" in text_of(asked.text)
    assert "Age is 91 years? Usually it runs from 19 to 75 years." in text_of(asked.text)
    assert 'value="91"' in asked.text  # what was typed stays
    assert sent(age=91, sure=1).status_code == 303


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(("name", "least"), [("german", 30), ("heloc", 15), ("gmc", 15), ("adult", 10)])
def test_fifty_people_find_no_rule_broken(load, tmp_path, name, least, capsys):
    counts, broken, plans = walked(load(name), tmp_path, 50)
    times = [first.times for first in plans]
    asks, months = (np.median([getattr(first, about) for first in plans]) for about in ("effort", "months"))
    said = f"effort {asks:.2f} ({np.median(times):.2f} times the easiest, {max(times):.2f} at most), {months} months"
    with capsys.disabled():
        print(f"\n{name}: {said}\n{dict(counts)}\nbroken: {len(broken)}", *broken, sep="\n  ")
    assert broken == []
    assert np.median(times) <= 1.2
    # not everybody has a plan within two years, fewer once two fifths of what may change is not possible for them
    assert counts["with a plan"] >= least
