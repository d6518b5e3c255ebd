"""``reap space`` on a table as it comes out of a lender's system: draft, read back, review."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import reap
from reap import cli
from reap.space import ActionSpace
from tests.space.test_draft import messy


@pytest.fixture
def run(capsys):
    def runner(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main(["space", *map(str, arguments)])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return runner


@pytest.fixture
def table(tmp_path):
    messy().to_csv(tmp_path / "loans.csv", index=False)
    return tmp_path / "loans.csv"


def test_from_a_messy_table_to_rows_a_model_can_be_trained_on(run, table, tmp_path):
    file = tmp_path / "space.toml"
    code, out, err = run(table, "--label", "decision", "-o", file)
    assert code == 0, err
    assert "Left out customer_id: it names a row." in out
    assert "Left out applied_on: it holds dates: as a clock" in out
    assert "lines marked '# check:'" in out
    code, out, _ = run(file)
    assert code == 0
    assert "goes by itself" in out
    code, out, _ = run(file, "--review", "--data", table)
    assert code == 1
    assert "check: Term may rise and fall" in out
    assert out.strip().endswith("questions, 1 note.")
    data = reap.datasets.from_csv(table, label="decision", favourable="approved", space=file)
    assert data.X["fee"].tolist()[:2] == [1000, 1001]  # "$1,000" in the file
    assert set(data.X) == set(ActionSpace.load(file).names)
    assert data.space.encode(data.X).shape == (120, data.space.dimension)
    assert 0 < data.y.mean() < 1


def test_the_four_commands_of_the_docs_end_in_a_plan(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(reap.__file__).parent.parent / "docs" / "space.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(reap space.*?)```", page, flags=re.S)
    commands = [shlex.split(line, comments=True)[1:] for line in block[1].splitlines()]
    assert [command[0] for command in commands] == ["space", "space", "space", "ask"]
    for command, code in zip(commands, (0, 0, 1, 0), strict=True):  # the review still has questions
        extra = ["--simulate", "--questions", "2"] if command[0] == "ask" else []
        with pytest.raises(SystemExit) as ended:
            cli.main([*command, *extra])
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == code, err
    assert "Question 1" in out
    assert "Your plan: " in out


def test_a_batch_and_an_audit_need_no_model_of_ones_own(table, tmp_path, capsys):
    space = tmp_path / "space.toml"
    decided = ["--label", "decision", "--favourable", "approved", "--space", str(space), "--jobs", "1"]
    plans, few = tmp_path / "plans.parquet", ["--matrices", "5", "--resamples", "20"]
    for command, code, said in (
        (["space", table, "--label", "decision", "-o", space], 0, "Wrote"),
        (["batch", "-i", table, "-d", table, "-o", plans, "--quiet", *decided], 0, "120 rows in"),
        (["audit", table, "--by", "sex", "--by", "rate", *few, *decided], 0, "m: "),
        (["audit", plans, "--by", "sex", *few], 0, "m: "),
        (["audit", plans, "--by", "sex", "--label", "decision"], 2, "holds plans already"),
        (["batch", "-i", table, "-o", plans, "--space", space], 2, "Give a trained model with --model, or"),
        (["audit", table, "--by", "sex"], 2, "is the decision? Name it with --label"),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(word) for word in command])
        out, err = capsys.readouterr()
        assert (ended.value.code or 0) == code, err
        assert said in " ".join((out + err).split())


def test_a_draft_on_the_terminal_and_its_review(run, table):
    code, out, _ = run(table, "--label", "decision", "--fixed", "sex", "--drop", "notes")
    assert code == 0
    assert ActionSpace.from_toml(out).feature("sex").actionable is False
    code, out, _ = run(table, "--label", "decision", "--review")
    assert code == 1
    assert out.startswith("check: ")


def test_a_space_that_passes_ends_well(run, tmp_path):
    from importlib.resources import files

    text = (files("reap.datasets") / "spaces" / "german.toml").read_text(encoding="utf-8")
    (tmp_path / "german.toml").write_text(text, encoding="utf-8")
    code, out, _ = run(tmp_path / "german.toml", "--review")
    assert code == 0
    assert out.startswith("note: Time in present job looks like a large decision of life")
    assert out.endswith("0 questions, 1 note.\n")


@pytest.mark.parametrize(
    ("text", "arguments", "sentence"),
    [
        ("a;b\n1;2\n", [], "is separated by semicolons"),
        ("", [], "cannot be read as a CSV file"),
        ("a,b\n1,2\n3,4\n", ["--label", "c"], "There is no column 'c'"),
        ("a,b\n1,2\n3,4\n", ["--drop", "c"], "There is no column 'c'"),
        ("id,x\n1,5\n2,5\n", [], "No column of the table can be a feature"),
        ("a,b\n1,2\n3,4\n", ["--data", "x.csv"], "--data and --model are for --review"),
        ("a,b\n1,2\n3,4\n", ["--review", "--model", "no.skops"], "no.skops"),
    ],
)
def test_what_goes_wrong_is_one_sentence(run, tmp_path, text, arguments, sentence):
    (tmp_path / "t.csv").write_text(text)
    code, out, err = run(tmp_path / "t.csv", *arguments)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Traceback" not in out + err
    assert "there is no file" in run(tmp_path / "no.csv")[2].lower()
    assert "there is no space file" in run(tmp_path / "no.toml")[2].lower()
