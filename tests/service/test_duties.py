"""What a lender owes: reasons, the decision in writing, a human look, commitments, retention; and the operator's view."""

from __future__ import annotations

import html
import re
from datetime import UTC, date, datetime, timedelta

import pytest

import reap
from reap.language import speaking
from reap.service.settings import Brand, Settings, contrast

from .conftest import ADMIN

KEY = {"X-Admin-Key": ADMIN}


@pytest.fixture
def token(service, row):
    return service.start(row)["token"]


def text_of(page):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.text))


def test_reasons_are_those_of_the_engine_and_stand_in_the_notice(
    service, token, brief_engine, german_rejected
):
    given = service.client.get(f"/api/v1/sessions/{token}/reasons").json()
    known = brief_engine.reasons(german_rejected.iloc[[0]], 6)
    wanted = [r.text for r in known if r.feature not in ("age", "personal_status")][:4]
    assert [r["text"] for r in given] == wanted
    assert wanted
    notice = text_of(service.client.get(f"/s/{token}/notice"))
    for reason in wanted:
        assert reason in notice
    for part in ("Notice of a decision", "Your rights", "out of 100"):
        assert part in notice
    pdf = service.client.get(f"/s/{token}/notice.pdf")
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.content.startswith(b"%PDF")
    assert service.client.get(f"/s/{token}/plan.pdf").content.startswith(b"%PDF")
    assert len(service.events("printed")) == 1


def test_every_duty_is_done_by_the_api_as_well_as_on_the_page(serve, tmp_path, row):
    brand = {"name": "Example Bank", "creditor": "Example Bank plc", "regulator": "the authority"}
    here = serve(f"sqlite:///{tmp_path}/reap.db", brand=brand, honour_months=6, hold_days=30)
    token = here.start(row)["token"]
    api, client = f"/api/v1/sessions/{token}", here.client
    for code in ("en", "de", "es"):
        spoken = {"Accept-Language": code}
        notice = client.get(f"{api}/notice", headers=spoken).json()
        assert notice["language"] == code
        page = html.unescape(text_of(client.get(f"/s/{token}/notice", headers=spoken)))
        for line in (line for part in notice["parts"] for line in part["lines"]):
            assert " ".join(line.split()) in page
        reasons = [reason["text"] for reason in client.get(f"{api}/reasons", headers=spoken).json()]
        assert reasons in [part["lines"] for part in notice["parts"]]
        assert client.get(f"{api}/notice.pdf", headers=spoken).content.startswith(b"%PDF")
    said = " ".join(line for part in notice["parts"] for line in part["lines"])
    assert "Example Bank plc" in said
    assert "the authority" in said
    assert client.get(f"{api}/choice").json() is None
    plan = client.get(f"{api}/plan").json()
    made = client.post(f"{api}/choice", json={"plan": plan["id"]}).json()
    assert client.get(f"{api}/choice").json() == made
    assert made["honoured_until"]
    assert client.get(f"{api}/review").json() == {"waiting": None, "since": None, "answers": []}
    client.post(f"{api}/review", json={"words": "Please look."})
    assert client.get(f"{api}/review").json()["waiting"] == "Please look."
    (request,) = client.get("/api/v1/admin/reviews", headers=KEY).json()
    body = {"decision": "stands", "words": "We looked."}
    client.post(f"/api/v1/admin/reviews/{request['session']}/{request['revision']}", json=body, headers=KEY)
    known = client.get(f"{api}/review").json()
    assert known["waiting"] is None
    assert [(a["decided"], a["words"]) for a in known["answers"]] == [("The decision stands.", "We looked.")]
    until = date.fromisoformat(client.get(api).json()["held_until"])
    assert until == datetime.now(UTC).date() + timedelta(days=30)
    assert client.delete(api).status_code == 409
    log = [event["type"] for event in client.get(f"{api}/export").json()["events"]]
    assert {"chosen", "review asked", "review answered"} <= set(log)


def test_a_plan_is_chosen_once_and_honoured_where_that_is_promised(serve, tmp_path, row):
    here = serve(f"sqlite:///{tmp_path}/reap.db", honour_months=6)
    token = here.start(row)["token"]
    plan = here.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert len(plan["others"]) <= 2
    assert plan["id"] not in {other["id"] for other in plan["others"]}
    body = {"plan": plan["id"], "key": "once"}
    for _ in range(3):
        chosen = here.client.post(f"/api/v1/sessions/{token}/choice", json=body).json()
    assert len(here.events("chosen")) == 1
    assert chosen["headline"] == plan["headline"]
    assert chosen["honoured_until"]
    assert chosen["honoured_until"] in here.client.get(f"/s/{token}/plan").text
    stale = here.client.post(f"/api/v1/sessions/{token}/choice", json={"plan": "0" * 16, "key": "other"})
    assert stale.status_code == 409


