"""A lender's duties by hand: a person and an operator, each in a browser of their own; and the page inside the lender's site."""

from __future__ import annotations

import http.server
import threading

import pytest

from .conftest import ADMIN


@pytest.fixture
def own(browser):
    """Open browsers that know nothing of each other."""
    contexts = []

    def open_page(url, **options):
        contexts.append(browser.new_context(base_url=url, **options))
        page = contexts[-1].new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.slow
def test_a_person_asks_the_operator_answers_and_what_was_done_is_scored_again(own, serve, row, tmp_path):
    here = serve(f"sqlite:///{tmp_path}/reap.db", honour_months=6, hold_days=30)
    token = here.start(row)["token"]
    person = own(here.url, viewport={"width": 360, "height": 640})
    desk = own(here.url, http_credentials={"username": "operator", "password": ADMIN})
    person.goto(f"/s/{token}")
    person.get_by_text("Your rights").click()
    person.get_by_role("link", name="Decision in writing").click()
    assert "Principal reasons" in person.text_content("main")
    with person.expect_download() as paper:
        person.get_by_role("link", name="Save as PDF").click()
    assert paper.value.path().read_bytes().startswith(b"%PDF")
    person.goto(f"/s/{token}/review")
    person.get_by_label("What should be looked at?").fill("I changed my job in March.")
    person.get_by_role("button", name="Send").click()
    person.get_by_text("Somebody will look at it, and the answer will stand here").wait_for()
    desk.goto("/operator")
    desk.get_by_text("I changed my job in March.").wait_for()
    desk.get_by_label("Decision").select_option(label="We need to know more from you.")
    desk.get_by_label("Answer to the person").fill("Please send us the letter.")
    desk.get_by_role("button", name="Answer", exact=True).click()
    desk.get_by_text("answered", exact=False).first.wait_for()
    person.goto(f"/s/{token}")
    assert "We need to know more from you." in person.text_content("main")
    assert "Please send us the letter." in person.text_content("main")
    person.goto(f"/s/{token}/plan")
    assert "If you do this by" in person.text_content("main")
    person.get_by_role("button", name="Choose this plan").click()
    person.get_by_text("You chose this plan on").wait_for()
    assert "If you do this by" in person.text_content("main")
    person.get_by_role("link", name="I have done this").click()
    for box in person.locator("input[name=done]").all():
        box.check()
    person.get_by_role("button", name="Look at the decision again").click()
    person.get_by_role("heading", name="Good news: yes").wait_for()
    person.get_by_role("link", name="Delete my data").click()
    person.get_by_role("heading", name="We must keep this until").wait_for()
    assert person.get_by_role("button", name="Yes, delete everything").count() == 0
    desk.goto("/operator")
    said = " ".join(desk.text_content("main").split())
    assert "chose a plan 1 (100 %)" in said
    assert "reported that it is done 1 (100 %)" in said
    desk.get_by_role("link", name="API reference").click()
    desk.wait_for_url("**/openapi.json")
    assert "/answers" in desk.content()
    assert [url for url in person.asked + desk.asked if not url.startswith(here.url)] == []
    kinds = {event.type for event in here.events()}
    assert {"chosen", "reported", "review asked", "review answered"} <= kinds
    assert list(here.store.faults()) == []


class _Site(http.server.BaseHTTPRequestHandler):
    """The lender's own site: one page with the service in a frame."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(
            f'<!doctype html><iframe width=880 height=780 src="{self.server.framed}"></iframe>'.encode()
        )

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    """The lender's site at the name "localhost": another site than 127.0.0.1, where the service is."""
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.slow
def test_the_sites_that_are_named_show_the_page_in_a_frame_and_its_forms_work_there(
    own, serve, tmp_path, site
):
    address = f"http://localhost:{site.server_address[1]}"
    options = {"frame_ancestors": [address], "secure_cookies": True}
    here = serve(f"sqlite:///{tmp_path}/reap.db", **options)
    site.framed = f"{here.url}/?example=0"
    page = own(address, viewport={"width": 900, "height": 800})
    page.goto("/")
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Deutsch").click()
    frame.get_by_role("heading", name="Ihre Situation").wait_for()
    frame.locator(".examples summary").click()
    frame.get_by_role("link", name="Beispiel 1").click()  # the language stays chosen
    frame.get_by_role("button", name="Entscheidung ansehen").click()
    frame.get_by_role("heading", name="Heute wäre die Antwort nein").wait_for()
    assert len(here.events("started")) == 1


@pytest.mark.slow
def test_no_other_site_shows_the_page_in_a_frame(own, serve, tmp_path, site):
    here = serve(f"sqlite:///{tmp_path}/reap.db", frame_ancestors=["https://bank.example"])
    site.framed = here.url
    page = own(f"http://localhost:{site.server_address[1]}")
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto("/")
    assert page.frame_locator("iframe").get_by_role("heading", name="Your situation").count() == 0
