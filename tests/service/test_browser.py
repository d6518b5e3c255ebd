"""The page works: a real browser walks the whole way, by mouse, by keyboard, without scripts, narrow and wide."""

from __future__ import annotations

import re
import secrets
import time

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
        page.on("console", lambda message: complaints.append(message.text) if _is_wrong(message) else None)
        page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith(service.url) else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def _is_wrong(message):
    """Whether the browser complains; that a form was refused, as a test wanted, is no fault."""
    return message.type == "error" and "422 (Unprocessable" not in message.text


def reached(service, count):
    """Wait until so many answers are stored."""
    for _ in range(300):
        if answered(service) >= count:
            break
        time.sleep(0.05)
    assert answered(service) == count


def fits(page):
    """Nothing sticks out sideways, and every control is big enough to tap (WCAG 2.2: at least 24 px)."""
    page.wait_for_load_state()
    wide = page.evaluate(
        """[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, .quiet") &&
        e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 200))"""
    )
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), wide
    small = page.evaluate(
        """[...document.querySelectorAll('button, .button, select, input:not([type=hidden]), summary')]
        .filter(e => e.offsetParent && (e.offsetHeight < 24 || e.offsetWidth < 24)).map(e => e.outerHTML)"""
    )
    assert small == []


def answered(service):
    return len(service.events("answered"))


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.long)])
def test_the_whole_way_by_mouse(visit, service, talkative, width):
    page = visit(width)
    page.goto("/")
    page.get_by_text("Just looking? Take an example").click()
    assert page.get_by_role("link", name="Example 1").count() == 1
    fits(page)
    page.get_by_role("link", name="Next").click()  # a long form comes in parts
    assert page.get_by_label("Loan amount").is_hidden()
    page.go_back()
    assert page.get_by_label("Loan amount").is_visible()
    page.goto(f"/?example={talkative[0]}")
    fits(page)
    page.get_by_role("button", name="See the decision").click()
    assert "Today the answer would be no" in page.text_content("h1")
    assert "main reasons" in page.text_content("main")
    fits(page)
    page.get_by_role("link", name="Find my way to a yes").click()
    assert "step 2 of 4" in page.title()
    fits(page)
    page.get_by_role("button", name="Go on").click()  # nothing ticked: said so, nothing stored
    page.get_by_text("Tick at least one thing").wait_for()
    assert page.title().startswith("Error:")
    page.get_by_role("button", name="Skip: anything is possible").click()
    page.wait_for_url("**/questions/1")
    assert service.events("screened")[0].payload["changeable"] is None
    assert "Question 1 of at most" in page.title()
    fits(page)
    page.get_by_role("button", name="A is easier").dblclick()  # a double click counts once
    page.get_by_text("Question 2 of at most").first.wait_for()
    reached(service, 1)
    with page.expect_navigation():
        page.get_by_role("button", name="A is easier").click()
    page.get_by_text("I can’t do either", exact=True).first.click()
    page.locator("input[name=impossible]").first.check()
    page.get_by_role("button", name="I can’t do either").click()
    page.get_by_text("Question 4 of at most").or_(page.get_by_text("that is all")).first.wait_for()
    reached(service, 3)
    fits(page)
    page.get_by_role("button", name="Undo the last thing I said").click()
    page.get_by_text("was taken back").wait_for()
    page.locator("#given > summary").click()
    page.get_by_text("Change this answer").first.click()
    page.locator("#answer-0").get_by_role("button", name="About the same").click()
    page.get_by_text("Your answer was changed").wait_for()
    page.get_by_role("link", name="Say what you can and can’t do").click()
    page.locator("summary", has_text="Loan amount").click()
    page.locator("details[open] input[name=at_most]").fill("9.000")  # may be nine or nine thousand
    page.locator("details[open]").get_by_role("button", name="Save").click()
    page.get_by_text("can be read as").wait_for()
    assert page.locator("details[open] input[name=at_most]").input_value() == "9.000"  # what was typed stays
    page.locator("details[open] input[name=at_most]").fill("9,000")
    page.locator("details[open]").get_by_role("button", name="Save").click()
    page.get_by_text("Loan amount is at most 9,000 DM", exact=True).wait_for()
    page.locator("summary", has_text="Loan amount").click()
    page.locator("details[open] input[name=at_most]").fill("")  # taken back by emptying
    page.locator("details[open]").get_by_role("button", name="Save").click()
    page.get_by_text("The limit is lifted").wait_for()
    assert page.get_by_text("Loan amount is at most 9,000 DM").count() == 0
    fits(page)
    page.get_by_role("link", name=re.compile("Back to the questions|See your plan")).click()
    while page.get_by_role("button", name="B is easier").count() and "/questions" in page.url:
        before = answered(service)
        with page.expect_navigation():
            page.get_by_role("button", name="B is easier").first.click()
        assert answered(service) == before + 1
    if "/plan" not in page.url:
        page.get_by_role("link", name="See your plan").click()
    fits(page)
    page.get_by_role("button", name="Choose this plan").click()
    page.get_by_text("Your choice is noted").wait_for()
    assert len(service.events("chosen")) == 1
    page.get_by_text("More you can do").click()
    page.get_by_role("link", name="Try other values").click()
    fits(page)
    shown = page.text_content("[data-result]")
    slider = page.locator("input[type=range]").first
    slider.fill(slider.get_attribute("min"))
    page.wait_for_function("old => document.querySelector('[data-result]').textContent !== old", arg=shown)
    assert "Just a trial" in page.text_content("main")
    page.get_by_role("link", name="Back to your plan").click()
    page.get_by_role("link", name="Print or save it").first.click()
    fits(page)
    page.get_by_role("link", name="Back").click()
    link = page.locator("#link").input_value()
    other = visit(width)  # another device, later
    other.goto(link)
    other.get_by_text("What we know about you").click()
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
        found = page.evaluate(  # a page that is just being left has no element with the focus
            "(({textContent, name}) => (textContent + (name || '')).trim())(document.activeElement || {textContent: ''})"
        )
        if re.search(words, found) and len(found) < 300:
            visible = page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
            assert visible, f"the focus on {words} cannot be seen"
            return
    raise AssertionError(f"{words} cannot be reached by keyboard")