def test_what_is_done_is_reported_and_scored_again(service, token):
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    early = service.client.post(f"/api/v1/sessions/{token}/done", json={"done": ["amount"]})
    assert early.status_code == 422
    service.client.post(f"/api/v1/sessions/{token}/choice", json={"plan": plan["id"]})
    wrong = service.client.post(f"/api/v1/sessions/{token}/done", json={"done": ["age", "nothing"]})
    assert wrong.status_code == 422
    page = service.client.get(f"/s/{token}/done").text
    every = re.findall(r'name="done" value="([^"]+)"', page)
    assert {change["feature"] for change in plan["changes"]} <= set(every)
    state = service.client.post(f"/api/v1/sessions/{token}/done", json={"done": every}).json()
    assert state["accepted"]
    (reported,) = service.events("reported")
    assert reported.payload["accepted"]
    assert reported.payload["done"] == every


def test_a_person_asks_and_the_operator_answers_on_the_page(service, token):
    words = "The balance was low because of <b>one</b> bill."
    path = f"/api/v1/sessions/{token}/review"
    assert service.client.post(path, json={"words": words, "key": "a"}).status_code == 204
    assert service.client.post(path, json={"words": words, "key": "a"}).status_code == 204
    assert len(service.events("review asked")) == 1
    assert service.client.get("/api/v1/admin/reviews").status_code == 401
    (request,) = service.client.get("/api/v1/admin/reviews", headers=KEY).json()
    assert request["words"] == words
    assert not request["answered"]
    page = service.client.get("/operator", auth=("o", ADMIN))
    assert "&lt;b&gt;one&lt;/b&gt;" in page.text
    answer = f"/api/v1/admin/reviews/{request['session']}/{request['revision']}"
    body = {"decision": "changed", "words": "We saw the bill."}
    assert service.client.post(answer, json=body).status_code == 401
    for _ in range(2):
        assert service.client.post(answer, json=body, headers=KEY).status_code == 204
    assert len(service.events("review answered")) == 1
    overview = text_of(service.client.get(f"/s/{token}"))
    assert "The decision was changed: yes." in overview
    assert "We saw the bill." in overview
    gone = service.client.post("/api/v1/admin/reviews/nobody/3", json=body, headers=KEY)
    assert gone.status_code == 404
    assert list(service.store.faults()) == []  # the chain holds with a note of somebody else in it


def test_a_hold_keeps_a_session_and_says_until_when(serve, tmp_path, row):
    here = serve(f"sqlite:///{tmp_path}/reap.db", hold_days=900)
    token = here.start(row)["token"]
    assert "must keep this until" in here.client.get(f"/s/{token}/delete").text
    refused = here.client.delete(f"/api/v1/sessions/{token}")
    assert refused.status_code == 409
    assert "nothing was deleted" in refused.json()["error"]
    assert here.client.get(f"/api/v1/sessions/{token}").status_code == 200


def test_the_funnel_counts_what_happened(service, token, row):
    service.start(row)
    state = service.client.post(f"/api/v1/sessions/{token}/screening", json={"changeable": None}).json()
    service.answer(token, state, "left")
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    service.client.post(f"/api/v1/sessions/{token}/choice", json={"plan": plan["id"]})
    found = service.client.get("/api/v1/admin/summary", headers=KEY).json()
    counts = found["counts"]
    assert (
        counts["opened"],
        counts["screened"],
        counts["answered"],
        counts["planned"],
        counts["chosen"],
    ) == (
        2,
        1,
        1,
        1,
        1,
    )
    assert found["stopped"] == {"0": 1}  # the other one was left with its first question open
    assert sum(day["counts"]["opened"] for day in found["by_day"]) == 2
    table = service.client.get("/operator/funnel.csv", auth=("o", ADMIN)).text
    assert table.startswith("day,opened,screened")
    assert service.client.get("/operator/funnel.csv").status_code == 401


def test_screening_rules_out_and_is_undone(service, token):
    path = f"/api/v1/sessions/{token}/screening"
    offered = [n["feature"] for n in service.state(token)["screening"]["offered"]]
    assert "amount" in offered
    state = service.client.post(path, json={"changeable": ["amount"], "difficulty": {"amount": 2}}).json()
    assert state["screening"]["changeable"] == ["amount"]
    plan = service.client.get(f"/api/v1/sessions/{token}/plan").json()
    assert {c["feature"] for c in plan["changes"]} <= {"amount"}
    assert service.client.post(path, json={"changeable": ["age"]}).status_code == 422
    undone = service.client.delete(f"/api/v1/sessions/{token}/answers/last").json()
    assert not undone["screening"]["answered"]


