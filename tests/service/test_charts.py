"""Pictures of scores say aloud what they show, and their words stay apart."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from reap.language import LANGUAGES, speaking
from reap.scores import Scale
from reap.service.charts import rise, track


def plan(*scores, months=12):
    """A plan whose actions bring these scores, at even distances over the months."""
    after = scores[1:]
    done = [
        SimpleNamespace(month=round(months * (i + 1) / len(after)), score=score, when=f"month {i + 1}")
        for i, score in enumerate(after)
    ]
    return SimpleNamespace(score_now=scores[0], months=months, changes=done)


def test_the_score_over_time_is_said_aloud_in_the_order_of_its_dates():
    label = re.search(r'aria-label="([^"]*)"', rise(plan(0.18, 0.4, 0.61), Scale()))[1]
    assert label == "The score over time. today: 18; month 1: 40; month 2: 61; needed: more than 50"


def test_a_plan_without_dates_has_no_picture():
    assert rise(plan(0.2, 0.6, months=0), Scale()) == ""


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scores", [(0.18, 0.6, 0.88), (0.3, 0.92), (0.05, 0.3, 0.45, 0.55)])
def test_the_words_of_a_picture_do_not_run_into_each_other(browser, language, scores):
    page = browser.new_page(viewport={"width": 320, "height": 640})
    with speaking(language):
        drawn = track(scores[0], Scale()) + rise(plan(*scores), Scale())
    # 248 px: what the page's and the card's margins leave of a narrow phone
    page.set_content(f"<style>body {{ width: 248px; font: 16px sans-serif }}</style>{drawn}")
    for chart in page.locator("svg").all():
        boxes = [text.bounding_box() for text in chart.locator("text").all()]
        for i, one in enumerate(boxes):
            for other in boxes[:i]:
                apart = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
                assert apart or abs(one["y"] - other["y"]) >= 0.7 * min(one["height"], other["height"])
    page.close()