@pytest.mark.slow
def test_the_whole_way_by_keyboard_alone(visit, service, talkative):
    page = visit()
    page.goto(f"/?example={talkative[0]}")
    focus(page, "See the decision")
    page.keyboard.press("Enter")
    page.wait_for_url("**/s/*")
    focus(page, "Find my way to a yes")
    page.keyboard.press("Enter")
    page.wait_for_url("**/changes")
    focus(page, "^Skip: anything")
    page.keyboard.press("Enter")
    page.wait_for_url("**/questions/1")
    page.keyboard.press("1")  # outside the answers a single key does nothing
    for number, key in enumerate(("1", "2", "="), 2):
        focus(page, "^A is easier")
        page.keyboard.press(key)
        page.wait_for_selector(f"#progress:has-text('Question {number} of')")
        reached(service, number - 1)
    assert [e.payload["choice"] for e in service.events("answered")] == [0, 1, "same"]
    focus(page, "^I can’t do either")
    page.keyboard.press("Enter")
    focus(page, "impossible")
    page.keyboard.press("Space")
    focus(page, "^I can’t do either")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    reached(service, 4)
    assert service.events("answered")[-1].payload["impossible"]
    focus(page, "Undo")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=was taken back")
    focus(page, "See the plan so far")
    page.keyboard.press("Enter")
    page.wait_for_url("**/plan")
    focus(page, "^Choose this plan")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Your choice is noted")


@pytest.mark.slow
@pytest.mark.parametrize("width", [320, pytest.param(1280, marks=pytest.mark.long)])
def test_the_whole_way_without_scripts(visit, service, talkative, width):
    page = visit(width, java_script_enabled=False)
    page.goto(f"/?example={talkative[1]}")
    page.click("text=See the decision")
    page.click("text=Find my way to a yes")
    with page.expect_navigation():
        page.click("text=Skip: anything is possible")
    while page.locator("button[name=choice][value='0']").first.count() and "/questions" in page.url:
        with page.expect_navigation():  # a click does not wait for the page it leads to
            page.locator("button[name=choice][value='0']").first.click()
    page.wait_for_url("**/plan")
    assert answered(service) >= 1
    with page.expect_navigation():
        page.click("text=Choose this plan")
    page.click("text=I have done this")
    for box in page.locator("input[name=done]").all():
        box.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Look at the decision again").click()
    assert "Good news: yes" in page.text_content("h1")  # all of it done: accepted
    assert service.events("reported")[0].payload["accepted"]


@pytest.mark.slow
def test_what_if_and_comparing_work_without_scripts(visit, service, row):
    token = service.start(row)["token"]
    page = visit(320, java_script_enabled=False)
    page.goto(f"/s/{token}/what-if")
    page.locator("select").first.select_option(index=1)
    page.click("text=Show the score")
    assert "out of 100" in page.text_content("[data-result]")
    page.click("text=Back to your plan")
    page.goto(f"/s/{token}/compare")
    assert "the one we recommend" in page.text_content("table")


