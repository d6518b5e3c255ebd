"""The page works: a real browser walks the whole way, by mouse, by keyboard, without scripts, narrow and wide."""

from __future__ import annotations

import re
import secrets

import pytest

from .conftest import ADMIN

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture
def visit(browser, service):
    """Open a page of the service; what the browser complains about fails the test."""
    contexts, complaints = [], []

    def open_page(width=1280, **options):
        context = browser.new_context(
            base_url=service.url, viewport={"width": width, "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith(service.url) else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def fits(page):
    """Nothing sticks out sideways, and every control is big enough to tap (WCAG 2.2: at least 24 px)."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    small = page.evaluate(
        """[...document.querySelectorAll('button, .button, select, input:not([type=hidden]), summary')]
        .filter(e => e.offsetParent && (e.offsetHeight < 24 || e.offsetWidth < 24)).map(e => e.outerHTML)"""
    )
    assert small == []


def answered(service):
    return len(service.events("answered"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1280])
def test_the_whole_way_by_mouse(visit, service, width):
    page = visit(width)
    page.goto("/")
    page.get_by_role("link", name="Example 1").click()
    fits(page)
    page.get_by_role("button", name="See the decision").click()
    assert "Today the answer would be no" in page.text_content("h1")
    fits(page)
    page.get_by_role("link", name="Start the questions").click()
    assert "Question 1" in page.text_content(".eyebrow")
    fits(page)
    page.get_by_role("button", name="A is easier").dblclick()  # a double click counts once
    page.wait_for_url("**/questions")
    page.get_by_text("Your answers so far").wait_for()
    assert answered(service) == 1
    page.get_by_text("I can’t do either", exact=True).first.click()
    page.locator("input[name=impossible]").first.check()
    page.get_by_role("button", name="I can’t do either").click()
    page.get_by_text("2. I can’t do either").or_(page.locator("#answer-1")).first.wait_for()
    assert answered(service) == 2
    fits(page)
    page.get_by_role("button", name="Undo the last thing I said").click()
    page.get_by_text("was taken back").wait_for()
    page.get_by_text("Change this answer").first.click()
    page.locator("#answer-0").get_by_role("button", name="About the same").click()
    page.get_by_text("Your answer was changed").wait_for()
    page.get_by_role("link", name="Say what you can and can’t do").click()
    page.locator("summary", has_text="Loan amount").click()
    page.locator("details[open] input[name=at_most]").fill("9,000")
    page.locator("details[open]").get_by_role("button", name="Save").click()
    page.get_by_text("Loan amount is at most 9,000 DM", exact=True).wait_for()
    fits(page)
    page.get_by_role("link", name="Back to the questions").click()
    while page.get_by_role("button", name="B is easier").count():
        before = answered(service)
        with page.expect_navigation():
            page.get_by_role("button", name="B is easier").first.click()
        assert answered(service) == before + 1
    page.wait_for_url("**/plan")
    assert page.get_by_role("heading", level=1).text_content()
    fits(page)
    page.get_by_role("button", name="Keep this plan").click()
    page.get_by_role("heading", name="Plans side by side").wait_for()
    fits(page)
    page.get_by_role("link", name="Back to your plan").click()
    page.get_by_role("link", name="Try other values").click()
    fits(page)
    shown = page.text_content("[data-result]")
    slider = page.locator("input[type=range]").first
    slider.fill(slider.get_attribute("min"))
    page.wait_for_function("old => document.querySelector('[data-result]').textContent !== old", arg=shown)
    assert "Hypothetical" in page.text_content("main")
    page.get_by_role("link", name="Back to your plan").click()
    page.get_by_role("link", name="Print").click()
    fits(page)
    page.get_by_role("link", name="Back").click()
    link = page.locator("#link").input_value()
    other = visit(width)  # another device, later
    other.goto(link)
    assert "What we know about you" in other.text_content("main")
    other.get_by_role("link", name="Something is different now").click()
    other.get_by_label("Loan duration").fill("20")
    other.get_by_role("button", name="Plan again from here").click()
    other.get_by_text("we remember everything you told us").wait_for()
    other.get_by_role("link", name="Delete my data").click()
    other.get_by_role("button", name="Yes, delete everything").click()
    other.get_by_role("heading", name="Everything is deleted").wait_for()
    assert service.events() == []


def focus(page, words):
    """Press Tab until something with these words has the focus, and it can be seen."""
    for _ in range(120):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(document.activeElement.textContent + (document.activeElement.name || '')).trim()"
        )
        if re.search(words, found) and len(found) < 300:
            visible = page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
            assert visible, f"the focus on {words} cannot be seen"
            return
    raise AssertionError(f"{words} cannot be reached by keyboard")


@pytest.mark.slow
def test_the_whole_way_by_keyboard_alone(visit, service):
    page = visit()
    page.goto("/")
    focus(page, "Example 1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?example=0")
    focus(page, "See the decision")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    focus(page, "Start the questions")
    page.keyboard.press("Enter")
    page.wait_for_url("**/questions")
    for key in ("1", "2", "="):
        before = answered(service)
        page.keyboard.press(key)
        page.wait_for_function("n => document.querySelectorAll('ol.given > li').length > n", arg=before)
        assert answered(service) == before + 1
    assert [e.payload["choice"] for e in service.events("answered")][:2] == [0, 1]
    focus(page, "^I can’t do either")
    page.keyboard.press("Enter")
    focus(page, "impossible")
    page.keyboard.press("Space")
    focus(page, "^I can’t do either")
    before = answered(service)
    page.keyboard.press("Enter")
    page.wait_for_function("n => document.querySelectorAll('ol.given > li').length > n", arg=before)
    assert service.events("answered")[-1].payload["impossible"]
    focus(page, "Undo")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=was taken back")
    focus(page, "See the plan so far")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=What to do")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, 1280])
def test_the_whole_way_without_scripts(visit, service, talkative, width):
    page = visit(width, java_script_enabled=False)
    page.goto(f"/?example={talkative[1]}")
    page.click("text=See the decision")
    with page.expect_navigation():
        page.click("text=Start the questions")
    while page.locator("button[name=choice][value='0']").first.count() and "/questions" in page.url:
        with page.expect_navigation():  # a click does not wait for the page it leads to
            page.locator("button[name=choice][value='0']").first.click()
    page.wait_for_url("**/plan")
    assert answered(service) >= 1
    page.click("text=Try other values")
    page.locator("select").first.select_option(index=1)
    page.click("text=Show the score")
    assert "out of 100" in page.text_content("[data-result]")
    page.click("text=Back to your plan")
    page.click("text=Keep this plan")
    assert "Kept after" in page.text_content("table")
    page.click("text=Forget")
    assert "Kept after" not in page.text_content("table")


@pytest.mark.slow
def test_back_button_and_two_tabs_never_count_twice(visit, service, row):
    token = service.start(row)["token"]
    page = visit()
    page.goto(f"/s/{token}/questions")
    twin = page.context.new_page()
    twin.goto(f"/s/{token}/questions")
    page.get_by_role("button", name="A is easier").click()
    page.wait_for_selector("#answer-0")
    twin.get_by_role("button", name="B is easier").click()  # the other tab still shows question 1
    twin.wait_for_selector("text=answered already")
    assert [e.payload["choice"] for e in service.events("answered")] == [0]
    page.get_by_role("button", name="A is easier").first.click()
    page.wait_for_selector("#answer-1")
    page.go_back()  # the page of the second question is not taken from memory: it shows the third
    page.wait_for_load_state()
    shown = page.locator("input[name=question]").first.input_value()
    with page.expect_navigation():
        page.get_by_role("button", name="B is easier").first.click()
    given = [(e.payload["question"], e.payload["choice"]) for e in service.events("answered")]
    assert [choice for _, choice in given] == [0, 0, 1]
    assert given[-1][0] == shown
    assert len({question for question, _ in given}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (768, "light"), (1280, "light")])
def test_axe_finds_nothing_on_any_page(visit, service, row, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    started = service.start(row)
    token = started["token"]
    service.answer(token, started["state"], "left", key=secrets.token_hex(4))
    wish = {"feature": "guarantor", "fixed": True}
    assert service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish).status_code == 200
    page = visit(width, color_scheme=scheme, http_credentials={"username": "o", "password": ADMIN})
    here = f"/s/{token}"
    paths = ["", "/questions", "/plan", "/wishes", "/situation", "/what-if", "/compare", "/print", "/delete"]
    for path in ["/", *(here + p for p in paths), "/operator"]:
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = axe.run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.response["violations"] == [], (path, found.generate_report())
        fits(page)
