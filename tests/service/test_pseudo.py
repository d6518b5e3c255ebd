"""A language in which every message is marked: whatever reaches a page unmarked was not translated."""

from __future__ import annotations

import gettext
import html
import re

import pytest

from reap import language

from .conftest import ADMIN

PAGES = ("", "/changes", "/questions", "/plan", "/wishes", "/situation", "/what-if", "/compare", "/print")
PAGES = (*PAGES, "/notice", "/review", "/done", "/delete")
#: Said in no language: names of languages, file kinds, and what Babel makes of dates.
SAID = "English Deutsch Español JSON CSV API PDF UTC ms p50 p95 p99 A B ABCD DM"
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
SPOKEN = ("aria-label", "placeholder", "alt", "title", "data-busy", "data-done", "content")


class Marked(gettext.NullTranslations):
    """Every message between marks that no message has."""

    def gettext(self, message):
        return f"⟦{message}⟧"

    def ngettext(self, one, many, count):
        return f"⟦{one if count == 1 else many}⟧"

    def pgettext(self, context, message):
        return f"⟦{message}⟧"


@pytest.fixture
def marked(monkeypatch):
    """German speaks in marks; numbers, dates and the words of the space stay German."""
    known, marks = language._catalogue, Marked()
    monkeypatch.setattr(language, "_catalogue", lambda code: marks if code == "de" else known(code))


def unmarked(text: str, allowed: set[str]) -> set[str]:
    """The words of a text that stand outside all marks and belong to nobody."""
    before = None
    while before != text:  # messages stand in messages
        before, text = text, re.sub(r"⟦[^⟦⟧]*⟧", " ", text)
    return set(re.findall(r"[^\W\d_]{2,}", text)) - allowed


def read(page: str) -> str:
    """All that a page says, aloud as well."""
    page = re.sub(r"(?s)<(script|style|code)\b.*?</\1>|<meta name=\"(?!desc).*?>", " ", page)
    spoken = " ".join(
        value for name in SPOKEN for value in re.findall(rf'\b{name}="([^"]*)"', page) if "/" not in value
    )
    text = html.unescape(re.sub(r"<[^>]+>", " ", page) + " " + spoken)
    return re.sub(r"https?://\S+", " ", text)


def words_of(space) -> set[str]:
    """Every word of the space's own, in German."""
    with language.speaking("de"):
        said = [
            space.title,
            space.meaning.said("about"),
            space.meaning.said("yes"),
            space.meaning.said("ready"),
            space.meaning.said("ratio"),
            *SAID.split(),
            *MONTHS.split(),
        ]
        for feature in space.features:
            said += [feature.label, feature.unit, *map(feature.show, feature.levels)]
            own = feature.translations.get("de", {}).get("phrases", {})
            named = [*own.get("names", {}).values(), *(own[key] for key in ("more", "less") if key in own)]
            phrases = [phrase for phrase in own.values() if isinstance(phrase, str)]
            said += [*phrases, *re.findall(r"[|:](\w+)", " ".join(phrases))]
            said += [*named, *(name.capitalize() for name in named)]  # they begin a line
    return set(re.findall(r"[^\W\d_]{2,}", " ".join(map(str, said))))


def test_the_marks_are_seen():
    assert unmarked("⟦Wait ⟦{n} months⟧⟧ and see", {"see"}) == {"and"}


def test_no_untranslated_string_reaches_a_page(service, german, german_rejected, talkative, marked):
    space = german.space
    subject = space.values(space.vector(german_rejected.iloc[[talkative[0]]]))
    headers = {"Accept-Language": "de"}
    started = service.start(subject, given=["age"])
    token, state = started["token"], started["state"]
    allowed = words_of(space)
    client = service.client
    seen = {}

    def look(path, **more):
        answer = client.get(path, headers=headers, **more)
        assert answer.status_code == 200, path
        seen[f"{path.replace(token, '…')} ({len(seen)})"] = unmarked(read(answer.text), allowed)

    look("/")
    for path in PAGES:
        look(f"/s/{token}{path}")
    service.answer(token, state)
    client.post(f"/api/v1/sessions/{token}/constraints", json={"feature": "guarantor", "fixed": True})
    client.post(f"/api/v1/sessions/{token}/review", json={"words": "—"})
    for path in PAGES:
        look(f"/s/{token}{path}")
    plan = client.get(f"/api/v1/sessions/{token}/plan", headers=headers).json()
    client.post(f"/api/v1/sessions/{token}/choice", json={"plan": plan["id"]})
    for path in ("", "/plan", "/done", "/print"):
        look(f"/s/{token}{path}")
    for name in (f["feature"] for f in service.state(token)["screening"]["offered"]):  # until no plan is left
        client.post(f"/api/v1/sessions/{token}/constraints", json={"feature": name, "fixed": True})
    look(f"/s/{token}/plan")
    look(f"/s/{token}/questions")
    look("/operator", auth=("o", ADMIN))
    assert {path: left for path, left in seen.items() if left} == {}


def test_a_terminal_speaks_the_language_too(brief_engine, german_rejected, talkative, marked):
    session = brief_engine.elicit(german_rejected.iloc[[talkative[0]]], questions=3)
    with language.speaking("de"):
        allowed = words_of(brief_engine.space)
        question = session.ask()
        said = [str(question), str(session.progress), question.heading]
        session.answer(0)
        plans = session.plans(3)
        said += [str(plan) for plan in plans] + [plan._repr_html_() for plan in plans]
        stuck = brief_engine.elicit(german_rejected.iloc[[talkative[0]]], questions=1)
        for name in stuck.changeable:
            stuck.constrain(name, fixed=True)
        said += [str(stuck.recommend()), str(stuck.constrain(within_months=0) or stuck.recommend())]
    left = unmarked(" ".join(read(text) for text in said), allowed)
    assert left == set()
