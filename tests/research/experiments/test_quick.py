"""``reap reproduce --quick``: every table and the report, on data that ships inside."""

from __future__ import annotations

import json

import pytest

from reap.cli import main
from reap.research.experiments import NAMES


def run(*words):
    """Run the command; typer leaves by SystemExit."""
    with pytest.raises(SystemExit) as end:
        main(["reproduce", *words])
    return end.value.code


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--datasets", "german", "--matrices", "1"], id="one data set"),
        pytest.param(["--jobs", "2"], id="all", marks=pytest.mark.long),
    ],
)
def test_quick_makes_everything(words, tmp_path, capsys):
    """All tables tiny. What needs files or packages that are not here is left out, and the report says so.

    The long one takes two data sets a table, in two processes, as the command does by itself.
    """
    assert run("--quick", *words, "--out", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "Excess over the oracle" in said
    verdicts = json.loads((tmp_path / "summary" / "verdicts.json").read_text(encoding="utf-8"))
    made = {entry["table"] for entry in verdicts}
    assert set(NAMES) - made <= {
        "dice",
        "pear",
        "humans",
    }  # dice has no table of its own; others need Adult, GMC or answers
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<h2") >= len(made)
    assert "src='http" not in page
    assert "file:" not in page
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    for entry in verdicts:
        assert f"## {entry['title']}" in text
    for line in text.splitlines():
        if line.startswith("!["):
            assert (tmp_path / line.rpartition("(")[2].rstrip(")")).stat().st_size > 5000


def test_datasets_may_follow_each_other(tmp_path, capsys):
    assert run("classifiers", "--quick", "--datasets", "synthetic", "german", "--out", str(tmp_path)) == 0
    said = capsys.readouterr().out
    assert "synthetic" in said
    assert "german" in said


def test_misspelt_names_are_one_sentence(tmp_path, capsys):
    for words in (["grpah"], ["graph", "--datasets", "germn"]):
        assert run(*words, "--out", str(tmp_path)) == 2
        assert "did you mean" in capsys.readouterr().err


def test_list(capsys):
    assert run("--list") == 0
    said = capsys.readouterr().out
    assert all(name in said for name in NAMES)
