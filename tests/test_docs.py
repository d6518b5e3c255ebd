"""The documentation keeps its word: code runs as pasted, commands are understood, links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

import reap
from reap.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


# What a page says that the reader has: -----------------


def own_table() -> None:
    Path("loans.csv").write_text("amount,years,paid\n500,1,yes\n9000,1,no\n700,3,yes\n8000,2,no\n")
    X = reap.datasets.from_csv("loans.csv", label="paid", favourable="yes").X
    reap.ActionSpace.from_frame(X).save("loans.toml")


GIVEN = {"docs/data.md": own_table}
#: Run by tests/service/test_docs.py against a service, and by tests/checks/test_docs.py, which looks at what is printed.
ELSEWHERE = {"docs/service.md", "docs/checks.md"}


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python") and name(p) not in ELSEWHERE], ids=name
)
def test_python_blocks_run_as_pasted(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    if name(page) in GIVEN:
        GIVEN[name(page)]()
    for block in blocks(page, "python"):
        exec(compile(block, name(page), "exec"), names)  # our own documentation
    assert capsys.readouterr().out


def commands(page: Path) -> list[str]:
    lines = [
        line.split("  #")[0].strip()
        for block in blocks(page, "sh")
        for line in block.replace("\\\n", " ").splitlines()
    ]
    return [line for line in lines if line.startswith("reap ")]


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=name)
def test_commands_are_understood(page):
    group = typer.main.get_command(app)
    for line in commands(page):
        _, verb, *words = shlex.split(line.replace("…", ""))
        command = group.commands[verb]
        given = {word.split("=")[0] for word in words if word.startswith("-")}
        known = {option for parameter in command.params for option in parameter.opts}
        assert given <= known, f"{name(page)}: {line!r} has options that `reap {verb}` does not know"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("http"):
            continue
        end = (page.parent / target).resolve()
        if end.parent == ROOT / "docs" / "examples":  # made of a script when the site is built
            assert end.stem == "index" or (ROOT / "examples" / f"{end.stem}.py").exists(), (
                f"{name(page)} links to {target}"
            )
        else:
            assert end.exists(), f"{name(page)} links to {target}"
