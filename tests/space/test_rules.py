"""Linear rules and implications, and what every sentence that cannot be read is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature, draft

FEATURES = [
    Feature("existing", "integer", range=(0, 5)),
    Feature("new", "integer", range=(0, 5)),
    Feature("credit amount", range=(0, 1000), step=100),
    Feature("owner", "binary", levels=("no", "yes")),
    Feature("grade", "ordinal", levels=("low", "mid", "high")),
    Feature("job", "categorical", levels=("cook", "smith", "not known")),
    Feature("ratio", range=(0, 9), derived="existing / (1 + new)"),
]
START = {
    "existing": 1,
    "new": 1,
    "credit amount": 500.0,
    "owner": "no",
    "grade": "mid",
    "job": "cook",
    "ratio": 0.5,
}


def allows(rule, **change):
    space = ActionSpace(FEATURES[:-1], rules=[rule])
    start = {name: value for name, value in START.items() if name != "ratio"}
    return bool(space.allows(pd.DataFrame([start]), pd.DataFrame([start | change]))[0])


@pytest.mark.parametrize(
    ("rule", "fine", "broken"),
    [
        ("existing + 2 * new <= 5", {"new": 2}, {"new": 3}),
        ("5 >= existing + 2 * new", {"new": 2}, {"new": 3}),
        ("existing = new", {"existing": 2, "new": 2}, {"new": 2}),
        ("existing == new", {"existing": 0, "new": 0}, {"existing": 0}),
        ("2 * (existing - new) / 4 <= 1 - 0.5", {"existing": 2}, {"existing": 3}),
        ("`credit amount` <= 600 - 100 * owner", {"owner": "yes"}, {"credit amount": 600.0, "owner": "yes"}),
        ("-existing >= -3", {"existing": 3}, {"existing": 4}),
    ],
)
def test_linear_rules(rule, fine, broken):
    assert allows(rule, **fine)
    assert not allows(rule, **broken)


@pytest.mark.parametrize(
    ("rule", "fine", "broken"),
    [
        ("if job changes then owner changes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
        ("if job changes, then grade stays", {"job": "smith"}, {"job": "smith", "grade": "high"}),
        (
            "if grade increases then new increases by at least 2",
            {"grade": "high", "new": 3},
            {"grade": "high", "new": 2},
        ),
        ("if new decreases then `credit amount` decreases", {"new": 0, "credit amount": 400.0}, {"new": 0}),
        ("if job is smith then owner is yes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
        (
            "if job becomes 'not known' then owner is not no",
            {"job": "not known", "owner": "yes"},
            {"job": "not known"},
        ),
        (
            "if owner becomes yes then `credit amount` is at least 1,000",
            {"owner": "yes", "credit amount": 1000.0},
            {"owner": "yes"},
        ),
        ("if new is at least 3 then grade is at most low", {"new": 3, "grade": "low"}, {"new": 3}),
        ("IF job is not cook THEN owner is yes", {"job": "smith", "owner": "yes"}, {"job": "smith"}),
    ],
)
def test_implications(rule, fine, broken):
    assert allows(rule)
    assert allows(rule, **fine)
    assert not allows(rule, **broken)


@pytest.mark.parametrize(
    ("rule", "wanted", "nearest"),
    [
        ("if new changes then existing changes", (0.9, 3, 1), (0, 3, "mid")),
        ("if new increases then grade increases", (1, 5, 1.2), (1, 5, "high")),
        ("if new increases then grade increases", (1, 2, 1), (1, 1, "mid")),
        ("existing + new <= 3", (1.4, 3, 1), (1, 2, "mid")),
        ("existing + new >= 5", (1.4, 3, 1), (2, 3, "mid")),
    ],
)
def test_project_obeys_rules_at_the_least_distance(rule, wanted, nearest):
    space = ActionSpace(FEATURES[:2] + FEATURES[4:5], rules=[rule])
    z0 = space.vector({name: START[name] for name in space.names})
    z = np.array(wanted) / [5, 5, 2]
    assert tuple(space.values(space.project(z, z0)[0]).values()) == nearest


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        ("existing + nwe <= 5", "there is no feature 'nwe'; did you mean 'new'?"),
        (
            "existing < 5",
            "the rule 'existing < 5' cannot be read; write 'a + 2 * b <= 5', 'a / b rises by at most 25 %' or",
        ),
        ("existing * new <= 5", "is not linear; rules may only add features and multiply them by numbers"),
        ("1 / existing <= 5", "is not linear"),
        ("existing / 0 <= 5", "holds a number that is not finite, or divides by zero"),
        ("existing +* new <= 5", "cannot be read; write it like"),
        ("grade <= 2", "'grade' is ordinal; a linear rule may only use numbers and binary features"),
        ("ratio <= 2", "'ratio' is derived; write the rule with the features it is computed from"),
        ("if job is cok then new stays", "there is no level of 'job' 'cok'; did you mean 'cook'?"),
        ("if new is many then job stays", "'many' in a rule on 'new' must be a number"),
        ("if new grows then job stays", "the condition 'new grows' cannot be read; write 'a changes'"),
    ],
)
def test_a_rule_that_cannot_be_read(rule, sentence):
    with pytest.raises(InputError) as caught:
        ActionSpace(FEATURES, rules=[rule])
    assert sentence in str(caught.value)


def test_rules_that_leave_nothing_say_so():
    space = ActionSpace(FEATURES[:2], rules=["existing + new >= 100"])
    z0 = np.array([0.2, 0.2])
    with pytest.raises(InputError, match="no row is legal for this person: the rules contradict the limits"):
        space.project(z0, z0)
    assert space.legal.obstacle(z0).startswith("no row is legal")
    assert ActionSpace(FEATURES[:2]).legal.obstacle(z0) is None


def test_without_exact_rules_are_not_searched():
    space = ActionSpace(FEATURES[:2], rules=["existing + new <= 3"])
    z0 = np.array([0.2, 0.2])
    loose = space.project(np.array([1.0, 1.0]), z0, exact=False)
    np.testing.assert_array_equal(loose, [[1.0, 1.0]])
    assert not space.allows(z0, loose)[0]


@pytest.mark.parametrize(
    ("rules", "change", "named"),
    [
        (["if job becomes smith then grade is at least high"], {"job": "smith", "grade": "high"}, ["grade"]),
        (["if job becomes smith then new is at least 2"], {"job": "smith", "new": 2}, ["new"]),
        (
            ["if job becomes smith then new is at least 2"],
            {"job": "smith", "new": 3},
            [],
        ),  # farther than asked
        (["if job becomes smith then new is at least 1"], {"job": "smith", "new": 2}, []),  # not asked for
        (["if job becomes smith then new is at least 2"], {"new": 2}, []),  # nothing asks for it
        (["if new increases then existing decreases by at least 1"], {"new": 3, "existing": 0}, ["existing"]),
        (["if new increases then owner changes"], {"new": 3, "owner": "yes"}, []),
        # two changes that ask for each other: the one that is named first stays
        (
            ["if new becomes 0 then existing is at most 0", "if existing becomes 0 then new is at most 0"],
            {"new": 0, "existing": 0},
            ["existing"],
        ),
        (["existing + new <= 9"], {"new": 3}, []),
    ],
)
def test_what_a_rule_entails(rules, change, named):
    space = ActionSpace(FEATURES[:-1], rules=rules)
    start = {name: value for name, value in START.items() if name != "ratio"}
    found = space.legal.entailing(space.vector(start), space.vector(start | change)[None])[0] >= 0
    assert [f.name for f, yes in zip(space.features, found, strict=True) if yes] == named


def test_a_ratio_may_rise_by_so_much_and_no_more():
    """For everybody by what they asked for: 40 a month may become 50."""
    features = [
        Feature("amount", "integer", range=(100, 5000), step=10),
        Feature("months", "integer", range=(4, 60)),
    ]
    space = ActionSpace(features, rules=["amount / months rises by at most 25 %"])
    start = space.encode(pd.DataFrame({"amount": [960], "months": [24]}))
    rows = pd.DataFrame({"amount": [960, 960, 960, 480, 2000], "months": [20, 19, 60, 10, 50]})
    Z = space.encode(rows)
    ratio = rows["amount"] / rows["months"] / 40
    assert space.allows(start, Z).tolist() == (ratio <= 1.25).tolist()
    nearest = space.decode(space.project(Z[[1]], start[0]))
    assert nearest["amount"].iloc[0] / nearest["months"].iloc[0] <= 50
    again = ActionSpace.from_toml(space.to_toml())
    assert again.digest == space.digest
    assert again.allows(start, Z).tolist() == space.allows(start, Z).tolist()


def test_large_decisions_are_flagged_in_three_languages():
    table = pd.DataFrame({name: [1, 2, 3, 4] for name in ("housing", "Wohnsituation", "profesión", "amount")})
    made = draft(table)
    fixed = [f.name for f in made.space.features if not f.actionable]
    assert fixed == ["housing", "Wohnsituation", "profesión"]
    assert "large decision of life" in made.to_toml()
    features = [
        Feature("Gesundheit", range=(0, 5), direction="up"),
        Feature("empleo", range=(0, 5), advice="never"),
    ]
    found = [f.feature for f in ActionSpace(features).review() if f.about == "large"]
    assert found == ["Gesundheit"]
