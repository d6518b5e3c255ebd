"""Buttons in a notebook: clicks do to the session what calls would do."""

from __future__ import annotations

import sys

import pytest

import reap
from reap import notebook

ipywidgets = pytest.importorskip("ipywidgets")
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")  # ipywidgets' own


@pytest.fixture
def session(german_engine, refused):
    return german_engine.elicit(refused, questions=2)


@pytest.fixture(scope="module")
def german_engine():
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    data = reap.datasets.load("german")
    model = make_pipeline(data.space.encoder(), LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    return reap.Recourse(model, data.space).fit(data.X)


@pytest.fixture(scope="module")
def refused(german_engine):
    """Somebody who has something to decide."""
    X = reap.datasets.load("german").X
    return next(
        X.loc[i]
        for i in X.index[german_engine.model.predict(X) == 0]
        if german_engine.elicit(X.loc[i]).ask() is not None
    )


def parts(widget):
    yield widget
    for child in getattr(widget, "children", ()):
        yield from parts(child)


def click(box, words):
    (button,) = (p for p in parts(box) if isinstance(p, ipywidgets.Button) and p.description == words)
    button.click()


def test_clicks_are_answers(session, german_engine, refused):
    box = notebook.buttons(session, screening=False)
    same = german_engine.elicit(refused, questions=2)
    while same.ask() is not None:
        same.answer(0)
        click(box, "A is easier")
    assert session.answered == same.answered > 0
    assert session.recommend().target.equals(same.recommend().target)
    shown = [part.value for part in parts(box) if isinstance(part, ipywidgets.HTML)]
    assert len(shown) == len(session.plans(3))
    assert session.recommend()._repr_html_() == shown[0]


def test_undo_skip_and_neither(session):
    box = notebook.buttons(session, screening=False)
    before = session.ask()
    click(box, "Skip")
    assert session.history[-1][1] == "skip"
    click(box, "Undo")
    assert session.ask().id == before.id
    (impossible,) = (part for part in parts(box) if isinstance(part, ipywidgets.SelectMultiple))
    name = impossible.options[0][1]
    impossible.value = (name,)
    click(box, "I can't do either")
    assert name not in {change.feature for change in session.recommend().changes}


def test_screening_comes_first_and_fixes_what_is_not_ticked(session):
    box = notebook.buttons(session)
    ticks = [part for part in parts(box) if isinstance(part, ipywidgets.Checkbox)]
    assert len(ticks) == len(session.changeable)
    first = session.changeable[0]
    next(
        tick for tick in ticks if tick.description == session.engine.space.feature(first).label
    ).value = False
    click(box, "Go on")
    assert session.screened
    assert first not in {change.feature for change in session.recommend().changes}


def test_a_refusal_is_said_above_the_question(session):
    box = notebook.buttons(session, screening=False)
    session.answer(0)  # in a cell, beside the buttons: they are of a question that is answered
    click(box, "I can't do either")
    assert box.children[0].value == "there is no question to answer; call ask() first"


def test_without_ipywidgets_a_sentence_says_what_to_do(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(reap.InputError, match=r"pip install 'reap-recourse\[notebook\]'"):
        notebook.buttons(session)
