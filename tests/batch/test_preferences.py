"""Answers of people who were asked: the documented table, and the plan that follows from it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import reap
from reap.batch import preferences


@pytest.fixture
def rejected(engine, X):
    return X[~engine.classifier_.accepts(engine.space.encode(X))]


def lines(row_id, *said, limits=None):
    """The table of one person's answers: (options, answer) each."""
    return pd.DataFrame(
        [
            {"row_id": row_id, "round": k, "options": json.dumps(options), "answer": answer, "limits": limits}
            for k, (options, answer) in enumerate(said)
        ]
    )


def test_a_session_and_a_batch_with_its_answers_agree(engine, X, rejected):
    """The session's belief is rebuilt from the table to the bit, so both find plans of the same expected effort."""
    person = reap.subjects.Mahalanobis.random(engine.space.dimension, np.random.default_rng(3))
    tables, sessions = [], {}
    for i in rejected.index[:4]:
        session = engine.elicit(X.loc[i], questions=3)
        while question := session.ask():
            session.answer(person.answer(question))
        sessions[i] = session
        tables.append(reap.batch.answers_of(session, i))
    answers = pd.concat(tables).sample(frac=1.0, random_state=0)  # the order of lines is of no importance
    made = reap.batch.run(engine, X, preferences=answers, n_jobs=1)
    plain = reap.batch.run(engine, X, n_jobs=1)
    both = []
    for i, session in sessions.items():
        z0 = engine.space.vector(X.loc[i])
        belief = preferences.read(answers, engine.space)[str(i)].belief(engine.space, z0, 0)
        np.testing.assert_allclose(belief.matrices, session.belief.matrices, atol=1e-12)
        assert made.loc[i, "recourse_answers"] == len(session.history)
        assert made.loc[i, "recourse_valid"]
        moves = np.diff(made.loc[i, "recourse_path"].reshape(-1, engine.space.dimension), axis=0)
        both.append(belief.efforts([moves, session.recommend().moves]).mean(axis=0))
    # both look for the least expected effort, among other plans
    mine, theirs = np.sum(both, axis=0)
    assert mine <= 1.05 * theirs
    asked = made.index.isin(list(sessions))
    pd.testing.assert_frame_equal(made[~asked], plain[~asked])


def test_answers_change_the_plan_towards_what_is_easy(engine, X, rejected):
    """People who find income easy and months hard get plans that move less of the latter."""
    change = {"income": 0, "duration": 0}
    for i in rejected.index[:6]:
        own = X.loc[i]
        up, down = {"income": int(own["income"]) + 1000}, {"duration": int(max(own["duration"] - 12, 6))}
        for name, answer in {"income": 0, "duration": 1}.items():
            table = lines(i, *[([[up], [down]], answer)] * 6)
            made = reap.batch.run(engine, X.loc[[i]], preferences=table, n_jobs=1).iloc[0]
            assert made["recourse_answers"] == 6
            change[name] += abs(made["duration"] - own["duration"])
    assert change["income"] < change["duration"]


def test_same_skip_neither_and_limits(engine, X, rejected):
    i = rejected.index[0]
    options = [[{"rate": 2.0}], [{"job": "full"}]]
    table = pd.concat(
        [
            lines(i, (options, "same"), (options, "skip"), (options, "neither")),
            lines(rejected.index[1], (options, "skip"), limits=json.dumps({"fixed": ["job"]})),
        ]
    )
    read = preferences.read(table, engine.space)
    assert [choice for _, choice in read[str(i)].given] == ["same"]
    assert read[str(rejected.index[1])].limits.fixed == ("job",)
    made = reap.batch.run(engine, X.loc[rejected.index[:2]], preferences=table, n_jobs=1)
    assert list(made["recourse_answers"]) == [1, 0]
    assert made.iloc[1]["job"] == X.loc[rejected.index[1], "job"]
    wanted = engine.recommend(X.loc[[rejected.index[1]]], limits=engine.space.limits(fixed=["job"]))
    pd.testing.assert_frame_equal(made.iloc[[1]][wanted.columns], wanted)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("id_column", [None, "applicant"])
