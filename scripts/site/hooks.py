"""MkDocs calls these: they add executed examples and the repository's own pages, and mend links that lead out of ``docs/``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from mkdocs.structure.files import File, Files  # noqa: E402

from scripts.site import examples  # noqa: E402

#: Files of the repository that are pages of the site, too.
PAGES = {
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
}
#: Pages that need the width of a column beside them.
WIDE = {"index.md": ["navigation"], "comparison.md": ["toc"]}
REPOSITORY = "https://github.com/reap-recourse/reap/blob/main/"


def on_config(config: Any) -> Any:
    """The examples' pages join the navigation, under their titles."""
    for section in config.nav:
        if "Examples" in section:
            section["Examples"] = [
                "examples/index.md",
                *(
                    {examples.title(p.read_text(encoding="utf-8")): f"examples/{p.stem}.md"}
                    for p in examples.scripts()
                ),
            ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated files."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_inside(text)))
    built = Path(config.config_file_path).parent / "build" / "examples"
    for path in examples.build(built):
        files.append(File.generated(config, f"examples/{path.name}", abs_src_path=str(path)))
    kept = {path.stem for path in examples.scripts()}
    for picture in sorted(built.glob("*.png")):
        if picture.stem.rsplit("-", 2)[0] in kept:
            files.append(File.generated(config, f"examples/{picture.name}", abs_src_path=str(picture)))
    files.append(File.generated(config, "examples/index.md", content=examples.index()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links of pages in ``docs/`` to files of the repository; wide pages go without a column beside them."""
    page.meta.setdefault("hide", WIDE.get(page.file.src_uri, []))
    depth = page.file.src_uri.count("/")
    up = "../" * (depth + 1)
    for name, target in PAGES.items():
        markdown = markdown.replace(f"]({up}{name}", f"]({'../' * depth}{target}")
    markdown = re.sub(rf"\]\({re.escape(up)}(?!\.\./)([\w./-]+)\)", rf"]({REPOSITORY}\1)", markdown)
    for folder in ("summary", "beyond/summary"):
        markdown = markdown.replace(f"]({folder})", f"]({REPOSITORY}docs/results/{folder})")
    return markdown


def _inside(text: str) -> str:
    """A page of the repository's root as one of ``docs/``."""
    for name, page in PAGES.items():
        text = text.replace(f"]({name}", f"]({page}")
    text = text.replace("](docs/", "](")
    return re.sub(
        r"\]\((?!https?:|#)((?:reap|tests|scripts|benchmarks|examples)/[\w./-]*|LICENSE|README\.md|pyproject\.toml|Makefile)\)",
        rf"]({REPOSITORY}\1)",
        text,
    )