def test_pages_speak_the_persons_language_and_read_numbers_by_it(service, token):
    german = {"Accept-Language": "de"}
    assert "Heute wäre die Antwort nein" in service.client.get(f"/s/{token}", headers=german).text
    assert "Kredit in Deutschland" in service.client.get(f"/s/{token}", headers=german).text
    spanish = service.client.get(f"/s/{token}?lang=es", headers=german).text
    assert "Hoy la respuesta sería no" in spanish
    assert "Crédito en Alemania" in spanish
    assert "German credit" not in spanish
    wish = {"feature": "amount", "at_most": "5.000"}
    fresh = {"Accept-Language": "de", "Cookie": ""}
    state = service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish, headers=fresh).json()
    assert [w["text"] for w in state["wishes"]] in (
        ["Kreditbetrag: höchstens 5.000 DM"],
        ["Importe del préstamo: como máximo 5.000 DM"],
    )


def test_a_brand_is_shown_and_unreadable_colours_are_refused(serve, tmp_path, row):
    brand = {
        "name": "Example Bank",
        "colour": "#004488",
        "support": "help@bank.example",
        "privacy": "https://bank.example/p",
    }
    here = serve(f"sqlite:///{tmp_path}/reap.db", brand=brand, frame_ancestors=["https://www.bank.example"])
    page = here.client.get("/")
    assert "Example Bank" in page.text
    assert "mailto:help@bank.example" in page.text
    assert "#004488" in here.client.get("/brand.css").text
    assert "frame-ancestors 'self' https://www.bank.example" in page.headers["content-security-policy"]
    assert "x-frame-options" not in page.headers
    assert contrast("#004488", "#ffffff") > 4.5
    with pytest.raises(ValueError, match=r"contrast of 1\.1"):
        Brand(colour="#ffff00")
    for wrong in ("*", "https://a; script-src *", "javascript:x"):
        with pytest.raises(ValueError, match="is no site"):
            Settings(frame_ancestors=[wrong])


def test_what_the_lender_knows_is_shown_and_cannot_be_edited(service, row):
    token = service.start(row, given=["status", "age"])["token"]
    form = service.client.get(f"/s/{token}/situation").text
    assert 'name="f.status"' not in form
    assert 'name="f.amount"' in form
    assert row["status"] in text_of(service.client.get(f"/s/{token}/situation"))
    hidden = {name: re.search(f'name="{name}" value="([^"]+)"', form)[1] for name in ("csrf", "revision")}
    typed = {f"f.{name}": str(value) for name, value in {**row, "amount": 2000, "age": 60}.items()}
    sent = service.client.post(f"/s/{token}/situation", data={**hidden, "key": "a", **typed})
    assert sent.status_code == 303
    assert service.state(token)["subject"]["amount"] == 2000
    assert service.state(token)["subject"]["age"] == row["age"]  # whatever the form says
    body = {"subject": {**row, "age": 60}}
    path = f"/api/v1/sessions/{token}/situation"
    refused = service.client.post(path, json=body)
    assert refused.status_code == 422
    assert "from our own records" in refused.text
    assert service.client.post(path, json=body, headers=KEY).status_code == 200  # the lender corrects it
    unknown = service.client.post("/api/v1/sessions", json={"subject": row, "given": ["agee"]})
    assert unknown.status_code == 422
    assert "age" in unknown.text


def test_anonymity_is_a_setting_and_is_stated(serve, tmp_path, german, german_model, german_rejected):
    from reap.cli import _setup
    from reap.service.case import Case

    from .conftest import running

    engine = _setup.anonymous(reap.Recourse, 10)(german_model, german.space).fit(german.X)
    case = Case.of(engine, german.X, german_rejected)
    with running(case, Settings(database_url=f"sqlite:///{tmp_path}/a.db", admin_key=ADMIN)) as here:
        assert "averages of at least 10 people" in here.client.get("/operator", auth=("o", ADMIN)).text
    with pytest.raises(reap.InputError, match="use --engine recourse or graph"):
        _setup.anonymous(reap.GradientRecourse, 10)
    plain = serve(f"sqlite:///{tmp_path}/b.db")
    assert "averages of" not in plain.client.get("/operator", auth=("o", ADMIN)).text
    assert Settings(anonymity=5).anonymity == 5


def test_the_start_says_what_this_is_about(service, german):
    page = service.client.get("/", headers={"Accept-Language": "de"}).text
    with speaking("de"):
        assert german.space.meaning.said("about") in page
    assert "1970er" in page


def test_an_error_can_be_read_in_another_language(service, token):
    """The way there is the page itself; of a form that failed, where it leads back to."""
    nowhere = service.client.get("/s/nobody/plan")
    assert nowhere.status_code == 404
    assert 'href="?lang=de"' in nowhere.text
    assert "Sprache" in service.client.get("/s/nobody/plan?lang=de").text
    foreign = service.client.post(f"/s/{token}/answer", data={}, headers={"Accept-Language": "en"})
    assert foreign.status_code == 403
    assert f'href="/s/{token}?lang=es"' in foreign.text
