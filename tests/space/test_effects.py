"""What one change brings with it: effects between features, in the space alone."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from reap import InputError
from reap.checks.legality import violations
from reap.space import ActionSpace, Feature, effects
from reap.space.words import Change
from tests.space.generators import seeds

JOBS = ("none", "skilled", "boss")


def household(**facts):
    """Income moves savings, the job moves income, and both move a score that nobody sets."""
    said = {
        "job": {"kind": "categorical", "levels": JOBS},
        "income": {
            "kind": "integer",
            "range": (0, 9000),
            "effect": "500 * (job == 'skilled') + 2000 * (job == 'boss')",
        },
        "savings": {"range": (0, 20000), "effect": "0.25 * income"},
        "score": {"range": (0, 100), "effect": "only 0.002 * savings - 0.001 * income"},
    }
    for name, more in facts.items():
        said[name] = {**said[name], **more}
    return ActionSpace([Feature(name, **own) for name, own in said.items()])


ME = {"job": "none", "income": 2000, "savings": 1234.5, "score": 40.0}


def then(space, **change):
    """Where somebody ends who changes this by themselves, as values."""
    z0 = space.vector(ME)
    return space.values(space.legal.brought(space.vector(ME | change)[None], z0)[0])


# by how much -------------------------------------------------------------------------------------------


def test_an_effect_moves_by_its_share_of_the_causes_move_from_where_the_person_is():
    got = then(household(), income=3000)
    assert got["savings"] == pytest.approx(1234.5 + 250)
    assert got["score"] == pytest.approx(40 + 0.002 * 250 - 0.001 * 1000)
    got = then(household(), job="boss")  # a category moves a number, and that the next
    assert (got["income"], got["savings"]) == (4000, 1234.5 + 500)
    space = ActionSpace([Feature("a", range=(1.0, 9.0)), Feature("b", range=(0.0, 99.0), effect="a * a")])
    z0 = space.vector({"a": 2.0, "b": 10.0})  # a formula that is no line moves by how much it changes
    row = space.legal.brought(space.vector({"a": 5.0, "b": 10.0})[None], z0)[0]
    assert space.values(row)["b"] == pytest.approx(31)


def test_what_a_person_does_comes_on_top_of_what_follows():
    space = household()
    got = then(space, income=3000, savings=2234.5)
    assert got["savings"] == pytest.approx(2234.5 + 250)
    z0 = space.vector(ME)
    row = space.vector(got)
    done = space.values(space.legal.done(row[None], z0)[0])
    assert done["savings"] == pytest.approx(2234.5)
    assert done["score"] == 40.0
    moved = space.legal.moves(row[None], z0)[0]
    assert moved[space.slices["score"]] == 0
    assert moved[space.slices["savings"]] == pytest.approx(1000 / 20000)


def test_a_whole_number_moves_by_whole_ones_and_a_half_goes_up_whatever_its_last_digit():
    kids = Feature("kids", "integer", range=(0, 99))
    rooms = Feature("rooms", "integer", range=(-99, 99), effect="0.5 * kids")
    space = ActionSpace([kids, rooms])
    z0 = space.vector({"kids": 3, "rooms": 7})
    for n in range(20):
        row = space.legal.brought(space.vector({"kids": n, "rooms": 7})[None], z0)
        assert space.values(row[0])["rooms"] == 7 + int(np.floor(0.5 * (n - 3) + 0.5))
        assert space.values(space.legal.done(row, z0)[0])["rooms"] == 7
        assert space.allows(z0, row).all()


def test_what_is_missing_moves_nothing_and_stays_missing():
    a, b = Feature("a", range=(0, 9), missing=True), Feature("b", range=(0, 9))
    c = Feature("c", range=(0, 9), effect="a + b", missing=True)
    space = ActionSpace([a, b, c])
    for known in ({"a": None, "c": 3.0}, {"a": 1.0, "c": None}):
        z0 = space.vector({"b": 1.0, **known})
        row = space.legal.brought(space.vector({"b": 3.0, **known})[None], z0)
        assert space.values(row[0])["c"] == (None if known["c"] is None else 5.0)
        assert space.allows(z0, row).all()


def test_derived_features_follow_from_what_effects_bring():
    ratio = Feature("ratio", range=(0, 9), derived="savings / max(income, 1)")
    space = ActionSpace([*household().features, ratio])
    me = {**ME, "ratio": ME["savings"] / ME["income"]}
    z0 = space.vector(me)
    row = space.legal.brought(space.vector({**me, "income": 3000})[None], z0)
    assert space.values(row[0])["ratio"] == pytest.approx((1234.5 + 250) / 3000)
    assert space.allows(z0, row).all()
    alone = space.legal.done(row, z0)[0]  # what effort is of: without what effects bring
    assert space.values(alone)["ratio"] == pytest.approx(1234.5 / 3000)


def random_equations(rng):
    """A chain of random linear equations over numbers: the space, the slopes W (f, f), and a person."""
    f = int(rng.integers(2, 6))
    W = np.tril(rng.normal(size=(f, f)) * (rng.random((f, f)) < 0.6), k=-1)
    order = rng.permutation(f)
    names = [f"x{i}" for i in range(f)]
    features = [None] * f
    for i, at in enumerate(order):
        terms = [f"{float(W[i, j])!r} * {names[order[j]]}" for j in range(f) if W[i, j]]
        features[at] = Feature(names[at], range=(-100.0, 100.0), effect=" + ".join(terms) or None)
    full = np.zeros((f, f))
    full[np.ix_(order, order)] = W
    return ActionSpace(features), full, rng.normal(size=f)


@given(seeds())
@settings(max_examples=60, deadline=None)
def test_linear_effects_are_those_of_the_linear_model_and_can_be_taken_back(rng):
    space, W, own = random_equations(rng)
    acts = np.where(rng.random(len(own)) < 0.5, rng.normal(size=len(own)), 0.0)
    z0, done = (space.vector(dict(zip(space.names, v, strict=True))) for v in (own, own + acts))
    row = space.legal.brought(done[None], z0)
    expected = own + np.linalg.solve(np.eye(len(own)) - W, acts)
    np.testing.assert_allclose(list(space.values(row[0]).values()), expected, atol=1e-9)
    np.testing.assert_allclose(space.legal.done(row, z0)[0], done, atol=1e-12)
    assert space.allows(z0, row).all()


# nothing else changes ----------------------------------------------------------------------------------


def test_what_stays_comes_back_to_the_bit():
    space = household()
    me = ME | {"savings": 25.770000457763672, "score": 0.1 + 0.2}
    z0, own = space.read(me)
    here = space.at(z0, own)
    row = here.legal.brought(z0[None], z0)
    np.testing.assert_array_equal(row[0], z0)
    assert here.values(here.legal.done(row, z0)[0]) == me


def test_a_space_without_effects_gives_back_the_very_rows():
    space = ActionSpace([Feature("a", range=(0, 9)), Feature("b", range=(0, 9), derived="2 * a")])
    Z = np.array([[0.25, 0.5]])
    assert space.legal.brought(Z, Z[0]) is Z
    assert space.legal.done(Z, Z[0]) is Z


def test_the_digest_knows_effects_and_spaces_without_them_keep_theirs():
    plain = ActionSpace([Feature("a", range=(0, 9)), Feature("b", range=(0, 9))])
    assert plain.digest.startswith("ebceab14e17c09fe")
    with_one = ActionSpace([Feature("a", range=(0, 9)), Feature("b", range=(0, 9), effect="a")])
    other = ActionSpace([Feature("a", range=(0, 9)), Feature("b", range=(0, 9), effect="2 * a")])
    assert len({plain.digest, with_one.digest, other.digest}) == 3


def test_files_and_from_frame_take_effects():
    space = household()
    again = ActionSpace.from_toml(space.to_toml())
    assert (again, again.digest) == (space, space.digest)
    assert 'effect = "0.25 * income"' in space.to_toml()
    assert "effect     =" in space.to_toml(comments=True)
    X = pd.DataFrame({"income": [1000, 2000, 3000], "savings": [100.5, 300.25, 250.75]})
    savings = ActionSpace.from_frame(X, features={"savings": {"effect": "0.2 * income"}}).feature("savings")
    assert (savings.effect, savings.is_action) == ("0.2 * income", True)


# what is legal ------------------------------------------------------------------------------------------


FALLS = {"savings": {"effect": "-0.25 * income", "direction": "up", "step": 100.0}}
BOUNDED = {"savings": {"bounds": (0, 1400)}}


@pytest.mark.parametrize(
    ("facts", "settings", "limits", "change", "legal"),
    [
        # directions and steps are of what a person does: savings fall by 250, which nobody did, and end between two steps
        (FALLS, {}, {}, {"income": 3000}, True),
        (FALLS, {}, {}, {"income": 3000, "savings": 1300.0}, True),
        (FALLS, {}, {}, {"income": 3000, "savings": 1200.0}, False),
        (FALLS, {}, {}, {"income": 3000, "savings": 1250.0}, False),
        # bounds, limits and rules hold for where a row ends
        (BOUNDED, {}, {}, {"income": 2600}, True),
        (BOUNDED, {}, {}, {"income": 3000}, False),
        (BOUNDED, {}, {}, {"savings": 1400.0}, True),
        (BOUNDED, {}, {}, {"income": 2100, "savings": 1400.0}, False),
        (BOUNDED, {}, {"at_most": {"savings": 1300}}, {"income": 2200}, True),
        (BOUNDED, {}, {"at_most": {"savings": 1300}}, {"income": 2600}, False),
        ({}, {"rules": ["savings <= 1500"]}, {}, {"income": 3000}, True),
        ({}, {"rules": ["savings <= 1500"]}, {}, {"income": 3100}, False),
        # counts and what stays fixed are of what a person does
        ({}, {"max_changes": 1}, {}, {"job": "boss"}, True),
        ({}, {"max_changes": 1}, {}, {"job": "boss", "income": 5000}, False),
        ({}, {}, {"fixed": ["savings"]}, {"income": 3000}, True),
        ({}, {}, {"fixed": ["savings"]}, {"savings": 1300.0}, False),
    ],
)
def test_what_is_legal_with_all_that_follows(facts, settings, limits, change, legal):
    space = ActionSpace(household(**facts).features, **settings)
    space = space.tighten(space.limits(**limits))
    z0 = space.vector(ME)
    assert space.allows(z0, space.legal.brought(space.vector(ME | change)[None], z0)).tolist() == [legal]
    if "income" in change:
        assert not space.allows(z0, space.vector(ME | change))[0]  # without what follows


def test_time_is_of_what_a_person_does():
    space = household(income={"pace": "100 a month"}, savings={"pace": "10 a month"})
    z0 = space.vector(ME)
    row = space.legal.brought(space.vector(ME | {"income": 3000})[None], z0)
    assert space.months(z0, row).tolist() == [10.0]  # the 250 of savings take no time of their own
    frames = pd.DataFrame([ME]), space.decode(row)
    assert space.months(*frames).tolist() == [10.0]


@given(seeds())
@settings(max_examples=40, deadline=None)
def test_projected_rows_are_legal_with_all_that_follows(rng):
    space, _, own = random_equations(rng)
    features = [
        Feature(f.name, range=(-3.0, 3.0), effect=f.effect, direction=str(rng.choice(["any", "up", "down"])))
        for f in space.features
    ]
    space = ActionSpace(features, max_changes=int(rng.integers(1, 4)))
    own = np.clip(own, -2, 2)
    z0 = space.vector(dict(zip(space.names, own, strict=True)))
    Z = z0 + rng.normal(size=(5, len(own)))
    rows = space.project(Z, z0)
    assert space.allows(z0, rows).all()
    np.testing.assert_allclose(space.project(rows, z0), rows, atol=1e-9)  # a legal row is its own nearest


def test_a_contradiction_is_said_in_a_sentence():
    space = ActionSpace(household().features, rules=["savings >= 5000", "savings <= 4000"])
    with pytest.raises(InputError, match="no legal row was found for this person"):
        space.project(space.vector(ME), space.vector(ME))


# bad input ----------------------------------------------------------------------------------------------


# words ---------------------------------------------------------------------------------------------------


def test_a_consequence_is_said_as_one():
    savings = Feature("savings", range=(0, 9000), step=100.0, label="Your savings", unit="€", effect="income")
    assert str(Change.of(savings, 2000.0, 2973.0, brought=True)) == "Your savings would then be about 3,000 €"


def test_the_table_and_the_review_say_effects_in_words():
    space = household(savings={"unit": "€"}, income={"unit": "€", "label": "Income"})
    assert "also moves along with others: 0.25 * income" in space.describe()
    assert "only moves along with others: 0.002 * savings" in space.describe()
    said = {f.feature: f for f in space.review() if f.about == "effect"}
    assert set(said) == {"income", "savings", "score"}
    assert all(f.note for f in said.values())
    assert "by 225 € up if Income rises by 900 €" in str(said["savings"])
    assert "by 500 € up if job becomes skilled" in str(said["income"])


def test_columns_that_move_together_are_no_question_once_an_effect_says_so():
    rng = np.random.default_rng(0)
    income = rng.normal(3000, 800, 200)
    X = pd.DataFrame({"income": income, "savings": 0.2 * income + rng.normal(0, 2, 200)})
    plain = ActionSpace.from_frame(X)
    said = ActionSpace.from_frame(X, features={"savings": {"effect": "0.2 * income"}})
    assert any(f.about == "follows" for f in plain.review(X=X))
    assert not any(f.about == "follows" for f in said.review(X=X))


# from rows ------------------------------------------------------------------------------------------------


def people(rows=1500, seed=3):
    """Rows of a linear model: job and age → income → savings ← age, savings → score."""
    rng = np.random.default_rng(seed)
    job = rng.choice(JOBS, rows, p=[0.5, 0.3, 0.2])
    age = rng.normal(40, 10, rows)
    income = 2000 + 20 * age + 600 * (job == "skilled") + 1500 * (job == "boss") + rng.normal(0, 300, rows)
    savings = 0.2 * income - 5 * age + rng.normal(0, 100, rows)
    score = savings / 100 + rng.normal(size=rows)
    return pd.DataFrame({"job": job, "age": age, "income": income, "savings": savings, "score": score})


ARROWS = "job income, age income, income savings, age savings, savings score"
GRAPH = [tuple(arrow.split()) for arrow in ARROWS.split(", ")]


def test_equations_of_the_right_graph_are_found_without_a_doubt():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = effects(people(), GRAPH)
    truth = {"skilled": 600, "boss": 1500, None: 20}
    assert fitted.rows == 1500
    assert not fitted.doubts
    assert all(term.low < truth[term.level] < term.high for term in fitted.equations["income"])
    share = fitted.equations["savings"][0]
    assert share.low < 0.2 < share.high
    assert share.high - share.low < 0.03
    space = ActionSpace.from_frame(people(), features=fitted.features)
    assert space.feature("savings").effect == fitted.formulas["savings"]


@pytest.mark.filterwarnings("ignore:what its causes")
def test_intervals_cover_the_truth_as_often_as_they_say():
    inside = []
    for seed in range(200):
        fitted = effects(people(120, seed)[["income", "age", "savings"]], GRAPH[1:4])
        share = fitted.equations["savings"][0]
        inside.append(share.low < 0.2 < share.high)
    assert 0.90 <= np.mean(inside) <= 0.99


@pytest.mark.parametrize(
    ("graph", "about"),
    [
        ([edge for edge in GRAPH if edge != ("age", "savings")], "savings"),  # an arrow is missing
        ([*GRAPH[:-1], ("score", "savings")], "score"),  # one is turned round
        ([("income", "savings"), ("income", "score")], "savings"),  # a cause between the two
    ],
)
def test_rows_that_contradict_a_graph_are_said_to(graph, about):
    with pytest.warns(UserWarning, match="the graph has no arrow between them"):
        fitted = effects(people(), graph)
    assert any(about in said for each in fitted.doubts.values() for said in each)
    assert "# check: " in fitted.to_toml()
    assert "an arrow may be missing" in fitted.to_toml()


def test_a_right_graph_is_seldom_doubted():
    doubted = 0
    for seed in range(100):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            doubted += bool(effects(people(300, 1000 + seed), GRAPH).doubts)
    assert doubted <= 3  # one in a hundred, by design


def test_a_graph_of_networkx_is_taken_and_the_lines_are_those_of_a_file():
    networkx = pytest.importorskip("networkx")
    fitted = effects(people(), networkx.DiGraph(GRAPH))
    assert fitted.formulas == effects(people(), GRAPH).formulas
    text = "[features.job]\nkind = 'categorical'\nlevels = ['none', 'skilled', 'boss']\n"
    text += "[features.age]\nrange = [-9000, 9000]\n"
    text += fitted.to_toml().replace("effect =", "range = [-9000, 9000]\neffect =")
    assert ActionSpace.from_toml(text).feature("score").effect == fitted.formulas["score"]


# an outsider -----------------------------------------------------------------------------------------------


@pytest.mark.extras
def test_linear_effects_equal_the_counterfactuals_of_dowhy():
    pytest.importorskip("dowhy")
    networkx = pytest.importorskip("networkx")
    from dowhy import gcm

    rng = np.random.default_rng(7)
    for _ in range(5):
        space, W, _ = random_equations(rng)
        names, f = list(space.names), len(space.names)
        noise = rng.normal(size=(400, f))
        X = pd.DataFrame(noise @ np.linalg.inv(np.eye(f) - W).T, columns=names)
        edges = [(names[j], names[i]) for i in range(f) for j in range(f) if W[i, j]]
        graph = networkx.DiGraph()
        graph.add_nodes_from(names)
        graph.add_edges_from(edges)
        model = gcm.InvertibleStructuralCausalModel(graph)
        for name in names:
            linear = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
            model.set_causal_mechanism(name, linear if graph.in_degree(name) else gcm.EmpiricalDistribution())
        gcm.fit(model, X)
        said = {name: {} for name in names}
        for name in names:
            if graph.in_degree(name):
                lines = model.causal_mechanism(name).prediction_model.sklearn_model
                causes = sorted(graph.predecessors(name))
                terms = [f"{float(s)!r} * {c}" for c, s in zip(causes, np.ravel(lines.coef_), strict=True)]
                said[name] = {"effect": " + ".join(terms)}
        mine = ActionSpace([Feature(name, range=(-99.0, 99.0), **said[name]) for name in names])
        for row in range(3):
            own, cause = X.iloc[[row]], names[int(rng.integers(f))]
            by = float(rng.normal())
            theirs = gcm.counterfactual_samples(
                model, {cause: lambda value, by=by: value + by}, observed_data=own
            )[names].iloc[0]
            z0 = mine.vector(own)
            done = mine.vector(own.assign(**{cause: own[cause] + by}))
            ours = mine.values(mine.legal.brought(done[None], z0)[0])
            np.testing.assert_allclose([ours[name] for name in names], theirs, atol=1e-6)


def test_a_derived_feature_may_ask_for_a_level_too():
    bonus = Feature("bonus", range=(0, 900), derived="100 * (job == 'boss') + 0.1 * income")
    space = ActionSpace([*household().features, bonus])
    me = {**ME, "bonus": 200.0}
    z0 = space.vector(me)
    row = space.legal.brought(space.vector({**me, "job": "boss"})[None], z0)
    assert space.values(row[0])["bonus"] == pytest.approx(100 + 0.1 * 4000)
    assert not violations(space, me, space.values(row[0]))
