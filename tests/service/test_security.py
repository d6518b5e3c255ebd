"""Nobody reads another's session: tokens, forms, headers, limits, logs."""

from __future__ import annotations

import logging
import re
from html import unescape

import httpx
import pytest

from reap.service import advice, operators, questions, situation
from reap.service.render import COOKIE
from reap.service.store import SESSIONS

from .conftest import ADMIN

PAGES = [
    *("", "/changes", "/questions", "/plan", "/wishes", "/situation", "/what-if", "/compare", "/print"),
    *("/delete", "/notice", "/review", "/done"),
]
FILES = ["/session.json", "/answers.csv", "/plan.pdf", "/notice.pdf"]


def bodies(row):
    """A body that is fine for each route of the API that takes one."""
    answer = {"revision": 1, "choice": "left", "key": "k"}
    return {
        "/answers": {"question": "0-1", **answer},
        "/answers/{position}": answer,
        "/constraints": {"feature": "age", "fixed": True},
        "/choice": {"plan": "0" * 16},
        "/done": {"done": ["amount"]},
        "/review": {"words": "?"},
        "/screening": {"changeable": None},
        "/situation": {"subject": row},
        "/score": {"subject": row},
    }


@pytest.fixture
def bad_tokens(serve, service, tmp_path, row):
    """Guessed, expired, deleted and foreign tokens."""
    expired, deleted = service.start(row)["token"], service.start(row)["token"]
    assert service.client.delete(f"/api/v1/sessions/{deleted}").status_code == 204
    with service.store.engine.connect() as connection:
        connection.execute(SESSIONS.update().values(expires="2020-01-01T00:00:00.000000+00:00"))
    elsewhere = serve(f"sqlite:///{tmp_path}/other.db").start(row)["token"]
    return ["AAAAAAAAAAAAAAAAAAAAAA", expired, deleted, elsewhere, "x", "%F0%9F%92%A9", "a" * 3000]


def test_guessed_expired_deleted_and_foreign_tokens_get_the_same_404(service, bad_tokens, row):
    assert (
        service.client.delete(f"/api/v1/sessions/{bad_tokens[1]}").status_code == 204
    )  # its owner still may
    prefix, known = "/api/v1/sessions/{token}", bodies(row)
    described = service.client.get("/api/v1/openapi.json").json()["paths"]
    routes = [(m, path.removeprefix(prefix)) for path in described if prefix in path for m in described[path]]
    assert len(routes) >= 21
    for method, path in routes:
        here = path.format(position=0, feature="age")
        answers = [
            service.client.request(method, f"/api/v1/sessions/{token}{here}", json=known.get(path))
            for token in bad_tokens
        ]
        assert {a.status_code for a in answers} == {404}, (method, path)
        assert len({a.content for a in answers}) == 1
    for path in [*PAGES, *FILES]:
        answers = [service.client.get(f"/s/{token}{path}") for token in bad_tokens]
        assert {a.status_code for a in answers} == {404}, path
        texts = {re.sub(r'value="[^"]*"', "", a.text) for a in answers}
        assert len(texts) == 1


def forms(text):
    """The forms of a page: action, and the hidden fields of each."""
    for match in re.finditer(r'<form method="post" action="([^"]+)".*?</form>', text, re.DOTALL):
        fields = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', match[0]))
        yield match[1], {name: unescape(value) for name, value in fields.items()}


def test_every_form_is_signed_for_the_browser_that_got_it(service, row):
    every = (situation.pages, questions.pages, advice.pages, operators.pages)
    routes = [r for module in every for r in module.routes]
    posts = {r.path for r in routes if "POST" in getattr(r, "methods", ())}
    assert len(posts) == 14
    started = service.start(row)
    token = started["token"]
    state = service.answer(token, started["state"], "left").json()["state"]
    service.answer(token, state, "left")
    wish = {"feature": "guarantor", "fixed": True}
    assert service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish).status_code == 200
    with httpx.Client(base_url=service.url) as person, httpx.Client(base_url=service.url) as attacker:
        found = {}
        person.get(f"/s/{token}/plan")  # the browser's first visit brings the cookie
        for page in ["/", *(f"/s/{token}{path}" for path in PAGES)]:
            for action, fields in forms(person.get(page).text):
                found.setdefault(action, fields)

        def then(name, page, **more):
            """Some forms appear only after another one was sent."""
            path = f"/s/{token}/{name}"
            assert person.post(path, data={**found[path], **more}).status_code == 303, name
            for action, fields in forms(person.get(page, auth=("o", ADMIN)).text):
                found.setdefault(action, fields)

        then("choose", f"/s/{token}/done")
        then("review", "/operator", words="Please look at it.")
        fixed = {"changeable": []}
        assert service.client.post(f"/api/v1/sessions/{token}/screening", json=fixed).status_code == 200
        for action, fields in forms(person.get(f"/s/{token}/plan").text):
            found.setdefault(action, fields)
        kinds = {action.replace(token, "{token}") for action in found}
        assert kinds == posts
        attacker.get("/")
        count = len(service.events())
        key = ("o", ADMIN)  # even with it
        for action, fields in found.items():
            unsigned = {k: v for k, v in fields.items() if k != "csrf"}
            assert person.post(action, data=unsigned, auth=key).status_code == 403
            assert person.post(action, data={**fields, "csrf": "0" * 64}, auth=key).status_code == 403
            assert (
                attacker.post(action, data=fields, auth=key).status_code == 403
            )  # another browser, the same form
            assert (
                httpx.post(service.url + action, data=fields, auth=key).status_code == 403
            )  # no cookie at all
        assert len(service.events()) == count


