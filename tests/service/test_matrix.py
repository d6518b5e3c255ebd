"""The whole walk at every width, light and dark, in every language, by touch, keyboard and without scripts; axe on each page."""

from __future__ import annotations

import itertools

import pytest

from .test_browser import TAGS, fits

WIDTHS, SCHEMES, LANGUAGES = (360, 768, 1280), ("light", "dark"), ("en", "de", "es")
MODES = ("touch", "keyboard", "no scripts")
EVERY = list(itertools.product(WIDTHS, SCHEMES, LANGUAGES, MODES))
#: One walk for each width, scheme, language and way: every value is seen, not every pair.
FEW = [(360, "dark", "de", "touch"), (768, "light", "es", "keyboard"), (1280, "dark", "en", "no scripts")]
#: The pages beside the walk.
ASIDE = (
    "",
    "/wishes",
    "/situation",
    "/what-if",
    "/compare",
    "/print",
    "/notice",
    "/review",
    "/done",
    "/delete",
)


class Visitor:
    """Somebody who reaches things by touch, by the Tab key, or by a mouse in a browser without scripts."""

    def __init__(self, browser, url, width, scheme, language, mode):
        self.mode, self.url, self.language = mode, url, language
        options = {"has_touch": True, "is_mobile": width < 1000} if mode == "touch" else {}
        self.context = browser.new_context(
            base_url=url,
            viewport={"width": width, "height": 640 if width == 360 else 900},
            color_scheme=scheme,
            locale=language,
            java_script_enabled=mode != "no scripts",
            **options,
        )
        self.page, self.wrong = self.context.new_page(), []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda r: self.wrong.append(r.url) if not r.url.startswith(url) else None)

    def use(self, selector, *, leads=True):
        """Use a control, and wait for the page it leads to."""
        target = self.page.locator(selector).first
        if not leads:
            return self._do(target, selector)
        with self.page.expect_navigation():
            self._do(target, selector)
        return None

    def _do(self, target, selector):
        if self.mode == "touch":
            target.tap()
        elif self.mode == "keyboard":
            self._tab(selector)
            self.page.keyboard.press("Space" if "checkbox" in selector else "Enter")
        else:
            target.click()

    def _tab(self, selector):
        for _ in range(150):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("s => document.activeElement === document.querySelector(s)", selector):
                seen = self.page.evaluate("getComputedStyle(document.activeElement).outlineStyle !== 'none'")
                assert seen, f"the focus on {selector} cannot be seen"
                return
        raise AssertionError(f"{selector} cannot be reached by keyboard on {self.page.url}")

    def look(self, axe):
        """The page fits, speaks the language, and axe finds nothing; without scripts axe cannot run."""
        fits(self.page) if self.mode != "no scripts" else self.page.wait_for_load_state()
        assert self.page.locator("html").get_attribute("lang") == self.language
        if self.mode == "no scripts":
            return
        self.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = axe.run(self.page, options={"runOnly": {"type": "tag", "values": TAGS}})
        assert found.response["violations"] == [], (self.page.url, found.generate_report())
        self.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")


def assert_walked(browser, service, subject, width, scheme, language, mode):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    token = service.start(subject)["token"]
    someone = Visitor(browser, service.url, width, scheme, language, mode)
    page = someone.page
    page.goto(f"/s/{token}")
    someone.look(axe)
    someone.use("a.primary[href$='/changes']")
    someone.look(axe)
    for feature in ("amount", "duration", "savings"):
        someone.use(f"input[type=checkbox][value={feature}]", leads=False)
    someone.use(".dock button.primary")
    seen = 0
    while "/questions" in page.url:
        if not seen:
            someone.look(axe)
        seen += 1
        someone.use(f".dock button[value='{seen % 2}']")
    someone.look(axe)
    someone.use("form[action$='/choose'] button.primary")
    assert page.get_by_role("status").count() == 1  # the choice is noted, and said
    assert len(service.events("chosen")) == 1
    for path in ASIDE if mode == "touch" else ():
        page.goto(f"/s/{token}{path}")
        someone.look(axe)
    someone.context.close()
    assert someone.wrong == []
    assert seen >= 1


@pytest.fixture
def subject(german, german_rejected, talkative):
    return german.space.values(german.space.vector(german_rejected.iloc[[talkative[0]]]))


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme", "language", "mode"), FEW)
def test_the_walk(browser, service, subject, width, scheme, language, mode):
    assert_walked(browser, service, subject, width, scheme, language, mode)


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme", "language", "mode"), [c for c in EVERY if c not in FEW])
def test_the_walk_everywhere(browser, service, subject, width, scheme, language, mode):
    assert_walked(browser, service, subject, width, scheme, language, mode)
