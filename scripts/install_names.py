"""Find instructions to install a package that is not ours: ``python -m scripts.install_names``.

Our distribution has the name that stands in pyproject.toml; "reap" alone is another package. Whoever reads the README, a page of
the documentation or an error must be told the right one.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Where people are told what to install.
READ = ("README.md", "docs/**/*.md", "examples/**/*.py", "reap/**/*.py", "reap/**/*.html", "Dockerfile")
#: The page that warns of the other package quotes its name.
QUOTED = "gave me something else"


def name(root: Path = ROOT) -> str:
    """Return the name of our distribution."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"])


def wrong(text: str, ours: str) -> Iterable[str]:
    """Yield the lines of a text that tell to install ``reap``, with or without extras, where our name is another.

    Examples
    --------
    >>> list(wrong("pip install 'reap[web]'", "reap-recourse"))
    ["pip install 'reap[web]'"]
    >>> list(wrong("pip install 'reap-recourse[web]'", "reap-recourse"))
    []
    """
    for line in text.splitlines():
        told = re.findall(r"pip install ((?:[\"']?[\w.\[\],=<>~-]+[\"']?\s*)+)", line)
        named = {re.split(r"[\[=<>~]", word.strip("\"'"))[0] for words in told for word in words.split()}
        if "reap" in named and ours != "reap" and QUOTED not in line:
            yield line.strip()


def main(root: Path = ROOT) -> int:
    """Print every wrong instruction with its file; the number of them, at most 1, is the exit code."""
    ours, bad = name(root), 0
    for pattern in READ:
        for path in sorted(root.glob(pattern)):
            for line in wrong(path.read_text(encoding="utf-8"), ours):
                print(f"{path.relative_to(root)}: {line}\n  our package is {ours}")
                bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
