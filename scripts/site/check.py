"""Looks at the built site: ``python -m scripts.site.check build/site``.

Nothing is fetched from elsewhere, no link inside the site is broken, and every public name has a place in the reference.
"""

from __future__ import annotations

import importlib
import re
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import reap

#: Modules whose names are public though ``reap`` does not list them.
MORE = ("auditing", "elicitation", "models.files", "scores")


def public() -> dict[str, set[str]]:
    """Module -> the public names in it, as their ``__all__`` says, or what they define where there is none."""
    # doors whose outside package may be absent are described on docs/doors.md
    apart = {"reap.research", "reap.doors.mlflow"}
    modules = sorted({*reap._MODULES.values(), *(f"reap.{name}" for name in MORE)} - apart)
    found = {}
    for name in modules:
        module = importlib.import_module(name)
        listed = getattr(module, "__all__", None)
        own = {
            k
            for k, v in vars(module).items()
            if not k.startswith("_") and getattr(v, "__module__", "") == name
        }
        found[name] = set(listed) if listed is not None else own
    for name, module_name in reap._NAMES.items():
        found.setdefault(module_name, set()).add(name)
    return found


def inventory(path: Path) -> set[str]:
    """The names in a Sphinx inventory (``objects.inv``)."""
    lines = path.read_bytes().split(b"\n", 4)
    return {line.split(" ", 1)[0] for line in zlib.decompress(lines[4]).decode().splitlines()}


class Page(HTMLParser):
    """The links, what the browser would load, and the anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: D102
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loaded.append(given["src"])
        if (
            given.get("data-md-component") == "source"
        ):  # the theme's script then asks for the repository's stars
            self.loaded.append("https://api.github.com")
        if tag == "link" and "stylesheet" in given.get("rel", "") + given.get("as", ""):
            self.loaded.append(given["href"])


def problems(site: Path) -> Iterator[str]:
    """What is wrong with the site, in sentences."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site)
        for target in page.loaded:
            if urlsplit(target).netloc:
                yield f"{here} loads {target} from elsewhere"
        if path.name == "404.html":  # its links are of the server's root
            continue
        for link in [*page.links, *page.loaded]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            end = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            end = end / "index.html" if end.is_dir() else end
            if not end.exists():
                yield f"{here} links to {link}, which is not there"
            elif parts.fragment and end in pages and unquote(parts.fragment) not in pages[end].anchors:
                yield f"{here} links to {link}, and there is no such place"
    for path in sorted(site.rglob("*.css")):
        for address in re.findall(r"url\(['\"]?(https?:[^)'\"]+)", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {address} from elsewhere"
    known = inventory(site / "objects.inv")
    for module, names in public().items():
        for name in sorted(names):
            thing = getattr(importlib.import_module(module), name)
            # a second name of something that has its place under the first
            first = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', '')}"
            if not {f"{module}.{name}", first} & known:
                yield f"{module}.{name} is public and has no place in the reference"


def main() -> int:
    """Print the problems; 1 where there are some."""
    found = list(problems(Path(sys.argv[1]).resolve()))
    print(
        "\n".join(found)
        or "The site is whole: links lead somewhere, nothing is foreign, every public name has a place."
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
