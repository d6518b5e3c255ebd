"""Extract the messages of the code and the templates, and bring the catalogues up to date: `make messages`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent / "reap"
KEYWORDS = {"_": None, "N_": None, "gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
OPTIONS = {"**/templates/**.html": {"trimmed": "true", "encoding": "utf-8"}}


def of_python(file: Any, keywords: Any, tags: Any, options: Any) -> Iterator[tuple[int, str, Any, list[str]]]:
    """Yield the messages of a Python file, also those that stand in an f-string, which Babel's own extractor passes over."""
    for node in ast.walk(ast.parse(file.read())):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))  # _("…"), language.gettext("…")
        said = tuple(arg.value if isinstance(arg, ast.Constant) else None for arg in node.args)
        if name in keywords and said and isinstance(said[0], str):
            yield node.lineno, name, said if len(said) > 1 else said[0], []


METHODS: list[tuple[str, Any]] = [("**.py", of_python), ("**/templates/**.html", "jinja2.ext:babel_extract")]


def extracted() -> Catalog:
    """Return every message of the package, without places, so that catalogues change only where words do."""
    found = Catalog(project="reap", charset="utf-8")
    for _, _, message, comments, context in extract_from_dir(
        ROOT, METHODS, OPTIONS, keywords=KEYWORDS, comment_tags=["translators:"], strip_comment_tags=True
    ):
        found.add(message, auto_comments=comments, context=context)
    return found


def catalogue(language: str) -> Catalog:
    """Return the catalogue of a language as it stands; an empty one where there is none yet."""
    path = ROOT / "locale" / f"{language}.po"
    if not path.exists():
        return Catalog(locale=language, project="reap", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(language: str) -> list[str]:
    """Bring one catalogue up to date; return what is left to translate."""
    found = catalogue(language)
    found.update(extracted(), no_fuzzy_matching=True)
    found.obsolete.clear()
    with (ROOT / "locale" / f"{language}.po").open("wb") as file:
        write_po(
            file, found, width=110, no_location=True, omit_header=True, sort_output=True, ignore_obsolete=True
        )
    return [
        str(m.id) for m in found if m.id and not (all(m.string) if isinstance(m.string, tuple) else m.string)
    ]


def main() -> None:
    """Update every catalogue, and say what is left to translate."""
    left = {language: update(language) for language in ("de", "es")}
    for language, messages in left.items():
        print(f"{language}: {len(messages)} to translate", *messages, sep="\n  ")
    sys.exit(any(left.values()))


if __name__ == "__main__":
    main()
