"""What a review asks, and what it lets pass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from reap._errors import InputError
from reap.space import ActionSpace, Feature, draft


def about(*features, **how):
    return [(f.feature, f.about) for f in ActionSpace(features).review(**how) if not f.note]


@pytest.mark.parametrize(
    ("facts", "found"),
    [
        ({"name": "x"}, ["direction"]),
        ({"name": "x", "direction": "both"}, []),
        ({"name": "income"}, ["sense"]),
        ({"name": "income", "direction": "down"}, ["sense"]),
        ({"name": "income", "direction": "both"}, ["sense"]),
        ({"name": "income", "direction": "up"}, []),
        ({"name": "x", "label": "Total debt", "direction": "up"}, ["sense"]),
        ({"name": "debt", "direction": "down"}, []),
        ({"name": "loan_duration", "direction": "both"}, []),
        ({"name": "age", "direction": "up"}, ["protected"]),
        ({"name": "age", "actionable": False}, []),
        ({"name": "age", "clock": "years"}, []),
        ({"name": "average", "direction": "up"}, []),
        ({"name": "MSinceOldestTrade", "direction": "up"}, ["clock"]),
        ({"name": "number_of_dependents", "direction": "down"}, ["fixed"]),
        ({"name": "customer_id", "direction": "both"}, ["fixed"]),
    ],
)
def test_a_number(facts, found):
    assert about(Feature(range=(0, 9), **facts)) == [(facts["name"], kind) for kind in found]


def test_levels():
    job = {"kind": "categorical", "levels": ("a", "b", "c")}
    assert about(Feature("job", **job)) == [("job", "direction")]
    assert about(Feature("job", forbidden=[("a", "b")], **job)) == []
    assert about(Feature("job", direction="both", **job)) == []
    assert about(Feature("sex", "binary", levels=("f", "m"))) == [("sex", "protected")]
    assert about(Feature("loan", "binary", levels=("no", "yes"), direction="up")) == [("loan", "sense")]


def test_paces_are_missed_only_where_others_have_one():
    x, y = Feature("x", range=(0, 1), direction="up", pace=1), Feature("y", range=(0, 1), direction="up")
    assert about(x, y) == [("y", "pace")]
    assert about(x, Feature("z", range=(0, 1), direction="up", when="application")) == []
    notes = ActionSpace([y]).review()
    assert [(n.feature, n.about, n.note) for n in notes] == [("", "pace", True)]


def test_scale_is_a_note():
    wide = Feature("x", range=(0, 717), span=(0, 1.07), direction="down")
    found = ActionSpace([wide]).review()
    assert [(f.about, f.note) for f in found] == [("scale", True), ("pace", True)]
    assert "more than ten times the 0 to 1.07 that effort is scaled by" in str(found[0])


def test_what_rows_show():
    X = pd.DataFrame({"x": [0.0] * 999 + [1.0], "y": np.arange(1000.0), "extra": 1})
    x, y = (
        Feature("x", range=(0, 1), direction="up"),
        Feature("y", range=(0, 999), bounds=(0, 900), direction="up"),
    )
    assert about(x, y, X=X) == [("x", "constant"), ("y", "bounds")]
    assert about(x, y) == []


def _cliff(rows):
    return np.where(rows["gain"] >= 3100, 0.93, 0.04)


def _slope(rows):
    return 1 / (1 + np.exp(-(rows["gain"] - 5000) / 2000))


def test_a_cliff_of_the_model():
    X = pd.DataFrame({"gain": np.arange(0, 10_000, 50)})
    gain = Feature(
        "gain", "integer", range=(0, 9950), step=50, notice=500, direction="up", unit="$", label="Gain"
    )
    found = [f for f in ActionSpace([gain]).review(_cliff, X) if f.about == "cliff"]
    assert len(found) == 1
    assert "a score goes from 0.04 to 0.93 (100% of the people looked at" in str(found[0])
    assert not [f for f in ActionSpace([gain]).review(_slope, X) if f.about == "cliff"]


class Estimator:
    """Two columns of probabilities, the second is the favourable class."""

    def predict_proba(self, rows):
        return np.column_stack([1 - _cliff(rows), _cliff(rows)])


def test_models_of_every_kind_and_none():
    X = pd.DataFrame({"gain": np.arange(0, 10_000, 50)})
    space = ActionSpace([Feature("gain", "integer", range=(0, 9950), step=50, direction="up")])
    assert [f.about for f in space.review(Estimator(), X)] == ["cliff", "pace"]
    for model, sentence in (
        (3, "give one with predict_proba"),
        (lambda rows: ["yes"] * len(rows), "the model gave no scores"),
        (lambda rows: [0.5], "one score a row"),
    ):
        with pytest.raises(InputError, match=sentence):
            space.review(model, X)
    with pytest.raises(InputError, match="give X= as well"):
        space.review(Estimator())


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
