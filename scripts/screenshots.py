"""Pictures of the real pages: ``python -m scripts.screenshots`` writes the README's, ``docs/pictures/page-*.png``.

``python -m scripts.screenshots --pages`` writes every page at three widths, light and dark, in every language, into
``docs/pages`` (not kept in git); one language with ``--language de``. What a page folds away is on a second picture, ``…-open``.
It serves the embedded example on this machine, starts sessions for one refused applicant by the API, and looks at their pages
in Chromium.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from uuid import uuid4

from reap.language import LANGUAGES

OUT = Path(__file__).resolve().parents[1] / "docs" / "pictures"
#: Somebody the example's model refuses, and who has something to decide.
ROW = {
    "status": "below 0 DM", "duration": 48, "amount": 4308, "savings": "below 100 DM", "employment": "less than 1 year",
    "personal_status": "married or divorced woman", "guarantor": "none", "age": 24,
    "other_plans": "none", "housing": "rented",
}  # fmt: skip
WIDTH, HEIGHT = 640, 860
EVERY = OUT.parent / "pages"
WIDTHS, SCHEMES = {360: 640, 768: 1024, 1280: 900}, ("light", "dark")
#: What is looked at before the questions, with the first of them open; after the last one; with a plan chosen; without any.
FRESH = {"decision": "", "changes": "/changes", "question": "/questions"}
ANSWERED = {
    "plan": "/plan",
    "wishes": "/wishes",
    "form": "/situation",
    "what-if": "/what-if",
    "compare": "/compare",
}
ANSWERED |= {"print": "/print", "notice": "/notice", "review": "/review", "delete": "/delete"}
CHOSEN = {"chosen": "/plan", "done": "/done"}
STUCK = {"no-plan": "/plan"}
WIDE, GRANTED = {"question-of-4": "/questions"}, {"accepted": ""}
WAITING, HEARD = {"review-waiting": "/review"}, {"review-answered": "/review", "decision-answered": ""}
#: Pages that fold something away.
FOLDED = ("decision", "question", "plan", "wishes", "no-plan", "api")
ADMIN = "a-key-for-pictures"


@contextmanager
def served() -> Iterator[str]:
    """The embedded example on a free port; its address."""
    import httpx

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{probe.getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "reap", "serve", "--port", url.rsplit(":", 1)[1], "--workers", "1"]
        service = subprocess.Popen(
            [*command, "--database", f"sqlite:///{folder}/reap.db"],
            env={**os.environ, "OMP_NUM_THREADS": "1", "REAP_ADMIN_KEY": ADMIN},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            for _ in range(900):
                try:
                    if httpx.get(f"{url}/readyz", timeout=5).status_code == 200:
                        break
                except httpx.TransportError:
                    time.sleep(0.2)
            else:
                raise RuntimeError("the service did not start within three minutes")
            yield url
        finally:
            service.terminate()
            service.wait(30)


def take(out: Path = OUT) -> list[Path]:
    """Write both pictures; the paths."""
    import httpx
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    paths = [out / "page-question.png", out / "page-plan.png"]
    with (
        served() as url,
        httpx.Client(base_url=f"{url}/api/v1", timeout=60) as api,
        sync_playwright() as playwright,
    ):
        new = api.post("/sessions", json={"subject": ROW, "questions": 4}).raise_for_status().json()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(
            viewport={"width": WIDTH, "height": HEIGHT},
            device_scale_factor=1,
            color_scheme="light",
            locale="en",
        )
        _shown(page, f"{url}/s/{new['token']}/questions", paths[0])
        _answered(api, new)
        _shown(page, f"{url}/s/{new['token']}/plan", paths[1])
        browser.close()
    return paths


def take_pages(out: Path = EVERY, languages: Sequence[str] = tuple(LANGUAGES)) -> list[Path]:
    """Write every page at every width, light and dark, in every language; the paths."""
    import httpx
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    paths = []
    with (
        served() as url,
        httpx.Client(base_url=f"{url}/api/v1", timeout=60) as api,
        sync_playwright() as playwright,
    ):
        places = {
            "start": "/",
            **_places(api),
            "operator": "/operator",
            "missing": "/s/nobody",
        }
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for language, (width, height), scheme in product(languages, WIDTHS.items(), SCHEMES):
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                locale=language,
                http_credentials={"username": "operator", "password": ADMIN},
            )
            kind = f"{width}-{scheme}-{language}.jpg"
            for name, place in places.items():
                page.goto(f"{url}{place}")
                paths.append(_whole(page, out / f"{name}-{kind}"))
                if name in FOLDED:
                    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                    paths.append(_whole(page, out / f"{name}-open-{kind}"))
            # what cannot be read is said where it was typed, and what is odd is asked about
            for name, address, field, typed in (
                ("refused", url, "input[inputmode]", "12,34,5"),
                ("odd", f"{url}/?example=0", "input[name='f.age']", "91"),
            ):
                page.goto(address)
                page.fill(field, typed)
                with page.expect_navigation():
                    page.locator("form[action='/start'] button.primary").click()
                paths.append(_whole(page, out / f"{name}-{kind}"))
            page.close()
        browser.close()
    return paths


def _places(api: Any) -> dict[str, str]:
    """Return a person's pages by name: before the questions, after them, with a plan chosen, and with no plan left."""
    found = {}
    for pages in (FRESH, ANSWERED, CHOSEN, STUCK, WIDE, GRANTED, HEARD, WAITING):
        row = (
            ROW | {"status": "no account", "duration": 6, "savings": "1,000 DM or more"}
            if pages is GRANTED
            else ROW
        )
        asked = {
            "subject": row,
            "questions": 4,
            "options": 4 if pages is WIDE else 2,
        }
        new = api.post("/sessions", json=asked).raise_for_status().json()
        here = f"/sessions/{new['token']}"
        if pages in (WAITING, HEARD):
            words = {"words": "I changed my job in March, and my employer can confirm it. Please look again."}
            api.post(f"{here}/review", json=words).raise_for_status()
        if pages is HEARD:
            _heard(api)
        if pages is STUCK:
            only = {"changeable": [new["state"]["screening"]["offered"][-1]["feature"]]}
            api.post(f"{here}/screening", json=only).raise_for_status()
        elif pages in (ANSWERED, CHOSEN):
            _answered(api, new)
        if pages is CHOSEN:
            plan = api.get(f"{here}/plan").raise_for_status().json()
            api.post(f"{here}/choice", json={"plan": plan["id"]}).raise_for_status()
        found |= {name: f"/s/{new['token']}{path}" for name, path in pages.items()}
    return found


