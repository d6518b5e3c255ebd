"""A learnt prior and its file: nothing lost, nothing changed unseen, another space refused, no plan ruled out."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reap
from reap.belief import LearnedPrior, Posterior
from reap.belief.answers import people
from reap.belief.families import ALIKE, FAMILIES, PEOPLE, Latents
from reap.belief.learned_prior import STEEPEST, WIDEST
from reap.belief.prior import Prior
from reap.effort import of_changes


def learnt(scales, K=0.0, **changed):
    k = len(scales)
    square = np.zeros((k, k))
    square[np.triu_indices(k, 1)] = K
    said = {
        "space": "digest",
        "dimension": k,
        "columns": tuple(range(k)),
        "names": tuple(f"x{i}" for i in range(k)),
        "learnt": "directions",
        "scales": scales,
        "scales_sd": np.full(k, 0.1),
        "directions": square + square.T,
        "directions_sd": np.zeros((k, k)),
        "families": {**PEOPLE, **dict.fromkeys(ALIKE, 0.5)},
        "kinds": (0.7, 0.2, 0.1),
        "people": 100,
        "answers": 500,
        **changed,
    }
    return LearnedPrior(**said)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-WIDEST, WIDEST), min_size=1, max_size=5),
    st.floats(-STEEPEST, STEEPEST),
    st.floats(0, 1),
)
def test_a_prior_and_its_file_are_one(scales, K, share):
    prior = learnt(scales, K, families={"gaussian": 1.0, "alike-80": share})
    back = LearnedPrior.from_json(prior.to_json())
    assert back.hash == prior.hash
    assert back.to_json() == prior.to_json()
    assert Posterior(len(scales), prior, particles=20).matrices.tobytes() == (
        Posterior(len(scales), back, particles=20).matrices.tobytes()
    )


def test_the_belief_starts_where_the_prior_says():
    prior = learnt([-2.0, 0.0, 2.0])
    mean = Posterior(3, prior, particles=4000).mean
    assert mean[0, 0] < 0.5 * mean[1, 1] < 0.25 * mean[2, 2]
    assert Posterior(3, prior).kinds == pytest.approx([0.7, 0.2, 0.1])
    assert Posterior(3, prior, lapse=0.1).kinds.tolist() == [1.0]


def test_directions_are_in_the_mean():
    prior = learnt([0.0, 0.0], 0.5)
    mean = Posterior(2, prior, particles=4000).mean
    R = prior.root
    expected = R.T @ R * 2 / np.trace(R.T @ R)
    # Every person is divided by their own trace, and those for whom both changes ask much have a large one: the mean is smaller.
    assert 0.7 * expected[0, 1] < mean[0, 1] < expected[0, 1]


def test_nothing_learnt_is_the_default_to_the_bit():
    nothing = LearnedPrior.default("digest", 4, (0, 1, 2, 3), tuple("abcd"), people=40, answers=200)
    default, same = Posterior(4), Posterior(4, nothing)
    for belief in (default, same):
        belief.update([1.0, 0, 0, 0], [0, 1.0, 0, 0])
    assert default.matrices.tobytes() == same.matrices.tobytes()
    assert nothing.kinds == tuple(people().share)


def test_stated_difficulties_come_on_top():
    prior = learnt([0.0, 2.0])
    plain = Posterior(2, prior, particles=2000).mean
    stated = Posterior(2, prior, difficulties=["very hard", "neither easy nor hard"], particles=2000).mean
    assert stated[0, 0] / stated[1, 1] > 2 * plain[0, 0] / plain[1, 1]


def test_only_columns_that_move():
    prior = learnt([0.0, 2.0], dimension=4, columns=(1, 3))
    mean = Posterior(4, prior, columns=[1, 3], particles=1000).mean
    assert mean[3, 3] > 2 * mean[1, 1]
    assert mean[0, 0] == mean[2, 2] == 1.0
    with pytest.raises(reap.InputError, match="fewer columns can move"):
        Posterior(4, prior, columns=[0, 1, 3])
    with pytest.raises(reap.InputError, match="another space"):
        Posterior(5, prior)


def test_how_many_people_mind_the_number_of_changes_is_learnt():
    prior = learnt([0.0, 0.0], minders=(0.6, 0.3), weights=(1.0, -1.0))
    belief, default = (Posterior(2, given, beside=2, particles=4000) for given in (prior, "people"))
    assert belief.minds == pytest.approx([0.6, 0.3], abs=0.03)
    assert default.minds == pytest.approx([0.1, 0.1], abs=0.03)
    diagonal = np.einsum("nii->ni", belief.matrices)
    size = diagonal[:, :2].sum(axis=1) / 2  # a typical change of the same person
    for column, weight in ((2, 1.0), (3, -1.0)):
        who = diagonal[:, column] > 0
        assert np.median(diagonal[who, column] / size[who]) == pytest.approx(np.exp(weight), rel=0.15)
    without = Posterior(2, prior)  # a session that does not look at them
    assert without.mean.shape == (2, 2)
    nothing = LearnedPrior.default(
        "d", 2, (0, 1), ("a", "b"), people=40, answers=9, minders=(0.6,), weights=(0.0,)
    )
    assert Posterior(2, nothing, beside=1, particles=2000).minds[0] == pytest.approx(0.6, abs=0.04)


def test_a_prior_only_weighs():
    """The widest scales there may be: whoever differs from everybody is still found after a few answers."""
    prior = learnt([WIDEST, -WIDEST])  # the first column: ten thousand times as hard as the second
    belief = Posterior(2, prior)
    assert belief.mean[0, 0] > belief.mean[1, 1]
    for far in (1.0, 1.5, 2.0, 2.5):  # this person finds the first one much easier
        belief.update([far, 0.0], [0.0, 1.0])
    assert belief.mean[0, 0] < belief.mean[1, 1] / 4
    assert np.linalg.eigvalsh(prior.root.T @ prior.root).min() > 0


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scales": [9.0, 0.0]}, "scale above 100"),
        ({"scales": [float("nan"), 0.0]}, "it has NaN in the place of a number"),
        ({"scales": [0.0]}, "for 2 columns"),
        ({"directions": [[0.0, 0.95], [0.95, 0.0]]}, "at most"),
        ({"directions": [[0.0, 0.1], [0.2, 0.0]]}, "symmetric"),
        ({"families": {"gaussian": -1.0}}, "0 or more"),
        ({"families": {}}, "0 or more"),
        ({"columns": [0, 7]}, "do not have"),
        ({"version": 1}, "version 1.* learn it again"),
        ({"minders": [0.5], "weights": []}, "of the same columns"),
        ({"minders": [1.0], "weights": [0.0]}, "below 1"),
        ({"minders": [0.5], "weights": [3.0]}, "weight above 10"),
        ({"format": "reap.session"}, "not a prior"),
        ({"people": 1000}, "changed after it was learnt"),
        ({"names": None}, "damaged"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused(changed, said, tmp_path):
    data = {**json.loads(learnt([0.1, 0.2]).to_json()), **changed}
    path = tmp_path / "prior.json"
    path.write_text(json.dumps(data))
    with pytest.raises(reap.InputError, match=said):
        Posterior(2, str(path))


def test_a_family_from_elsewhere_is_refused():
    with pytest.raises(reap.InputError, match="family of people in the prior 'robots'"):
        Posterior(2, learnt([0.0, 0.0], families={"robots": 1.0}))


def test_missing_file(tmp_path):
    with pytest.raises(reap.InputError, match="`reap learn` writes a prior"):
        Posterior(2, tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(reap.InputError, match="is not a prior"):
        Posterior(2, tmp_path / "bytes.json")


@pytest.mark.parametrize("name", list(ALIKE))
def test_people_who_are_alike(name):
    prior = Prior(5)
    latents, _ = prior.draw(200, np.random.default_rng(0))
    A = FAMILIES[name](Latents.whole(latents)).matrices()
    assert np.einsum("nii->n", A) == pytest.approx(5.0)
    assert np.linalg.eigvalsh(A).min() >= ALIKE[name] - 1e-9


def test_efforts_of_learnt_people_without_their_matrices():
    prior = Prior(4, learnt([-1.0, 0.0, 0.5, 1.0], K=0.3), [1.0, 2.5, 0.4, 1.0])
    rng = np.random.default_rng(0)
    (latents, families), V = prior.draw(300, rng), rng.standard_normal((5, 4))
    drawn = latents.astype(float), families
    np.testing.assert_allclose(prior.efforts(*drawn, V), of_changes(prior.matrices(*drawn), V), rtol=1e-9)
