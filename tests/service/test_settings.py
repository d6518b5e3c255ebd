"""Settings by environment and file; rows from forms; forms that say what is wrong."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import reap
from reap import InputError
from reap.service import rows
from reap.service.settings import Settings


def test_the_file_wins_over_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "reap.toml"
    file.write_text("questions = 6\nopen_start = false\n")
    given = {"QUESTIONS": "4", "RATE": "2.5", "SECURE_COOKIES": "yes", "PUBLIC_URL": ""}
    for name, value in given.items():
        monkeypatch.setenv(f"REAP_{name}", value)
    made = Settings.read(file)
    assert (made.questions, made.rate, made.secure_cookies, made.open_start) == (6, 2.5, True, False)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("QUESTIONS", "many", "questions is 'many'; input should be a valid integer"),
        ("QUESTIONS", "0", "questions is '0'; give 1 or more"),
        ("OPTIONS", "5", "options is '5'; give 4 or less"),
        ("OPEN_START", "perhaps", "open_start is 'perhaps'; give yes or no"),
        ("ADMIN_KEY", "x", "admin_key has 1 characters; give at least 12"),
        *[("EXPIRE_DAYS", value, f"expire_days is '{value}'") for value in ("inf", "nan", "1e9")],
        ("RATE", "inf", "rate is 'inf'"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_with_a_sentence(monkeypatch, name, value, sentence):
    monkeypatch.setenv(f"REAP_{name}", value)
    with pytest.raises(InputError, match=sentence):
        Settings.read()


def test_a_file_with_an_unknown_setting_suggests_the_right_one(tmp_path):
    file = tmp_path / "reap.toml"
    file.write_text("qestions = 6\n")
    with pytest.raises(InputError, match="did you mean 'questions'"):
        Settings.read(file)
    file.write_text("questions 6")
    with pytest.raises(InputError, match="not a TOML file"):
        Settings.read(file)


def test_rows_come_from_json_and_from_forms_alike():
    X = pd.DataFrame({"debt": [1.0, 9.0], "income": [2.0, 9.0], "ratio": [0.5, 1.0], "own": [True, False]})
    space = reap.ActionSpace.from_frame(
        X, bounds={"income": (1, 50)}, features={"ratio": {"derived": "debt / income"}}
    )
    spoken = rows.read(space, {"debt": "4", "income": "8", "own": "true"})
    assert (spoken == rows.read(space, {"debt": 4, "income": 8.0, "own": True, "ratio": 0.5})).all()
    assert space.values(spoken)["ratio"] == 0.5
    for strange in (float("nan"), float("inf"), [1], "1e400", "²", True):
        with pytest.raises(rows.FieldError) as caught:
            rows.read(space, {"debt": strange, "income": 8, "own": 1})
        assert "debt" in caught.value.fields
    with pytest.raises(rows.FieldError, match="from 1 to 50"):
        rows.read(space, {"debt": 1, "income": 51, "own": True})


def test_a_form_with_errors_comes_back_filled_with_the_fields_named(service, row):
    page = service.client.get("/").text
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)[1]
    given = {f"f.{name}": str(value) for name, value in row.items()}
    wrong = {**given, "csrf": csrf, "f.duration": "two years", "f.housing": ""}
    answer = service.client.post("/start", data=wrong)
    assert answer.status_code == 422
    assert "Please check 2 fields" in answer.text
    assert 'value="two years"' in answer.text
    assert answer.text.count('aria-invalid="true"') == 2
    assert service.events() == []
    right = service.client.post("/start", data={**given, "csrf": csrf})
    assert right.status_code == 303
    shown = service.client.get(right.headers["location"]).text
    assert "Today the answer would be no" in shown
    assert service.client.get("/?example=99999").status_code == 200
    assert service.client.get("/?example=x").status_code == 422


def test_a_model_that_uses_a_protected_trait_is_not_served_unless_that_is_allowed(
    german, german_model, german_engine, capsys
):
    from reap.cli.service import check_traits
    from reap.service.case import Case

    case = Case.of(german_engine, german.X, german.X.iloc[:3])
    assert set(case.traits) == {"personal_status", "age"}
    with pytest.raises(reap.InputError, match="the model uses personal_status and age"):
        check_traits(case, Settings())
    with pytest.raises(reap.InputError, match="the model uses personal_status,"):
        check_traits(case, Settings(allow_traits=["age"]))
    check_traits(case, Settings(allow_traits=["age", "personal_status"]))
    assert "Allowed to count: age, which moves the score by 0." in capsys.readouterr().out


def test_the_model_that_commands_train_is_not_shown_what_is_protected(german):
    from reap.cli._setup import train
    from reap.service.case import moved_by_traits

    model, accuracy, _rest = train(german, 0)
    engine = reap.Recourse(model, german.space).fit(german.X)
    assert moved_by_traits(engine, german.X) == {}
    assert accuracy > 0.7
    assert engine.classifier_.has_gradient


def test_a_link_lives_as_long_as_the_longest_plan_and_ninety_days(case, tmp_path):
    from datetime import datetime, timedelta

    from reap.service.desk import Desk
    from reap.service.store import Store

    def days(**given):
        settings = Settings(database_url=f"sqlite:///{tmp_path}/{len(given)}.db", **given)
        store = Store(settings.database_url, settings.secret)
        store.prepare()
        desk = Desk(case, store, settings)
        kept = desk.row(desk.start(case.engine.space.vector(case.examples.iloc[0])))
        return (datetime.fromisoformat(kept.expires) - datetime.fromisoformat(kept.created)) / timedelta(
            days=1
        )

    assert days() >= 30 * case.engine.space.horizon + 89
    assert 2.9 < days(expire_days=3) < 3.1
