"""Answers of people who were asked: the documented table, and the plan that follows from it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import reap
from reap.batch import answers
from reap.space import Limits
from tests.batch import people


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


def talk(engine, x, person, *, wishes=True):
    """A session with wishes before, between and after answers, some of which tell nothing."""
    session = engine.elicit(x, questions=3)
    if wishes:
        session.constrain("duration", difficulty=5)
    said = 0
    while question := session.ask():
        said += 1
        session.answer("skip" if said == 2 else person.answer(question))
        if wishes and said == 1:
            session.constrain("income", difficulty=1)
            session.constrain("rate", at_least=2.0)
    return session


def people_of(engine, count=4):
    rng = np.random.default_rng(3)
    return [reap.subjects.Mahalanobis.random(engine.space.dimension, rng) for _ in range(count)]


def test_a_session_and_a_batch_with_its_answers_recommend_the_same_plan(engine, X, rejected):
    """An engine that finds the least effort for every matrix needs no plan of an earlier round: the plans are equal."""
    ids = rejected.index[:10]
    sessions = {i: talk(engine, X.loc[i], p) for i, p in zip(ids, people_of(engine, len(ids)), strict=True)}
    table = pd.concat([reap.batch.answers_of(session, i) for i, session in sessions.items()])
    table = table.sample(frac=1.0, random_state=0)  # the order of lines is of no importance
    made = reap.batch.run(engine, X, preferences=table, n_jobs=1)
    for i, session in sessions.items():
        plan, row = session.recommend(), made.loc[i]
        np.testing.assert_allclose(row["recourse_path"].reshape(plan.path.shape), plan.path, atol=1e-12)
        assert row["recourse_effort"] == pytest.approx(plan.effort)
        assert row["recourse_answers"] == session.answered
        again = answers.read(table, engine.space)[str(i)].session(engine, X.loc[i], Limits())
        np.testing.assert_allclose(again.belief.shares, session.belief.shares, atol=1e-12)
    skipped = [session.answered < len(session.history) for session in sessions.values()]
    assert sum(skipped) >= 3, "too few sessions had a question to skip"
    deaf = reap.batch.run(engine, X.loc[ids], preferences=table.drop(columns="difficulties"), n_jobs=1)
    assert not deaf[X.columns].equals(made.loc[ids, X.columns]), (
        "nobody's plan depends on what they called hard"
    )
    others = ~made.index.isin(ids)
    pd.testing.assert_frame_equal(made[others], reap.batch.run(engine, X, n_jobs=1)[others])


def test_a_session_may_know_a_better_plan_from_an_earlier_round(X, rejected):
    """Recourse searches: the session's plan has at most the effort of the batch's, and seldom less."""
    first = people.nearest()[0]
    equal = []
    for i, person in zip(rejected.index[:6], people_of(first, 6), strict=True):
        session = talk(reap.Recourse(first.model, first.space).fit(X), X.loc[i], person)
        fresh = reap.Recourse(first.model, first.space).fit(X)
        made = reap.batch.run(
            fresh, X.loc[[i]], preferences=reap.batch.answers_of(session, i), n_jobs=1
        ).iloc[0]
        assert session.recommend().effort <= made["recourse_effort"] * (1 + 1e-9)
        equal.append(made["recourse_effort"] <= session.recommend().effort * (1 + 1e-9))
    assert np.mean(equal) >= 0.5


def test_wishes_alone_are_kept(engine, X, rejected):
    """Somebody who answered nothing, but said what is hard or impossible."""
    i, j = rejected.index[:2]
    sessions = {k: engine.elicit(X.loc[k]) for k in (i, j)}
    sessions[i].constrain("income", difficulty=5)
    sessions[j].constrain("income", fixed=True)
    table = pd.concat([reap.batch.answers_of(session, k) for k, session in sessions.items()])
    made = reap.batch.run(engine, X.loc[[i, j]], preferences=table, n_jobs=1)
    np.testing.assert_allclose(made.loc[i, "recourse_path"], sessions[i].recommend().path.ravel(), atol=1e-12)
    assert made.loc[j, "income"] == X.loc[j, "income"]
    assert list(made["recourse_answers"]) == [0, 0]


def test_every_kind_of_limit_is_kept(X):
    dated = reap.ActionSpace.from_frame(X, features={"income": {"pace": "20 a month"}})
    session = _engine(X, dated).elicit(X.iloc[0])
    session.constrain("job", fixed=True)
    session.constrain("income", at_most=4000, within_months=12)
    session.constrain("sex", exclude=["male"])
    read = answers.read(reap.batch.answers_of(session, 7), dated)
    assert read["7"].limits == session.limits != Limits()


def test_answers_given_before_the_situation_changed_keep_their_meaning(engine, X, rejected):
    """What was compared then were changes from where the person stood then."""
    i = rejected.index[0]
    session = talk(engine, X.loc[i], people_of(engine)[0], wishes=False)
    now = X.loc[i].copy()
    now["duration"] = int(now["duration"]) + 5
    session.replan(now)
    table = reap.batch.answers_of(session, i)
    assert json.loads(table["start"][0]) == {"duration": int(X.loc[i, "duration"])}
    again = answers.read(table, engine.space)[str(i)].session(engine, now, Limits())
    np.testing.assert_allclose(again.belief.shares, session.belief.shares, atol=1e-12)


def test_a_path_counts_along_its_stages_and_a_plan_as_a_whole(X, rejected):
    first = people.nearest()[0]
    for kind in (reap.GraphRecourse, reap.Recourse):
        engine = kind(first.model, first.space).fit(X)
        session = talk(engine, X.loc[rejected.index[0]], people_of(engine)[0])
        read = answers.read(reap.batch.answers_of(session, 0), engine.space)["0"]
        again = read.session(engine, X.loc[rejected.index[0]], Limits())
        for (mine, *_), (theirs, *_) in zip(again.history, session.history, strict=True):
            for a, b in zip(mine.options, theirs.options, strict=True):
                np.testing.assert_allclose(a.moves, b.moves, atol=1e-12)


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
    read = answers.read(table, engine.space)
    assert [one.choice for one in read[str(i)].given] == ["same", "skip", "neither"]
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
    said = lines("a7" if id_column else i, ([[{"rate": 2.0}], [{"job": "full"}]], "left"))
    rows = X.loc[[i]] if id_column else X
    rows = rows.assign(applicant=["a7"]) if id_column else rows
    rows.to_parquet(tmp_path / "rows.parquet", index=False)
    path = tmp_path / f"answers{suffix}"
    said.to_csv(path, index=False) if suffix == ".csv" else said.to_parquet(path, index=False)
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
        ({"options": "[1"}, "must be JSON such as"),
        ({"options": "{}"}, "options must be JSON such as"),
        ({"options": '[[{"rate": 2}]]'}, "at least 2 options"),
        ({"options": '[[{"rates": 2}], [{"rate": 3}]]'}, "did you mean 'rate'"),
        ({"options": "[[3], [4]]"}, "list of such stages"),
        ({"answer": "2"}, "0 to 1"),
        ({"answer": "yes"}, "0 to 1"),
        ({"limits": '{"fixd": []}'}, "did you mean 'fixed'"),
        ({"limits": '{"fixed": ["jobs"]}'}, "did you mean 'job'"),
        ({"difficulties": '{"jobs": 3}'}, "did you mean 'job'"),
        ({"parts": "perhaps"}, "parts must be JSON such as true.*'perhaps'"),
        ({"scales": "[-1, 2]"}, "scales must be 2 numbers of at least 0|scales must be 1 numbers"),
        ({"difficulties": '{"job": 6}'}, "very easy.*very hard"),
        ({"start": '{"jobs": "full"}'}, "did you mean 'job'"),
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
    z0 = space.encode(rows[rows["income"] < 0.3])[0]
    levels = space.feature("job").levels
    session = answers.Answers([answers.Given([[{"job": levels[1]}], [{"income": 0.25}]], 0, {})]).session(
        _engine(rows, space), z0, Limits()
    )
    ((question, *_),) = session.history
    after = z0 + question.options[0].moves[0]
    assert list(after[1:]) == [0, 1, 0]
    assert (z0 + question.options[1].moves[0])[0] == pytest.approx(0.25)


def _engine(rows, space):
    return people.Nearest(
        people.model_of(rows, rows["income"] > rows["income"].median(), space), space, target=True
    ).fit(rows)