@pytest.mark.slow
def test_back_button_and_two_tabs_never_count_twice(visit, service, german, german_rejected, talkative):
    subject = german_rejected.iloc[[talkative[0]]]
    token = service.start(german.space.values(german.space.vector(subject)))["token"]
    page = visit()
    page.goto(f"/s/{token}/questions")
    twin = page.context.new_page()
    twin.goto(f"/s/{token}/questions")
    page.get_by_role("button", name="A is easier").click()
    page.get_by_text("Question 2 of at most").first.wait_for()
    twin.get_by_role("button", name="B is easier").click()  # the other tab still shows question 1
    twin.wait_for_selector("text=answered already")
    assert [e.payload["choice"] for e in service.events("answered")] == [0]
    page.goto(f"/s/{token}/questions/2")
    page.get_by_role("button", name="A is easier").first.click()
    page.get_by_text("Question 3 of at most").first.wait_for()
    page.go_back()  # each question has its own address: the second one, with the answer it got
    page.get_by_text("Question 2, answered: A is easier").wait_for()
    page.get_by_role("button", name="B is easier").first.click()
    page.get_by_text("Your answer was changed").wait_for()
    assert [e.payload["choice"] for e in service.events("answered")] == [0, 0]
    assert [e.payload["choice"] for e in service.events("revised")] == [1]


@pytest.mark.slow
def test_both_answers_are_within_reach_on_a_phone(visit, service, german, german_rejected, talkative):
    """At 360 × 640 nobody scrolls to answer, and the progress never grows."""
    subject = german_rejected.iloc[[talkative[2]]]
    token = service.start(german.space.values(german.space.vector(subject)))["token"]
    page = visit(360)
    page.set_viewport_size({"width": 360, "height": 640})
    totals = set()
    page.goto(f"/s/{token}/questions")
    while page.locator("button[name=choice][value='0']").count() and "/questions" in page.url:
        for value in ("0", "1"):
            box = page.locator(f".dock button[value='{value}']").bounding_box()
            assert box["y"] + box["height"] <= 640
            assert box["y"] >= 0
        totals.add(page.text_content("#progress").split(" of at most ")[1].split()[0])
        with page.expect_navigation():
            page.locator(".dock button[value='1']").click()
    assert len(totals) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (320, "dark"),
        pytest.param(768, "light", marks=pytest.mark.long),
        pytest.param(1280, "light", marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing_on_any_page(visit, service, row, width, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    started = service.start(row)
    token = started["token"]
    service.answer(token, started["state"], "left", key=secrets.token_hex(4))
    wish = {"feature": "guarantor", "fixed": True}
    assert service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish).status_code == 200
    page = visit(width, color_scheme=scheme, http_credentials={"username": "o", "password": ADMIN})
    here = f"/s/{token}"
    words = {"words": "Please look at my case again."}
    assert service.client.post(f"/api/v1/sessions/{token}/review", json=words).status_code == 204
    paths = ["", "/changes", "/questions", "/plan", "/wishes", "/situation", "/what-if", "/compare", "/print"]
    paths += ["/delete", "/notice", "/review", "/done"]
    for path in ["/", *(here + p for p in paths), "/operator"]:
        page.goto(path)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = axe.run(page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.response["violations"] == [], (path, found.generate_report())
        fits(page)


@pytest.mark.slow
def test_an_ordinary_walk_in_german_takes_twelve_taps(visit, service, german, german_rejected, talkative):
    """From the lender's link to a plan that is chosen: screening, the questions, the choice; on a phone, in German."""
    subject = german_rejected.iloc[[talkative[0]]]
    token = service.start(german.space.values(german.space.vector(subject)))["token"]
    page = visit(360, locale="de-DE", has_touch=True, is_mobile=True)
    taps = 0

    def tap(button):
        nonlocal taps
        taps += 1
        button.tap()

    page.goto(f"/s/{token}")
    assert page.locator("html").get_attribute("lang") == "de"
    tap(page.get_by_role("link", name="Meinen Weg zum Ja finden"))
    for feature in ("amount", "duration"):
        tap(page.locator(f"input[name=changeable][value={feature}]"))
    tap(page.get_by_role("button", name="Weiter"))
    page.wait_for_url(re.compile("/(questions|plan)"))
    while "/questions" in page.url:
        with page.expect_navigation():
            tap(page.locator(".dock button[value='0']"))
    tap(page.get_by_role("button", name="Diesen Plan wählen"))
    page.get_by_text("Ihre Wahl ist notiert").wait_for()
    assert taps <= 12
    assert set(service.events("screened")[0].payload["changeable"]) == {"amount", "duration"}
    fits(page)
