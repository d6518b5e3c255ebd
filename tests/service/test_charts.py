"""Pictures of scores: words never run into each other, in any language."""

from __future__ import annotations

import re

import pytest

from reap.language import LANGUAGES, speaking
from reap.scores import Scale
from reap.service.charts import track


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("scores", [(0.18, 0.6, 0.88), (0.3, 0.92), (0.05, 0.55), (0.45, 0.99), (0.88, 0.18)])
def test_the_words_of_a_track_do_not_run_into_each_other(browser, language, scores):
    page = browser.new_page(viewport={"width": 320, "height": 640})
    with speaking(language):
        drawn = track(scores, Scale())
    # 248 px: what the page's and the card's margins leave of a narrow phone
    page.set_content(
        f"<style>body {{ width: 248px; font: 16px sans-serif }} .strong {{ font: 650 17px sans-serif }}</style>{drawn}"
    )
    now, then = (box.bounding_box() for box in page.locator("text.strong").all())
    page.close()
    left, right = sorted((now, then), key=lambda box: box["x"])
    apart = left["x"] + left["width"] < right["x"]
    assert apart or abs(now["y"] - then["y"]) >= min(now["height"], then["height"])


def test_short_words_that_are_far_apart_share_a_line():
    drawn = track((0.2, 0.95), Scale())
    assert len(set(re.findall(r'y="(\d+)" class="strong"', drawn))) == 1