def test_forms_signed_before_a_restart_are_good_after_it(serve, tmp_path, row):
    url = f"sqlite:///{tmp_path}/reap.db"
    service = serve(url)
    token = service.start(row)["token"]
    page = service.client.get(f"/s/{token}/questions")
    (_, fields), *_ = forms(page.text)
    later = serve(url)
    later.client.cookies.set(COOKIE, service.client.cookies[COOKIE])
    sent = later.client.post(f"/s/{token}/answer", data={**fields, "choice": "0"})
    assert sent.status_code == 303
    assert len(later.events("answered")) == 1


def test_every_answer_carries_strict_headers_and_no_page_needs_anything_inline_or_foreign(service, row):
    token = service.start(row)["token"]
    shown = ["/", *(f"/s/{token}{path}" for path in PAGES), "/s/none", "/nowhere", "/operator"]
    for path in [*shown, "/api/v1/schema", "/static/style.css", "/healthz"]:
        answer = service.client.get(path, auth=("operator", ADMIN))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == ("public, max-age=3600" if "static" in path else "no-store")
        if path in shown:
            assert not re.search(
                r"<script(?! src=\"/static/)|<style|\sstyle=|\son\w+=|javascript:", answer.text
            )
            assert set(re.findall(r'(?:src|href|action)="(https?:)?//', answer.text)) == set()
    cookie = service.client.get("/").headers.get("set-cookie") or httpx.get(service.url).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_the_operators_page_needs_the_key(serve, tmp_path, service):
    assert service.client.get("/operator").status_code == 401
    assert service.client.get("/operator").headers["www-authenticate"].startswith("Basic")
    assert service.client.get("/operator", auth=("a", "guess")).status_code == 401
    assert service.client.get("/operator", auth=("a", ADMIN)).status_code == 200
    closed = serve(f"sqlite:///{tmp_path}/closed.db", admin_key="")
    assert closed.client.get("/operator", auth=("a", "")).status_code == 401


def test_one_client_cannot_take_everything(serve, tmp_path, row):
    service = serve(f"sqlite:///{tmp_path}/reap.db", rate=0.001, burst=5)
    codes = [service.client.get("/api/v1/schema").status_code for _ in range(7)]
    assert codes == [200] * 5 + [429] * 2
    assert service.client.get("/").status_code == 429
    assert service.client.get("/healthz").status_code == 200


def test_a_body_beyond_the_limit_is_refused_declared_or_not(service):
    big = b'{"subject": {"a": "' + b"x" * 70_000 + b'"}}'
    kind = {"content-type": "application/json"}
    assert service.client.post("/api/v1/sessions", content=big, headers=kind).status_code == 413

    def pieces():
        for i in range(0, len(big), 10_000):
            yield big[i : i + 10_000]

    assert service.client.post("/api/v1/sessions", content=pieces(), headers=kind).status_code == 413


def test_logs_say_what_happened_without_anything_personal(service, row, caplog):
    with caplog.at_level(logging.INFO, logger="reap.service"):
        started = service.start(row)
        service.answer(started["token"], started["state"], "left")
        service.client.get(f"/s/{started['token']}/plan")
    facts = [record.facts for record in caplog.records if record.getMessage() == "request"]
    assert {f["route"] for f in facts} == {
        "/api/v1/sessions",
        "/api/v1/sessions/{token}/answers",
        "/s/{token}/plan",
    }
    assert all(set(f) == {"request", "method", "route", "status", "ms"} for f in facts)


def test_an_unexpected_error_is_a_sentence_and_a_log_line_never_a_stack_trace(
    service, row, monkeypatch, caplog
):
    token = service.start(row)["token"]

    def broken(*_):
        raise RuntimeError("secret detail of a person")

    monkeypatch.setattr(service.app.state.desk, "plan", broken)
    for path in (f"/api/v1/sessions/{token}/plan", f"/s/{token}/plan"):
        answer = service.client.get(path)
        assert answer.status_code == 500
        assert "Something went wrong on our side" in answer.text
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
    assert "unexpected error" in caplog.text