def test_files_of_answers_find_their_rows(engine, X, rejected, tmp_path, suffix, id_column):
    i = int(rejected.index[0])
    answers = lines("a7" if id_column else i, ([[{"rate": 2.0}], [{"job": "full"}]], "left"))
    rows = X.loc[[i]] if id_column else X
    rows = rows.assign(applicant=["a7"]) if id_column else rows
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    path = tmp_path / f"answers{suffix}"
    answers.to_csv(path, index=False) if suffix == ".csv" else answers.to_parquet(path, index=False)
    made = reap.batch.run(
        engine, tmp_path / "rows.parquet", preferences=path, id_column=id_column, n_jobs=1, chunk_size=20
    )
    assert list(made.index[made["recourse_answers"] > 0]) == (["a7"] if id_column else [i])
    direct = reap.batch.run(
        engine, X.loc[[i]], preferences=lines(i, ([[{"rate": 2.0}], [{"job": "full"}]], 0)), n_jobs=1
    )
    asked = made[made["recourse_answers"] > 0]
    assert asked["recourse_effort"].iloc[0] == direct["recourse_effort"].iloc[0]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"options": "[1"}, "must be JSON"),
        ({"options": "{}"}, "JSON list"),
        ({"options": '[[{"rate": 2}]]'}, "at least 2 options"),
        ({"options": '[[{"rates": 2}], [{"rate": 3}]]'}, "did you mean 'rate'"),
        ({"options": "[[3], [4]]"}, "list of steps"),
        ({"answer": "2"}, "counted from 0"),
        ({"answer": "yes"}, "counted from 0"),
        ({"limits": '{"fixd": []}'}, "did you mean 'fixed'"),
        ({"limits": '{"fixed": ["jobs"]}'}, "did you mean 'job'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_before_the_run(engine, X, line, words):
    good = {
        "row_id": 3,
        "round": 0,
        "options": '[[{"rate": 2}], [{"rate": 3}]]',
        "answer": "0",
        "limits": None,
    }
    with pytest.raises(reap.InputError, match=rf"line 0 of the answers \(row 3\).*{words}"):
        reap.batch.run(engine, X, preferences=pd.DataFrame([good | line]), n_jobs=1)


def test_a_missing_column_and_a_missing_file(engine, X, tmp_path):
    with pytest.raises(reap.InputError, match="lack the column 'options'"):
        reap.batch.run(engine, X, preferences=pd.DataFrame({"row_id": [1], "round": [0]}))
    with pytest.raises(reap.InputError, match="no file of answers"):
        reap.batch.run(engine, X, preferences=tmp_path / "absent.csv")


def test_answers_that_do_not_fit_the_row_are_that_rows_reason(engine, X, rejected):
    i = rejected.index[0]
    made = reap.batch.run(
        engine, X.loc[[i]], preferences=lines(i, ([[{"job": "astronaut"}], [{"rate": 2.0}]], "0")), n_jobs=1
    )
    assert made["recourse_status"].iloc[0] == "invalid_row"
    assert "the answers do not fit the row" in made["recourse_reason"].iloc[0]


def test_one_hot_groups_are_named_by_feature():
    rng = np.random.default_rng(0)
    job = rng.integers(0, 3, 80)
    rows = pd.DataFrame(
        {"income": rng.uniform(0, 1, 80)} | {f"job_{k}": (job == k).astype(float) for k in range(3)}
    )
    space = reap.ActionSpace.from_frame(rows, groups={"job": ["job_0", "job_1", "job_2"]})
    z0 = space.encode(rows)[0]
    levels = space.feature("job").levels
    answers = preferences.Answers([([[{"job": levels[1]}], [{"income": 0.25}]], 0)])
    ((options, _),) = answers.moves(space, z0)
    after = z0 + options[0][0]
    assert list(after[1:]) == [0, 1, 0]
    assert (z0 + options[1][0])[0] == pytest.approx(0.25)