def _heard(api: Any) -> None:
    """Answers the newest request for a human look, as the operator would."""
    key = {"X-Admin-Key": ADMIN}
    waiting = [
        r for r in api.get("/admin/reviews", headers=key).raise_for_status().json() if not r["answered"]
    ]
    last = max(waiting, key=lambda request: request["at"])
    said = {"decision": "more", "words": "Thank you. Please send us the letter of your employer."}
    api.post(
        f"/admin/reviews/{last['session']}/{last['revision']}", json=said, headers=key
    ).raise_for_status()


def _whole(page: Any, path: Path) -> Path:
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path, full_page=True, type="jpeg", quality=70)
    return path


def _answered(api: Any, new: dict[str, Any]) -> None:
    """Answers every question with the first option."""
    state = new["state"]
    while (question := state["question"]) is not None:
        said = {"question": question["id"], "revision": state["revision"], "choice": 0, "key": uuid4().hex}
        stored = api.post(f"/sessions/{new['token']}/answers", json=said).raise_for_status().json()
        state = stored["state"]


def _shown(page: Any, address: str, path: Path) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT})


def main(arguments: list[str]) -> list[Path]:
    """Take what the command line asks for."""
    if "--pages" not in arguments:
        return take(Path(arguments[0]) if arguments else OUT)
    if "--language" in arguments:
        return take_pages(languages=[arguments[arguments.index("--language") + 1]])
    return take_pages()


if __name__ == "__main__":
    print(*main(sys.argv[1:]), sep="\n")
