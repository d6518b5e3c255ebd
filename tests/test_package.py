"""The package as a stranger meets it: a quick import, the README's lines, the layers."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import reap
from scripts import install_names, lock

ROOT = Path(__file__).resolve().parents[1]


def test_import_touches_nothing():
    """Public names are lazy: importing loads no numeric library and leaves the random state alone."""
    code = (
        "import sys, random; state = random.getstate(); import reap; "
        "heavy = {'numpy', 'pandas', 'sklearn', 'scipy', 'torch', 'matplotlib', 'rich', 'typer'} & set(sys.modules); "
        "assert not heavy, heavy; assert random.getstate() == state"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", sorted(set(reap.__all__) - {"__version__"}))
def test_every_public_name_resolves(name):
    if name == "mlflow" and importlib.util.find_spec("mlflow") is None:
        with pytest.raises(reap.InputError, match=re.escape("pip install 'reap-recourse[mlflow]'")):
            reap.mlflow  # it is looked up, and says what is missing
    else:
        assert getattr(reap, name) is not None
    assert name in dir(reap)


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'GrahpRecourse'"):
        reap.GrahpRecourse


def test_the_version_stands_in_one_place():
    text = (ROOT / "pyproject.toml").read_text()
    assert "version" in tomllib.loads(text)["project"]["dynamic"]
    assert 'path = "reap/__init__.py"' in text
    assert f"## {reap.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_nobody_is_told_to_install_the_package_of_somebody_else(tmp_path, capsys):
    assert install_names.main() == 0, capsys.readouterr().out
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "reap-recourse"\n')
    (tmp_path / "README.md").write_text("```sh\npip install --upgrade reap\n```\n")
    assert install_names.main(tmp_path) == 1
    assert "our package is reap-recourse" in capsys.readouterr().out


def test_the_readme_example_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})  # the README is ours
    out = capsys.readouterr().out
    assert "Question 1." in out
    assert "Your plan:" in out


def test_the_readme_on_the_registry_leads_back_to_the_repository():
    """There the README stands alone: relative pictures would be broken."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    for rule in project["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(rule["pattern"], rule["replacement"], shown)
    targets = re.findall(r"\]\(([^)]+)\)", shown)
    assert all(target.startswith("https://") for target in targets)
    pictures = [target for target in targets if target.endswith(".png")]
    assert len(pictures) == 2
    for picture in pictures:
        raw, _, path = picture.partition("/reap/main/")
        assert raw == "https://raw.githubusercontent.com/reap-recourse"
        assert (ROOT / path).exists()


def test_what_the_image_copies_is_there_and_reaches_the_builder():
    """A file that `.dockerignore` keeps back breaks every build, and no parser says so."""
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    sources = {source for line in copied for source in line.split()}
    assert sources >= {"pyproject.toml", "requirements.lock", "reap"}
    everything, *let_through = (ROOT / ".dockerignore").read_text().splitlines()
    assert everything == "*"
    for source in sources:
        assert (ROOT / source).exists()
        assert f"!{source}" in let_through


def test_the_lock_pins_what_the_package_asks_for():
    pinned = dict(
        re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)
    )
    for wanted in map(Requirement, lock.wanted()):
        found = pinned.get(wanted.name.lower())
        assert found, f"{wanted.name} is not in requirements.lock: run `make lock`"
        assert wanted.specifier.contains(found), f"{wanted} is asked for, {found} is pinned: run `make lock`"


def test_workflows_call_what_there_is():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text()
        called = set(re.findall(r"run: make ([\w-]+)", text))
        assert called <= targets, f"{workflow.name} calls targets that are not in the Makefile"
        for script in re.findall(r"run: sh (\S+)", text):
            assert (ROOT / script).exists(), f"{workflow.name} calls {script}"
