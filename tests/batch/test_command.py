"""The command: files in, a file out, interrupted and resumed, with the real engines."""

from __future__ import annotations

import re

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import reap
from reap.cli import main
from reap.cli.batch import batch
from reap.models.files import save_model
from tests.batch import people

app = typer.Typer()
app.command()(batch)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, y = people.table(300)
    space = people.space_of(X)
    model = people.model_of(X, y, space)
    save_model(model, folder / "model.skops")
    space.save(folder / "space.toml")
    X.to_parquet(folder / "people.parquet", index=False)
    rejected = X[model.predict(X) == 0]
    rejected.assign(branch="north").to_csv(folder / "rejected.csv", index=False)
    return folder, rejected.reset_index(drop=True), reap.Recourse(model, space).fit(X)


def words(folder, output, *more):
    given = {"model": "model.skops", "space": "space.toml", "input": "rejected.csv", "data": "people.parquet"}
    named = [word for name, file in given.items() for word in (f"--{name}", str(folder / file))]
    return [*named, "--output", str(output), "--quiet", *more]


def assert_whole(engine, rejected, path):
    made = pd.read_parquet(path)
    wanted = engine.recommend(rejected)
    assert list(made["row_id"]) == list(range(len(rejected)))
    pd.testing.assert_frame_equal(made[list(wanted.columns)], wanted)
    return made


def test_files_in_a_file_out(files, tmp_path):
    folder, rejected, engine = files
    done = CliRunner().invoke(
        app, words(folder, tmp_path / "plans.parquet", "--jobs", "1"), catch_exceptions=False
    )
    assert done.exit_code == 0
    assert f"{len(rejected):,} rows" in done.output
    made = assert_whole(engine, rejected, tmp_path / "plans.parquet")
    assert set(made["branch"]) == {"north"}
    manifest = made.attrs["reap"]
    assert manifest["provenance"]["model"] == "model.skops"
    assert len(manifest["provenance"]["model_sha256"]) == 64
    assert manifest["accepted"]["rows"] > 50


def test_a_finished_run_is_neither_overwritten_nor_made_again(files, tmp_path):
    folder, rejected, engine = files
    given = words(folder, tmp_path / "plans.parquet", "--jobs", "1", "--chunk", "40")
    first = CliRunner().invoke(app, given, catch_exceptions=False)
    with pytest.raises(reap.InputError, match="exists already"):
        CliRunner().invoke(app, given, catch_exceptions=False)
    again = CliRunner().invoke(app, [*given, "--resume"], catch_exceptions=False)
    assert (again.exit_code, again.output) == (0, first.output)
    assert_whole(engine, rejected, tmp_path / "plans.parquet")


def refused(files, *more, **changed):
    folder, _, _ = files
    given = words(folder, folder / "never.parquet", *more)
    for name, value in changed.items():
        given[given.index(f"--{name}") + 1] = str(value)
    with pytest.raises(reap.InputError) as caught:
        CliRunner().invoke(app, given, catch_exceptions=False)
    assert not (folder / "never.parquet").exists()
    return str(caught.value)


def test_what_is_refused_before_any_work(files):
    folder, _, _ = files
    assert "did you mean 'graph'" in refused(files, "--engine", "grph")
    assert "no class '2'" in refused(files, "--target", "2")
    assert "there is no file" in refused(files, input=folder / "absent.csv")
    assert "no model file" in refused(files, model=folder / "absent.skops")
    assert "accepts nobody" not in refused(files, "--threshold", "2")


def test_rejected_people_alone_lead_nowhere(files, tmp_path):
    folder, _, _ = files
    given = words(folder, tmp_path / "plans.parquet")
    at = given.index("--data")
    with pytest.raises(reap.InputError, match=r"accepts nobody.*--data"):
        CliRunner().invoke(app, given[:at] + given[at + 2 :], catch_exceptions=False)


def test_a_table_with_accepted_people_needs_no_other(files, tmp_path):
    folder, _, _ = files
    given = words(folder, tmp_path / "plans.parquet", "--jobs", "1")
    at = given.index("--data")
    given = given[:at] + given[at + 2 :]
    given[given.index("--input") + 1] = str(folder / "people.parquet")
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert done.exit_code == 0
    assert "already_accepted" in done.output


def test_everybody_within_some_months(files, tmp_path):
    folder, rejected, _ = files
    space = reap.ActionSpace.load(folder / "space.toml")
    dated = reap.ActionSpace.from_frame(
        rejected, increasing=["income"], features={"income": {"pace": "20 a month"}}
    )
    assert dated.names == space.names
    dated.save(tmp_path / "dated.toml")
    rejected.iloc[:20].to_csv(tmp_path / "some.csv", index=False)
    months = {}
    for within in (2, 24):
        more = [
            "--space",
            str(tmp_path / "dated.toml"),
            "--input",
            str(tmp_path / "some.csv"),
            "--margin",
            "0",
        ]
        output = tmp_path / f"{within}.parquet"
        done = CliRunner().invoke(
            app,
            words(folder, output, *more, "--within-months", str(within), "--jobs", "1"),
            catch_exceptions=False,
        )
        assert done.exit_code == 0, done.output
        made = pd.read_parquet(output)
        months[within] = made.loc[made["recourse_status"].eq("ok"), "recourse_months"]
        assert months[within].max() <= within
    assert months[24].max() > 2


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["batch"], "Option --space is missing: The action space (TOML)"),
        (["batch", "--space", "s.toml"], "Option --input is missing"),
        (["batch", "--spaec", "s.toml"], "No such option '--spaec'"),
        (["batch", "--jobs", "many"], "Invalid value for '--jobs'"),
        (["bacth"], "No such command 'bacth'. Did you mean 'batch'?"),
        (["--nothing"], "No such option '--nothing'"),
    ],
)
def test_a_command_line_that_cannot_be_read_is_one_sentence(given, sentence, capsys):
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    # Releases of typer that bring their own parser write "No such option: --spaec", others as click does.
    said = re.sub(r"^(Error: No such option): (--\w+)", r"\1 '\2'", capsys.readouterr().err)
    assert said.startswith(f"Error: {sentence}")
    assert said.strip().count("\n") == 0
    assert "--help` lists what there is." in said
