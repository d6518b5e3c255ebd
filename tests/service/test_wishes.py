"""A wish that cannot be met is said beside its field; no wish makes a session's pages unreachable."""

from __future__ import annotations

import re

import pytest


def posted(service, token, **said):
    """Send the wishes for one feature as the page's form does."""
    page = f"/s/{token}/wishes"
    form = service.client.get(page).text
    hidden = {
        name: re.search(f'name="{name}" value="([^"]*)"', form).group(1)
        for name in ("csrf", "key", "revision")
    }
    return service.client.post(page, data=hidden | said, headers={"Accept-Language": "de"})


@pytest.mark.slow
def test_a_wish_out_of_reach_is_refused_beside_its_field(service, row):
    token = service.start(row)["token"]
    more = row["amount"] + 500  # nobody is told to borrow more
    answer = posted(service, token, feature="amount", at_least=str(more))
    assert answer.status_code == 422
    assert f'value="{more}"' in answer.text  # what was typed is kept
    said = re.search(r'<p class="error" role="alert">(.*?)</p>', answer.text).group(1)
    assert said.startswith("Kreditbetrag: Damit bliebe kein Wert übrig; ")
    assert re.search(r"\. Von Ihrer Situation aus geht es von 250 bis [\d.]+ DM\.$", said), said
    wish = {"feature": "amount", "at_least": more}
    assert service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish).status_code == 422
    assert service.events("constrained") == []


@pytest.mark.slow
def test_bounds_the_wrong_way_round_are_said_in_the_language_in_use(service, row):
    token = service.start(row)["token"]
    answer = posted(service, token, feature="duration", at_least="30", at_most="20")
    said = re.search(r'<p class="error" role="alert">(.*?)</p>', answer.text).group(1)
    assert said == "Laufzeit: Die erste Zahl, 30 Monate, ist größer als die zweite, 20 Monate"


@pytest.mark.slow
def test_wishes_that_a_new_situation_makes_impossible_leave_the_way_back_open(service, row):
    token = service.start(row)["token"]
    wish = {"feature": "amount", "at_least": row["amount"] - 500}
    assert service.client.post(f"/api/v1/sessions/{token}/constraints", json=wish).status_code == 200
    now = {"subject": row | {"amount": row["amount"] - 1500}}
    assert service.client.post(f"/api/v1/sessions/{token}/situation", json=now).status_code == 200
    pages = {
        name: service.client.get(f"/s/{token}{name}").status_code
        for name in ("", "/changes", "/questions", "/plan", "/wishes")
    }
    assert set(pages.values()) == {200}, pages
    assert f'action="/s/{token}/release"' in service.client.get(f"/s/{token}/plan").text
