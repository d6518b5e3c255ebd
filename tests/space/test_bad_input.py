"""Every bad input to a space gets one clear sentence: what was given, what is allowed, what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reap._errors import InputError
from reap.space import ActionSpace, Feature, Limits, effects
from reap.space.feature import read_pace

ROW = {"income": 20, "share": 0.5, "job": "cook", "owner": True}
SPACE = ActionSpace(
    [
        Feature("income", "integer", range=(0, 100), bounds=(0, 90), unit="EUR"),
        Feature("share", range=(0, 1)),
        Feature("job", "categorical", levels=("cook", "smith")),
        Feature("owner", "binary", levels=(False, True)),
    ]
)
CODED = pd.DataFrame({"wealth": [0.3, -1.0], "a": [1, 0], "b": [0, 1], "c": [0, 0], "owner": [0, 1]})
ONE_HOT = ActionSpace.from_frame(CODED, groups={"job": ["a", "b", "c"]})
TABLE = pd.DataFrame({"income": [1, 2, 3], "job": ["a", "b", "c"]})


def number(**facts):
    return Feature("x", **{"range": (0, 9), **facts})


def levels(kind="categorical", **facts):
    return Feature("x", kind, **{"levels": ("a", "b"), **facts})


def row(**change):
    return SPACE.vector(ROW | change)


def infer(table=TABLE, **settings):
    return ActionSpace.from_frame(table, **settings)


def coded(**settings):
    return ActionSpace.from_frame(CODED, **settings)


def one_hot(*values):
    return ONE_HOT.vector(np.array(values))


def space(*features, **settings):
    return ActionSpace(features or [number()], **settings)


def ruled(rule):
    ratio = Feature("ratio", range=(0, 9), derived="new / 2")
    grade = Feature("grade", "ordinal", levels=("low", "mid", "high"))
    age = Feature("age", range=(0, 90), clock="years")
    new, pace = Feature("new", "integer", range=(0, 5)), Feature("pace", range=(0, 9), pace=1)
    return ActionSpace([SPACE.features[2], new, ratio, grade, age, pace], rules=[rule])


def formula(text, **facts):
    debt, income = (Feature(name, range=(0, 9)) for name in ("debt", "income"))
    return ActionSpace(
        [debt, income, SPACE.features[2], Feature("y", **{"range": (0, 9), "derived": text, **facts})]
    )


def moved(*features):
    def made(name, facts):
        return (
            Feature(name, "categorical", **facts)
            if "levels" in facts
            else Feature(name, range=(0, 9), **facts)
        )

    return ActionSpace([made(*feature) for feature in features])


def phrases(facts, **more):
    return Feature("duration", "integer", range=(1, 72), phrases=facts, **more)


def words(**translations):
    return levels(translations=translations)


def limited(**limits):
    return ActionSpace(
        [
            *SPACE.features,
            Feature("rate", range=(0, 9), derived="income"),
            Feature("g", "ordinal", levels=("a", "b")),
        ]
    ).limits(**limits)


def fitted(graph, rows=50):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50, 2)), columns=["age", "income"])
    X = X.assign(twin=2 * X["income"], savings=X["income"] + rng.normal(size=50), job=["a", "b"] * 25)
    return effects(X.iloc[:rows], graph)


A, J = ("a", {}), ("j", {"levels": ("none", "boss")})
FIELDS = "{before}, {after}, {by}, {unit}"
CASES = [
    # values, tables and subjects
    (lambda: row(income=None), "'income' is missing in row 0; fill it in, or declare the feature with missing=True"),
    (lambda: row(share=np.inf), "'share' is infinite in a row; give a finite number"),
    (lambda: row(income=2.5), "'income' is 2.5; it must be a whole number"),
    (lambda: row(income=95), "'income' is 95; the action space allows 0 to 90 EUR"),
    (lambda: row(income="20"), "'income' is '20' in the table, a str; it must be a number"),
    (lambda: row(job="cok"), "there is no level of 'job' 'cok'; did you mean 'cook'? There are: cook, smith"),
    (lambda: row(job=["cook"]), "'job' holds something that cannot be a level; allowed are: cook, smith"),
    (lambda: row(extra=1), "a column 'extra' that the action space does not know; drop it or declare it"),
    (lambda: SPACE.encode(pd.DataFrame([ROW]).drop(columns="job")), "lacks the column 'job'; needed are: income, share"),
    (lambda: SPACE.encode(pd.DataFrame([ROW]).rename(columns={"job": "jb"})), "there is 'jb': rename it if it is that"),
    (lambda: SPACE.encode(pd.DataFrame([[*ROW.values(), 1]], columns=[*ROW, "job"])), "the column 'job' more than once"),
    (lambda: SPACE.encode(pd.DataFrame([ROW]).iloc[:0]), "the table has no rows; give at least one"),
    (lambda: SPACE.encode([1, 2]), "a pandas DataFrame is needed, not list"),
    (lambda: SPACE.vector(pd.DataFrame([ROW, ROW])), "one subject is needed, but the table has 2 rows; pick one"),
    (lambda: SPACE.vector([20, 0.5]), "give the subject as a pandas Series or a one-row DataFrame, not list"),
    (lambda: SPACE.vector(np.zeros(5)), "one-row DataFrame; arrays need a space made with groups="),
    (lambda: SPACE.vector(pd.Series([1, 2], index=["job", "job"])), "the subject has the feature 'job' more than once"),
    (lambda: SPACE.decode(np.zeros(3)), "the vectors have shape (1, 3); the space has 5 encoded columns"),
    (lambda: SPACE.values(np.zeros(3)), "the vectors have shape (1, 3)"),
    (lambda: SPACE.project(np.zeros(3), row()), "the vectors have shape (1, 3)"),
    (lambda: SPACE.legal.relax(row(), np.zeros(3)), "the vectors have shape (1, 3)"),
    (lambda: SPACE.allows(row(), np.zeros(3)), "the vectors have shape (1, 3)"),
    (lambda: SPACE.allows(np.zeros((3, 5)), np.zeros((2, 5))), "3 rows before and 2 after; give as many, or one for all"),
    (lambda: SPACE.legal.reachable("share", row()), "'share' is a number and has no levels; ask for its box"),
    (lambda: SPACE.feature("incme"), "there is no feature 'incme'; did you mean 'income'"),
    # tables that are encoded already
    (lambda: one_hot(0.1, 1, 1, 0, 0), "the columns of the group 'job' must hold one 1 and otherwise 0 in every row"),
    (lambda: one_hot(0.1, 0.5, 0.5, 0, 0), "must hold one 1"),
    (lambda: one_hot(0.1, 0, 0, 0, 0), "must hold one 1"),
    (lambda: one_hot(0.1, np.nan, 0, 0, 0), "'job' is missing in a row"),
    (lambda: one_hot(0.1, 1, 0, 0), "the array has shape (1, 4); the space has 5 encoded columns"),
    (lambda: coded(groups={"job": ["a", "x"]}), "there is no column for the group 'job' 'x'"),
    (lambda: coded(groups={"job": ["a", "c"]}), "the columns of the group 'job' must stand side by side"),
    (lambda: coded(groups={"j": ["a"], "k": ["a"]}), "the column 'a' is in the groups 'j' and 'k'; keep one"),
    (lambda: coded(groups={}, ordinal={"owner": [0, 1]}), "'owner' cannot be ordinal or categorical in an encoded table"),
    (lambda: coded(groups={}, features={"owner": {"kind": "categorical"}}), "'owner' cannot be ordinal or categorical"),
    (lambda: coded(groups={"job": ["a", "b", "c"]}, bounds={"job": (0, 1)}), "'job' has levels, not numbers"),
    (lambda: infer(groups={}), "'job' does not hold numbers; an encoded table"),
    # from_frame
    (lambda: infer(pd.DataFrame({0: [1, 2]})), "the column name 0 is not text; rename it"),
    (lambda: infer(pd.DataFrame({"tags": [["a"], ["b"]]})), "'tags' holds ['a'], a list; drop it"),
    (lambda: infer(immutable="age"), "there is no feature 'age'"),
    (lambda: infer(immutable=3), "3 is no list of features"),
    (lambda: infer(rules=[3]), "the rules are [3]; give a list of sentences"),
    (lambda: infer(bounds={"incom": (0, 1)}), "there is no feature 'incom'; did you mean 'income'?"),
    (lambda: infer(increasing="income", decreasing="income"), "'income' is said to only rise and to only fall"),
    (lambda: infer(increasing="job"), "'job' is categorical and has no direction; make it ordinal to give one"),
    (lambda: infer(features={"job": {"units": "m"}}), "there is no setting of 'job' 'units'; did you mean 'unit'?"),
    (lambda: infer(features={"job": {"derived": "income"}}), "'job' is derived and must be a number, not categorical"),
    (lambda: infer(TABLE.set_axis(["x", "x"], axis=1)), "the table has the column 'x' more than once; keep one"),
    (lambda: infer(TABLE.assign(income=[1, None, 3])), "'income' is missing in some rows; fill it in, or say missing=["),
    (lambda: infer(TABLE.assign(income=[1, np.inf, 3])), "'income' is infinite in a row; give finite numbers"),
    (lambda: infer(TABLE.assign(income=None), missing=["income"]), "'income' has no value in any row"),
    (lambda: infer(TABLE.assign(job=pd.Timestamp("2020-01-01"))), "turn it into a number that people know"),
    (lambda: infer(pd.DataFrame({"n": map(str, range(60))})), "'n' has 60 different texts in 60 rows and looks like a name"),
    (lambda: infer(pd.DataFrame()), "the table is empty"),
    (lambda: infer({"x": [1]}), "a pandas DataFrame is needed, not dict"),
    # spaces
    (lambda: ActionSpace([]), "an action space needs at least one feature"),
    (lambda: space(number(), number()), "the feature 'x' is declared twice"),
    *[(lambda h=h: space(horizon=h), f"horizon is {h!r}") for h in (0, -3, 2.5, True, "long", 10**9)],
    (lambda: space(max_changes=0), "max_changes is 0; give a whole number of at least 1"),
    (lambda: space(title=3), "the title is 3"),
    # features
    (lambda: Feature(3, range=(0, 1)), "the name of a feature is 3; it must be text"),
    (lambda: number(kind="nummeric"), "there is no kind of feature 'nummeric'; did you mean 'numeric'?"),
    (lambda: number(range=None), "'x' is a number and needs a range (low, high); use ActionSpace.from_frame to infer it"),
    (lambda: number(range=(2, 1)), "the range of 'x' is (2, 1); give two finite numbers, the lower one first"),
    (lambda: number(span=(3, 3)), "the span of 'x' is (3.0, 3.0); give two different numbers"),
    (lambda: number(step=0), "the step of 'x' is 0; it must be a positive number"),
    (lambda: number(kind="integer", step=0.5), "the step of 'x' is 0.5; a whole number needs a whole step"),
    (lambda: number(notice="much"), "notice of 'x' is 'much'; give a number above 0"),
    *[(lambda m=m: number(max_change=m), "give a number above 0") for m in (0, -1, float("inf"), "far")],
    (lambda: levels(max_change=1), "'x' has no distance to limit"),
    (lambda: levels("binary", max_change=1), "'x' has no distance to limit"),
    (lambda: number(actionable="false"), "actionable of 'x' is 'false'; it must be true or false"),
    (lambda: number(derived=3), "derived of 'x' is 3; write a formula"),
    (lambda: number(derived="y", bounds=(0, 1)), "'x' follows from other features; give bounds to those"),
    (lambda: levels("ordinal", levels=("a", None)), "a missing value is no level of 'x'; say missing=True instead"),
    (lambda: levels(direction="up"), "'x' is categorical and has no direction"),
    (lambda: levels(forbidden=[("a", "rnt")]), "there is no level of 'x' 'rnt'"),
    (lambda: levels(forbidden=[1]), "forbidden of 'x' is [1]; give pairs (from, to)"),
    (lambda: levels(columns=("x_a",)), "'x' has 1 columns and 2 levels"),
    *[(lambda d=d: number(deed=d), "deed of 'x'") for d in (float("nan"), 1, ["pay"], None)],
    (lambda: levels("binary", deed=1), "deed of 'x'"),
    # time
    (lambda: number(pace="fast"), "the pace of 'x' is 'fast'; write \"200 DM a month\""),
    (lambda: levels("binary", pace="3 EUR a month"), 'write "6 months a level"'),
    (lambda: number(pace=3, when="application"), "chosen on the day of the application and has a pace"),
    (lambda: number(clock="days"), "there is no unit for the clock 'x' 'days'"),
    (lambda: number(clock="years", pace=2), "'x' is a clock and goes by itself; leave out pace"),
    (lambda: number(clock="years", direction="down"), "'x' is a clock and goes up"),
    # phrases and translations
    *[(lambda p=p: phrases({"up": p}), FIELDS) for p in ("{aftr}", "{0}", "{after.__class__}", "{after:a|b|c}", "{after", 3)],
    (lambda: phrases({"upp": "Go"}), "there is no phrase for 'duration' 'upp'; did you mean 'up'?"),
    (lambda: phrases({"less": "within {after}"}), "'duration' mentions {after}; a name is plain text"),
    (lambda: phrases({"names": "a job"}), "names in the phrases of 'duration'"),
    (lambda: phrases({"names": {"some": "a job"}}), "a number"),
    (lambda: phrases({"names": {"1": "{after} month"}}), "a name is plain text"),
    (lambda: phrases({"up": "Wait {months}"}), "give 'duration' a pace"),
    (lambda: phrases({}, translations={"de": {"phrases": {"up": "{months}"}}}), "give 'duration' a pace"),
    (lambda: levels("ordinal", phrases={"none": "Find a job"}), "there is no phrase for 'x' 'none'"),
    (lambda: words(fr={"label": "Durée"}), "there is no language for 'x' 'fr'"),
    (lambda: words(de={"tone": "du"}), "there is no word in [features.x.de] 'tone'"),
    (lambda: words(de={"label": 3}), "label of 'x' in 'de' is 3"),
    (lambda: words(de="Wohnung"), "must be a table"),
    (lambda: words(de={"levels": ["nur eins"]}), "has 2 levels and 1 in 'de'"),
    (lambda: words(de={"levels": {"c": "Z"}}), "there is no level of 'x' 'c'"),
    (lambda: words(de={"phrases": {"up": "{nothing}"}}), "mentions {nothing}"),
    # rules
    (lambda: ruled("new + nwe <= 5"), "there is no feature 'nwe'; did you mean 'new'?"),
    (lambda: ruled("new < 5"), "the rule 'new < 5' cannot be read; write 'a + 2 * b <= 5', 'a / b rises by at most"),
    (lambda: ruled("new * new <= 5"), "is not linear; rules may only add features and multiply them by numbers"),
    (lambda: ruled("1 / new <= 5"), "is not linear"),
    (lambda: ruled("new / 0 <= 5"), "holds a number that is not finite, or divides by zero"),
    (lambda: ruled("new +* new <= 5"), "cannot be read; write it like"),
    (lambda: ruled("grade <= 2"), "'grade' is ordinal; a linear rule may only use numbers and binary features"),
    (lambda: ruled("ratio <= 2"), "'ratio' is derived; write the rule with the features it is computed from"),
    (lambda: ruled("new <= age"), "a clock and goes by itself; say how long an action takes by its pace"),
    (lambda: ruled("if new increases then age increases"), "a clock and goes by itself"),
    (lambda: ruled("if job is cok then new stays"), "there is no level of 'job' 'cok'; did you mean 'cook'?"),
    (lambda: ruled("if new is many then job stays"), "'many' in a rule on 'new' must be a number"),
    (lambda: ruled("if new grows then job stays"), "the condition 'new grows' cannot be read; write 'a changes'"),
    # formulas
    (lambda: formula("debt / incme"), "there is no feature 'incme'; did you mean 'income'?"),
    (lambda: formula("debt /"), "the formula 'debt /' cannot be read; write it like"),
    (lambda: formula("debt if income else 0"), "may hold only numbers, features, + - * / **"),
    (lambda: formula("__import__('os')"), "there is no function '__import__'"),
    (lambda: formula("debt.real"), "may hold only numbers, features"),
    (lambda: formula("max(debt)"), "max in the formula 'max(debt)' needs at least 2 values; given were 1"),
    (lambda: formula("abs(debt, income)"), "abs in the formula 'abs(debt, income)' needs 1 value; given were 2"),
    (lambda: formula("2 * job"), "'y' cannot be computed from 'job', whose levels are not numbers; write (job == 'cook')"),
    (lambda: formula("(debt == 3)"), "'debt' is a number and has no levels"),
    (lambda: formula("(job == 'cok')"), "there is no level of 'job' 'cok'; did you mean 'cook'?"),
    (lambda: formula("y"), "'y' follows from 'y', which is derived itself; declare that one first"),
    # effects
    (lambda: moved(A, ("b", {"effect": "c"})), "there is no feature 'c'"),
    (lambda: moved(("a", {"effect": "b"}), ("b", {"effect": "a"})), "the formulas go round in a circle"),
    (lambda: moved(("a", {"effect": "r"}), ("r", {"derived": "2 * a"})), "the formulas go round in a circle"),
    (lambda: moved(A, ("b", {"effect": "a", "actionable": False})), "'b' is fixed and has an effect"),
    (lambda: moved(A, ("b", {"effect": "a", "derived": "2 * a"})), "'b' is derived and follows exactly"),
    (lambda: moved(A, ("b", {"effect": "a", "clock": "years"})), "'b' is a clock and goes by itself"),
    (lambda: moved(A, ("b", {"effect": "only a", "pace": "1 a month"})), "'b' only moves along with others"),
    (lambda: moved(A, ("b", {"effect": "only a", "direction": "up"})), "leave out pace, when, max_change and direction"),
    (lambda: moved(A, ("b", {"effect": "3"})), "says nothing of another feature; name one"),
    *[(lambda e=e: moved(A, ("b", {"effect": e})), f"effect of 'b' is {e!r}; write a formula") for e in ("", 3, "only ")],
    (lambda: moved(J, ("b", {"effect": "(j == 'bos')"})), "there is no level of 'j' 'bos'; did you mean 'boss'"),
    (lambda: moved(A, ("j", {**J[1], "effect": "a"})), "'j' is categorical; only a number can move along"),
    (lambda: moved(A, ("b", {"effect": "only a"})).limits(fixed="b"), "'b' follows from other features"),
    (lambda: fitted([("pay", "savings")]), "there is no column 'pay'"),
    (lambda: fitted([("age", "job")]), "'job' has levels; only a number can move along"),
    (lambda: fitted([("income", "savings"), ("savings", "income")]), "the graph goes round in a circle"),
    (lambda: fitted([]), "the graph has no arrows"),
    (lambda: fitted("income"), "the graph is 'income'; give pairs"),
    (lambda: fitted([("age",)]), "is no arrow of the graph"),
    (lambda: fitted([("twin", "savings"), ("income", "savings")]), "the causes of 'savings' cannot be told apart"),
    (lambda: fitted([("age", "income"), ("savings", "income")], rows=3), "too few"),
    # limits
    (lambda: limited(fixed=["incme"]), "there is no feature 'incme'; did you mean 'income'?"),
    (lambda: limited(fixed=["rate"]), "'rate' follows from other features; limit those instead"),
    (lambda: limited(at_most={"income": "much"}), "a limit on 'income' must be a number; given was 'much'"),
    (lambda: limited(at_least={"g": "c"}), "there is no level of 'g' 'c'"),
    (lambda: limited(at_least={"job": "cook"}), "'job' has no order; exclude levels instead of setting a least or most"),
    (lambda: limited(exclude={"income": [3]}), "'income' is a number and has no levels; set a least or most instead"),
    (lambda: limited(max_changes=1.5), "max_changes is 1.5; give a whole number of at least 1"),
    (lambda: limited(within_months=3), "no feature has a pace, so nothing is dated"),
    *[(lambda m=m: space(number(pace=1)).limits(within_months=m), "within_months is") for m in (-1, 1.5, "soon")],
    (lambda: SPACE.tighten(Limits.from_dict({"at_most": {"incme": 3}})), "there is no feature 'incme'; did you mean"),
    # files
    (lambda: ActionSpace.load("none.toml"), "there is no space file 'none.toml'; `reap space data.csv` drafts one"),
    (lambda: ActionSpace.from_toml("[features"), "the text is not valid TOML: "),
    (lambda: ActionSpace.from_toml("[space]"), "the text declares no features; add a section such as [features.age]"),
    (lambda: ActionSpace.from_toml("[feature.x]"), "there is no section in the text 'feature'; did you mean 'features'?"),
    (lambda: ActionSpace.from_toml("[space]\nrule = []\n[features.x]"), "'rule'; did you mean 'rules'?"),
    (lambda: ActionSpace.from_toml("[features.x]\nrnage = [0, 1]"), "of the text 'rnage'; did you mean 'range'?"),
    (lambda: ActionSpace.from_toml("[features]\nx = 3"), "[features.x] of the text must be a section, not 3"),
    *[
        (lambda t=t: ActionSpace.from_toml(f"[space]\n{t}\n[features.x]\nrange = [0, 1]\n"), "[space")
        for t in ("yes = 3", "about = ['x']", "ja = 'x'", "de = 'x'", "de = { heading = 'x' }", "de = { yes = 3 }")
    ],
    (lambda: ActionSpace.from_toml("[space]\nready = 'Apply again'\n[features.x]\nrange = [0, 1]"), "once, by {time}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "sentence"), CASES, ids=lambda case: case[:50] if isinstance(case, str) else ""
)
def test_one_clear_sentence(call, sentence):
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[(text, True) for text in ("", "fast", "200", "200 DM", "a month", "-3 a month", "0 a month", "5 a day")],
        *[(text, False) for text in ("6", "6 levels", "6 DM a month", "0 months", "level")],
        *[(given, True) for given in (None, [], -1, float("nan"), float("inf"), False)],
    ],
)  # fmt: skip
def test_a_pace_that_cannot_be_read_gets_an_example(text, number):
    with pytest.raises(InputError, match=r"the pace of 'x' is .*; write .*month"):
        read_pace("x", text, number)


JUNK = [
    None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**30, "", "x", "1 every 0 months", "years", "{aftr}", b"x",
    [], [1], ["a", "a"], ["a", None], (0, 0), (2, 1), ("a", 1), {}, {"up": 3}, {"de": {"label": 3}}, [("a", "b")],
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([name for name in Feature.__dataclass_fields__ if name != "name"]),
        st.sampled_from(JUNK),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([{"range": (0, 9)}, {"kind": "ordinal", "levels": ("a", "b")}, {}]),
)
def test_whatever_is_declared_is_a_feature_or_one_sentence(facts, sound):
    try:
        said = Feature("x", **{**sound, **facts}).describe()
    except InputError as error:
        said = str(error)
    assert said
    assert "\n" not in said


def test_every_good_way_to_give_a_subject():
    z = SPACE.vector(ROW)
    np.testing.assert_array_equal(z, [0.2, 0.5, 1, 0, 1])
    frame = pd.DataFrame([ROW], index=["me"])
    ways = pd.Series(ROW), pd.Series(ROW, name="me"), frame, frame.iloc[0], frame[[*ROW][::-1]]
    for x in ways:
        np.testing.assert_array_equal(SPACE.vector(x), z)
    # out of the range that was seen, but within no declared bounds: fine
    assert SPACE.vector(ROW | {"share": 1.5})[1] == 1.5
    # rows of a table may lie outside the bounds, which limit actions
    assert SPACE.encode(pd.DataFrame([ROW | {"income": 95}]))[0, 0] == 0.95


def test_one_name_may_stand_without_a_list():
    assert not infer(immutable="income").feature("income").actionable
    assert infer(increasing="income").feature("income").direction == "up"


def test_frames_of_other_libraries_are_converted():
    arrow = pytest.importorskip("pyarrow")
    X = pd.DataFrame({"age": [20, 30, 40], "job": ["a", "b", "c"]})
    table = arrow.Table.from_pandas(X)
    space = ActionSpace.from_frame(table)
    np.testing.assert_array_equal(space.encode(table), space.encode(X))
    np.testing.assert_array_equal(space.vector(table.slice(1, 1)), space.vector(X.iloc[1]))
    assert space.allows(table, table).all()
