"""Words as long as people write them: nothing sticks out at 320 px, and a plan is one sheet of paper."""

from __future__ import annotations

import dataclasses
import re

import pytest

import reap
from reap.service.case import Case
from reap.service.settings import Settings

from .conftest import running
from .test_browser import fits

#: One word of 40 letters: nothing may break it but the page itself.
LONG = "Verbraucherdarlehensrestschuldversicherung"[:40]
PAGES = ("", "/changes", "/questions", "/plan", "/wishes", "/situation", "/what-if", "/compare", "/print")
PAGES = (*PAGES, "/notice", "/review", "/done", "/delete")


@pytest.fixture(scope="module")
def wordy(german, german_model, german_rejected):
    """German credit with every label and level a word of 40 letters."""
    X, space = german.X, german.space
    features = []
    for place, feature in enumerate(space.features):
        name = f"{LONG[:-2]}{place:02}"
        features.append(dataclasses.replace(feature, label=name, phrases={}, translations={}))
    named = reap.ActionSpace(features, rules=space.rules, title=LONG, horizon=space.horizon)
    engine = reap.Recourse(german_model, named, max_changes=2).fit(X)
    return Case.of(engine, X, german_rejected)


@pytest.mark.slow
def test_labels_of_forty_letters_fit_at_320_px(browser, wordy, german_rejected, talkative, tmp_path):
    settings = Settings(database_url=f"sqlite:///{tmp_path}/reap.db", rate=0, questions=3)
    with running(wordy, settings) as here:
        space = wordy.engine.space
        subject = space.values(space.vector(german_rejected.iloc[[talkative[0]]]))
        started = here.start(subject, given=["age"])
        here.answer(started["token"], started["state"])
        page = browser.new_page(base_url=here.url, viewport={"width": 320, "height": 640})
        page.goto("/")
        fits(page)
        for path in PAGES:
            page.goto(f"/s/{started['token']}{path}")
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            fits(page)
        assert LONG[:-2] in page.context.request.get(f"{here.url}/s/{started['token']}/plan").text()
        page.close()


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_a_plan_on_paper_is_one_light_page(browser, service, german, german_rejected, talkative, code):
    subject = german_rejected.iloc[[talkative[0]]]
    token = service.start(german.space.values(german.space.vector(subject)))["token"]
    page = browser.new_page(
        base_url=service.url, viewport={"width": 1280, "height": 900}, color_scheme="dark", locale=code
    )
    page.goto(f"/s/{token}/print")
    assert page.locator("html").get_attribute("lang") == code
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert sheets(page.pdf(format="A4", print_background=True)) == 1
    own = service.client.get(f"/s/{token}/plan.pdf", headers={"Accept-Language": code}).content
    assert sheets(own) == 1
    page.goto(f"/s/{token}/plan")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.card')).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    page.close()


def sheets(pdf: bytes) -> int:
    """The pages of a PDF, as it counts them itself."""
    return max(int(n) for n in re.findall(rb"/Count (\d+)", pdf))


@pytest.mark.slow
@pytest.mark.parametrize("code", ["en", "de", "es"])
def test_the_words_of_a_choice_are_not_cut_on_a_phone(browser, service, row, code):
    token = service.start(row)["token"]
    page = browser.new_page(base_url=service.url, viewport={"width": 320, "height": 640}, locale=code)
    page.goto(f"/s/{token}/changes")
    page.locator("input[name=changeable]").first.check()
    cut = page.evaluate(
        """() => { const list = document.querySelector('.tick select'), style = getComputedStyle(list);
        const pen = document.createElement('canvas').getContext('2d'); pen.font = style.font;
        const room = list.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - 16; // its arrow
        return [...list.options].map(o => o.text).filter(words => pen.measureText(words).width > room); }"""
    )
    page.close()
    assert cut == []


@pytest.mark.slow
@pytest.mark.parametrize(("code", "shown"), [("en", "1,250 DM"), ("de", "1.250 DM"), ("es", "1.250 DM")])
def test_a_slider_says_numbers_as_the_page_does(browser, service, row, code, shown):
    token = service.start(row)["token"]
    page = browser.new_page(base_url=service.url, viewport={"width": 360, "height": 640}, locale=code)
    page.goto(f"/s/{token}/what-if")
    page.locator("#t-amount").fill("1250")
    said = page.locator("output[for='t-amount']").text_content()
    page.close()
    assert said == shown
