"""The page on checks runs as pasted, and says what its reports say."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

from reap.checks.net import PROMISES
from reap.checks.promises import EVERY, FOR_PEOPLE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "checks.md").read_text(encoding="utf-8")


def test_the_blocks_run_top_to_bottom(capsys, monkeypatch):
    page = types.ModuleType("checks_page")  # a class that is to be pickled needs a module
    monkeypatch.setitem(sys.modules, page.__name__, page)
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "checks.md", "exec"), page.__dict__)  # our own documentation
    said = capsys.readouterr().out
    assert "Neighbours on 20 people, 4 matrices each: 6 of 6 promises hold" in said
    assert re.search(r"✗ irreducible +broken \d+ times", said)
    assert "13 cases hold" in said
    assert "Recourse on 3 random tables" in said


def test_every_promise_is_in_the_table():
    for name in (*EVERY, *FOR_PEOPLE, "manners"):
        assert f"| {name}:" in PAGE
    for name in {*PROMISES} - {*EVERY, *FOR_PEOPLE}:
        assert f"| {name} |" in PAGE
