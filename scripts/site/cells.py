"""An example is a plain script in cells; this runs it and writes what a reader sees.

A line ``# %% [markdown]`` starts words, ``# %%`` starts code; editors and jupytext open such a file as a notebook.
Every cell's printed text, last value and figures stand under it, as in a notebook.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CELL = re.compile(r"^# %%(?P<words> \[markdown\])?.*$")


@dataclass(frozen=True)
class Cell:
    """A piece of an example: words in Markdown, or code."""

    words: bool
    text: str


@dataclass
class Output:
    """What a cell left behind: printed text, the last value as HTML or text, figures as PNG."""

    printed: str = ""
    shown: str = ""
    html: bool = False
    figures: list[bytes] = field(default_factory=list)


def cells(source: str) -> list[Cell]:
    """The cells of a script, in order; what stands before the first marker is not shown.

    >>> [cell.words for cell in cells("# %% [markdown]\\n# Hello\\n# %%\\nprint(1)\\n")]
    [True, False]
    """
    found: list[tuple[bool, list[str]]] = []
    for line in source.splitlines():
        if match := CELL.match(line):
            found.append((match["words"] is not None, []))
        elif found:
            found[-1][1].append(line)
    return [
        Cell(
            words,
            "\n".join(re.sub(r"^# ?", "", line) for line in lines) if words else "\n".join(lines).strip(),
        )
        for words, lines in found
    ]


def needs(source: str) -> list[str]:
    """The modules beyond the core that a script says it needs, in a line ``# needs: lightgbm``."""
    match = re.search(r"^# needs: (.+)$", source, flags=re.MULTILINE)
    return [name.strip() for name in match[1].split(",")] if match else []


def title(source: str) -> str:
    """The first heading among the words."""
    match = re.search(r"^# # (.+)$", source, flags=re.MULTILINE)
    if match is None:
        raise ValueError("an example begins with a heading: '# # Title' in its first cell of words")
    return match[1].strip()


def run(path: Path) -> Iterator[tuple[Cell, Output]]:
    """Runs the cells in one namespace; an error ends the run and names the cell."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    for number, cell in enumerate(cells(path.read_text(encoding="utf-8")), start=1):
        if cell.words:
            yield cell, Output()
            continue
        try:
            yield cell, _execute(cell.text, f"{path.name}, cell {number}", names)
        except Exception as problem:
            problem.add_note(f"in {path.name}, cell {number}:\n{cell.text}")
            raise


def _execute(code: str, name: str, names: dict[str, Any]) -> Output:
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    output, printed = Output(), io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), names)  # our own examples
        value = eval(compile(ast.Expression(last.value), name, "eval"), names) if last is not None else None
    output.printed = printed.getvalue()
    if value is not None and not _of_a_figure(value):
        html = value._repr_html_() if hasattr(value, "_repr_html_") else None
        output.shown, output.html = (html, True) if html else (str(value), False)
    output.figures = list(_figures())
    return output


def _of_a_figure(value: object) -> bool:
    """Whether it is a part of a drawing, or a list of such: the drawing itself is shown."""
    if isinstance(value, list):
        return bool(value) and all(_of_a_figure(each) for each in value)
    return type(value).__module__.startswith("matplotlib")


def _figures() -> Iterator[bytes]:
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, dpi=120, bbox_inches="tight", metadata={"Software": None})
        yield picture.getvalue()
    plt.close("all")
