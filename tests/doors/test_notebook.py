"""Buttons in a notebook: clicks do to the session what calls would do; drawn by a real browser."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

import reap

pytest.importorskip("anywidget")
pytestmark = pytest.mark.filterwarnings("default::DeprecationWarning")  # those of the widgets' own libraries


@pytest.fixture
def session(german_engine, german, refused):
    return german_engine.elicit(german.X.loc[refused], questions=2)


def widget(session, **settings):
    return reap.notebook.buttons(session, **settings)


def acts(made):
    return {act: words for act, words, _ in made.view["buttons"]}


def test_clicks_are_answers(session, german_engine, german, refused):
    made = widget(session, screening=False)
    same = german_engine.elicit(german.X.loc[refused], questions=2)
    while same.ask() is not None:
        same.answer(0)
        assert acts(made)["A"] == "A is easier"
        made.act("A")
    assert session.answered == same.answered > 0
    assert session.recommend().target.equals(same.recommend().target)
    assert session.recommend()._repr_html_() in made.view["html"]
    assert len(made.view["html"]) == len(session.plans(3)) + 1  # why it ended, then the plans


def test_undo_skip_and_neither(session):
    made = widget(session, screening=False)
    before = session.ask()
    made.act("skip")
    assert session.history[-1].choice == "skip"
    made.act("undo")
    assert session.ask().id == before.id
    name = made.view["ticks"][0][0]
    made.act("neither", [name])
    assert name not in {change.feature for change in session.recommend().changes}


def test_screening_comes_first_and_fixes_what_is_not_ticked(session):
    made = widget(session)
    assert [name for name, _ in made.view["ticks"]] == session.changeable
    first, *others = session.changeable
    made.act("screen", others)
    assert session.screened
    assert first not in {change.feature for change in session.recommend().changes}


def test_a_refusal_is_said_above_the_question_and_loses_nothing(session):
    made = widget(session, screening=False)
    html = made.view["html"]
    made.act("neither", ["no such feature"])
    assert "no such feature" in made.view["problem"]
    assert made.view["html"] == html
    assert session.revision == 0


def test_without_anywidget_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "reap.doors.notebook", raising=False)
    with pytest.raises(reap.InputError, match=r"pip install 'reap-recourse\[notebook\]'"):
        reap.notebook


def test_a_browser_draws_the_buttons_and_their_clicks_are_answers(session, tmp_path):
    api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium on this machine")
    made = widget(session)
    (tmp_path / "widget.js").write_text(made._esm)
    page_of = """<!doctype html><style>%s</style><div id="cell"></div><script type="module">
    import widget from "http://widget.test/widget.js";
    const heard = [], model = {
      get: () => window.view, on: (name, act) => heard.push(act), send: (said) => window.sent(said) };
    window.shown = (view) => { window.view = view; heard.forEach((act) => act()); };
    window.view = %s; widget.render({ model, el: document.getElementById("cell") }); window.ready = true;
    </script>"""
    with api.sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-background-networking", "--no-first-run"]
        )
        page = browser.new_page()
        wrong = []
        page.on("pageerror", lambda error: wrong.append(str(error)))

        def answer(route):
            if route.request.url.endswith("widget.js"):
                route.fulfill(body=made._esm, content_type="text/javascript")
            else:
                html = page_of % (made._css, json.dumps(made.view))
                route.fulfill(body=html, content_type="text/html; charset=utf-8")

        page.route("http://widget.test/**", answer)
        page.expose_function("sent", lambda said: made.act(said["act"], said["ticked"]))
        page.goto("http://widget.test/")
        page.wait_for_function("window.ready")
        page.get_by_role("button", name="Go on").click()
        for _ in range(2):
            page.evaluate("view => window.shown(view)", made.view)
            page.get_by_role("button", name="B is easier").click()
        page.evaluate("view => window.shown(view)", made.view)
        assert "Your plan" in page.inner_text("#cell")
        assert session.screened
        assert [past.choice for past in session.history] == [1, 1]
        browser.close()
    assert wrong == []
