"""The package as a stranger meets it: a quick import, the README's lines, the layers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import reap

ROOT = Path(__file__).resolve().parents[1]


def test_import_touches_nothing():
    """Public names are lazy: importing loads no numeric library and leaves the random state alone."""
    code = (
        "import sys, random; state = random.getstate(); import reap; "
        "heavy = {'numpy', 'pandas', 'sklearn', 'scipy', 'torch', 'matplotlib', 'rich', 'typer'} & set(sys.modules); "
        "assert not heavy, heavy; assert random.getstate() == state"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(set(reap.__all__) - {"__version__"}))
def test_every_public_name_resolves(name):
    assert getattr(reap, name) is not None
    assert name in dir(reap)


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'GrahpRecourse'"):
        reap.GrahpRecourse


def test_the_version_stands_in_one_place():
    text = (ROOT / "pyproject.toml").read_text()
    assert 'dynamic = ["version"]' in text
    assert 'path = "reap/__init__.py"' in text
    assert f"## {reap.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_readme_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # the README is ours
    out = capsys.readouterr().out
    assert "Question 1." in out
    assert "Your plan:" in out
