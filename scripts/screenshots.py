"""Pictures of the real pages: ``python -m scripts.screenshots`` writes the README's, ``docs/pictures/page-*.png``.

``python -m scripts.screenshots --pages`` writes every page at three widths, light and dark, into ``docs/pages`` (not kept in
git); more languages with ``--language de``. It serves the embedded example on this machine, starts a session for one refused
applicant by the API, and looks at its pages in Chromium.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

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
#: What is looked at before the questions, with the first of them open, and after the last one.
BEFORE = {"situation": "", "changes": "/changes", "question": "/questions"}
AFTER = {
    "plan": "/plan",
    "wishes": "/wishes",
    "form": "/situation",
    "what-if": "/what-if",
    "compare": "/compare",
}
AFTER |= {"print": "/print", "notice": "/notice", "review": "/review", "done": "/done", "delete": "/delete"}
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


def take_pages(out: Path = EVERY, language: str = "en") -> list[Path]:
    """Write every page at every width, light and dark; the paths."""
    import httpx
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    paths = []
    with (
        served() as url,
        httpx.Client(base_url=f"{url}/api/v1", timeout=60) as api,
        sync_playwright() as playwright,
    ):
        fresh = api.post("/sessions", json={"subject": ROW, "questions": 4}).raise_for_status().json()
        done = api.post("/sessions", json={"subject": ROW, "questions": 4}).raise_for_status().json()
        _answered(api, done)
        places = {name: f"/s/{fresh['token']}{path}" for name, path in BEFORE.items()}
        places |= {name: f"/s/{done['token']}{path}" for name, path in AFTER.items()}
        places = {"start": "/", **places, "operator": "/operator", "api": "/api"}
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width, height in WIDTHS.items():
            for scheme in SCHEMES:
                page = browser.new_page(
                    viewport={"width": width, "height": height},
                    color_scheme=scheme,
                    locale=language,
                    http_credentials={"username": "operator", "password": ADMIN},
                )
                for name, place in places.items():
                    path = out / f"{name}-{width}-{scheme}-{language}.jpg"
                    page.goto(f"{url}{place}")
                    page.wait_for_load_state("networkidle")
                    page.screenshot(path=path, full_page=True, type="jpeg", quality=70)
                    paths.append(path)
                page.close()
        browser.close()
    return paths


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
    language = arguments[arguments.index("--language") + 1] if "--language" in arguments else "en"
    if "--pages" in arguments:
        return take_pages(language=language)
    return take(Path(arguments[0]) if arguments else OUT)


if __name__ == "__main__":
    print(*main(sys.argv[1:]), sep="\n")
