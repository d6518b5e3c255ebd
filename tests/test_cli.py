"""The command line: what it prints, how it fails."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from reap import cli


@pytest.fixture
def run(capsys, monkeypatch):
    def runner(*arguments, typed=""):
        import io

        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        monkeypatch.setenv("COLUMNS", "120")
        with pytest.raises(SystemExit) as ended:
            cli.main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, err

    return runner


@pytest.fixture
def table(tmp_path, german):
    path = tmp_path / "credit.csv"
    german.X.assign(good=german.y).to_csv(path, index=False)
    return path


def test_help_teaches(run):
    code, out, _ = run("--help")
    assert code == 0
    for command in ("demo", "ask", "recommend", "space", "datasets"):
        assert command in out


def test_version(run):
    assert run("--version")[1].startswith("reap 0.")


def test_demo_goes_the_whole_way(run):
    code, out, _ = run("demo")
    assert code == 0
    for part in (
        "A rejected applicant",
        "Question 1.",
        "is easier",
        "Your plan:",
    ):
        assert part in out
    # the simulated person's preferences make a difference, and the plan does not ask for what is hard for them
    advice, plan = out.split("Advice without a question")[1], out.split("The plan for this person")[1]
    assert "to repay the loan instead of" in advice.split("The questions")[0]
    assert "to repay the loan instead of" not in plan.split("Another one")[0].lower()
    # another term lost to the plan in a question, so nobody is told that it asks for less
    assert "asks less of you than the first" not in plan
    share = int(re.search(r"it takes (\d+)% of the effort of the advice", plan).group(1))
    assert share < 80


def test_datasets(run):
    code, out, _ = run("datasets")
    assert code == 0
    for name in ("german", "synthetic", "adult", "heloc"):
        assert name in out


def test_space_drafts_and_describes(run, table, tmp_path):
    draft = tmp_path / "space.toml"
    code, out, _ = run("space", table, "--drop", "good", "--fixed", "age", "-o", draft)
    assert code == 0
    assert "Review" in out
    code, out, _ = run("space", draft)
    assert code == 0
    assert "cannot change" in out


def test_recommend_for_a_csv_with_a_space(run, table, tmp_path):
    draft = tmp_path / "space.toml"
    run("space", table, "--drop", "good", "--fixed", "age", "-o", draft)
    code, out, _ = run(
        "recommend", "--data", table, "--label", "good", "--space", draft, "--plot", tmp_path / "p.png"
    )
    assert code == 0
    assert "Your plan:" in out
    assert (tmp_path / "p.png").exists()


@pytest.mark.parametrize("engine", ["recourse", "graph", "gradient"])
def test_recommend_by_each_engine_as_json(run, engine):
    from reap import Plan

    code, out, _ = run("recommend", "--data", "synthetic", "--engine", engine, "--json")
    assert code == 0
    plan = Plan.from_json(out)
    assert plan.valid
    assert plan.along == (engine == "graph")


def test_without_a_word_the_engine_is_the_one_for_people(run):
    assert run("recommend", "--json")[1] == run("recommend", "-e", "recourse", "--json")[1]
    shown = " ".join(run("recommend", "--help")[1].replace("│", " ").split())
    for said in ("plans for people", "the paper's"):
        assert said in shown


def test_ask_speaks_the_language_it_is_told(run):
    code, out, err = run("ask", "--simulate", "--questions", "1", "--language", "de")
    assert code == 0, err
    assert "Ihr Plan: " in out
    assert "Your plan" not in out
    code, _, err = run("ask", "--language", "fr")
    assert code != 0
    assert "fr" in err


def test_ask_with_every_kind_of_answer_then_resume(run, tmp_path):
    session = tmp_path / "me.json"
    # what tells something comes last: too much of it and nothing is left to ask
    typed = "\n?\nn\n1\nu\np\nl\n2\nat most 15,000\ns\na\n=\nq\n"
    code, out, err = run("ask", "--row", 36, "--session", session, "--questions", "4", typed=typed)
    assert code == 0, err
    assert "is not an answer" in out
    assert "Which change is impossible" in out
    assert "The plan so far" in out
    assert f"Resume with --session {session}" in " ".join(out.split())
    code, out, err = run("ask", "--session", session, "--simulate")
    assert code == 0, err
    assert "Resumed from" in out
    assert "Recommended" in out


def test_ask_begins_with_the_screening_and_ends_with_plans_to_choose_from(run, tmp_path):
    session = tmp_path / "me.json"
    typed = "1, 99\n2 3\n4\nhard\n1\n" + "a\n" * 12 + "n\n" + "b\n" * 12
    code, out, err = run("ask", "--session", session, "--questions", "2", typed=typed)
    assert code == 0, err
    said = " ".join(out.split())
    first = said.index("which of these could you realistically change within 24 months")
    assert first < said.index("Recommended")
    assert "“99” is not a number from 1 to" in said
    assert "“hard” is not a number from 1 to 5" in said
    events = json.loads(session.read_text())["events"]
    (screened,) = [event for event in events if event["type"] == "screened"]
    assert screened["changeable"] == ["duration", "amount"]
    assert screened["difficulty"] == {"duration": 4, "amount": 1}


def test_ask_typed_in(run, german):
    enters = "\n" * len(german.space.features)
    code, out, err = run("ask", "--type", "--questions", "0", typed="lots\n" + enters)
    assert code == 0, err
    assert "is not" in out
    assert "Recommended" in out


@pytest.mark.parametrize("menu", ["", "n\n", "l\n", "l\n2\n"])
def test_the_end_of_input_loses_nothing_in_a_menu_either(run, tmp_path, menu):
    session = tmp_path / "me.json"
    code, out, _ = run("ask", "--row", 36, "--session", session, typed=f"\na\na\n{menu}")
    assert code == 0
    assert "Stopped." in out
    assert "The plan so far" in out
    assert '"answered"' in session.read_text()


def test_a_session_goes_on_for_the_same_person_seed_and_model_only(run, tmp_path):
    file = tmp_path / "me.json"
    assert (
        run("ask", "--data", "synthetic", "--row", 3, "--session", file, "--questions", 2, typed="q\n")[0]
        == 0
    )
    before = file.read_text()
    same = ("ask", "--data", "synthetic", "--session", file)
    for more, sentence in (
        (("--row", 4), "holds the session of another person: First dial is"),
        (
            ("--seed", 1),
            "made with another engine: random_state was 0 and is 1, the model gives other scores",
        ),
        (("--threshold", 0.6), "threshold was 0.5 and is 0.6"),
        (("--engine", "gradient"), "the engine was Recourse and is GradientRecourse"),
        (("--type",), "holds a session already; leave out --type"),
    ):
        code, _, err = run(*same, *more)
        assert code == 2
        assert sentence in " ".join(err.split())
    assert file.read_text() == before
    code, out, err = run(*same, "--row", 3, typed="q\n")
    assert code == 0, err
    assert "Resumed from" in out


def test_what_nobody_in_the_table_has_is_asked_back(run, german):
    names = list(german.space.names)
    rest = "\n" * len(names)
    age = names.index("age")
    typed = "\n" * age + "91\nn\n19\n" + rest
    code, out, err = run("ask", "--type", "--questions", "0", typed=typed)
    assert code == 0, err
    assert "Age is 91 years? Usually it runs from 19 to 75 years." in " ".join(out.split())
    code, out, err = run("ask", "--type", "--questions", "0", typed="\n" * age + "150\n19\n" + rest)
    assert "'age' is 150; the action space allows 18 to" in " ".join(out.split())
    code, out, err = run("ask", "--type", typed="\n")
    assert code == 2
    assert "nothing was started" in err


@pytest.mark.parametrize("command", ["ask", "recommend", "batch", "audit", "reasons", "serve"])
def test_other_peoples_data_is_named_alike_everywhere_and_flags_have_no_type(run, command):
    out = run(command, "--help")[1]
    for option in ("--label", "--favourable", "--model", "--target", "--threshold", "--trust", "--space"):
        assert re.search(rf"{option} ", out), option
    assert "bool" not in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("recommend", "--data", "germann"), "did you mean 'german'"),
        (("recommend", "--row", "5000"), "rows 0 to 999"),
        (("recommend", "--engine", "grpah"), "did you mean 'graph'"),
        (("recommend", "--data", "missing.csv", "--label", "y"), "missing.csv"),
        (("recommend", "--data", "missing.csv"), "--label"),
        (("recommend", "--fixed", "durations"), "did you mean 'duration'"),
        (("space", "missing.csv"), "missing.csv"),
        (("ask", "--preset", "bays"), "did you mean 'bayes'"),
        (("ask", "--options", "1"), "at least 2"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(run, arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(*arguments)
    assert code == 2
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err


def test_debug_shows_the_traceback(monkeypatch):
    from reap import InputError

    with pytest.raises(InputError):
        cli.main(["recommend", "--data", "germann", "--debug"])


def test_one_class_only(run, tmp_path):
    path = tmp_path / "one.csv"
    pd.DataFrame({"a": range(20), "b": range(20), "y": 1}).to_csv(path, index=False)
    code, _, err = run("recommend", "--data", path, "--label", "y")
    assert code == 2
    assert "one class" in err


def test_a_missing_extra_is_named(monkeypatch, capsys):
    def without(*arguments, **options):
        raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")

    monkeypatch.setattr(cli, "app", without)
    with pytest.raises(SystemExit) as ended:
        cli.main(["serve"])
    assert ended.value.code == 2
    assert "pip install 'reap-recourse[web]'" in capsys.readouterr().err


def test_a_missing_module_of_our_own_is_a_bug_and_shows(monkeypatch):
    def broken(*arguments, **options):
        raise ModuleNotFoundError("No module named 'reap.nothing'", name="reap.nothing")

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(ModuleNotFoundError):
        cli.main(["demo"])


def test_a_file_name_keeps_its_letters(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.toml").write_text("not toml [")
    code, _, err = run("space", "b.toml")
    assert code == 2
    assert "b.toml is not valid TOML" in " ".join(err.split())


def test_reasons_are_printed_in_order_or_as_json(run):
    import json

    code, out, _ = run("reasons", "--most", 2)
    assert code == 0
    assert re.fullmatch(r"1\. .+: .+ \(.+: .+\)\n2\. .+\n", out)
    code, again, _ = run("reasons", "--most", 2, "--json")
    assert [reason["text"] for reason in json.loads(again)] == [line[3:] for line in out.splitlines()]
    code, out, err = run("reasons", "--most", 0)
    assert (code, out) == (2, "")
    assert "at least 1" in err
